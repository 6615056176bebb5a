// The members, their types, ranges and words: what can be told of a value without looking at any other.
//
// A reader takes (value, at, context) and gives what the rules work on. Throughout, `undefined` is what is absent and
// `null` is what is there but cannot be used, which has been told. Objects with names as keys become Maps.

import { canonical, pointTo } from './json.mjs'

const MAX_INPUT_BYTES = 65536
const LATEST_VERSION = 5
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/
const REFERENCE = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}@[1-9][0-9]{0,15}$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const SHA256 = /^[0-9a-f]{64}$/

// Scalars

const integer = (least) => (value, at, { findings }) => {
  if (!Number.isInteger(value)) return findings.problem('wrong_type', at, 'Write an integer.')
  if (value < least) return findings.problem('out_of_range', at, `Write an integer of at least ${least}.`)
  return value
}

const string = (isWellFormed, form) => (value, at, { findings }) => {
  if (typeof value !== 'string') return findings.problem('wrong_type', at, 'Write a string.')
  return isWellFormed(value) ? value : findings.problem('wrong_form', at, `Write ${form}.`)
}

const pattern = (expression, form) => string((value) => expression.test(value), form)

const characters = (least, most) => {
  const isWithin = (value) => {
    const { length } = value.length > 2 * most ? value : [...value]
    return least <= length && length <= most
  }
  return string(isWithin, `${least} to ${most} characters`)
}

const word = (...words) => (value, at, { findings }) => {
  if (typeof value !== 'string') return findings.problem('wrong_type', at, 'Write a string.')
  return words.includes(value) ? value : findings.problem('unknown_word', at, `Write one of ${words.join(', ')}.`)
}

const name = pattern(NAME, 'an ASCII letter or “_”, then at most 127 of A-Za-z0-9_.-')
const reference = pattern(REFERENCE, 'a workflow reference, name@version')
const digest = pattern(SHA256, '64 lowercase hexadecimal digits')
const uuid = pattern(UUID, 'a lowercase UUID')
const anyString = string(() => true)
const positive = integer(1)
const natural = integer(0)
const outcomeKind = word(
  'succeeded',
  'changes_requested',
  'retryable_failure',
  'permanent_failure',
  'blocked',
  'cancelled',
  'skipped',
)

/** In a box, since null is a scalar too. */
function scalar(value, at, { findings }) {
  const isScalar = value === null || typeof value !== 'object'
  return isScalar ? { value } : findings.problem('wrong_type', at, 'Write null, a boolean, a number or a string.')
}

function schemaVersion(value, at, { findings }) {
  if (!Number.isInteger(value)) return findings.problem('wrong_type', at, 'Write an integer.')
  return isSupported(value) ? value : findings.problem('unsupported_version', at, `Write 1 to ${LATEST_VERSION}.`)
}

const isSupported = (version) => Number.isInteger(version) && 1 <= version && version <= LATEST_VERSION

// Arrays and objects

const list = (read) => (value, at, context) => {
  if (!Array.isArray(value)) return context.findings.problem('wrong_type', at, 'Write an array.')
  return value.map((item, index) => read(item, pointTo(at, index), context))
}

const distinct = (read) => (value, at, context) => {
  const items = list(read)(value, at, context)
  const seen = new Set()
  items?.forEach((item, index) => {
    if (seen.has(item)) context.findings.problem('duplicate_name', pointTo(at, index), `Name ${item} once.`)
    if (item !== null) seen.add(item)
  })
  return items
}

const names = distinct(name)

