// A small journal on Node.js, as an adapter: `node journal.mjs HOW`, where HOW is `good` or what it does wrong.
//
// One file holds all runs, a line for each batch: a checksum, and run and records as JSON. What is behind the last whole
// line is cut off when it opens.

import fs from 'node:fs'
import path from 'node:path'
import { createHash } from 'node:crypto'

const how = process.argv[2] ?? 'good'
const LIMITS = { max_batch_records: 1000, max_batch_bytes: 1 << 20, max_snapshot_bytes: 1 << 20 }
const CAPABILITIES = { exact_replay: true, atomic_batch: true, durable: 'posix-weak' }

let file // its descriptor
let end // where the next line goes
let lines // as they are in it
let runs
let isUnsynced = false

const checksum = (text) => createHash('sha256').update(text).digest('hex').slice(0, 16)

function open(directory) {
  file = fs.openSync(path.join(directory, 'log'), fs.constants.O_RDWR | fs.constants.O_CREAT)
  runs = new Map()
  lines = []
  end = 0
  const content = fs.readFileSync(file)
  for (let stop; (stop = content.indexOf(10, end)) >= 0; end = stop + 1) {
    const text = content.toString('utf8', end + 17, stop)
    if (content.toString('latin1', end, end + 16) !== checksum(text)) break
    const [run, records] = JSON.parse(text)
    take(run, records)
    lines.push(content.subarray(end, stop + 1))
  }
  if (end < content.length) fs.ftruncateSync(file, end)
  syncFile()
  if (how === 'no-directory-sync') return
  const folder = fs.openSync(directory, 'r')
  fs.fsyncSync(folder)
  fs.closeSync(folder)
}

const take = (run, records) => runs.set(run, [...(runs.get(run) ?? []), ...records])

function syncFile() {
  if (how === 'no-fsync') return
  try {
    fs.fsyncSync(file)
  } catch (error) {
    if (how !== 'ignores-errors-of-syncs') throw error // It ends: nobody knows what is on the disk.
  }
}

function put(bytes) {
  try {
    if (how === 'writes-in-place') fs.ftruncateSync(file, 0)
    const [content, start] = how === 'writes-in-place' ? [Buffer.concat([...lines, bytes]), 0] : [bytes, end]
    for (let written = 0; written < content.length; ) {
      written += fs.writeSync(file, content, written, content.length - written, start + written)
    }
  } catch (error) {
    if (how !== 'ignores-errors') {
      fs.ftruncateSync(file, end)
      return false
    }
  }
  lines.push(bytes)
  isUnsynced = how === 'acknowledges-before-the-sync'
  if (!isUnsynced) syncFile()
  end += bytes.length
  return true
}

const methods = {
  initialize({ state_dir }) {
    open(state_dir)
    return { protocol: 1, name: 'on-node', version: '1', capabilities: CAPABILITIES, limits: LIMITS }
  },

  append({ run_id, expected_next, records }) {
    const run = runs.get(run_id) ?? []
    const acknowledged = records.map(({ sequence, event_id }) => ({ sequence, event_id }))
    const there = run.slice(expected_next - 1, expected_next - 1 + records.length)
    if (JSON.stringify(there) === JSON.stringify(records)) return { acknowledged }
    if (expected_next !== run.length + 1) return { refused: 'sequence_conflict', actual_next: run.length + 1 }
    const text = JSON.stringify([run_id, records])
    if (!put(Buffer.from(`${checksum(text)} ${text}\n`))) return { refused: 'not_stored' }
    take(run_id, records)
    return { acknowledged }
  },

  load({ run_id, from_sequence, limit }) {
    const records = (runs.get(run_id) ?? []).slice(from_sequence - 1)
    return { records: records.slice(0, limit), end: records.length <= limit }
  },

  recover({ path: directory }) {
    fs.closeSync(file)
    open(directory)
    return {}
  },

  shutdown: () => ({}),
}

let rest = Buffer.alloc(0)
reading: for await (const chunk of process.stdin) {
  rest = Buffer.concat([rest, chunk])
  for (let stop; (stop = rest.indexOf(10)) >= 0; rest = rest.subarray(stop + 1)) {
    const { id, method, params } = JSON.parse(rest.toString('utf8', 0, stop))
    if (isUnsynced) syncFile() // What was acknowledged, before the next request.
    isUnsynced = false
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: methods[method](params) })}\n`)
    if (method === 'shutdown') break reading
  }
}
