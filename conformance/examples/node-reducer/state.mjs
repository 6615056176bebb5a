// The state of a run, how it is told (state-2.json), and what is asked of it.
import { canonical, get, own, record, same, sha256 } from './json.mjs';
import { fieldOf } from './plan.mjs';

export const TERMINAL = new Set(['succeeded', 'failed', 'blocked', 'cancelled', 'skipped']);
export const LIVE = new Set(['ready', 'running', 'waiting', 'retry_pending']);

export function makeState(plan, created) {
  return {
    plan,
    runId: created.run_id,
    contentHash: created.content_hash,
    ancestors: created.ancestors,
    input: created.input,
    sequence: 0,
    version: created.recorded_version,
    oldest: created.recorded_version,
    status: 'running',
    now: 0,
    transitions: 0,
    attemptsUsed: 0,
    lastOutcome: null, // the sequence of the last NodeOutcomeCommitted
    nodes: new Map(plan.list.map(({ id, dependencies }) => [id, {
      id,
      status: 'pending',
      activations: 0,
      activation: null, // { edge, source_sequence } if an edge began it
      queue: [],
      attempts: 0,
      active: null, // { attemptId, childRunId, deadline, input, wait, resolved }
      retryMs: null,
      unscheduled: false, // an older version left it retry pending without a deadline (VER-010)
      outcome: null,
      closed: false,
      latched: dependencies.length === 0,
      released: null, // prerequisite → sequence, once latched
    }])),
    attempts: new Map(), // attempt id → { node, outcome, completed }
    childRuns: new Map(), // child run id → node
    outcomes: new Map(), // sequence → outcome
    signals: new Map(), // signal id → disposition
    recovery: null,
    left: new Set(), // changes requested nodes that an older version left to Settle
    owing: { // what the batch under way still brings; all of it is nothing between batches
      initial: [], fact: null, outcome: null, schedule: null, release: null, terminate: null, edges: null,
      cascade: null, settle: false, judge: false, round: [], advance: false,
    },
  };
}

// kernel.md "reaches": the nodes that some live node reaches. Every node on the way counts, whatever its status.
export function reachedByLive(state) {
  const { plan } = state;
  const reached = new Set();
  for (const node of state.nodes.values()) if (LIVE.has(node.status)) for (const target of plan.to.get(node.id)) reached.add(target);
  for (const id of reached) for (const target of plan.to.get(id)) reached.add(target);
  return reached;
}

export const isUnscheduled = (node) => node.unscheduled && node.status === 'retry_pending';

// VER-011, RUN-022: what events of older versions left to Settle, in specification order.
export function leftBehind(state) {
  if (state.version >= 4) return state.left;
  const reached = reachedByLive(state);
  return new Set([...state.nodes.values()].filter((node) => node.status === 'changes_requested' && !reached.has(node.id)).map(({ id }) => id));
}

// RUN-017: the value of one mapped input of a node, or undefined.
function mappedInput(state, node, source) {
  if (own(source, 'run_input')) return get(state.input, source.run_input);
  const { activation } = state.nodes.get(node.id);
  const last = state.nodes.get(source.node).outcome;
  let sequence = last;
  if (activation && state.plan.edges[activation.edge].from === source.node) sequence = activation.source_sequence;
  else if (node.dependencies.includes(source.node)) sequence = state.nodes.get(node.id).released?.get(source.node) ?? null;
  return sequence === null ? undefined : fieldOf(state.outcomes.get(sequence), source.output);
}

// What an attempt that starts now is given; and whether a mapped value is missing (RUN-018).
export function inputOf(state, node) {
  const input = record(Object.entries(node.given));
  let missing = false;
  for (const [key, source] of node.mapping) {
    const value = mappedInput(state, node, source);
    if (value === undefined) missing = true;
    else input[key] = value;
  }
  return { input, missing };
}

