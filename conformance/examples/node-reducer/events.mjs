// Events: which version has which, with which members (VER-001 … VER-003), their limits (RUN-005), and upcasting (VER-007).
import { MAX, bytes, canonical, get, isInteger, isObject, own, survey } from './json.mjs';
import { HASH, KINDS, NAME, Problem, UUID, artifactReference, isForm } from './specification.mjs';

export class Refusal extends Error {
  constructor(kind, code, sentence) {
    super(sentence ?? code);
    this.kind = kind;
    this.code = code;
  }
}
export const corrupt = (code, sentence) => { throw new Refusal('corrupt', code, sentence); };
const incompatible = (code, sentence) => { throw new Refusal('incompatible', code, sentence); };
const wrong = (what) => corrupt('wrong_structure', what);

export const LIMITS = { inline: 65_536, reason: 4_096, evidence: 32, whole: 983_040, depth: 90 }; // RUN-005

// ---- Members: each shape takes a value and its name. A value of another type or form is refused (VER-002).

const check = (test) => (value, key) => { test(value) || wrong(`${key} has another form`); };
const uuid = check((value) => isForm(UUID, value)); // RUN-004
const node = check((value) => isForm(NAME, value));
const hash = check((value) => isForm(HASH, value));
const whole = (low) => check((value) => isInteger(value, low, MAX));
const oneOf = (...words) => check((value) => words.includes(value));
const anything = () => {};
const object = check(isObject);
const list = (item) => (value, key) => {
  Array.isArray(value) || wrong(`${key} is no array`);
  value.forEach((each, i) => item(each, `${key}/${i}`));
};
const text = (low, high) => check((value) => typeof value === 'string' && [...value].length >= low && [...value].length <= high);

export function checkReason(value, key = 'reason') {
  if (typeof value !== 'string') wrong(`${key} is no string`);
  if (bytes(value) > LIMITS.reason) corrupt('over_limit', `${key} is too long`);
}
export function checkValue(value, key, limit) { // an output, a payload, an input
  if (survey(value).depth > LIMITS.depth) corrupt('over_limit', `${key} nests too deep`);
  if (bytes(canonical(value)) > limit) corrupt('over_limit', `${key} is too large`);
}
const inline = (value, key) => checkValue(value, key, LIMITS.inline);
const large = (value, key) => { object(value, key); checkValue(value, key, LIMITS.whole); };

// specification.md "An outcome is …", outcome-1.json.
export function checkOutcome(outcome) {
  if (!isObject(outcome) || !KINDS.includes(get(outcome, 'kind'))) wrong('outcome has no kind');
  const carries = outcome.kind === 'succeeded' || outcome.kind === 'changes_requested';
  const allowed = ['kind', 'evidence'];
  if (outcome.kind !== 'succeeded') allowed.push('reason');
  if (carries) allowed.push('output', 'artifact');
  for (const key of Object.keys(outcome)) if (!allowed.includes(key)) incompatible('unknown_member', `outcome has ${key}`);
  if (outcome.kind !== 'succeeded') checkReason(get(outcome, 'reason'), 'outcome/reason');
  if (own(outcome, 'output') && own(outcome, 'artifact')) wrong('output is given twice');
  if (own(outcome, 'output')) inline(outcome.output, 'outcome/output');
  const references = own(outcome, 'evidence') ? outcome.evidence : [];
  if (!Array.isArray(references)) wrong('evidence is no array');
  if (references.length > LIMITS.evidence) corrupt('over_limit', 'too much evidence');
  try {
    references.forEach((each, i) => artifactReference(each, `/evidence/${i}`, 5));
    if (own(outcome, 'artifact')) artifactReference(outcome.artifact, '/artifact', 5);
  } catch (problem) {
    if (problem instanceof Problem) wrong(problem.message);
    throw problem;
  }
}

const required = (shape, since = 1) => ({ shape, since, required: true });
const optional = (shape, since = 1, initial = undefined) => ({ shape, since, required: false, initial });
const target = (value, key) => {
  object(value, key);
  for (const each of Object.keys(value)) if (!['node', 'attempt_id', 'child_run_id'].includes(each)) incompatible('unknown_member', each);
  node(get(value, 'node'), key);
  uuid(get(value, 'attempt_id'), key);
  if (own(value, 'child_run_id')) uuid(value.child_run_id, key);
};

const attempt = { node: required(node), attempt_id: required(uuid) };
const timed = { ...attempt, deadline_ms: required(whole(0)) };
const started = { ...attempt, attempt: required(whole(1)), deadline_ms: optional(whole(0), 4) };
const failed = { ...attempt, reason: required(checkReason) };
const child = { ...attempt, child_run_id: required(uuid) };
const retried = { node: required(node), next_attempt: required(whole(1)) };
const recovery = { owner: required(uuid), epoch: required(whole(1)) };

