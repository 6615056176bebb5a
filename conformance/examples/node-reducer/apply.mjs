// The state after an event that has been found right. Nothing is judged here: what an event brings with it is noted in
// `state.owing`, and worked out in consequences.mjs.
import { LIMITS } from './events.mjs';
import { canonicalBytes, get, own, record } from './json.mjs';
import { LIVE, TERMINAL, inputOf, leftBehind } from './state.mjs';

const ENDED = { // RUN-021
  succeeded: 'succeeded', changes_requested: 'changes_requested', retryable_failure: 'failed', permanent_failure: 'failed',
  blocked: 'blocked', cancelled: 'cancelled', skipped: 'skipped',
};
const FACTS = { RunCompleted: 'completed', RunFailed: 'failed', RunBlocked: 'blocked', RunCancelled: 'cancelled' };

// A batch of this version begins (VER-004).
export function turnTo(state, version) {
  if (state.version < 4 && version >= 4) state.left = leftBehind(state); // RUN-022, VER-011
  state.version = version;
}

export function apply(state, event) {
  state.sequence += 1;
  const node = event.node === undefined ? null : state.nodes.get(event.node);
  APPLY[event.type](state, event, node);
}

function begin(node, activation) {
  node.status = 'ready';
  node.activation = activation;
  node.attempts = 0; // RTY-003
  node.retryMs = null;
}

// DEP-001 … DEP-003 on the current statuses (DEP-004).
const isSatisfied = {
  all_succeeded: (statuses) => statuses.every((status) => status === 'succeeded'),
  all_completed: (statuses) => statuses.every((status) => TERMINAL.has(status)),
  any_succeeded: (statuses) => statuses.some((status) => status === 'succeeded'),
};

// A node ended, was closed or terminated: the latches of its dependents, and the pins with them (DEP-004, DEP-005, DEP-008).
function ended(state, node) {
  for (const { id, dependencies, policy } of state.plan.nodes.get(node.id).dependents) {
    const dependent = state.nodes.get(id);
    if (dependent.latched || dependent.status !== 'pending') continue;
    const prerequisites = dependencies.map((each) => state.nodes.get(each));
    if (!isSatisfied[policy](prerequisites.map(({ status }) => status))) continue;
    dependent.latched = true;
    dependent.released = new Map(prerequisites.filter(({ outcome }) => outcome !== null).map((each) => [each.id, each.outcome]));
  }
  state.owing.judge = true;
}

function start(state, event, node) {
  const { input, missing } = inputOf(state, state.plan.nodes.get(node.id));
  node.status = 'running';
  node.attempts += 1;
  node.active = {
    attemptId: event.attempt_id, childRunId: event.child_run_id ?? null, deadline: event.deadline_ms ?? null, input, wait: null, resolved: [],
  };
  state.attempts.set(event.attempt_id, { node: node.id, outcome: null, completed: null });
  state.attemptsUsed += 1; // BUD-001
  if (event.child_run_id) state.childRuns.set(event.child_run_id, node.id);
  if (missing) owe(state, node, { kind: 'permanent_failure', reason: 'A mapped input has no value.' }); // RUN-018
}

function owe(state, node, outcome) {
  state.owing.outcome = { type: 'NodeOutcomeCommitted', node: node.id, attempt_id: node.active.attemptId, outcome };
}

function commit(state, { attempt_id: attemptId, outcome, recorded_version: version }, node) {
  const { owing } = state;
  const policy = state.plan.nodes.get(node.id).retry;
  state.outcomes.set(state.sequence, outcome);
  state.lastOutcome = state.sequence;
  node.outcome = state.sequence;
  owing.outcome = null;
  if (attemptId) {
    state.attempts.get(attemptId).outcome = state.sequence;
    node.active = null; // TIM-006: which closes its wait
  } else {
    node.closed = !owing.cascade; // a cascade closes no node
    if (node.closed) node.queue = []; // DEP-010; a cascade leaves queues alone (CAN-003)
  }
  if (owing.cascade) { // CAN-003: nothing is judged
    owing.cascade.shift();
    node.status = 'cancelled';
    node.retryMs = null;
    return;
  }
  if (!attemptId) { // a closure
    owing.round.shift();
    node.status = ENDED[outcome.kind];
    ended(state, node);
    return;
  }
  const isRetried = version >= 4
    ? policy.classes.has(outcome.kind) && node.attempts < policy.maxAttempts // RTY-001, VER-012
    : outcome.kind === 'retryable_failure'; // VER-010
  if (isRetried) {
    node.status = 'retry_pending';
    if (version >= 4) owing.schedule = node; // RTY-002
    else node.unscheduled = true;
    return;
  }
  node.status = ENDED[outcome.kind];
  if (version >= 4 && policy.classes.has(outcome.kind)) owing.terminate = node; // RTY-004
  if (version === 1 && node.status === 'failed') owing.fact = 'RunFailed'; // VER-008
  if (version === 1 && node.status === 'blocked') owing.fact = 'RunBlocked';
  ended(state, node);
  if (version >= 3) owing.edges = { source: node.id, sequence: state.sequence, outcome, next: 0 }; // EDG-008
}

