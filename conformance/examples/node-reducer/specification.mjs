// The validator of specifications (specification.md): the first problem of a document, or null.
import { MAX, canonical, bytes, get, isInteger, isObject, own, same, sha256, survey } from './json.mjs';

export const KINDS = ['succeeded', 'changes_requested', 'retryable_failure', 'permanent_failure', 'blocked', 'cancelled', 'skipped'];
export const CARRIES_OUTPUT = new Set(['succeeded', 'changes_requested']);
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;
export const HASH = /^[0-9a-f]{64}$/;
const REFERENCE = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}@[1-9][0-9]{0,15}$/;
const MAX_DOCUMENT_BYTES = 15 * 1024 * 1024;
const MAX_INPUT_BYTES = 65_536;
const MAX_DEPTH = 90;
const MAX_LEVELS = 8;

export class Problem extends Error {
  constructor(code, pointer) {
    super(`${code} at ${pointer || 'the document'}`);
    this.code = code;
    this.pointer = pointer;
  }
}
const refuse = (code, pointer) => { throw new Problem(code, pointer); };
const within = (pointer, key) => `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
export const isForm = (pattern, value) => typeof value === 'string' && !value.endsWith('\n') && pattern.test(value);

// ---- Shapes: each takes (value, pointer, version) and refuses what is not one (SPC-003 … SPC-008).

const string = (value, at) => typeof value === 'string' || refuse('wrong_type', at);
const form = (pattern) => (value, at) => { string(value, at); isForm(pattern, value) || refuse('wrong_form', at); };
const text = (low, high) => (value, at) => {
  string(value, at);
  const characters = [...value].length; // code points
  if (characters < low || characters > high) refuse('wrong_form', at);
};
const integer = (low) => (value, at) => { // SPC-003: true is no integer, nor is a string of digits; SPC-005
  Number.isInteger(value) || refuse('wrong_type', at);
  isInteger(value, low, MAX) || refuse('out_of_range', at);
};
const word = (...words) => (value, at) => { string(value, at); words.includes(value) || refuse('unknown_word', at); }; // SPC-004
const object = (value, at) => isObject(value) || refuse('wrong_type', at);
const array = (item, { notEmpty = false, unique = false } = {}) => (value, at, version) => {
  Array.isArray(value) || refuse('wrong_type', at);
  if (notEmpty && value.length === 0) refuse('out_of_range', at);
  value.forEach((each, i) => item(each, within(at, i), version));
  if (unique && new Set(value).size < value.length) refuse('duplicate_name', at); // SPC-016
};
const map = (key, item, code = 'wrong_form') => (value, at, version) => {
  object(value, at);
  for (const [name, each] of Object.entries(value)) {
    isForm(key, name) || refuse(code, within(at, name));
    item(each, within(at, name), version);
  }
};
// Members: name → [shape, required, since].
const members = (table) => (value, at, version) => {
  object(value, at);
  for (const key of Object.keys(value)) {
    own(table, key) || refuse('unknown_member', within(at, key)); // SPC-003
    const [shape, , since = 1] = table[key];
    if (since > version) refuse('member_of_later_version', within(at, key)); // SPC-008
    shape(value[key], within(at, key), version);
  }
  for (const key of Object.keys(table)) if (table[key][1] && !own(value, key)) refuse('missing_member', at);
};

const name = form(NAME);
const names = array(name, { unique: true });
export const artifactReference = members({
  artifact_id: [form(UUID), true], byte_length: [integer(0), true], sha256: [form(HASH), true], media_type: [text(1, 255)],
});
const outputReference = members({ node: [name, true], output: [name, true] });
const runInputReference = members({ run_input: [name, true] });
const mapped = (value, at, version) =>
  (isObject(value) && own(value, 'run_input') ? runInputReference : outputReference)(value, at, version);

const backoffs = {
  immediate: members({ kind: [string, true] }),
  fixed: members({ kind: [string, true], delay_ms: [integer(0), true] }),
  exponential: members({
    kind: [string, true], initial_ms: [integer(0), true], multiplier: [integer(1), true], maximum_ms: [integer(0), true],
  }),
};
const backoff = (value, at, version) => {
  object(value, at);
  own(value, 'kind') || refuse('missing_member', at);
  word(...Object.keys(backoffs))(value.kind, within(at, 'kind'));
  backoffs[value.kind](value, at, version);
};
const retry = members({
  max_attempts: [integer(1)],
  classes: [array(word(...KINDS), { unique: true })],
  backoff: [backoff],
  jitter: [members({ seed: [text(0, 128), true], maximum_ms: [integer(0), true] })],
  attempt_deadline_ms: [integer(1)],
});
const scalar = (value, at) => { if (value !== null && typeof value === 'object') refuse('wrong_type', at); };
const predicate = (value, at, version) => {
  if (typeof value === 'string') return word('any')(value, at);
  object(value, at);
  const table = own(value, 'outcome') ? { outcome: [word(...KINDS), true] } : { field: [name, true], equals: [scalar, true] };
  return members(table)(value, at, version);
};
const edge = members({ from: [name, true], to: [name, true], when: [predicate], mode: [word('parallel', 'exclusive')] });
const node = members({
  id: [name, true],
  handler: [members({ name: [name, true], version: [integer(1), true] })],
  child: [members({
    workflow: [form(REFERENCE), true], policy: [word('propagate', 'require_success'), true], outputs: [map(NAME, name)], // CHD-005
  }), false, 3],
  input: [object],
  artifacts: [map(NAME, artifactReference), false, 2],
  input_mapping: [map(NAME, mapped), false, 3],
  outputs: [names],
  dependencies: [names],
  dependency_policy: [word('all_succeeded', 'all_completed', 'any_succeeded'), false, 2],
  max_activations: [integer(1), false, 3],
  retry: [retry, false, 4],
  signals: [names, false, 5],
});
const graph = {
  nodes: [array(node, { notEmpty: true }), true],
  edges: [array(edge), false, 3],
  initial_nodes: [names, false, 3],
  inputs: [names, false, 3],
  outputs: [map(NAME, outputReference), false, 3],
  budgets: [members({
    max_attempts: [integer(1)], max_transitions: [integer(1)], max_elapsed_ms: [integer(1)],
  }), false, 4],
  cancellation: [word('cascade'), false, 5],
};
const document = members({
  schema_version: [integer(1), true],
  workflow_id: [name, true],
  workflow_version: [integer(1), true],
  content_hash: [form(HASH)],
  $schema: [string],
  children: [map(REFERENCE, members(graph), 'wrong_reference'), false, 3], // CHD-004
  ...graph,
});

// ---- Rules.

export function contentHash(value) { // SPC-012
  const { content_hash: _, ...rest } = value;
  return sha256(canonical(rest));
}

// Where arrows lead from each node, in the union graph: dependencies and edges (specification.md "Graphs").
export function arrows(definition) {
  const to = new Map(definition.nodes.map((each) => [each.id, new Set()]));
  for (const each of definition.nodes) for (const prerequisite of get(each, 'dependencies') ?? []) to.get(prerequisite).add(each.id);
  for (const each of get(definition, 'edges') ?? []) to.get(each.from).add(each.to);
  return to;
}

// SPC-021: the initial nodes, in specification order.
export function initialNodes(definition) {
  const named = get(definition, 'initial_nodes');
  const targets = new Set((get(definition, 'edges') ?? []).map((each) => each.to));
  return definition.nodes.map((each) => [each.id, each])
    .filter(([id, each]) => (named ? named.includes(id) : !(get(each, 'dependencies') ?? []).length && !targets.has(id)))
    .map(([id]) => id);
}

// Whether the arrows form a cycle (Kahn).
function hasCycle(to) {
  const incoming = new Map([...to.keys()].map((id) => [id, 0]));
  for (const targets of to.values()) for (const target of targets) incoming.set(target, incoming.get(target) + 1);
  const free = [...to.keys()].filter((id) => incoming.get(id) === 0);
  let taken = 0;
  for (; free.length > 0; taken += 1) {
    for (const target of to.get(free.pop())) {
      incoming.set(target, incoming.get(target) - 1);
      if (incoming.get(target) === 0) free.push(target);
    }
  }
  return taken < to.size;
}

function checkGraph(definition, at, catalog) {
  const nodes = new Map();
  definition.nodes.forEach((each, i) => {
    const place = `${at}/nodes/${i}`;
    if (nodes.has(each.id)) refuse('duplicate_node', place); // SPC-013
    nodes.set(each.id, each);
    if (own(each, 'handler') === own(each, 'child')) refuse('handler_or_child', place); // SPC-014
    if (own(each, 'child') && ['outputs', 'signals'].some((key) => get(each, key)?.length)) refuse('handler_or_child', place);
    if (own(each, 'child') && Object.keys(get(each, 'artifacts') ?? {}).length) refuse('handler_or_child', place);
  });
  const edges = get(definition, 'edges') ?? [];
  const known = (id, place) => nodes.has(id) || refuse('unknown_node', place); // SPC-015
  const inputs = get(definition, 'inputs') ?? [];
  const declared = (each) => (own(each, 'child') ? Object.keys(get(each.child, 'outputs') ?? {}) : get(each, 'outputs') ?? []);
  const reference = ({ node: id, output }, place) => {
    known(id, place);
    declared(nodes.get(id)).includes(output) || refuse('undeclared_output', place); // SPC-023
  };
  edges.forEach((each, i) => { known(each.from, `${at}/edges/${i}/from`); known(each.to, `${at}/edges/${i}/to`); });
  for (const [key, each] of Object.entries(get(definition, 'outputs') ?? {})) reference(each, within(`${at}/outputs`, key));
  const sources = new Map([...nodes.keys()].map((id) => [id, new Set()]));
  for (const each of edges) sources.get(each.to).add(each.from);

  definition.nodes.forEach((each, i) => {
    const place = `${at}/nodes/${i}`;
    const dependencies = get(each, 'dependencies') ?? [];
    dependencies.forEach((id, j) => known(id, `${place}/dependencies/${j}`));
    const input = get(each, 'input') ?? {};
    if (bytes(canonical(input)) > MAX_INPUT_BYTES) refuse('input_too_large', `${place}/input`); // SPC-010
    const mapping = Object.entries(get(each, 'input_mapping') ?? {});
    for (const [key, source] of mapping) {
      const there = within(`${place}/input_mapping`, key);
      if (own(source, 'run_input')) {
        inputs.includes(source.run_input) || refuse('undeclared_run_input', there); // SPC-023
      } else {
        reference(source, there);
        if (!dependencies.includes(source.node) && !sources.get(each.id).has(source.node)) refuse('output_out_of_reach', there); // SPC-022
      }
    }
    const given = [...Object.keys(input), ...Object.keys(get(each, 'artifacts') ?? {}), ...mapping.map(([key]) => key)];
    if (new Set(given).size < given.length) refuse('input_given_twice', place); // SPC-024
    for (const kind of get(get(each, 'retry') ?? {}, 'classes') ?? []) { // SPC-025
      if (kind !== 'retryable_failure' && kind !== 'permanent_failure') refuse('no_retry_class', `${place}/retry/classes`);
    }
    if (own(each, 'child')) checkCall(each, given, place, catalog);
  });

  const dependents = new Map([...nodes.keys()].map((id) => [id, new Set()]));
  for (const each of nodes.values()) for (const id of get(each, 'dependencies') ?? []) dependents.get(id).add(each.id);
  if (hasCycle(dependents)) refuse('dependency_cycle', at); // SPC-017
  const named = get(definition, 'initial_nodes');
  const to = arrows(definition);
  if (named) {
    if (named.length === 0) refuse('no_initial_nodes', `${at}/initial_nodes`); // SPC-019
    named.forEach((id, i) => {
      known(id, `${at}/initial_nodes/${i}`);
      if (get(nodes.get(id), 'dependencies')?.length) refuse('initial_node_with_dependencies', `${at}/initial_nodes/${i}`);
    });
  } else if (hasCycle(to)) refuse('initial_nodes_needed', at); // SPC-018
  const reached = new Set(initialNodes(definition)); // SPC-020
  for (const id of reached) for (const target of to.get(id)) reached.add(target);
  if (reached.size < nodes.size) refuse('unreachable_node', at);
  checkPredicates(edges, at);
}

// CHD-001, CHD-007, CHD-008.
function checkCall(each, given, place, catalog) {
  const child = get(catalog, each.child.workflow) ?? refuse('unknown_child', `${place}/child/workflow`);
  const wanted = get(child, 'inputs') ?? [];
  if (wanted.some((key) => !given.includes(key))) refuse('missing_child_input', place);
  if (given.some((key) => !wanted.includes(key))) refuse('undeclared_child_input', place);
  for (const field of Object.values(get(each.child, 'outputs') ?? {})) {
    own(get(child, 'outputs') ?? {}, field) || refuse('undeclared_child_output', `${place}/child/outputs`);
  }
}

function checkPredicates(edges, at) {
  const exclusive = new Map();
  edges.forEach((each, i) => {
    const when = get(each, 'when') ?? 'any';
    if (get(when, 'outcome') === 'skipped') refuse('never_matches', `${at}/edges/${i}/when`); // EDG-001
    if (get(each, 'mode') !== 'exclusive') return; // EDG-005
    const others = exclusive.get(each.from) ?? exclusive.set(each.from, []).get(each.from);
    if (others.some((other) => overlap(other, when))) refuse('overlapping_edges', `${at}/edges/${i}`); // EDG-002
    others.push(when);
  });
}

// EDG-002, EDG-003, EDG-004.
function overlap(a, b) {
  if (a === 'any' || b === 'any') return true;
  if (own(a, 'outcome') && own(b, 'outcome')) return a.outcome === b.outcome;
  if (own(a, 'field') && own(b, 'field')) return a.field !== b.field || a.equals === b.equals;
  return CARRIES_OUTPUT.has(own(a, 'outcome') ? a.outcome : b.outcome);
}

// CHD-002, CHD-003: no definition reaches itself, and no more than eight levels below the document and what nothing runs.
function checkLevels(value) {
  const catalog = get(value, 'children') ?? {};
  const calls = (definition) => definition.nodes.filter((each) => own(each, 'child')).map((each) => each.child.workflow);
  const levels = new Map();
  const open = new Set();
  const below = (definition) => Math.max(0, ...calls(definition).map((key) => 1 + levelsOf(key)));
  const levelsOf = (key) => {
    if (levels.has(key)) return levels.get(key);
    if (open.has(key)) refuse('child_recursion', within('/children', key));
    open.add(key);
    levels.set(key, below(catalog[key]));
    open.delete(key);
    return levels.get(key);
  };
  const used = new Set(calls(value));
  for (const definition of Object.values(catalog)) for (const key of calls(definition)) used.add(key);
  for (const key of Object.keys(catalog)) if (levelsOf(key) > MAX_LEVELS && !used.has(key)) refuse('children_too_deep', within('/children', key));
  if (below(value) > MAX_LEVELS) refuse('children_too_deep', '');
}

function check(value) {
  isObject(value) || refuse('wrong_type', '');
  const { depth, problem } = survey(value);
  if (problem) refuse(problem, ''); // SPC-001
  if (depth > MAX_DEPTH) refuse('document_too_deep', ''); // SPC-009
  own(value, 'schema_version') || refuse('missing_member', '');
  Number.isInteger(value.schema_version) || refuse('wrong_type', '/schema_version');
  isInteger(value.schema_version, 1, 5) || refuse('unsupported_version', '/schema_version'); // SPC-007
  document(value, '', value.schema_version);
  const hash = contentHash(value);
  if (own(value, 'content_hash') && value.content_hash !== hash) refuse('wrong_content_hash', '/content_hash'); // SPC-011
  if (bytes(canonical({ ...value, content_hash: hash })) > MAX_DOCUMENT_BYTES) refuse('document_too_large', ''); // SPC-009
  const catalog = get(value, 'children') ?? {};
  checkGraph(value, '', catalog);
  for (const [key, definition] of Object.entries(catalog)) checkGraph(definition, within('/children', key), catalog); // CHD-006
  checkLevels(value);
}

export function validate(value) {
  try {
    check(value);
    return null;
  } catch (problem) {
    if (problem instanceof Problem) return problem;
    throw problem;
  }
}