function nameSet(value, at, context) {
  const items = names(value, at, context)
  return items && new Set(items)
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

const optional = (read, from = 1) => ({ read, from, isRequired: false })
const required = (read, from = 1) => ({ read, from, isRequired: true })

const object = (members) => {
  const entries = Object.entries(members)
  return (value, at, context) => {
    const { findings, version } = context
    if (!isObject(value)) return findings.problem('wrong_type', at, 'Write an object.')
    for (const key of Object.keys(value)) {
      if (!Object.hasOwn(members, key)) {
        findings.problem('unknown_member', pointTo(at, key), 'Remove what is no member here.')
      } else if (members[key].from > version) {
        const message = `Remove ${key}, or make schema_version at least ${members[key].from}.`
        findings.problem('member_of_later_version', pointTo(at, key), message)
      }
    }
    const result = {}
    for (const [key, { read, isRequired }] of entries) {
      if (Object.hasOwn(value, key)) result[key] = read(value[key], pointTo(at, key), context)
      else if (isRequired) result[key] = findings.problem('missing_member', at, `Give ${key}.`)
    }
    return result
  }
}

/** An object of which any member that cannot be used makes the whole useless. */
const wholeObject = (members) => (value, at, context) => {
  const result = object(members)(value, at, context)
  return result && Object.values(result).includes(null) ? null : result
}

const map = (readValue) => (value, at, context) => {
  const { findings } = context
  if (!isObject(value)) return findings.problem('wrong_type', at, 'Write an object.')
  const result = new Map()
  for (const key of Object.keys(value)) {
    const item = readValue(value[key], pointTo(at, key), context)
    if (name(key, pointTo(at, key), context) !== null) result.set(key, item)
  }
  return result
}

// The parts of a document

const outputReference = object({ node: required(name), output: required(name) })
const runInput = object({ run_input: required(name) })

function valueSource(value, at, context) {
  const read = isObject(value) && Object.hasOwn(value, 'run_input') ? runInput : outputReference
  return read(value, at, context)
}

const artifact = object({
  artifact_id: required(uuid),
  byte_length: required(natural),
  sha256: required(digest),
  media_type: optional(characters(1, 255)),
})

/** The set of its fields: nothing looks at the values. */
function input(value, at, { findings }) {
  if (!isObject(value)) return findings.problem('wrong_type', at, 'Write an object.')
  if (Buffer.byteLength(canonical(value)) > MAX_INPUT_BYTES) {
    findings.problem('input_too_large', at, `Keep it within ${MAX_INPUT_BYTES} bytes; pass more as an artifact.`)
  }
  return new Set(Object.keys(value))
}

const BACKOFFS = {
  immediate: object({ kind: required(anyString) }),
  fixed: object({ kind: required(anyString), delay_ms: required(natural) }),
  exponential: object({
    kind: required(anyString),
    initial_ms: required(natural),
    multiplier: required(positive),
    maximum_ms: required(natural),
  }),
}
const backoffKind = word(...Object.keys(BACKOFFS))

function backoff(value, at, context) {
  const { findings } = context
  if (!isObject(value)) return findings.problem('wrong_type', at, 'Write an object.')
  if (!Object.hasOwn(value, 'kind')) return findings.problem('missing_member', at, 'Give kind.')
  const kind = backoffKind(value.kind, pointTo(at, 'kind'), context)
  return kind && BACKOFFS[kind](value, at, context)
}

const retry = object({
  max_attempts: optional(positive),
  classes: optional(distinct(outcomeKind)),
  backoff: optional(backoff),
  jitter: optional(object({ seed: required(characters(0, 128)), maximum_ms: required(natural) })),
  attempt_deadline_ms: optional(positive),
})

const onOutcome = wholeObject({ outcome: required(outcomeKind) })
const onField = wholeObject({ field: required(name), equals: required(scalar) })

/** {}, which matches anything; {outcome}; or {field, equals: {value}}. */
function predicate(value, at, context) {
  const { findings } = context
  if (value === 'any') return {}
  if (typeof value === 'string') return findings.problem('unknown_word', at, 'Write "any", or an object.')
  if (!isObject(value)) return findings.problem('wrong_type', at, 'Write "any", or an object.')
  return (Object.hasOwn(value, 'outcome') ? onOutcome : onField)(value, at, context)
}

const edge = object({
  from: required(name),
  to: required(name),
  when: optional(predicate),
  mode: optional(word('parallel', 'exclusive')),
})

const node = object({
  id: required(name),
  handler: optional(object({ name: required(name), version: required(positive) })),
  child: optional(
    object({
      workflow: required(reference),
      policy: required(word('propagate', 'require_success')),
      outputs: optional(map(name)),
    }),
    3,
  ),
  input: optional(input),
  artifacts: optional(map(artifact), 2),
  input_mapping: optional(map(valueSource), 3),
  outputs: optional(nameSet),
  dependencies: optional(names),
  dependency_policy: optional(word('all_succeeded', 'all_completed', 'any_succeeded'), 2),
  max_activations: optional(positive, 3),
  retry: optional(retry, 4),
  signals: optional(nameSet, 5),
})

function nodes(value, at, context) {
  const items = list(node)(value, at, context)
  return items?.length === 0 ? context.findings.problem('out_of_range', at, 'Give at least one node.') : items
}

const DEFINITION = {
  nodes: required(nodes),
  edges: optional(list(edge), 3),
  initial_nodes: optional(names, 3),
  inputs: optional(nameSet, 3),
  outputs: optional(map(outputReference), 3),
  budgets: optional(
    object({
      max_attempts: optional(positive),
      max_transitions: optional(positive),
      max_elapsed_ms: optional(positive),
    }),
    4,
  ),
  cancellation: optional(word('cascade'), 5),
}

const definition = object(DEFINITION)

/** One whose key is wrong is kept all the same: its own rules can be judged. */
function children(value, at, { findings, version }) {
  if (!isObject(value)) return findings.problem('wrong_type', at, 'Write an object.')
  const result = new Map()
  for (const key of Object.keys(value)) {
    const place = pointTo(at, key)
    if (!REFERENCE.test(key)) findings.problem('wrong_reference', place, 'Name it name@version.')
    result.set(key, definition(value[key], place, { findings, version }))
  }
  return result
}

const document = object({
  schema_version: required(schemaVersion),
  workflow_id: required(name),
  workflow_version: required(positive),
  content_hash: optional(digest),
  $schema: optional(anyString),
  ...DEFINITION,
  children: optional(children, 3),
})

/** The document as the rules work on it, or null if it is no object. Of an unknown version it is read as the latest. */
export function readDocument(value, findings) {
  const version = isSupported(value?.schema_version) ? value.schema_version : LATEST_VERSION
  return document(value, '', { findings, version })
}
