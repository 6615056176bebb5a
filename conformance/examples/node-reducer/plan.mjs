// What a specification means for its runs: worked out once, and never changed by an event (RUN-002).
import { MAX, get, own } from './json.mjs';
import { CARRIES_OUTPUT, arrows, initialNodes } from './specification.mjs';

export function makePlan(specification) {
  const order = new Map(specification.nodes.map((node, i) => [node.id, i])); // specification order
  const edges = (get(specification, 'edges') ?? []).map((edge, position) => ({ ...edge, position, when: get(edge, 'when') ?? 'any' }));
  const nodes = new Map(specification.nodes.map((node) => [node.id, {
    id: node.id,
    child: get(node, 'child') ?? null,
    given: get(node, 'input') ?? {}, // RUN-017: artifacts stay in the document
    mapping: Object.entries(get(node, 'input_mapping') ?? {}),
    dependencies: get(node, 'dependencies') ?? [],
    policy: get(node, 'dependency_policy') ?? 'all_succeeded',
    maxActivations: get(node, 'max_activations') ?? Infinity,
    retry: retryOf(get(node, 'retry') ?? {}),
    signals: get(node, 'signals') ?? [],
    dependents: [],
    out: [],
    into: [],
  }]));
  for (const node of nodes.values()) for (const id of node.dependencies) nodes.get(id).dependents.push(node);
  for (const edge of edges) {
    nodes.get(edge.from).out.push(edge);
    nodes.get(edge.to).into.push(edge);
  }
  const to = arrows(specification);
  const budgets = get(specification, 'budgets') ?? {};
  return {
    specification,
    order,
    nodes,
    list: [...nodes.values()],
    edges,
    to,
    rank: componentRanks([...nodes.keys()], to),
    initial: initialNodes(specification),
    inputs: get(specification, 'inputs') ?? [],
    outputs: Object.entries(get(specification, 'outputs') ?? {}),
    budgets: { // BUD-008, VER-012
      attempts: get(budgets, 'max_attempts') ?? 10_000,
      transitions: get(budgets, 'max_transitions') ?? 100_000,
      elapsed: get(budgets, 'max_elapsed_ms') ?? Infinity,
    },
  };
}

// The defaults: three attempts, `retryable_failure` alone, immediate, no jitter, no deadline.
function retryOf(retry) {
  return {
    maxAttempts: get(retry, 'max_attempts') ?? 3,
    classes: new Set(['retryable_failure', ...(get(retry, 'classes') ?? [])]), // RTY-001
    backoff: get(retry, 'backoff') ?? { kind: 'immediate' },
    jitter: get(retry, 'jitter') ?? null,
    attemptDeadline: get(retry, 'attempt_deadline_ms') ?? null,
  };
}

export const plus = (a, b) => (a > MAX - b ? MAX : a + b); // TIM-011

// RTY-005: the delay before attempt n, as an exact integer.
export function delay({ backoff }, n) {
  if (backoff.kind === 'immediate') return 0;
  if (backoff.kind === 'fixed') return backoff.delay_ms;
  const maximum = BigInt(backoff.maximum_ms);
  let value = BigInt(backoff.initial_ms);
  if (backoff.multiplier > 1 && value > 0n) {
    for (let i = 2; i < n && value < maximum; i += 1) value *= BigInt(backoff.multiplier);
  }
  return Number(value < maximum ? value : maximum);
}

// RTY-007: FNV-1a of 64 bits.
export function jitter({ jitter: policy }, runId, nodeId, attempt) {
  if (!policy) return 0;
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from([policy.seed, runId, nodeId, String(attempt)].join('\0'), 'utf8')) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return Number(hash % (BigInt(policy.maximum_ms) + 1n));
}

// specification.md "Graphs": whether a predicate matches an outcome (EDG-004 for the scalars, EDG-009).
export function matches(when, outcome) {
  if (when === 'any') return true;
  if (own(when, 'outcome')) return when.outcome === outcome.kind;
  const value = fieldOf(outcome, when.field);
  return value !== undefined && value === when.equals;
}

// The named top-level field of the inline output of an outcome, or undefined.
export function fieldOf(outcome, field) {
  if (!outcome || !CARRIES_OUTPUT.has(outcome.kind)) return undefined;
  const output = get(outcome, 'output');
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return undefined;
  return get(output, field);
}

// kernel.md "Closing": the place of each node's component in the order of components.
function componentRanks(ids, to) {
  const component = components(ids, to);
  const members = new Map();
  ids.forEach((id, i) => {
    const key = component.get(id);
    if (!members.has(key)) members.set(key, { first: i, ids: [], waits: new Set() });
    members.get(key).ids.push(id);
  });
  for (const [id, targets] of to) {
    for (const target of targets) if (component.get(id) !== component.get(target)) members.get(component.get(target)).waits.add(component.get(id));
  }
  const leads = new Map([...members.keys()].map((key) => [key, []]));
  for (const [key, { waits }] of members) for (const source of waits) leads.get(source).push(key);
  const heap = makeHeap((a, b) => members.get(a).first - members.get(b).first);
  for (const [key, { waits }] of members) if (waits.size === 0) heap.push(key);
  const rank = new Map();
  for (let place = 0; heap.size() > 0; place += 1) {
    const key = heap.pop();
    for (const id of members.get(key).ids) rank.set(id, place);
    for (const next of leads.get(key)) {
      const { waits } = members.get(next);
      waits.delete(key);
      if (waits.size === 0) heap.push(next);
    }
  }
  return rank;
}

// Tarjan, without recursion: node → the key of its component.
function components(ids, to) {
  const index = new Map();
  const low = new Map();
  const component = new Map();
  const stack = [];
  for (const root of ids) {
    if (index.has(root)) continue;
    const work = [[root, null]];
    while (work.length > 0) {
      const frame = work[work.length - 1];
      const [id] = frame;
      if (frame[1] === null) {
        index.set(id, index.size);
        low.set(id, index.get(id));
        stack.push(id);
        frame[1] = to.get(id).values();
      }
      let next = frame[1].next();
      for (; !next.done; next = frame[1].next()) {
        if (!index.has(next.value)) break;
        if (!component.has(next.value)) low.set(id, Math.min(low.get(id), index.get(next.value)));
      }
      if (!next.done) { work.push([next.value, null]); continue; }
      work.pop();
      if (low.get(id) === index.get(id)) {
        for (let member = null; member !== id;) { member = stack.pop(); component.set(member, id); }
      }
      if (work.length > 0) {
        const parent = work[work.length - 1][0];
        low.set(parent, Math.min(low.get(parent), low.get(id)));
      }
    }
  }
  return component;
}

function makeHeap(compare) {
  const items = [];
  const swap = (i, j) => { [items[i], items[j]] = [items[j], items[i]]; };
  return {
    size: () => items.length,
    push(item) {
      items.push(item);
      for (let i = items.length - 1; i > 0 && compare(items[i], items[(i - 1) >> 1]) < 0; i = (i - 1) >> 1) swap(i, (i - 1) >> 1);
    },
    pop() {
      swap(0, items.length - 1);
      const top = items.pop();
      for (let i = 0; ;) {
        let least = i;
        for (const child of [2 * i + 1, 2 * i + 2]) if (child < items.length && compare(items[child], items[least]) < 0) least = child;
        if (least === i) return top;
        swap(i, least);
        i = least;
      }
    },
  };
}
