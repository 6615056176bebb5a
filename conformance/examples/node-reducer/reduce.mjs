// reduce: a history in; the state, or where it is refused and how (RUN-007, RUN-030, RUN-031).
import { apply, turnTo } from './apply.mjs';
import { ancestorsProblem, firstEvent, inputProblem, isCancellable, rejection, settle } from './commands.mjs';
import { exhausted, isRight, owed } from './consequences.mjs';
import { Refusal, corrupt, readEvent } from './events.mjs';
import { get, own } from './json.mjs';
import { makePlan } from './plan.mjs';
import { validate } from './specification.mjs';
import { makeState } from './state.mjs';

// `state` is null before the first event. Gives the next state (the same object, changed), or throws a Refusal.
export function reduceEvent(state, version, recorded) {
  const event = readEvent(version, recorded);
  if (!state) return create(event);
  if (state.status !== 'running') corrupt('run_terminal', 'the run has ended'); // RUN-026
  if (version < state.version) corrupt('version_went_down'); // VER-004
  const expected = owed(state);
  if (expected) {
    if (version !== state.version) corrupt('something_else_owed', 'the version changed within a batch'); // VER-004
    if (!isRight(state, expected, event)) corrupt('something_else_owed', `${expected.type} is owed`);
  } else {
    turnTo(state, version);
    judgeFirst(state, event, version);
  }
  apply(state, event);
  return state;
}

function create(event) {
  if (event.type !== 'RunCreated') corrupt('nothing_owed', 'a history begins with RunCreated'); // RUN-001
  const { specification: document, recorded_version: version } = event;
  const problem = validate(document); // RUN-002
  if (problem) corrupt('invalid_specification', problem.message);
  if (!isCancellable(document)) corrupt('invalid_specification', 'the document has too many nodes');
  if (get(document, 'content_hash') !== event.content_hash) corrupt('wrong_content', 'content_hash is not that of the document');
  if (document.schema_version > version) corrupt('wrong_content', 'the document is newer than the event'); // VER-005
  const plan = makePlan(document);
  if (inputProblem(plan.inputs, event.input)) corrupt('invalid_input'); // RUN-003
  const wrong = ancestorsProblem(event.run_id, event.ancestors); // CHD-010
  if (wrong) corrupt('invalid_ancestors', wrong);
  const state = makeState(plan, event);
  state.sequence = 1;
  state.owing.initial = [...plan.initial];
  return state;
}

// The command that an event would begin the batch of, as far as the event tells; or null.
const COMMANDS = {
  NodeStarted: ({ node, attempt_id }) => ({ type: 'StartNode', node, attempt_id }),
  ChildStarted: ({ node, attempt_id, child_run_id }) => ({ type: 'StartNode', node, attempt_id, child_run_id }),
  NodeOutcomeCommitted: ({ node, attempt_id, outcome }) => attempt_id && { type: 'CompleteAttempt', node, attempt_id, outcome },
  ChildCompleted: (event) => ({ ...event, type: 'CompleteChild' }),
  SignalWaitOpened: (event) => ({ ...event, type: 'OpenSignalWait' }),
  TimerWaitOpened: (event) => ({ ...event, type: 'OpenTimerWait' }),
  SignalAccepted: deliver,
  SignalRejected: deliver,
  VirtualTimeAdvanced: ({ now_ms }) => ({ type: 'AdvanceTime', now_ms }),
  CancellationRequested: ({ requester, reason }) => ({ type: 'RequestCancellation', requester, reason }),
  RecoveryAcquired: ({ owner, epoch }) => ({ type: 'AcquireRecovery', owner, epoch }),
  RecoveryReleased: ({ owner, epoch }) => ({ type: 'ReleaseRecovery', owner, epoch }),
};

// A delivery whose answer might be this event: what was presented is not in the history.
function deliver({ node, signal_id, name, payload, reason }, state) {
  const wait = state.nodes.get(node)?.active?.wait;
  const waits = wait?.kind === 'signal' ? wait : { name: '', token_sha256: '' };
  return {
    type: 'DeliverSignal',
    node,
    signal_id,
    name: reason === 'wrong_name' ? `${waits.name}?` : name ?? waits.name,
    token_sha256: reason === 'wrong_token' ? '' : waits.token_sha256,
    payload: payload ?? null,
  };
}

// RUN-007: nothing is owed, so the event must begin the batch of an allowed command.
function judgeFirst(state, event, version) {
  if (event.type === 'RunCancelled' && version === 1) return; // VER-009
  if (event.type === 'BudgetExhausted' && event.budget === 'attempts') { // BUD-003: a StartNode that is one too many
    const isReady = [...state.nodes.values()].some(({ status }) => status === 'ready');
    const { attempts } = state.plan.budgets;
    if (!isReady || state.attemptsUsed < attempts) corrupt('nothing_owed');
    if (!isRight(state, exhausted(state, 'attempts', state.attemptsUsed), event)) corrupt('wrong_content');
    return;
  }
  const command = COMMANDS[event.type]?.(event, state);
  if (!command) { judgeSettle(state, event, version); return; }
  const no = rejection(state, command);
  if (no) corrupt(no.code, no.sentence);
  const first = firstEvent(state, command, version);
  const { outcome } = event;
  if (first.type !== event.type) corrupt('wrong_content', `${first.type} would come`);
  if (!outcome && !isRight(state, first, event)) corrupt('wrong_content');
}

// VER-011: from version 4 on, whose events it has.
function judgeSettle(state, event, version) {
  if (version >= 4) {
    settle(state);
    const first = owed(state);
    if (first && isRight(state, first, event)) return;
  }
  corrupt('nothing_owed', `${event.type} is not owed, and begins no batch`);
}

// { accepted: true, state, whole } or { accepted: false, kind, sequence, code, sentence }.
export function reduceHistory(history) {
  let state = null;
  for (let i = 0; i < history.length; i += 1) {
    try {
      state = reduceEvent(state, get(history[i], 'version'), get(history[i], 'event'));
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      return { accepted: false, kind: refusal.kind, sequence: i + 1, code: refusal.code, sentence: refusal.message };
    }
  }
  return { accepted: true, state, whole: owed(state) === null }; // RUN-008
}
