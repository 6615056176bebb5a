// Which commands are allowed (kernel.md "Refusals"), and the first event of the batch of each.
import { MAX, bytes, canonical, canonicalBytes, get, isInteger, own, same, survey } from './json.mjs';
import { dueItem, exhausted, owed } from './consequences.mjs';
import { LIMITS, Refusal, checkOutcome, checkValue } from './events.mjs';
import { plus } from './plan.mjs';
import { UUID, contentHash, isForm, validate } from './specification.mjs';

const MAX_ANCESTORS = 8; // CHD-010
const MAX_CANCELLATION_BYTES = 16 * 1024 * 1024;
const LONGEST_REQUEST = 6 * 128 + 6 * 4096 + 1024; // requester and reason, each character escaped, and the rest of the record

const reject = (code, sentence = code, more = {}) => ({ code, sentence, ...more });

// null, or { code, sentence, disposition }: RUN-029. `state` is null before a run is created.
export function rejection(state, command) {
  const again = state && answerAgain(state, command);
  if (again) return again;
  if (command.type === 'CreateRun') return rejectCreation(command);
  if (!state) return reject('no_run');
  if (state.status !== 'running') return reject('run_terminal'); // RUN-026
  for (const key of ['attempt_id', 'child_run_id', 'signal_id', 'owner']) { // RUN-004
    if (own(command, key) && !isForm(UUID, command[key])) return reject('invalid_id', `${key} is no canonical UUID text`);
  }
  const judge = REJECT[command.type];
  if (!own(command, 'node')) return judge(state, command);
  const node = state.nodes.get(command.node);
  if (!node) return reject('unknown_node');
  return judge(state, command, node, state.plan.nodes.get(node.id));
}

// The five idempotent answers (RUN-011, RUN-015, SIG-007).
function answerAgain(state, command) {
  if (command.type === 'CreateRun') {
    const { specification: document } = command;
    const isSame = command.run_id === state.runId && same(command.input ?? {}, state.input) && same(command.ancestors ?? [], state.ancestors)
      && contentHash(document) === state.contentHash && (get(document, 'content_hash') ?? state.contentHash) === state.contentHash;
    return reject(isSame ? 'already_created' : 'run_conflict');
  }
  if (command.type === 'DeliverSignal' && state.signals.has(command.signal_id)) {
    return reject('already_consumed', 'The signal id is consumed.', { disposition: state.signals.get(command.signal_id) });
  }
  if (command.type !== 'CompleteAttempt' && command.type !== 'CompleteChild') return null;
  const attempt = state.attempts.get(command.attempt_id);
  if (!attempt || attempt.outcome === null) return null;
  const isSame = attempt.node === command.node && (command.type === 'CompleteAttempt'
    ? same(plain(command.outcome), plain(state.outcomes.get(attempt.outcome)))
    : attempt.completed !== null && same(attempt.completed, {
      child_run_id: command.child_run_id, result: command.result, output: command.output ?? {},
    }));
  return reject(isSame ? 'already_committed' : 'conflicting_outcome');
}

const plain = (outcome) => ({ ...outcome, evidence: get(outcome, 'evidence') ?? [] });

export function ancestorsProblem(runId, ancestors) { // CHD-010
  if (ancestors.length > MAX_ANCESTORS) return 'there are more than eight ancestors';
  if (new Set([runId, ...ancestors]).size <= ancestors.length) return 'an ancestor stands twice or is the run';
  return null;
}

export function inputProblem(declared, input) { // RUN-003
  return Object.keys(input).length === declared.length && declared.every((key) => own(input, key)) ? null : 'the input is not what the document declares';
}

// Whether the record of a cancellation of all nodes might exceed 16 MiB.
export function isCancellable({ nodes }) {
  if (nodes.length < 10_000) return true;
  const id = '0'.repeat(36);
  const targets = nodes.map((node) => ({ node: node.id, attempt_id: id, ...(own(node, 'child') ? { child_run_id: id } : {}) }));
  return bytes(canonical(targets)) + LONGEST_REQUEST <= MAX_CANCELLATION_BYTES;
}

