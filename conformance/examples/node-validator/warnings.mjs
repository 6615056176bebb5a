// What is allowed, and is probably not meant. Called only of documents that break no rule.

import { pointTo } from './json.mjs'
import { keyOf, overlaps } from './predicates.mjs'
import { declaredOutputs, predicateOf } from './rules.mjs'
import { hasDependencies } from './scope.mjs'

const DEFAULT_MAX_TRANSITIONS = 100_000
const NOT_OF_CHILDREN = new Set(['changes_requested', 'retryable_failure'])

export function warnOfScope(scope, version, findings) {
  scope.nodes.forEach((node, vertex) => warnOfNode(node, scope.placeOf(vertex), findings))
  for (const edge of scope.edges) warnOfPredicate(edge, scope.nodes[edge.from], findings)
  warnOfDuplicateEdges(scope, findings)
  warnOfLoops(scope, findings)
  warnOfFanIn(scope, findings)
  warnOfBudget(scope, version, findings)
}

export function warnOfUnused(scopes, uses, findings) {
  scopes.forEach(({ at }, vertex) => {
    if (vertex > 0 && uses.into[vertex].length === 0) findings.warning('unused_child', at, 'Nothing uses it.')
  })
}

function warnOfNode(node, at, findings) {
  const { retry } = node
  if (node.dependency_policy !== undefined && !hasDependencies(node)) {
    findings.warning('policy_without_dependencies', `${at}/dependency_policy`, 'It has no effect without dependencies.')
  }
  if (retry?.classes && !retry.classes.includes('retryable_failure')) {
    findings.warning('implied_retry_class', `${at}/retry/classes`, 'retryable_failure is retried all the same.')
  }
  if (retry?.backoff?.initial_ms > retry?.backoff?.maximum_ms) {
    findings.warning('initial_exceeds_maximum', `${at}/retry/backoff/initial_ms`, 'It is cut to maximum_ms.')
  }
}

function warnOfPredicate({ edge, at }, source, findings) {
  const { field, outcome } = predicateOf(edge)
  if (field !== undefined && !declaredOutputs(source).has(field)) {
    findings.warning('undeclared_field', `${at}/when/field`, `${edge.from} does not declare ${field}.`)
  }
  if (source.child && NOT_OF_CHILDREN.has(outcome)) {
    findings.warning('child_never_gives', `${at}/when/outcome`, `No child ends ${outcome}.`)
  }
}

function warnOfDuplicateEdges({ edges }, findings) {
  const seen = new Set()
  for (const { edge, at, from, to } of edges) {
    if (edge.mode === 'exclusive') continue
    const key = `${from} ${to} ${keyOf(predicateOf(edge))}`
    if (seen.has(key)) findings.warning('duplicate_edge', at, 'It activates its target once more.')
    seen.add(key)
  }
}

function warnOfLoops({ dependencies, union }, findings) {
  const loops = union.cycles()
  dependencies.label.forEach((at, arrow) => {
    if (!loops.has(union.component[dependencies.from[arrow]])) return
    findings.warning('dependency_on_loop', at, 'It is released once; later turns of the loop do not count.')
  })
}

function warnOfBudget(scope, version, findings) {
  if (version < 4) return
  const { budgets } = scope.definition
  if (scope.initialVertices().length <= (budgets?.max_transitions ?? DEFAULT_MAX_TRANSITIONS)) return
  const at = budgets?.max_transitions === undefined ? scope.at : `${scope.at}/budgets/max_transitions`
  findings.warning('budget_below_initial', at, 'The run fails at once.')
}

// Fan-in. Components of the union graph belong to one branch if only one of them can be active at a time: a branch goes
// on where a component is entered from it alone, and divides where a node may start more than one other. A loop is
// taken to be one component with one activity.

function warnOfFanIn(scope, findings) {
  const { union, nodes } = scope
  const branchOf = branches(scope)
  nodes.forEach((_, vertex) => {
    const edges = union.into[vertex].filter((arrow) => scope.isEdge(arrow) && !union.isWithinComponent(arrow))
    if (new Set(edges.map(branchOf)).size < 2) return
    findings.warning('edge_fan_in', scope.placeOf(vertex), 'Join branches with dependencies: each edge activates it.')
  })
}

/** A function from arrow to the branch that it carries on. */
function branches(scope) {
  const { union } = scope
  const divides = scope.nodes.map((_, vertex) => isDivide(scope, vertex))
  const initial = new Set(scope.initialVertices())
  const branch = [] // by component
  const incoming = new Map() // component -> the branches that enter it
  const branchOf = (arrow) => {
    const source = union.from[arrow]
    return divides[source] ? `${source} to ${union.to[arrow]}` : branch[union.component[source]]
  }
  const settle = (component) => {
    const entered = incoming.get(component) ?? []
    branch[component] ??= new Set(entered).size === 1 ? entered[0] : component
  }
  for (const vertex of initial) branch[union.component[vertex]] ??= `initial ${vertex}`
  for (const vertex of union.inOrder()) {
    settle(union.component[vertex])
    for (const arrow of union.out[vertex]) {
      if (union.isWithinComponent(arrow)) continue
      const component = union.component[union.to[arrow]]
      if (!incoming.has(component)) incoming.set(component, [])
      incoming.get(component).push(branchOf(arrow))
    }
  }
  return branchOf
}

/** Whether one outcome of a node may lead on to several others. */
function isDivide(scope, vertex) {
  const arrows = scope.union.out[vertex]
  const edges = arrows.filter((arrow) => scope.isEdge(arrow)).map((arrow) => scope.union.label[arrow].edge)
  if (edges.length < arrows.length) return arrows.length > 1
  return overlaps(edges.map(predicateOf)).length > 0
}
