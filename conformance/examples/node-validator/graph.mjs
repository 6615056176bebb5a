// Directed graphs with parallel arrows. All of it is linear, and nothing recurs: a chain may have 300,000 vertices.

export class Graph {
  from = [] // by arrow
  to = []
  label = []
  out // by vertex: the arrows that leave it
  into // and those that lead to it
  #component = null

  constructor(size) {
    this.out = Array.from({ length: size }, () => [])
    this.into = Array.from({ length: size }, () => [])
  }

  get size() {
    return this.out.length
  }

  add(from, to, label) {
    const arrow = this.from.push(from) - 1
    this.to.push(to)
    this.label.push(label)
    this.out[from].push(arrow)
    this.into[to].push(arrow)
    this.#component = null
  }

  /** By vertex, the number of its strongly connected component. No arrow leads to a component of a higher number. */
  get component() {
    this.#component ??= stronglyConnected(this)
    return this.#component
  }

  isWithinComponent(arrow) {
    return this.component[this.from[arrow]] === this.component[this.to[arrow]]
  }

  /** The arrows that lie on cycles. */
  *arrowsOnCycles() {
    for (let arrow = 0; arrow < this.to.length; arrow++) if (this.isWithinComponent(arrow)) yield arrow
  }

  /** By component with a cycle, an arrow that closes one. */
  cycles() {
    const closing = new Map()
    for (const arrow of this.arrowsOnCycles()) closing.set(this.component[this.to[arrow]], arrow)
    return closing
  }

  reachableFrom(starts) {
    const reached = new Set(starts)
    for (const vertex of reached) for (const arrow of this.out[vertex]) reached.add(this.to[arrow])
    return reached
  }

  /** The vertices, each behind those that lead to it, as far as cycles allow. */
  inOrder() {
    return [...this.out.keys()].sort((one, other) => this.component[other] - this.component[one])
  }
}

/** Tarjan's algorithm, with the path of the search as an explicit stack. */
function stronglyConnected({ size, out, to }) {
  const component = new Int32Array(size).fill(-1)
  const order = new Int32Array(size) // of discovery; 0 is not yet
  const low = new Int32Array(size) // the earliest vertex of an open component that is known to be reachable
  const tried = new Int32Array(size) // how many of its arrows
  const path = []
  const open = [] // found, and not yet in a component
  let found = 0
  let components = 0

  const enter = (vertex) => {
    order[vertex] = low[vertex] = ++found
    path.push(vertex)
    open.push(vertex)
  }

  const leave = (vertex) => {
    path.pop()
    if (path.length > 0) low[path.at(-1)] = Math.min(low[path.at(-1)], low[vertex])
    if (low[vertex] < order[vertex]) return
    let member
    do {
      member = open.pop()
      component[member] = components
    } while (member !== vertex)
    components++
  }

  for (let root = 0; root < size; root++) {
    if (order[root] === 0) enter(root)
    while (path.length > 0) {
      const vertex = path.at(-1)
      if (tried[vertex] === out[vertex].length) {
        leave(vertex)
        continue
      }
      const next = to[out[vertex][tried[vertex]++]]
      if (order[next] === 0) enter(next)
      else if (component[next] === -1) low[vertex] = Math.min(low[vertex], order[next])
    }
  }
  return component
}