// RUN-027.
export function outputOf(state) {
  const output = record();
  for (const [key, { node, output: field }] of state.plan.outputs) {
    const { outcome } = state.nodes.get(node);
    const value = outcome === null ? undefined : fieldOf(state.outcomes.get(outcome), field);
    if (value !== undefined) output[key] = value;
  }
  return output;
}

// ---- state-2.json.

const put = (object, key, value) => { if (value !== null && value !== undefined) object[key] = value; };

function tellNode(node) {
  const told = { status: node.status, activations: node.activations, attempts: node.attempts, queue: node.queue, closed: node.closed };
  put(told, 'activation', node.activation);
  put(told, 'retry_ms', node.retryMs);
  put(told, 'outcome', node.outcome);
  if (node.released) told.released = record(node.released);
  if (node.active) {
    const { attemptId, childRunId, deadline, input, wait, resolved } = node.active;
    told.active = { attempt_id: attemptId, input, resolved };
    put(told.active, 'child_run_id', childRunId);
    put(told.active, 'deadline_ms', deadline);
    put(told.active, 'wait', wait);
  }
  return told;
}

export function tellState(state) {
  const left = leftBehind(state);
  const isRunning = state.status === 'running'; // nothing is left to Settle in a run that has ended
  const told = {
    state_schema_version: 2,
    run_id: state.runId,
    content_hash: state.contentHash,
    ancestors: state.ancestors,
    input: state.input,
    sequence: state.sequence,
    version: state.version,
    oldest: state.oldest,
    status: state.status,
    now_ms: state.now,
    transitions_used: state.transitions,
    nodes: record([...state.nodes].map(([id, node]) => [id, tellNode(node)])),
    attempts: record([...state.attempts].map(([id, { node, outcome, completed }]) => {
      const attempt = { node };
      put(attempt, 'outcome', outcome);
      put(attempt, 'completed', completed);
      return [id, attempt];
    })),
    child_runs: record(state.childRuns),
    outcomes: record([...state.outcomes].map(([sequence, outcome]) => [String(sequence), outcome])),
    signals: record(state.signals),
    unsettled: [...state.nodes.values()].filter((node) => isRunning && (isUnscheduled(node) || left.has(node.id))).map(({ id }) => id),
  };
  if (state.recovery) {
    const { owner, epoch, isHeld } = state.recovery;
    told.recovery = { owner, epoch, is_held: isHeld };
  }
  return told;
}

// ---- What the digest of a state is made of: the state without the members that have their default.

const DEFAULTS = {
  state: { ancestors: [], input: {}, now_ms: 0, transitions_used: 0, attempts: {}, child_runs: {}, outcomes: {}, signals: {}, unsettled: [] },
  node: { activations: 0, queue: [], attempts: 0, closed: false },
  active: { resolved: [] },
  signal: { payload: null },
  completed: { output: {} },
  outcome: { evidence: [] },
};

function bare(object, defaults) {
  const isTold = ([key, value]) => value !== undefined && !(own(defaults, key) && same(value, defaults[key]));
  return record(Object.entries(object).filter(isTold));
}

export function bareState(state) {
  const { nodes, attempts, outcomes, ...told } = tellState(state);
  const each = (members, part) => record(Object.entries(members).map(([key, member]) => [key, part(member)]));
  const bareActive = (active) => bare({ ...active, resolved: active.resolved.map((one) => bare(one, DEFAULTS.signal)) }, DEFAULTS.active);
  return bare({
    ...told,
    nodes: each(nodes, ({ active, ...node }) => bare({ ...node, active: active && bareActive(active) }, DEFAULTS.node)),
    attempts: each(attempts, ({ completed, ...attempt }) => bare({ ...attempt, completed: completed && bare(completed, DEFAULTS.completed) }, {})),
    outcomes: each(outcomes, (outcome) => bare(outcome, DEFAULTS.outcome)),
  }, DEFAULTS.state);
}

export const stateDigest = (state) => sha256(canonical(bareState(state)));
