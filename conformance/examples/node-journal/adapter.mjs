// Speaks protocol 1, JSON-RPC over lines, for the journal in journal.mjs.

import { InvalidArgument, Journal, LIMITS, requirePositive } from './journal.mjs'

let journal
let journalNamespace
let maxLine // in bytes
let isDone = false

const methods = {
  initialize(id, { protocol, profile, state_dir, namespace, limits }) {
    if (protocol !== 1 || profile !== 'journal') throw new InvalidArgument('not protocol 1, profile journal')
    for (const name of Object.keys(LIMITS)) requirePositive(`limits.${name}`, limits?.[name])
    const inForce = (name) => Math.min(LIMITS[name], limits[name])
    maxLine = 2 * Math.max(inForce('max_batch_bytes'), inForce('max_snapshot_bytes')) + 65536
    journal = new Journal(state_dir, namespace)
    journalNamespace = namespace
    const capabilities = { exact_replay: true, event_id_dedup: true, atomic_batch: true, durable: 'process-crash' }
    return { protocol: 1, name: 'node-journal', version: '1.0.0', capabilities, limits: LIMITS }
  },

  append(id, { run_id, expected_next, records }) {
    return journal.append(run_id, expected_next, records) // without fencing, no epoch is ever stale
  },

  load(id, { run_id, from_sequence, limit }) {
    const envelope = lineOf({ id, result: { records: [], end: false } })
    const room = maxLine - Buffer.byteLength(envelope) + '[]'.length
    return journal.load(run_id, from_sequence, limit, room)
  },

  recover(id, { path }) {
    journal = new Journal(path, journalNamespace) // no file stays open between two calls, so there is nothing to close
    return {}
  },

  shutdown() {
    isDone = true
    return {}
  },
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
  if (!journal && ['append', 'load', 'recover'].includes(method)) {
    return { id, error: { code: -32600, message: 'not initialized' } }
  }
  try {
    return { id, result: methods[method](id, params ?? {}) }
  } catch (error) {
    if (error instanceof InvalidArgument) return { id, error: { code: -32602, message: error.message } }
    console.error(error)
    return { id, error: { code: -32603, message: error.message } }
  }
}

function lineOf(message) {
  return `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
}

// Lines end at LF and nowhere else. The readline module would also end them at U+2028, which may stand in a body.
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
