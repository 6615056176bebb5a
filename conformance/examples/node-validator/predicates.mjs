// Which outcomes edges match. A predicate is {}, which matches anything; {outcome}; or {field, equals: {value}}.

import { canonical } from './json.mjs'

const CARRIES_OUTPUT = new Set(['succeeded', 'changes_requested'])

const isField = (predicate) => predicate.field !== undefined
const isOutcome = (predicate) => predicate.outcome !== undefined

/** Equal for equal predicates: canonical forms of scalars are equal if and only if the scalars are. */
export function keyOf(predicate) {
  if (isField(predicate)) return `${predicate.field}=${canonical(predicate.equals.value)}`
  return predicate.outcome ?? 'any'
}

/** For each predicate that overlaps with an earlier one, one pair of indices, [an earlier one, it]. */
export function overlaps(predicates) {
  const pairs = []
  const earlier = new Earlier()
  predicates.forEach((predicate, index) => {
    const partner = earlier.overlapping(predicate)
    if (partner) pairs.push([partner.index, index])
    earlier.add({ predicate, index })
  })
  return pairs
}

/** Of the predicates so far, one of each sort that can overlap with another. */
class Earlier {
  #one // of any sort
  #any
  #carrier // an outcome that carries output
  #field
  #otherField // with another field than #field
  #equal = new Map()

  overlapping(predicate) {
    if (isField(predicate)) {
      return this.#any ?? this.#carrier ?? this.#equal.get(keyOf(predicate)) ?? this.#unlike(predicate)
    }
    if (isOutcome(predicate)) {
      const field = CARRIES_OUTPUT.has(predicate.outcome) ? this.#field : undefined
      return this.#any ?? this.#equal.get(keyOf(predicate)) ?? field
    }
    return this.#one
  }

  add(entry) {
    const { predicate } = entry
    this.#one ??= entry
    if (isField(predicate)) this.#addField(entry)
    else if (!isOutcome(predicate)) this.#any ??= entry
    else if (CARRIES_OUTPUT.has(predicate.outcome)) this.#carrier ??= entry
    const key = keyOf(predicate)
    if (!this.#equal.has(key)) this.#equal.set(key, entry)
  }

  #addField(entry) {
    this.#field ??= entry
    if (entry.predicate.field !== this.#field.predicate.field) this.#otherField ??= entry
  }

  #unlike({ field }) {
    return this.#field?.predicate.field === field ? this.#otherField : this.#field
  }
}

/** An outcome that two overlapping predicates both match. */
export function witness(one, other) {
  const kind = one.outcome ?? other.outcome ?? 'succeeded'
  const outcome = kind === 'succeeded' ? { kind } : { kind, reason: 'both edges match' }
  const fields = [one, other].filter(isField)
  if (fields.length > 0) outcome.output = Object.fromEntries(fields.map(({ field, equals }) => [field, equals.value]))
  return outcome
}
