// A journal on files, to be replaced by yours. The adapter calls three things: the constructor, append and load.

import fs from 'node:fs'
import path from 'node:path'

/** One record of a run. The body is text, and kept as it is (JRN-002). */
export type Record = { sequence: number; event_id: string; body: string }

export type Answer =
  | { acknowledged: { sequence: number; event_id: string }[] }
  | { refused: 'sequence_conflict'; actual_next: number }
  | { refused: 'invalid_record' | 'too_large' | 'event_id_conflict' | 'not_stored' | 'unavailable' }

export const LIMITS = { max_batch_records: 1000, max_batch_bytes: 1 << 20, max_snapshot_bytes: 1 << 20 } // JRN-014
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A file for each run, written anew by each append: short, and slow when runs are long. */
export class FileJournal {
  folder: string

  constructor(stateDir: string, namespace: string) {
    this.folder = path.join(stateDir, namespace)
    fs.mkdirSync(this.folder, { recursive: true })
  }

  /** Compares and appends. The first refusal that applies is the answer, in this order (JRN-013). */
  append(runId: string, expectedNext: number, records: Record[]): Answer {
    const stored = this.read(runId)
    const known = new Set(stored.map(({ event_id }) => event_id)) // Of this run alone (JRN-010).
    const acknowledged = records.map(({ sequence, event_id }) => ({ sequence, event_id }))
    if (!isValid(expectedNext, records)) return { refused: 'invalid_record' }
    if (records.length > LIMITS.max_batch_records || sizeOf(records) > LIMITS.max_batch_bytes) {
      return { refused: 'too_large' } // JRN-026
    }
    // An exact replay is stored already (JRN-008).
    if (records.every((record) => isSame(record, stored[record.sequence - 1]))) return { acknowledged }
    if (records.some(({ event_id }) => known.has(event_id))) return { refused: 'event_id_conflict' } // JRN-009
    const next = stored.length + 1
    // JRN-004, JRN-005, JRN-006
    if (expectedNext !== next) return { refused: 'sequence_conflict', actual_next: next }
    this.write(runId, [...stored, ...records])
    return { acknowledged }
  }

  /**
   * A page. One that would not fit in a line ends early, and is then not the end (JRN-003, JRN-021).
   *
   * A line has room for twice the bytes of a batch. Text takes up to twice its bytes, and what is around it 100.
   */
  load(runId: string, fromSequence: number, limit: number): { records: Record[]; end: boolean } {
    const rest = this.read(runId).slice(fromSequence - 1)
    let records = rest.slice(0, limit)
    while (records.length > 1 && sizeOf(records) + 100 * records.length > LIMITS.max_batch_bytes) {
      records = records.slice(0, records.length / 2)
    }
    return { records, end: records.length === rest.length }
  }

  /** All records of a run. One that is not known has none (JRN-011). */
  read(runId: string): Record[] {
    const file = path.join(this.folder, `${runId}.json`)
    return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : []
  }

  /**
   * Stores a run, with its new batch or as it was (JRN-015), and before it is acknowledged (JRN-017).
   *
   * A kill leaves the old file or the new one. A power cut may take both: `durable` would be more than process-crash
   * if the new file were synced before it is renamed, and the folder after.
   */
  write(runId: string, records: Record[]): void {
    const file = path.join(this.folder, 'new')
    fs.writeFileSync(file, JSON.stringify(records))
    fs.renameSync(file, path.join(this.folder, `${runId}.json`))
  }
}

/** Whether there are records, dense from `expectedNext`, with an id of their own and a body (JRN-012). */
function isValid(expectedNext: number, records: Record[]): boolean {
  const ids = new Set(records.map(({ event_id }) => event_id))
  const isDue = ({ sequence, event_id, body }: Record, index: number) =>
    sequence === expectedNext + index && UUID.test(event_id) && body !== ''
  return records.length > 0 && ids.size === records.length && records.every(isDue)
}

function isSame(one: Record, other: Record | undefined): boolean {
  return one.event_id === other?.event_id && one.body === other.body
}

/** How many bytes the bodies have. */
function sizeOf(records: Record[]): number {
  return records.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0)
}