function rejectCreation(command) {
  const { run_id: runId, specification: document, input = {}, ancestors = [] } = command;
  for (const id of [runId, ...ancestors]) if (!isForm(UUID, id)) return reject('invalid_id');
  const problem = validate(document);
  if (problem) return reject('invalid_specification', problem.message);
  if (!isCancellable(document)) return reject('invalid_specification', 'The document has too many nodes.');
  if (inputProblem(get(document, 'inputs') ?? [], input)) return reject('invalid_input');
  if (isBeyond(input, LIMITS.whole)) return reject('over_limit', 'The input is beyond its limit.');
  if (ancestorsProblem(runId, ancestors)) return reject('invalid_ancestors');
  return null;
}

const isBeyond = (value, limit) => survey(value).depth > LIMITS.depth || canonicalBytes(value) > limit; // RUN-005

const isDue = (state, deadline) => deadline !== null && deadline !== undefined && deadline <= state.now;

// CompleteAttempt, OpenSignalWait, OpenTimerWait, CompleteChild: of the active attempt, while it runs (RUN-014, SIG-003, TIM-007).
function rejectAttempt(state, { attempt_id: id, child_run_id: childRunId }, node) {
  if (node.status !== 'running' || node.active?.attemptId !== id) return reject('not_active');
  if (childRunId !== undefined && node.active.childRunId !== childRunId) return reject('not_active');
  if (isDue(state, node.active.deadline)) return reject('attempt_due');
  return null;
}

function rejectWait(state, command, node, planned) {
  if (planned.child) return reject('is_a_child'); // CHD-011
  const no = rejectAttempt(state, command, node);
  if (no) return no;
  const { deadline_ms: deadline } = command;
  if (deadline === undefined) return null;
  if (!isInteger(deadline, 0, MAX)) return reject('over_limit');
  return deadline > state.now ? null : reject('deadline_passed'); // TIM-008
}

const REJECT = {
  StartNode(state, { attempt_id: id, child_run_id: childRunId }, node, planned) {
    if (node.status !== 'ready') return reject('not_ready'); // RUN-012
    if (state.attempts.has(id)) return reject('attempt_id_used'); // RUN-013
    if (!planned.child) return childRunId === undefined ? null : reject('not_a_child');
    if (childRunId === undefined) return reject('child_run_id_needed');
    const isUsed = childRunId === state.runId || state.ancestors.includes(childRunId) || state.childRuns.has(childRunId); // CHD-009
    return isUsed ? reject('child_run_id_used') : null;
  },
  CompleteAttempt(state, command, node, planned) {
    if (planned.child) return reject('is_a_child'); // CHD-011
    const no = rejectAttempt(state, command, node);
    if (no) return no;
    if (command.outcome.kind === 'skipped') return reject('invalid_outcome'); // RUN-016
    try {
      checkOutcome(command.outcome);
    } catch (refusal) {
      if (refusal instanceof Refusal) return reject('over_limit', refusal.message);
      throw refusal;
    }
    return null;
  },
  CompleteChild(state, command, node, planned) {
    if (!planned.child) return reject('not_a_child');
    const no = rejectAttempt(state, command, node); // CHD-011
    if (no) return no;
    return isBeyond(command.output ?? {}, LIMITS.whole) ? reject('over_limit') : null;
  },
  OpenSignalWait(state, command, node, planned) {
    const no = rejectWait(state, command, node, planned);
    if (no) return no;
    return planned.signals.includes(command.name) ? null : reject('undeclared_signal'); // SIG-002
  },
  OpenTimerWait: rejectWait,
  DeliverSignal(state, command, node) { // SIG-006
    const wait = node.active?.wait;
    if (wait?.kind !== 'signal' || isDue(state, wait.deadline_ms) || isDue(state, node.active.deadline)) return reject('no_open_wait');
    return isBeyond(command.payload ?? null, LIMITS.inline) ? reject('over_limit') : null;
  },
  AdvanceTime(state, { now_ms: now }) { // TIM-001
    if (!isInteger(now, 0, MAX)) return reject('over_limit');
    if (now < state.now) return reject('time_went_back');
    return now > state.now || dueItem(state) ? null : reject('no_effect');
  },
  RequestCancellation(state, { reason }) {
    return bytes(reason) > LIMITS.reason ? reject('over_limit') : null;
  },
  AcquireRecovery(state, { epoch }) { // RUN-028
    if (!isInteger(epoch, 1, MAX)) return reject('over_limit');
    return state.recovery && epoch <= state.recovery.epoch ? reject('stale_epoch') : null;
  },
  ReleaseRecovery(state, { owner, epoch }) {
    const { recovery } = state;
    return recovery?.isHeld && recovery.owner === owner && recovery.epoch === epoch ? null : reject('wrong_owner');
  },
  Settle(state) { // VER-011
    settle(state);
    return owed(state) ? null : reject('no_effect');
  },
};

