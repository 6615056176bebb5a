// A journal on files, to be replaced by yours.

import fs from 'node:fs'
import path from 'node:path'
import type { Answer, Journal, Record } from './adapter.ts'

export const LIMITS = { max_batch_records: 1000, max_batch_bytes: 1_048_576, max_snapshot_bytes: 1_048_576 } // JRN-014
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A file for each run, a line for each batch. */
export class FileJournal implements Journal {
  folder = ''
  runs = new Map<string, Record[]>()

  open(stateDir: string, namespace: string): void {
    this.folder = path.join(stateDir, namespace)
    fs.mkdirSync(this.folder, { recursive: true })
  }

  /** Compares and appends. The first refusal that applies is the answer, in this order (JRN-013). */
  append(runId: string, expectedNext: number, records: Record[]): Answer {
    const stored = this.read(runId)
    if (!isValid(expectedNext, records)) return { refused: 'invalid_record' }
    const size = records.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0)
    if (records.length > LIMITS.max_batch_records || size > LIMITS.max_batch_bytes) {
      return { refused: 'too_large' } // JRN-026
    }
    const acknowledged = records.map(({ sequence, event_id }) => ({ sequence, event_id }))
    if (records.every((record) => isSame(record, stored[record.sequence - 1]))) {
      return { acknowledged } // An exact replay: it is stored already (JRN-008).
    }
    const known = new Set(stored.map(({ event_id }) => event_id)) // Of this run alone (JRN-010).
    if (records.some(({ event_id }) => known.has(event_id))) return { refused: 'event_id_conflict' } // JRN-009
    const next = stored.length + 1
    if (expectedNext !== next) return { refused: 'sequence_conflict', actual_next: next } // JRN-004, JRN-005, JRN-006
    this.write(runId, records)
    stored.push(...records)
    return { acknowledged }
  }

  /** A page, and whether no record follows it (JRN-003, JRN-021). An unknown run has none (JRN-011). */
  load(runId: string, fromSequence: number, limit: number): { records: Record[]; end: boolean } {
    const rest = this.read(runId).slice(fromSequence - 1)
    return { records: rest.slice(0, limit), end: rest.length <= limit }
  }

  close(): void {} // Nothing is open between calls.

  path(runId: string): string {
    return path.join(this.folder, `${runId}.journal`)
  }

  /** Reads a run once. A last line without its LF was never acknowledged: it is cut off (JRN-015, JRN-017). */
  read(runId: string): Record[] {
    let stored = this.runs.get(runId)
    if (!stored) {
      const file = this.path(runId)
      const content = fs.existsSync(file) ? fs.readFileSync(file) : Buffer.alloc(0)
      const whole = content.lastIndexOf(10) + 1
      if (whole < content.length) fs.truncateSync(file, whole)
      const lines = content.toString('utf8', 0, whole).split('\n').slice(0, -1)
      stored = lines.flatMap((line) => JSON.parse(line) as Record[])
      this.runs.set(runId, stored)
    }
    return stored
  }

  /** Writes a batch as one line, and has it on disk before it is acknowledged (JRN-015, JRN-017). */
  write(runId: string, records: Record[]): void {
    try {
      fs.writeFileSync(this.path(runId), `${JSON.stringify(records)}\n`, { flag: 'a', flush: true })
    } catch (error) {
      this.runs.delete(runId) // Who knows what is there? It is read again.
      throw error
    }
  }
}

/** Whether there are records, dense from `expectedNext`, with an id of their own and a body (JRN-012). */
function isValid(expectedNext: number, records: Record[]): boolean {
  const ids = new Set(records.map(({ event_id }) => event_id))
  return (
    ids.size > 0 &&
    ids.size === records.length &&
    records.every(
      ({ sequence, event_id, body }, index) => sequence === expectedNext + index && UUID.test(event_id) && body !== '',
    )
  )
}

function isSame(one: Record, other: Record | undefined): boolean {
  return one.event_id === other?.event_id && one.body === other.body
}
