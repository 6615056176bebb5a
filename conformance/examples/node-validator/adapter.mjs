// Speaks protocol 1, JSON-RPC over lines, for the validator in validator.mjs.

import { MAX_TEXT_BYTES, validate } from './validator.mjs'

const CAPABILITIES = {
  codes: true,
  pointers: true,
  all_problems: true,
  content_hash: true,
  initial_nodes: true,
  witnesses: true,
  handlers: true,
}

class InvalidParams extends Error {}

let maxBytes // of a document, once the connection is initialized
let isDone = false

const methods = {
  initialize(id, { protocol, profile, limits }) {
    if (protocol !== 1 || profile !== 'spec') throw new InvalidParams('not protocol 1, profile spec')
    const theirs = limits?.max_document_bytes
    if (!Number.isSafeInteger(theirs) || theirs < 1) throw new InvalidParams('max_document_bytes is no limit')
    maxBytes = Math.min(MAX_TEXT_BYTES, theirs)
    const ours = { max_document_bytes: MAX_TEXT_BYTES }
    return { protocol: 1, name: 'node-validator', version: '1.0.0', capabilities: CAPABILITIES, limits: ours }
  },

  validate(id, { document, handlers }) {
    if (typeof document !== 'string') throw new InvalidParams('document is no string')
    const { isValid, contentHash, initialNodes, problems, warnings } = validate(document, { handlers, maxBytes })
    if (!isValid) return withAsManyAsFit(id, { valid: false, problems: [] }, 'problems', problems)
    const result = { valid: true, content_hash: contentHash, initial_nodes: initialNodes, warnings: [] }
    return withAsManyAsFit(id, result, 'warnings', warnings)
  },

  shutdown() {
    isDone = true
    return {}
  },
}

/** The result with as many findings as a line has room for; the protocol does not carry their sentences. */
function withAsManyAsFit(id, result, member, findings) {
  const maxLine = 2 * maxBytes + 65536
  let room = maxLine - Buffer.byteLength(lineOf({ id, result }))
  for (const { code, pointer, witness } of findings) {
    const finding = { code, pointer, witness }
    room -= Buffer.byteLength(JSON.stringify(finding)) + ','.length
    if (room < 0) break
    result[member].push(finding)
  }
  return result
}

function answer(line) {
  let request
  try {
    request = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line))
  } catch (error) {
    return { id: null, error: { code: -32700, message: error.message } }
  }
  const { jsonrpc, id, method, params } = request ?? {}
  if (jsonrpc !== '2.0' || typeof id !== 'string' || typeof method !== 'string') {
    return { id: typeof id === 'string' ? id : null, error: { code: -32600, message: 'not a request' } }
  }
  if (!Object.hasOwn(methods, method)) return { id, error: { code: -32601, message: `method not found: ${method}` } }
  if (!maxBytes && method === 'validate') return { id, error: { code: -32600, message: 'not initialized' } }
  try {
    return { id, result: methods[method](id, params ?? {}) }
  } catch (error) {
    if (error instanceof InvalidParams) return { id, error: { code: -32602, message: error.message } }
    console.error(error)
    return { id, error: { code: -32603, message: error.message } }
  }
}

function lineOf(message) {
  return `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
}

// Lines end at LF and nowhere else. The readline module would also end them at U+2028, which may stand in a document.
async function* linesOf(stream) {
  let parts = []
  for await (let chunk of stream) {
    for (let end; (end = chunk.indexOf(10)) >= 0; chunk = chunk.subarray(end + 1)) {
      yield Buffer.concat([...parts, chunk.subarray(0, end)])
      parts = []
    }
    if (chunk.length > 0) parts.push(chunk)
  }
}

for await (const line of linesOf(process.stdin)) {
  process.stdout.write(lineOf(answer(line)))
  if (isDone) break
}
