// RUN-007: the one event that a state owes, if it owes one. "The order of consequences" of kernel.md is the order of `next`.
import { canonical, own, same } from './json.mjs';
import { delay, jitter, matches, plus } from './plan.mjs';
import { LIVE, TERMINAL, isUnscheduled, reachedByLive } from './state.mjs';

const CHARGED = new Set(['TransitionActivated', 'RetryScheduled', 'RetryReleased']);
const isCharged = ({ type, cause }) => CHARGED.has(type) || (type === 'NodeReady' && cause !== 'queued'); // BUD-002

// The owed event as `decide` would write it, or null. What of it is free is known to `isRight`.
export function owed(state) {
  if (state.status !== 'running') return null;
  const event = next(state);
  if (event && state.version >= 4 && isCharged(event) && state.transitions + 1 > state.plan.budgets.transitions) { // BUD-003
    return exhausted(state, 'transitions', state.transitions);
  }
  return event;
}

export function exhausted(state, budget, usage) { // BUD-005
  const event = { type: 'BudgetExhausted', budget, limit: state.plan.budgets[budget], usage };
  if (state.lastOutcome !== null) event.last_outcome = state.lastOutcome;
  return event;
}

function next(state) {
  const { owing } = state;
  if (owing.fact) return { type: owing.fact };
  if (owing.cascade) return cascade(owing.cascade); // CAN-002, CAN-004
  if (owing.outcome) return owing.outcome;
  if (owing.schedule) return scheduled(state, owing.schedule);
  if (owing.release) return { type: 'RetryReleased', node: owing.release.id, next_attempt: owing.release.attempts + 1 };
  if (owing.terminate) return usedUp(state, owing.terminate);
  const transition = owing.edges && nextEdge(state);
  if (transition) return transition;
  owing.edges = null;
  if (owing.initial.length > 0) return { type: 'NodeReady', node: owing.initial[0], cause: 'initial' };
  if (owing.settle) { // VER-011
    const node = [...state.nodes.values()].find(isUnscheduled);
    if (node) return scheduled(state, node);
  }
  if (owing.round.length > 0) return close(owing.round[0]); // RUN-023: the whole round, then what it releases
  const judged = owing.judge && (released(state) ?? queued(state) ?? closing(state) ?? fact(state));
  if (judged) return judged;
  owing.judge = false;
  const due = owing.advance && dueEvent(state); // TIM-002
  if (due) return due;
  owing.advance = false;
  owing.settle = false;
  return null;
}

function cascade(nodes) {
  if (nodes.length === 0) return { type: 'RunCancelled' };
  const [{ id, active }] = nodes;
  const outcome = { kind: 'cancelled', reason: 'The run is cancelled.' };
  return { type: 'NodeOutcomeCommitted', node: id, ...(active ? { attempt_id: active.attemptId } : {}), outcome };
}

// RTY-006: what `decide` writes; `range` is what a reducer accepts.
function scheduled(state, node) {
  const policy = state.plan.nodes.get(node.id).retry;
  const attempt = node.attempts + 1;
  const [low] = range(state, node);
  return { type: 'RetryScheduled', node: node.id, next_attempt: attempt, deadline_ms: plus(low, jitter(policy, state.runId, node.id, attempt)) };
}

function range(state, node) {
  const policy = state.plan.nodes.get(node.id).retry;
  const low = plus(state.now, delay(policy, node.attempts + 1));
  return [low, plus(low, policy.jitter?.maximum_ms ?? 0)];
}

function usedUp(state, node) { // RTY-004
  const { maxAttempts } = state.plan.nodes.get(node.id).retry;
  return { type: 'NodeTerminated', node: node.id, reason: 'attempts_exhausted', limit: maxAttempts, usage: node.attempts };
}

// EDG-008, EDG-010, EDG-014, EDG-015.
function nextEdge(state) {
  const { edges } = state.owing;
  const { out } = state.plan.nodes.get(edges.source);
  for (; edges.next < out.length; edges.next += 1) {
    const edge = out[edges.next];
    const target = state.nodes.get(edge.to);
    if (target.closed || target.activations >= state.plan.nodes.get(edge.to).maxActivations) continue;
    if (!matches(edge.when, edges.outcome)) continue;
    return { type: 'TransitionActivated', edge: edge.position, source: edges.source, source_sequence: edges.sequence };
  }
  return null;
}

function released(state) { // DEP-006
  for (const { id, dependencies, into } of state.plan.list) {
    const node = state.nodes.get(id);
    if (node.status === 'pending' && node.latched && dependencies.length > 0 && into.length === 0) {
      return { type: 'NodeReady', node: id, cause: 'dependencies' };
    }
  }
  return null;
}

function queued(state) { // EDG-012
  for (const node of state.nodes.values()) {
    if (node.queue.length > 0 && node.latched && !node.closed && !LIVE.has(node.status)) return { type: 'NodeReady', node: node.id, cause: 'queued' };
  }
  return null;
}