// type → [since, until, members].
const EVENTS = new Map(Object.entries({
  RunCreated: [1, 5, {
    run_id: required(uuid), specification: required(object), content_hash: required(hash),
    input: optional(large, 3, () => ({})), ancestors: optional(list(uuid), 3, () => []),
  }],
  NodeReady: [1, 5, { node: required(node), cause: required(oneOf('initial', 'dependencies', 'queued')) }],
  NodeStarted: [1, 5, started],
  NodeSucceeded: [1, 1, { ...attempt, output: optional(inline) }],
  NodeFailed: [1, 1, failed],
  NodeBlocked: [1, 1, failed],
  RunCompleted: [1, 5, {}],
  RunFailed: [1, 5, {}],
  RunBlocked: [1, 5, {}],
  RunCancelled: [1, 5, {}],
  NodeOutcomeCommitted: [2, 5, { node: required(node), attempt_id: optional(uuid), outcome: required(checkOutcome) }],
  TransitionActivated: [3, 5, { edge: required(whole(0)), source: required(node), source_sequence: required(whole(1)) }],
  ChildStarted: [3, 5, { ...started, child_run_id: required(uuid) }],
  ChildCompleted: [3, 5, {
    ...child, result: required(oneOf('completed', 'failed', 'blocked', 'cancelled')), output: optional(large, 3, () => ({})),
  }],
  VirtualTimeAdvanced: [4, 5, { now_ms: required(whole(0)) }],
  RetryScheduled: [4, 5, { ...retried, deadline_ms: required(whole(0)) }],
  RetryReleased: [4, 5, retried],
  AttemptDeadlineExpired: [4, 5, timed],
  NodeTerminated: [4, 5, {
    node: required(node), reason: required(oneOf('attempts_exhausted', 'no_correction')),
    limit: optional(whole(1)), usage: optional(whole(0)),
  }],
  BudgetExhausted: [4, 5, {
    budget: required(oneOf('attempts', 'transitions', 'elapsed')), limit: required(whole(1)), usage: required(whole(0)),
    last_outcome: optional(whole(1)),
  }],
  SignalWaitOpened: [5, 5, { ...attempt, name: required(node), token_sha256: required(hash), deadline_ms: optional(whole(0)) }],
  SignalAccepted: [5, 5, { ...attempt, signal_id: required(uuid), name: required(node), payload: optional(inline, 5, () => null) }],
  SignalRejected: [5, 5, { ...attempt, signal_id: required(uuid), reason: required(oneOf('wrong_name', 'wrong_token')) }],
  SignalExpired: [5, 5, timed],
  TimerWaitOpened: [5, 5, timed],
  TimerFired: [5, 5, timed],
  CancellationRequested: [5, 5, {
    requester: required(text(1, 128)), reason: required(checkReason), now_ms: required(whole(0)), policy: required(oneOf('cascade')),
    targets: optional(list(target), 5, () => []),
  }],
  RecoveryAcquired: [5, 5, recovery],
  RecoveryReleased: [5, 5, recovery],
}));

// An event as it was recorded → its newest form with all defaults and its `recorded_version`; or a Refusal.
export function readEvent(version, event) {
  if (!isInteger(version, 1, 5)) incompatible('unknown_version', `version ${version}`); // VER-003
  const type = get(event, 'type');
  const entry = typeof type === 'string' ? EVENTS.get(type) : undefined;
  if (!entry || version < entry[0] || version > entry[1]) incompatible('unknown_type', `${type} in version ${version}`); // VER-001
  const members = entry[2];
  for (const key of Object.keys(event)) { // VER-002
    if (key === 'type') continue;
    if (!own(members, key) || members[key].since > version) incompatible('unknown_member', `${type} has no ${key} in version ${version}`);
  }
  const { problem, depth } = survey(event);
  if (problem) wrong(problem);
  if (depth > 99) corrupt('over_limit', 'the record nests too deep'); // of at most 100 levels the record is the first
  const read = { type };
  for (const [key, { shape, required: isRequired, initial }] of Object.entries(members)) {
    if (own(event, key)) {
      shape(event[key], key);
      read[key] = event[key];
    } else if (isRequired) wrong(`${type} needs ${key}`);
    else if (initial) read[key] = initial();
  }
  if (type === 'NodeTerminated' && own(read, 'limit') !== (read.reason === 'attempts_exhausted')) wrong('limit goes with attempts_exhausted');
  if (type === 'NodeTerminated' && own(read, 'usage') !== (read.reason === 'attempts_exhausted')) wrong('usage goes with attempts_exhausted');
  return { ...upcast(read), recorded_version: version };
}

// VER-007.
function upcast(event) {
  const { type, node: id, attempt_id } = event;
  const outcomes = {
    NodeSucceeded: () => ({ kind: 'succeeded', ...(own(event, 'output') ? { output: event.output } : {}) }),
    NodeFailed: () => ({ kind: 'permanent_failure', reason: event.reason }),
    NodeBlocked: () => ({ kind: 'blocked', reason: event.reason }),
  };
  if (!own(outcomes, type)) return event;
  return { type: 'NodeOutcomeCommitted', node: id, attempt_id, outcome: outcomes[type]() };
}