export function settle(state) {
  state.owing.settle = true;
  state.owing.judge = true;
}

// The first event of the batch of a command that is allowed, in version 4 or 5 or in that of an older history.
export function firstEvent(state, command, version) {
  const make = FIRST[command.type];
  return make(state, command, command.node === undefined ? null : state.nodes.get(command.node), version);
}

const FIRST = {
  StartNode(state, { node: id, attempt_id, child_run_id }, node, version) {
    const { attempts } = state.plan.budgets;
    if (version >= 4 && state.attemptsUsed + 1 > attempts) return exhausted(state, 'attempts', state.attemptsUsed); // BUD-001, BUD-003
    const { retry, child } = state.plan.nodes.get(id);
    const event = { type: child ? 'ChildStarted' : 'NodeStarted', node: id, attempt_id, attempt: node.attempts + 1 }; // RTY-003
    if (child) event.child_run_id = child_run_id;
    if (version >= 4 && retry.attemptDeadline !== null) event.deadline_ms = plus(state.now, retry.attemptDeadline); // TIM-004
    return event;
  },
  CompleteAttempt: (state, { node, attempt_id, outcome }) => ({ type: 'NodeOutcomeCommitted', node, attempt_id, outcome }),
  CompleteChild: (state, { node, attempt_id, child_run_id, result, output = {} }) => (
    { type: 'ChildCompleted', node, attempt_id, child_run_id, result, output }),
  OpenSignalWait: (state, { node, attempt_id, name, token_sha256, deadline_ms }) => (
    { type: 'SignalWaitOpened', node, attempt_id, name, token_sha256, ...(deadline_ms === undefined ? {} : { deadline_ms }) }),
  OpenTimerWait: (state, { node, attempt_id, deadline_ms }) => ({ type: 'TimerWaitOpened', node, attempt_id, deadline_ms }),
  DeliverSignal(state, { signal_id, name, token_sha256, payload = null }, node) { // SIG-004, SIG-005
    const { attemptId, wait } = node.active;
    const delivery = { node: node.id, attempt_id: attemptId, signal_id };
    if (name !== wait.name) return { type: 'SignalRejected', ...delivery, reason: 'wrong_name' };
    if (token_sha256 !== wait.token_sha256) return { type: 'SignalRejected', ...delivery, reason: 'wrong_token' };
    return { type: 'SignalAccepted', ...delivery, name, payload };
  },
  AdvanceTime: (state, { now_ms }) => ({ type: 'VirtualTimeAdvanced', now_ms }),
  RequestCancellation: (state, { requester, reason }) => ({ // CAN-001
    type: 'CancellationRequested',
    requester,
    reason,
    now_ms: state.now,
    policy: 'cascade',
    targets: [...state.nodes.values()].filter(({ active }) => active).map(({ id, active }) => (
      { node: id, attempt_id: active.attemptId, ...(active.childRunId ? { child_run_id: active.childRunId } : {}) })),
  }),
  AcquireRecovery: (state, { owner, epoch }) => ({ type: 'RecoveryAcquired', owner, epoch }),
  ReleaseRecovery: (state, { owner, epoch }) => ({ type: 'RecoveryReleased', owner, epoch }),
  Settle: (state) => owed(state),
};
