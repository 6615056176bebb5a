// A scope is a document or a definition: node ids mean something within one. Here they are resolved to vertices, which
// are positions among the nodes, and the graphs are built.

import { Graph } from './graph.mjs'
import { pointTo } from './json.mjs'

const DEPENDENCY = Symbol('dependency')

export class Scope {
  definition
  at // the place of the definition
  nodes
  edges // those whose ends are there, as {edge, from, to, at}
  initial // the vertices that `initial_nodes` names, undefined for those that are not there; undefined without it
  dependencies // the dependency graph; its labels are places
  union // the union graph; its labels are edges as above, or DEPENDENCY
  #findings
  #vertices = new Map() // id -> vertex
  #exempt = new Set() // vertices of which it cannot be said that they are unreachable
  #isReachKnown = true

  constructor(definition, at, findings) {
    this.definition = definition
    this.at = at
    this.#findings = findings
    this.nodes = definition.nodes ?? []
    this.dependencies = new Graph(this.nodes.length)
    this.union = new Graph(this.nodes.length)
    this.#findIds()
    this.#addDependencies()
    this.#addEdges()
    this.#findInitialNodes()
  }

  placeOf(vertex) {
    return pointTo(`${this.at}/nodes`, vertex)
  }

  /** The vertex of an id; if there is none, that is told. */
  resolve(id, at) {
    if (id === null) return undefined
    const vertex = this.#vertices.get(id)
    if (vertex === undefined) this.#findings.problem('unknown_node', at, `Name a node that is there; ${id} is not.`)
    return vertex
  }

  isEdge(arrow) {
    return this.union.label[arrow] !== DEPENDENCY
  }

  /** In specification order. Without any named, those that nothing leads to. */
  initialVertices() {
    const named = this.initial && new Set(this.initial)
    const isInitial = (vertex) => (named ? named.has(vertex) : this.union.into[vertex].length === 0)
    return [...this.nodes.keys()].filter(isInitial)
  }

  /**
   * Only if initial nodes are named: else they are all that nothing leads to, which reach everything unless a cycle
   * does without them, and then it is those that are missing.
   */
  unreachableVertices() {
    if (!this.#isReachKnown || !this.initial?.length) return []
    const reached = this.union.reachableFrom([...this.initial, ...this.#exempt])
    return [...this.nodes.keys()].filter((vertex) => !reached.has(vertex))
  }

  #findIds() {
    this.nodes.forEach((node, vertex) => {
      if (!node || node.id === null) {
        this.#exempt.add(vertex)
      } else if (this.#vertices.has(node.id)) {
        this.#findings.problem('duplicate_node', `${this.placeOf(vertex)}/id`, `Give it another id than ${node.id}.`)
        this.#exempt.add(vertex)
      } else {
        this.#vertices.set(node.id, vertex)
      }
    })
  }

  #addDependencies() {
    this.nodes.forEach((node, vertex) => {
      if (node?.dependencies === null) this.#exempt.add(vertex)
      node?.dependencies?.forEach((id, index) => {
        const at = pointTo(`${this.placeOf(vertex)}/dependencies`, index)
        const prerequisite = this.resolve(id, at)
        if (prerequisite === undefined) {
          this.#exempt.add(vertex)
        } else {
          this.dependencies.add(prerequisite, vertex, at)
          this.union.add(prerequisite, vertex, DEPENDENCY)
        }
      })
    })
  }

  #addEdges() {
    this.edges = []
    if (this.definition.edges === null) this.#isReachKnown = false
    this.definition.edges?.forEach((edge, index) => {
      const at = pointTo(`${this.at}/edges`, index)
      const from = edge ? this.resolve(edge.from, `${at}/from`) : undefined
      const to = edge ? this.resolve(edge.to, `${at}/to`) : undefined
      if (to === undefined) this.#isReachKnown = false
      else if (from === undefined) this.#exempt.add(to)
      else this.#addEdge({ edge, from, to, at })
    })
  }

  #addEdge(edge) {
    this.edges.push(edge)
    this.union.add(edge.from, edge.to, edge)
  }

  #findInitialNodes() {
    const { initial_nodes: ids } = this.definition
    this.initial = ids?.map((id, index) => this.resolve(id, pointTo(`${this.at}/initial_nodes`, index)))
    if (ids === null || this.initial?.includes(undefined)) this.#isReachKnown = false
  }
}

export function hasDependencies(node) {
  return node.dependencies?.length > 0
}