// RUN-023: rounds, from version 2 on.
function closing(state) {
  if (state.version < 2) return null;
  state.owing.round = newRound(state);
  return state.owing.round.length > 0 ? close(state.owing.round[0]) : null;
}

function close({ id, kind }) {
  if (kind === null) return { type: 'NodeTerminated', node: id, reason: 'no_correction' };
  return { type: 'NodeOutcomeCommitted', node: id, outcome: { kind, reason: 'Nothing more can come of it.' } };
}

function newRound(state) {
  const reached = reachedByLive(state);
  const isReachedByEdge = (id) => state.plan.nodes.get(id).into.some(({ from }) => LIVE.has(state.nodes.get(from).status) || reached.has(from));
  const found = [];
  for (const { id, dependencies, into } of state.plan.list) {
    const node = state.nodes.get(id);
    if (node.status === 'changes_requested') { // RUN-022
      const isLeft = state.left.has(id) && !state.owing.settle;
      if (state.version >= 4 && !isLeft && !reached.has(id)) found.push({ id, kind: null });
    } else if (node.status === 'pending') {
      const statuses = dependencies.map((each) => state.nodes.get(each).status);
      const isImpossible = !node.latched && statuses.every((status) => TERMINAL.has(status))
        && !dependencies.some((each, i) => statuses[i] !== 'succeeded' && isReachedByEdge(each)); // DEP-010
      if (isImpossible) {
        const kind = ['cancelled', 'blocked'].find((each) => statuses.includes(each)) ?? 'skipped'; // DEP-011
        found.push({ id, kind });
      } else if (into.length > 0 && node.latched && node.queue.length === 0 && !reached.has(id)) { // EDG-016, EDG-017
        found.push({ id, kind: 'skipped' });
      }
    }
  }
  const { rank } = state.plan;
  const first = Math.min(...found.map(({ id }) => rank.get(id)));
  return found.filter(({ id }) => rank.get(id) === first);
}

function fact(state) { // RUN-024
  const statuses = new Set();
  for (const { status } of state.nodes.values()) {
    if (!TERMINAL.has(status)) return null;
    statuses.add(status);
  }
  if (statuses.has('failed')) return { type: 'RunFailed' };
  if (statuses.has('blocked')) return { type: 'RunBlocked' };
  return { type: statuses.has('cancelled') ? 'RunCancelled' : 'RunCompleted' };
}

// ---- Time.

// TIM-003: the first due item, or null.
export function dueItem(state) {
  let first = null;
  const consider = (deadline, kind, node) => {
    if (deadline === null || deadline === undefined || deadline > state.now) return;
    if (!first || deadline < first.deadline || (deadline === first.deadline && kind < first.kind)) first = { deadline, kind, node };
  };
  consider(state.plan.budgets.elapsed, 0, null);
  for (const node of state.nodes.values()) {
    if (node.active) {
      consider(node.active.deadline, 1, node);
      if (node.active.wait) consider(node.active.wait.deadline_ms, node.active.wait.kind === 'signal' ? 2 : 3, node);
    }
    if (node.status === 'retry_pending') consider(node.retryMs, 4, node);
  }
  return first;
}

function dueEvent(state) {
  const item = dueItem(state);
  if (!item) return null;
  const { kind, deadline, node } = item;
  if (kind === 0) return exhausted(state, 'elapsed', state.now); // BUD-004
  if (kind === 4) return { type: 'RetryReleased', node: node.id, next_attempt: node.attempts + 1 }; // RTY-009
  const type = { 1: 'AttemptDeadlineExpired', 2: 'SignalExpired', 3: 'TimerFired' }[kind];
  return { type, node: node.id, attempt_id: node.active.attemptId, deadline_ms: deadline };
}

// ---- Whether an event is the owed one.

export function isRight(state, expected, event) {
  if (expected.type !== event.type) return false;
  if (expected.type === 'NodeOutcomeCommitted') { // RUN-019: its reason is free
    return expected.node === event.node && expected.attempt_id === event.attempt_id && isSameButReason(expected.outcome, event.outcome);
  }
  if (expected.type === 'RetryScheduled') { // RTY-006: any deadline within the jitter
    const [low, high] = range(state, state.nodes.get(expected.node));
    return expected.node === event.node && expected.next_attempt === event.next_attempt && event.deadline_ms >= low && event.deadline_ms <= high;
  }
  const { recorded_version: _, ...told } = event;
  return canonical(expected) === canonical(told);
}

function isSameButReason(a, b) {
  return a.kind === b.kind && own(a, 'output') === own(b, 'output') && (!own(a, 'output') || same(a.output, b.output))
    && !own(b, 'artifact') && !(own(b, 'evidence') && b.evidence.length > 0);
}
