// A validator of workflow specifications: from a text to an answer.

import { createHash } from 'node:crypto'
import { checkUses, graphOfUses } from './children.mjs'
import { Findings } from './findings.mjs'
import { canonical, parse, pointTo } from './json.mjs'
import { checkScope } from './rules.mjs'
import { Scope } from './scope.mjs'
import { readDocument } from './structure.mjs'
import { warnOfScope, warnOfUnused } from './warnings.mjs'

export const MAX_TEXT_BYTES = 16 * 1024 * 1024

const MAX_CANONICAL_BYTES = 15 * 1024 * 1024
const MAX_DEPTH = 90

/**
 * `handlers` is a catalogue, [{name, version, inputs}], or undefined. The answer is {isValid: false, problems}, or
 * {isValid: true, contentHash, initialNodes, warnings}.
 */
export function validate(text, { handlers, maxBytes = MAX_TEXT_BYTES } = {}) {
  const { value, depth, problems } = parse(text, maxBytes)
  if (problems.length > 0) return { isValid: false, problems }

  const findings = new Findings()
  const document = readDocument(value, findings)
  if (document === null) return { isValid: false, problems: findings.problems }
  checkSize(value, depth, findings)
  const contentHash = hashOf(value)
  if (document.content_hash && document.content_hash !== contentHash) {
    findings.problem('wrong_content_hash', '/content_hash', `Write ${contentHash}, or leave it out.`)
  }

  const children = document.children === undefined ? new Map() : document.children
  const scopes = scopesOf(document, children, findings)
  const catalogue = handlers && new Map(handlers.map(({ name, version, inputs }) => [`${name}@${version}`, inputs]))
  for (const scope of scopes) if (scope) checkScope(scope, { findings, children, handlers: catalogue })
  const uses = graphOfUses(scopes, children)
  checkUses(uses, findings)
  if (findings.problems.length > 0) return { isValid: false, problems: findings.problems }

  for (const scope of scopes) warnOfScope(scope, document.schema_version, findings)
  warnOfUnused(scopes, uses, findings)
  const initialNodes = scopes[0].initialVertices().map((vertex) => document.nodes[vertex].id)
  return { isValid: true, contentHash, initialNodes, warnings: findings.warnings }
}

/** The document's, then those of its children in their order, null where a definition cannot be used. */
function scopesOf(document, children, findings) {
  const scopes = [new Scope(document, '', findings)]
  for (const [reference, definition] of children ?? []) {
    scopes.push(definition && new Scope(definition, pointTo('/children', reference), findings))
  }
  return scopes
}

function checkSize(value, depth, findings) {
  if (depth > MAX_DEPTH) findings.problem('document_too_deep', '', `Nest at most ${MAX_DEPTH} arrays and objects.`)
  if (Buffer.byteLength(canonical(value)) > MAX_CANONICAL_BYTES) {
    findings.problem('document_too_large', '', `Keep the canonical form within ${MAX_CANONICAL_BYTES} bytes.`)
  }
}

function hashOf({ content_hash: _, ...rest }) {
  return createHash('sha256').update(canonical(rest)).digest('hex')
}
