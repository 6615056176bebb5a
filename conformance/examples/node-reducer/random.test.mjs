// Random runs: what `decide` writes `reduce` accepts, whole where a batch ends and not before; no run stands still; and an event
// that is changed is refused or makes another state, never an exception. Run: node random.test.mjs [SEED [RUNS]]
import assert from 'node:assert/strict';
import { decide } from './decide.mjs';
import { canonical } from './json.mjs';
import { reduceHistory } from './reduce.mjs';
import { contentHash, validate } from './specification.mjs';
import { LIVE, tellState } from './state.mjs';

let seed = Number(process.argv[2] ?? 1);
const random = () => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return ((seed >>> 8) % 65536) / 65536; };
const pick = (items) => items[Math.floor(random() * items.length)];
const chance = (p) => random() < p;
let count = 0;
const uuid = () => `00000000-0000-4000-8000-${String((count += 1)).padStart(12, '0')}`;
const KINDS = ['succeeded', 'changes_requested', 'retryable_failure', 'permanent_failure', 'blocked', 'cancelled'];

function document() {
  const names = 'ABCDEF'.slice(0, 2 + Math.floor(random() * 5)).split('');
  const nodes = names.map((id, i) => {
    const node = { id, handler: { name: 'h', version: 1 }, outputs: ['go'], signals: ['s'] };
    const before = names.slice(0, i).filter(() => chance(0.3));
    if (before.length) Object.assign(node, { dependencies: before, dependency_policy: pick(['all_succeeded', 'all_completed', 'any_succeeded']) });
    if (chance(0.3)) node.max_activations = 1 + Math.floor(random() * 3);
    if (chance(0.6)) node.retry = { max_attempts: 1 + Math.floor(random() * 3), backoff: pick([{ kind: 'immediate' }, { kind: 'fixed', delay_ms: 3 }, { kind: 'exponential', initial_ms: 1, multiplier: 2, maximum_ms: 5 }]), ...(chance(0.3) ? { attempt_deadline_ms: 4 } : {}), ...(chance(0.3) ? { jitter: { seed: 'x', maximum_ms: 3 } } : {}), ...(chance(0.3) ? { classes: ['retryable_failure', 'permanent_failure'] } : {}) };
    if (chance(0.5)) { const source = pick([...before, ...names]); node.input_mapping = { x: { node: source, output: 'go' } }; }
    return node;
  });
  const edges = Array.from({ length: Math.floor(random() * 7) }, () => ({ from: pick(names), to: pick(names), when: pick(['any', { outcome: pick(KINDS) }, { field: 'go', equals: pick([0, 1]) }]) }));
  const free = nodes.filter((n) => !n.dependencies).map((n) => n.id);
  const initial = free.filter(() => chance(0.5));
  return { schema_version: 5, workflow_id: 'w', workflow_version: 1, nodes, edges, initial_nodes: initial.length ? initial : [free[0]], budgets: { max_attempts: 30, max_transitions: 40, ...(chance(0.2) ? { max_elapsed_ms: 20 } : {}) }, outputs: { o: { node: 'A', output: 'go' } } };
}
function command(state) {
  const nodes = [...state.nodes.values()];
  const ready = nodes.filter((n) => n.status === 'ready');
  const running = nodes.filter((n) => n.status === 'running');
  const waiting = nodes.filter((n) => n.active?.wait?.kind === 'signal');
  const roll = random();
  if (roll < 0.02) return { type: 'RequestCancellation', requester: 'x', reason: 'y' };
  if (waiting.length && roll < 0.3) return { type: 'DeliverSignal', node: pick(waiting).id, signal_id: uuid(), name: pick(['s', 's', 't']), token_sha256: pick(['0', '1']).repeat(64), payload: 1 };
  if (ready.length && roll < 0.5) return { type: 'StartNode', node: pick(ready).id, attempt_id: uuid() };
  if (running.length && roll < 0.8) {
    const node = pick(running);
    const kind = pick([...KINDS, 'succeeded', 'succeeded']);
    return { type: 'CompleteAttempt', node: node.id, attempt_id: node.active.attemptId, outcome: { kind, ...(kind === 'succeeded' ? {} : { reason: '' }), ...(KINDS.indexOf(kind) < 2 && chance(0.8) ? { output: { go: pick([0, 1]) } } : {}) } };
  }
  if (running.length && roll < 0.86) { const n = pick(running); return { type: 'OpenSignalWait', node: n.id, attempt_id: n.active.attemptId, name: 's', token_sha256: '0'.repeat(64), deadline_ms: state.now + 2 }; }
  if (running.length && roll < 0.9) { const n = pick(running); return { type: 'OpenTimerWait', node: n.id, attempt_id: n.active.attemptId, deadline_ms: state.now + 2 }; }
  return { type: 'AdvanceTime', now_ms: state.now + 1 + Math.floor(random() * 4) };
}
const stats = {};
const types = {};
for (let run = 0; run < Number(process.argv[3] ?? 300);) {
  const specification = document();
  const problem = validate(specification);
  if (problem) { stats[problem.code] = (stats[problem.code] ?? 0) + 1; continue; }
  run += 1;
  const history = [];
  let ask = { type: 'CreateRun', run_id: uuid(), specification };
  for (let step = 0; step < 60; step += 1) {
    const before = history.length ? reduceHistory(history).state : null;
    const answer = decide(before, ask);
    if (answer.allowed) {
      for (const event of answer.events) { history.push({ version: 5, event: JSON.parse(canonical(event)) }); types[event.type] = (types[event.type] ?? 0) + 1; }
      for (let i = history.length - answer.events.length + 1; i < history.length; i += 1) assert.equal(reduceHistory(history.slice(0, i)).whole, false);
    }
    const { accepted, whole, state, ...why } = reduceHistory(history);
    assert(accepted && whole, JSON.stringify([why, history]));
    if (before && answer.allowed) assert.equal(canonical(tellState(before)), canonical(tellState(state)));
    if (state.status !== 'running') { stats[state.status] = (stats[state.status] ?? 0) + 1; break; }
    assert([...state.nodes.values()].some((n) => LIVE.has(n.status)), JSON.stringify(history));
    ask = command(state);
  }
  const i = Math.floor(random() * history.length); // a history without one event, and with one twice
  const cut = [...history.slice(0, i), ...history.slice(i + 1)];
  const twice = [...history.slice(0, i + 1), ...history.slice(i)];
  for (const each of [cut, twice]) if (each.length) reduceHistory(each);
  assert.equal(contentHash(specification).length, 64);
}
console.log(stats, types);
