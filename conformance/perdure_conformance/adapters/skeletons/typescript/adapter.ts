// Speaks protocol 1, JSON-RPC over standard input and output, for the journal in journal.ts.
//
//   perdure adapter smoke --command "node adapter.ts"
//   perdure check journal --command "node adapter.ts"
//
// Node.js runs this as it is from 22.18 on. Before: npm install && npx tsc, and then node build/adapter.js.

import { FileJournal, LIMITS, type Record } from './journal.ts'

// What is claimed is judged. What is not claimed is refused as unsupported (JRN-022). To claim more, ask what it takes:
// perdure explain snapshots, or leases, fencing, multi_process, read, durable.
const CAPABILITIES = {
  exact_replay: true, // JRN-008
  event_id_dedup: true, // JRN-009, JRN-023
  atomic_batch: true, // JRN-015
  durable: 'process-crash', // JRN-017
}

type Params = {
  state_dir: string
  namespace: string
  run_id: string
  expected_next: number
  epoch: number | null // null, unless fencing is claimed
  records: Record[]
  from_sequence: number
  limit: number
}

let journal: FileJournal

const methods: { [method: string]: (params: Params) => object } = {
  /** All state lives in `state_dir`, under `namespace`, and nowhere else. */
  initialize({ state_dir, namespace }) {
    journal = new FileJournal(state_dir, namespace)
    return { protocol: 1, name: 'my-journal', version: '0.1.0', capabilities: CAPABILITIES, limits: LIMITS }
  },

  append({ run_id, expected_next, records }) {
    return journal.append(run_id, expected_next, records)
  },

  load({ run_id, from_sequence, limit }) {
    return journal.load(run_id, from_sequence, limit)
  },

  /** The process ends after the answer. */
  shutdown() {
    return {}
  },
}

/** Lines end at LF alone: the readline module would also end them at U+2028, which may stand in a body. */
async function* linesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let parts: Buffer[] = []
  for await (let chunk of stream) {
    for (let end; (end = chunk.indexOf(10)) >= 0; chunk = chunk.subarray(end + 1)) {
      yield Buffer.concat([...parts, chunk.subarray(0, end)]).toString()
      parts = []
    }
    parts.push(chunk)
  }
}

// A refusal is a result. An exception is a fault, and ends this program: standard error tells it, and takes logs too.
for await (const line of linesOf(process.stdin)) {
  const { id, method, params } = JSON.parse(line)
  const answer = Object.hasOwn(methods, method)
    ? { result: methods[method](params) }
    : { error: { code: -32601, message: `method not found: ${method}` } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
  if (method === 'shutdown') break
}
