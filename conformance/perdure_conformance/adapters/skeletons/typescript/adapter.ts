// Speaks protocol 1, JSON-RPC over standard input and output, for the journal in journal.ts.
//
//   perdure adapter smoke --command "node adapter.ts"
//   perdure check journal --command "node adapter.ts"
//
// Node.js runs this as it is from 22.18 on. Before: npm install && npx tsc, and then node build/adapter.js.

import { FileJournal, LIMITS } from './journal.ts'

/** One record of a run. The body is text, and kept as it is (JRN-002). */
export type Record = { sequence: number; event_id: string; body: string }

export type Answer =
  | { acknowledged: { sequence: number; event_id: string }[] }
  | { refused: 'sequence_conflict'; actual_next: number }
  | { refused: 'invalid_record' | 'too_large' | 'event_id_conflict' | 'not_stored' | 'unavailable' }

/** What the adapter needs of your journal. */
export interface Journal {
  /** All state lives in `stateDir`, under `namespace`, and nowhere else. */
  open(stateDir: string, namespace: string): void
  append(runId: string, expectedNext: number, records: Record[]): Answer
  load(runId: string, fromSequence: number, limit: number): { records: Record[]; end: boolean }
  close(): void
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

// What is claimed is judged. What is not claimed must be refused as unsupported (JRN-022).
const capabilities = {
  exact_replay: true, // JRN-008
  event_id_dedup: true, // JRN-009, JRN-023
  atomic_batch: true, // JRN-015
  durable: 'process-crash', // JRN-017
}

const PAGE_BYTES = 1_048_576
const journal: Journal = new FileJournal()

const methods: { [method: string]: (params: Params) => object } = {
  initialize({ state_dir, namespace }) {
    journal.open(state_dir, namespace)
    return { protocol: 1, name: 'my-journal', version: '0.1.0', capabilities, limits: LIMITS }
  },

  append({ run_id, expected_next, records }) {
    return journal.append(run_id, expected_next, records)
  },

  load({ run_id, from_sequence, limit }) {
    const { records, end } = journal.load(run_id, from_sequence, limit)
    const count = fitting(records) // A page that ends early is not the end (JRN-021).
    return { records: records.slice(0, count), end: end && count === records.length }
  },

  shutdown() {
    journal.close()
    return {}
  },
}

/** How many records fit in a line, at least one: text takes up to twice its bytes as JSON. */
function fitting(records: Record[]): number {
  let size = 0
  const over = records.findIndex(({ body }) => (size += Buffer.byteLength(body) + 100) > PAGE_BYTES)
  return over < 0 ? records.length : Math.max(over, 1)
}

/** A result, or an error. A refusal is a result; an error is a fault of this program. */
function outcome(method: string, params: Params): object {
  if (!Object.hasOwn(methods, method)) {
    return { error: { code: -32601, message: `method not found: ${method}` } }
  }
  try {
    return { result: methods[method](params) }
  } catch (error) {
    console.error(error) // Logs go to standard error: standard output is for messages alone.
    return { error: { code: -32603, message: String(error) } }
  }
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

for await (const line of linesOf(process.stdin)) {
  const { id, method, params } = JSON.parse(line)
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome(method, params) })}\n`)
  if (method === 'shutdown') break
}
