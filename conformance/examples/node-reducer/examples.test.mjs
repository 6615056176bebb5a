// The examples of kernel.md, by number; and what is said of versions. Run: node examples.test.mjs
import assert from 'node:assert/strict';
import { decide } from './decide.mjs';
import { reduceHistory } from './reduce.mjs';
import { tellState } from './state.mjs';
import { contentHash } from './specification.mjs';

const RUN = '00000000-0000-0000-0000-0000000000aa';
let count = 0;
const id = () => `00000000-0000-0000-0000-${String((count += 1)).padStart(12, '0')}`;
const N = (name, more = {}) => ({ id: name, handler: { name: 'h', version: 1 }, ...more });
const E = (from, to, when) => ({ from, to, ...(when ? { when: typeof when === 'string' ? { outcome: when } : when } : {}) });

class Run {
  constructor(nodes, edges = [], more = {}) {
    this.history = [];
    const specification = { schema_version: 5, workflow_id: 'w', workflow_version: 1, nodes, ...(edges.length ? { edges } : {}), ...more };
    this.do({ type: 'CreateRun', run_id: RUN, specification });
    this.active = {};
  }
  state() { const r = reduceHistory(this.history); assert(r.accepted, JSON.stringify(r)); assert(r.whole); return r.state; }
  do(command) {
    const answer = decide(this.history.length ? this.state() : null, command);
    assert(answer.allowed, JSON.stringify(answer));
    const before = this.history.length;
    for (const event of answer.events) this.history.push({ version: 5, event: JSON.parse(JSON.stringify(event)) });
    const again = reduceHistory(this.history);
    assert(again.accepted && again.whole, JSON.stringify({ ...again, state: 0 }));
    for (let i = before + 1; i < this.history.length; i += 1) {
      const cut = reduceHistory(this.history.slice(0, i));
      assert(cut.accepted && !cut.whole);
    }
    return answer.events.map((e) => [e.type, e.node ?? e.edge ?? e.budget, e.outcome?.kind ?? e.cause ?? e.reason].filter((x) => x !== undefined).join(' '));
  }
  start(node) { this.active[node] = id(); return this.do({ type: 'StartNode', node, attempt_id: this.active[node] }); }
  end(node, kind = 'succeeded', output) {
    const outcome = kind === 'succeeded' ? { kind, ...(output ? { output } : {}) } : { kind, reason: 'r' };
    return this.do({ type: 'CompleteAttempt', node, attempt_id: this.active[node], outcome });
  }
  run(node, ...rest) { this.start(node); return this.end(node, ...rest); }
  statuses() { const s = this.state(); return [s.status, ...[...s.nodes.values()].map((n) => `${n.id}:${n.status}`)].join(' '); }
}
const log = (no, ...what) => console.log(no, ...what);

