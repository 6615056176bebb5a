// How the document and the definitions of its catalog use each other.

import { Graph } from './graph.mjs'

const MAX_LEVELS = 8

/** The vertices are the scopes, of which the first is the document; the labels are the places of the uses. */
export function graphOfUses(scopes, children) {
  const uses = new Graph(scopes.length)
  const positions = new Map([...(children ?? new Map()).keys()].map((reference, index) => [reference, index + 1]))
  scopes.forEach((scope, user) => {
    scope?.nodes.forEach((node, vertex) => {
      const used = positions.get(node?.child?.workflow)
      if (used !== undefined) uses.add(user, used, `${scope.placeOf(vertex)}/child/workflow`)
    })
  })
  return uses
}

export function checkUses(uses, findings) {
  for (const arrow of uses.cycles().values()) {
    findings.problem('child_recursion', uses.label[arrow], 'Let no definition reach itself.')
  }
  checkLevels(uses, findings)
}

/** Levels are counted from the document, and from definitions that nothing uses. Recursion has none. */
function checkLevels(uses, findings) {
  const recursive = new Set(uses.cycles().keys())
  const level = new Float64Array(uses.size)
  for (const user of uses.inOrder()) {
    if (recursive.has(uses.component[user])) level[user] = Infinity
    for (const arrow of uses.out[user]) {
      const used = uses.to[arrow]
      level[used] = Math.max(level[used], level[user] + 1)
      if (level[user] !== MAX_LEVELS) continue
      findings.problem('children_too_deep', uses.label[arrow], `Nest at most ${MAX_LEVELS} levels of children.`)
    }
  }
}