function resolve(node, what) {
  node.status = 'running';
  node.active.wait = null;
  node.active.resolved.push(what); // SIG-009
}

function expire(state, event, node) {
  owe(state, node, { kind: 'retryable_failure', reason: 'The deadline has passed.' }); // TIM-006, SIG-010
}

function end(state, event) {
  state.status = FACTS[event.type];
  Object.assign(state.owing, {
    initial: [], fact: null, outcome: null, schedule: null, release: null, terminate: null, edges: null, cascade: null, settle: false,
    judge: false, round: [], advance: false,
  });
}

const APPLY = {
  NodeReady(state, { cause }, node) {
    if (cause === 'queued') { begin(node, node.queue.shift()); return; } // EDG-012
    if (cause === 'initial') state.owing.initial.shift();
    state.transitions += 1; // BUD-002
    node.activations += 1;
    begin(node, null);
  },
  NodeStarted: start,
  ChildStarted: start,
  NodeOutcomeCommitted: commit,
  TransitionActivated(state, { edge, source_sequence: sequence }) {
    const target = state.nodes.get(state.plan.edges[edge].to);
    const activation = { edge, source_sequence: sequence };
    state.owing.edges.next += 1;
    state.transitions += 1;
    target.activations += 1; // EDG-015
    if (!LIVE.has(target.status) && target.latched && target.queue.length === 0) begin(target, activation); // EDG-011
    else target.queue.push(activation);
  },
  ChildCompleted(state, event, node) {
    state.attempts.get(event.attempt_id).completed = { child_run_id: event.child_run_id, result: event.result, output: event.output };
    owe(state, node, childOutcome(state.plan.nodes.get(node.id).child, event));
  },
  VirtualTimeAdvanced(state, { now_ms: now }) {
    state.now = now; // TIM-001
    state.owing.advance = true;
  },
  RetryScheduled(state, { deadline_ms: deadline }, node) {
    state.transitions += 1;
    state.owing.schedule = null;
    node.unscheduled = false;
    node.retryMs = deadline; // RTY-006
    if (deadline <= state.now) state.owing.release = node; // RTY-008
  },
  RetryReleased(state, event, node) {
    state.transitions += 1;
    state.owing.release = null;
    node.retryMs = null;
    node.status = 'ready';
  },
  AttemptDeadlineExpired: expire,
  SignalExpired: expire,
  NodeTerminated(state, { reason }, node) {
    if (reason === 'attempts_exhausted') { state.owing.terminate = null; return; } // RTY-004
    state.owing.round.shift();
    state.left.delete(node.id);
    node.status = 'failed'; // RUN-022
    ended(state, node);
  },
  BudgetExhausted(state) {
    state.owing.fact = 'RunFailed'; // BUD-003
  },
  SignalWaitOpened(state, event, node) {
    const { name, token_sha256, deadline_ms } = event;
    node.status = 'waiting'; // SIG-002
    node.active.wait = { kind: 'signal', name, token_sha256, ...(deadline_ms === undefined ? {} : { deadline_ms }) };
  },
  SignalAccepted(state, { signal_id: id, name, payload }, node) {
    state.signals.set(id, 'accepted'); // SIG-007
    resolve(node, { kind: 'signal', signal_id: id, name, payload }); // null is told too, as it may be
  },
  SignalRejected(state, { signal_id: id, reason }) {
    state.signals.set(id, reason); // SIG-005: the wait stays open
  },
  TimerWaitOpened(state, { deadline_ms }, node) {
    node.status = 'waiting'; // TIM-009
    node.active.wait = { kind: 'timer', deadline_ms };
  },
  TimerFired(state, { deadline_ms }, node) {
    resolve(node, { kind: 'timer', deadline_ms });
  },
  CancellationRequested(state) {
    state.owing.cascade = [...state.nodes.values()].filter(({ status }) => !TERMINAL.has(status)); // CAN-002
  },
  RecoveryAcquired(state, { owner, epoch }) {
    state.recovery = { owner, epoch, isHeld: true };
  },
  RecoveryReleased(state) {
    state.recovery = { ...state.recovery, isHeld: false };
  },
  RunCompleted: end,
  RunFailed: end,
  RunBlocked: end,
  RunCancelled: end,
};

// CHD-012 … CHD-014.
function childOutcome(call, { result, output }) {
  const failure = (reason) => ({ kind: 'permanent_failure', reason });
  if (result !== 'completed') {
    const kind = { failed: 'permanent_failure', blocked: 'blocked', cancelled: 'cancelled' }[result];
    return call.policy === 'propagate' ? { kind, reason: `The child run is ${result}.` } : failure(`The child run is ${result}.`);
  }
  const taken = record();
  for (const [key, field] of Object.entries(get(call, 'outputs') ?? {})) {
    if (!own(output, field)) return failure('The output of the child run lacks a field.');
    taken[key] = output[field];
  }
  if (canonicalBytes(taken) > LIMITS.inline) return failure('The output of the child run is too large.');
  return { kind: 'succeeded', output: taken };
}
