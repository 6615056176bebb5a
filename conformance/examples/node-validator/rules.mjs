// The rules of a scope: its graphs, edges, nodes and data.

import { pointTo } from './json.mjs'
import { overlaps, witness } from './predicates.mjs'
import { hasDependencies } from './scope.mjs'

const RETRY_CLASSES = new Set(['retryable_failure', 'permanent_failure'])

/**
 * `children` is the catalog as a Map, or null if it cannot be used; `handlers` is a Map from "name@version" to inputs,
 * or undefined.
 */
export function checkScope(scope, { findings, children, handlers }) {
  checkDependencies(scope, findings)
  checkInitialNodes(scope, findings)
  checkEdges(scope, findings)
  checkOutputs(scope, findings)
  scope.nodes.forEach((node, vertex) => {
    if (!node) return
    const at = scope.placeOf(vertex)
    checkHandlerOrChild(node, at, findings)
    checkRetryClasses(node, at, findings)
    checkInputsAreGivenOnce(node, at, findings)
    checkMapping(scope, vertex, findings)
    if (handlers && node.handler) checkHandler(node, at, handlers, findings)
    if (node.child && children !== null) checkChild(node, at, children, findings)
  })
}

// Graphs

function checkDependencies({ dependencies }, findings) {
  for (const arrow of dependencies.cycles().values()) {
    findings.problem('dependency_cycle', dependencies.label[arrow], 'Remove a dependency from the cycle.')
  }
}

function checkInitialNodes(scope, findings) {
  const { definition, at, initial, nodes } = scope
  if (definition.initial_nodes === undefined && hasCycleOfEdges(scope)) {
    findings.problem('initial_nodes_needed', at, 'Name initial_nodes: there is a cycle.')
  }
  if (initial?.length === 0) findings.problem('no_initial_nodes', `${at}/initial_nodes`, 'Name at least one node.')
  initial?.forEach((vertex, index) => {
    if (vertex === undefined || !hasDependencies(nodes[vertex])) return
    const place = pointTo(`${at}/initial_nodes`, index)
    findings.problem('initial_node_with_dependencies', place, 'Remove it: it waits for its dependencies.')
  })
  for (const vertex of scope.unreachableVertices()) {
    findings.problem('unreachable_node', scope.placeOf(vertex), 'Lead to it from an initial node.')
  }
}

/** A cycle of dependencies alone is told as such: to name initial nodes would not mend it. */
function hasCycleOfEdges(scope) {
  for (const arrow of scope.union.arrowsOnCycles()) if (scope.isEdge(arrow)) return true
  return false
}

// Edges

function checkEdges({ definition, at }, findings) {
  const exclusive = new Map() // source -> its exclusive edges
  definition.edges?.forEach((edge, index) => {
    const place = pointTo(`${at}/edges`, index)
    const predicate = predicateOf(edge)
    if (predicate?.outcome === 'skipped') {
      findings.problem('never_matches', `${place}/when/outcome`, 'Remove the edge: a skipped node fires none.')
    } else if (predicate && edge.mode === 'exclusive') {
      addTo(exclusive, edge.from, { predicate, place })
    }
  })
  exclusive.delete(null) // sources that cannot be used
  for (const edges of exclusive.values()) checkDisjoint(edges, findings)
}

function checkDisjoint(edges, findings) {
  for (const [one, other] of overlaps(edges.map(({ predicate }) => predicate))) {
    const message = `Make it disjoint from ${edges[one].place}, or parallel.`
    const outcome = witness(edges[one].predicate, edges[other].predicate)
    findings.problem('overlapping_edges', edges[other].place, message, outcome)
  }
}

/** The predicate of an edge, or null if there is none to work on. */
export function predicateOf(edge) {
  if (edge === null) return null
  return edge.when === undefined ? {} : edge.when
}

// Nodes

function checkHandlerOrChild(node, at, findings) {
  const { handler, child } = node
  if (child === undefined) {
    if (handler === undefined) findings.problem('handler_or_child', at, 'Give it a handler or a child.')
    return
  }
  if (handler !== undefined) {
    findings.problem('handler_or_child', at, 'Remove its handler or its child.')
    return
  }
  for (const member of ['outputs', 'signals', 'artifacts']) {
    if (node[member] === undefined) continue
    findings.problem('handler_or_child', `${at}/${member}`, 'Remove it: it belongs to handlers.')
  }
}

function checkRetryClasses({ retry }, at, findings) {
  retry?.classes?.forEach((kind, index) => {
    if (kind === null || RETRY_CLASSES.has(kind)) return
    findings.problem('no_retry_class', pointTo(`${at}/retry/classes`, index), 'Remove it: it is never retried.')
  })
}

// Data

/** The fields that a node gives, with their places; one that is given twice comes twice. */
function* inputsOf(node, at) {
  for (const member of ['input', 'artifacts', 'input_mapping']) {
    for (const field of node[member]?.keys() ?? []) yield [field, pointTo(`${at}/${member}`, field)]
  }
}