{ const r = new Run([N('A'), N('B')], [E('A', 'B', 'changes_requested')]); log(1, r.run('A', 'changes_requested')); r.run('B'); assert.equal(r.statuses(), 'failed A:failed B:succeeded'); }
{ const r = new Run([N('A'), N('B')], [E('A', 'B', 'changes_requested'), E('B', 'A', 'succeeded')], { initial_nodes: ['A'] }); log('1b', r.run('A', 'changes_requested'), r.run('B')); log('', r.run('A'), r.statuses()); }
{ const r = new Run([N('A'), N('B'), N('M')], [E('A', 'B'), E('A', 'M'), E('B', 'M')]); log(2, r.run('A'), r.start('M'), r.run('B'), r.end('M'), r.run('M')); }
{ const r = new Run([N('X'), N('Y'), N('M', { dependencies: ['X'] })], [E('Y', 'M')]); log(3, r.run('X', 'permanent_failure'), r.run('Y')); }
{ const r = new Run([N('I'), N('X'), N('Y'), N('D', { dependencies: ['Y'], dependency_policy: 'all_completed' }), N('Z')], [E('I', 'X', 'succeeded'), E('I', 'Y', 'blocked'), E('D', 'Z')]); log(4, r.run('I'), r.run('X'), r.run('D'), r.run('Z')); }
{ const r = new Run([N('I'), N('L1'), N('L2')], [E('I', 'L1', 'blocked'), E('L1', 'L2'), E('L2', 'L1')], { initial_nodes: ['I'] }); log(5, r.run('I')); }
{ const r = new Run([N('P'), N('F'), N('D', { dependencies: ['P'] })], [E('P', 'F', 'permanent_failure'), E('F', 'P')], { initial_nodes: ['P'] }); log(6, r.run('P', 'permanent_failure'), r.run('F'), r.run('P'), r.run('D')); }
{ const r = new Run([N('A')], [], { budgets: { max_attempts: 1 } }); log(7, r.run('A')); }
{ const r = new Run([N('A'), N('B', { dependencies: ['A'] })], [], { budgets: { max_attempts: 1 } }); log('7b', r.run('A'), r.start('B')); }
for (const more of [{}, { budgets: { max_elapsed_ms: 10 } }]) { const r = new Run([N('A', { retry: { attempt_deadline_ms: 5, max_attempts: 2, backoff: { kind: 'fixed', delay_ms: 3 } } })], [], more); r.start('A'); log(8, r.do({ type: 'AdvanceTime', now_ms: 20 }), r.state().nodes.get('A').retryMs, r.statuses()); }
{ const r = new Run([N('I'), N('X', { dependencies: ['M'] }), N('M', { dependencies: ['X'] })].slice(0, 1).concat([N('M', { dependencies: ['X'] }), N('X')]), [E('I', 'M'), E('M', 'X')], { initial_nodes: ['I'] }); log(11, r.run('I'), r.statuses()); }
{ const r = new Run([N('P', { max_activations: 2 }), N('D', { dependencies: ['P'], dependency_policy: 'all_completed' })], [E('P', 'P', 'succeeded')], { initial_nodes: ['P'] }); log(12, r.run('P'), r.run('P'), r.run('D')); }
{ const r = new Run([N('C', { dependencies: ['B', 'A'] }), N('B'), N('A', { outputs: ['go'] })], [E('C', 'A', 'blocked'), E('A', 'B', { field: 'go', equals: 0 })], { initial_nodes: ['A'] }); log(13, r.run('A', 'cancelled')); }
{ const r = new Run([N('B'), N('A')], [E('B', 'A'), E('A', 'A', 'succeeded')], { initial_nodes: ['B', 'A'] }); r.start('A'); log(14, r.run('B'), r.end('A'), r.state().nodes.get('A').activation, r.run('A')); }
{ const r = new Run([N('K'), N('L'), N('P', { dependencies: ['K', 'L'], dependency_policy: 'any_succeeded' }), N('D', { dependencies: ['P'] })]); log(15, r.run('K'), r.run('P', 'blocked')); }
{ // 10: versions
  const make = (schema_version, nodes) => { const s = { schema_version, workflow_id: 'w', workflow_version: 1, nodes }; s.content_hash = contentHash(s); return { type: 'RunCreated', run_id: RUN, specification: s, content_hash: s.content_hash }; };
  const events = [make(1, [N('A'), N('B')]), { type: 'NodeReady', node: 'A', cause: 'initial' }, { type: 'NodeReady', node: 'B', cause: 'initial' },
    { type: 'NodeStarted', node: 'A', attempt_id: id(), attempt: 1 }, { type: 'NodeStarted', node: 'B', attempt_id: id(), attempt: 1 }];
  const v1 = [...events, { type: 'NodeFailed', node: 'A', attempt_id: events[3].attempt_id, reason: '' }, { type: 'RunFailed' }].map((event) => ({ version: 1, event }));
  assert(reduceHistory(v1).whole); assert.equal(reduceHistory(v1.slice(0, 6)).whole, false);
  const v2 = [...events, { type: 'NodeOutcomeCommitted', node: 'A', attempt_id: events[3].attempt_id, outcome: { kind: 'permanent_failure', reason: '' } }, { type: 'RunFailed' }].map((event) => ({ version: 2, event }));
  assert.equal(reduceHistory(v2).sequence, 7); assert.equal(reduceHistory(v2).kind, 'corrupt');
  const v3 = [...events, { type: 'NodeOutcomeCommitted', node: 'A', attempt_id: events[3].attempt_id, outcome: { kind: 'retryable_failure', reason: '' } },
    { type: 'NodeOutcomeCommitted', node: 'B', attempt_id: events[4].attempt_id, outcome: { kind: 'changes_requested', reason: '' } }].map((event) => ({ version: 3, event }));
  const r3 = reduceHistory(v3); assert(r3.whole); log('10 v3', tellState(r3.state).unsettled, decide(r3.state, { type: 'Settle' }).events);
  const r4 = reduceHistory(v3); log('', decide(r4.state, { type: 'RequestCancellation', requester: 'x', reason: '' }).events.map((e) => e.type));
}