function checkInputsAreGivenOnce(node, at, findings) {
  const given = new Set()
  for (const [field, place] of inputsOf(node, at)) {
    if (given.has(field)) findings.problem('input_given_twice', place, `Give ${field} once.`)
    given.add(field)
  }
}

function checkMapping(scope, vertex, findings) {
  const { input_mapping: mapping } = scope.nodes[vertex]
  if (!mapping) return
  const sources = sourcesOf(scope, vertex)
  for (const [field, source] of mapping) {
    const at = pointTo(`${scope.placeOf(vertex)}/input_mapping`, field)
    if (source?.run_input !== undefined) {
      checkRunInput(scope, source.run_input, at, findings)
    } else if (source) {
      const origin = checkReference(scope, source, at, findings)
      if (origin === undefined || !sources || sources.has(origin)) continue
      findings.problem('output_out_of_reach', `${at}/node`, 'Depend on that node, or lead an edge here from it.')
    }
  }
}

/** The vertices with an arrow to this one, or null if that cannot be said. */
function sourcesOf({ nodes, definition, union }, vertex) {
  if (nodes[vertex].dependencies === null || definition.edges === null) return null
  return new Set(union.into[vertex].map((arrow) => union.from[arrow]))
}

function checkRunInput({ definition: { inputs } }, name, at, findings) {
  if (name === null || inputs === null || inputs?.has(name)) return
  findings.problem('undeclared_run_input', `${at}/run_input`, `Declare ${name} in inputs.`)
}

function checkOutputs(scope, findings) {
  for (const [name, reference] of scope.definition.outputs ?? []) {
    if (reference) checkReference(scope, reference, pointTo(`${scope.at}/outputs`, name), findings)
  }
}

/** The vertex that an output reference names, if it is there. */
function checkReference(scope, { node: id, output }, at, findings) {
  const vertex = scope.resolve(id, `${at}/node`)
  if (vertex !== undefined && output !== null) {
    const declared = declaredOutputs(scope.nodes[vertex])
    if (declared && !declared.has(output)) {
      findings.problem('undeclared_output', `${at}/output`, `Let ${id} declare ${output}, or name what it declares.`)
    }
  }
  return vertex
}

const NONE = new Map()

/** The output fields that a node declares, as a Set or the keys of a Map, or null if that cannot be said. */
export function declaredOutputs({ handler, child, outputs }) {
  if ((handler === undefined) === (child === undefined)) return null
  const declared = handler === undefined ? child && child.outputs : outputs
  return declared === undefined ? NONE : declared
}

// Handlers and children

function checkHandler(node, at, handlers, findings) {
  const { name, version } = node.handler
  if (name === null || version === null) return
  const inputs = handlers.get(`${name}@${version}`)
  if (inputs === undefined) {
    findings.problem('unknown_handler', `${at}/handler`, `Name a handler that is there; ${name}@${version} is not.`)
  } else {
    checkAllAreGiven(inputs, node, at, 'missing_input', findings)
  }
}

/** One problem for a node, however many fields are missing: their place is the same. */
function checkAllAreGiven(declared, node, at, code, findings) {
  if (node.input === null || node.artifacts === null || node.input_mapping === null) return
  for (const field of declared) {
    if (node.input?.has(field) || node.artifacts?.has(field) || node.input_mapping?.has(field)) continue
    findings.problem(code, at, `Give its input ${field}.`)
    return
  }
}

function checkChild(node, at, children, findings) {
  const { workflow, outputs } = node.child
  if (workflow === null) return
  if (!children.has(workflow)) {
    findings.problem('unknown_child', `${at}/child/workflow`, `Define ${workflow} in children.`)
    return
  }
  const definition = children.get(workflow)
  if (definition === null) return
  if (definition.inputs !== null) checkChildInputs(node, at, definition.inputs ?? new Set(), findings)
  if (definition.outputs !== null && outputs) {
    checkChildOutputs(outputs, `${at}/child/outputs`, definition.outputs ?? NONE, findings)
  }
}

function checkChildInputs(node, at, declared, findings) {
  checkAllAreGiven(declared, node, at, 'missing_child_input', findings)
  for (const [field, place] of inputsOf({ ...node, artifacts: undefined }, at)) {
    if (declared.has(field)) continue
    findings.problem('undeclared_child_input', place, 'Remove what the child does not declare in its inputs.')
  }
}

function checkChildOutputs(outputs, at, declared, findings) {
  for (const [field, output] of outputs) {
    if (output === null || declared.has(output)) continue
    findings.problem('undeclared_child_output', pointTo(at, field), `Let the child declare ${output} in its outputs.`)
  }
}

function addTo(lists, key, item) {
  if (!lists.has(key)) lists.set(key, [])
  lists.get(key).push(item)
}
