// A journal that keeps each run in one file, to which every append adds one frame.
//
//   file  = frame*
//   frame = magic "PJF1" | payload length | CRC-32 of the payload | CRC-32 of these twelve bytes | payload
//
// The numbers are 32 bits, little endian. The payload is the batch, a JSON array of {sequence, event_id, body} in
// UTF-8, and a line feed. Three properties of the format carry the recovery (see `scan`):
//
// - A frame is a batch, so a batch is there whole or not at all.
// - The header has a checksum of its own, so a damaged length cannot pass off the frames behind it as a torn tail.
// - A frame ends in a byte that is not zero, so zeros at the end of a file are never part of a complete frame.

import fs from 'node:fs'
import path from 'node:path'

export const LIMITS = Object.freeze({ max_batch_records: 1000, max_batch_bytes: 1 << 20, max_snapshot_bytes: 1 << 20 })

const MAGIC = Buffer.from('PJF1')
const HEADER = 16
const STALE = -1 // no file has this size

/** The caller broke the contract; nothing was touched. */
export class InvalidArgument extends Error {}

/** The stored bytes are not what was written. */
class Corrupt extends Error {}

export class Journal {
  #directory
  #runs = new Map() // run id -> Run: what was read from its file, which alone is the truth

  constructor(stateDir, namespace) {
    if (typeof stateDir !== 'string' || stateDir === '') throw new InvalidArgument('state_dir must be a path')
    if (typeof namespace !== 'string' || !/^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/.test(namespace)) {
      throw new InvalidArgument('namespace must be a plain name')
    }
    this.#directory = path.join(stateDir, namespace)
    fs.mkdirSync(this.#directory, { recursive: true })
    syncDirectory(stateDir)
  }

  append(runId, expectedNext, records) {
    const file = this.#file(runId)
    if (!Array.isArray(records)) throw new InvalidArgument('records must be an array')

    const fault = faultOf(expectedNext, records)
    if (fault) return { refused: 'invalid_record', detail: fault }
    const bytes = records.reduce((sum, record) => sum + Buffer.byteLength(record.body), 0)
    if (records.length > LIMITS.max_batch_records || bytes > LIMITS.max_batch_bytes) return { refused: 'too_large' }

    try {
      const run = this.#open(runId, file)
      if (run.damage) return { refused: 'unavailable', detail: `corrupt at sequence ${run.next}: ${run.damage}` }
      if (holdsExactly(run, records)) return acknowledge(records)
      if (records.some(({ event_id }) => run.sequences.has(event_id))) return { refused: 'event_id_conflict' }
      if (expectedNext !== run.next) return { refused: 'sequence_conflict', actual_next: run.next }
      return this.#write(run, records)
    } catch (error) {
      return this.#unavailable(runId, error)
    }
  }

  /** A page of at most `limit` records, which as a JSON array take at most `maxBytes`. */
  load(runId, fromSequence, limit, maxBytes = Infinity) {
    const file = this.#file(runId)
    requirePositive('from_sequence', fromSequence)
    requirePositive('limit', limit)

    try {
      try {
        return pageOf(this.#open(runId, file), fromSequence, limit, maxBytes)
      } catch (error) {
        if (!(error instanceof Corrupt)) throw error
        this.#runs.get(runId).size = STALE // damaged since it was opened: reading it again finds where that begins
        return pageOf(this.#open(runId, file), fromSequence, limit, maxBytes)
      }
    } catch (error) {
      return this.#unavailable(runId, error)
    }
  }

  #file(runId) {
    if (!isUuid(runId)) throw new InvalidArgument('run_id must be a canonical lowercase UUID')
    return path.join(this.#directory, `${runId}.journal`)
  }

  #open(runId, file) {
    const known = this.#runs.get(runId)
    const size = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0
    if (known?.size === size) return known

    const run = new Run(file, size)
    if (size > 0) {
      withFile(file, 'r+', (fd) => {
        // The process before may have been killed between its write and its sync. Nothing that is read here may be
        // served, or recognised as a replay, before it is as durable as what was acknowledged.
        fs.fdatasyncSync(fd)
        syncDirectory(this.#directory)
        scan(run, fd)
      })
    }
    run.promised = Math.max(run.next, known?.promised ?? 1)
    if (run.next < run.promised) run.damage ??= 'acknowledged records are missing'
    if (!run.damage && run.end < size) {
      console.error(`torn_tail: run ${runId}: dropped ${size - run.end} bytes of an unfinished append at ${run.end}`)
    }
    this.#runs.set(runId, run)
    return run
  }

  #write(run, records) {
    const frame = encode(records)
    const isFirst = run.end === 0
    run.size = STALE // unless all goes well, the file is read again before it is used again
    let fd
    try {
      fd = fs.openSync(run.file, isFirst ? fs.constants.O_RDWR | fs.constants.O_CREAT : 'r+')
    } catch (error) {
      return { refused: 'not_stored', detail: error.message }
    }
    try {
      if (fs.fstatSync(fd).size > run.end) truncate(fd, run.end) // a torn tail
      const written = fs.writeSync(fd, frame, 0, frame.length, run.end)
      if (written < frame.length) throw new Error(`wrote ${written} of ${frame.length} bytes`)
      fs.fdatasyncSync(fd)
      if (isFirst) syncDirectory(this.#directory)
    } catch (error) {
      truncate(fd, run.end) // if this fails too, the outcome is unknown: `append` answers so
      return { refused: 'not_stored', detail: error.message }
    } finally {
      fs.closeSync(fd)
    }
    run.add(records, frame.length)
    run.promised = run.next
    run.size = run.end
    return acknowledge(records)
  }

  #unavailable(runId, error) {
    const isDisk = error instanceof Corrupt || error.syscall !== undefined
    if (!isDisk) throw error // a bug must not look like a bad disk
    const run = this.#runs.get(runId)
    if (run) run.size = STALE
    return { refused: 'unavailable', detail: error.message }
  }
}

/** What is known of a run's file. */
class Run {
  sequences = new Map() // event id -> sequence
  frames = [] // where the frame begins that holds the record at index + 1
  end = 0 // where the last complete frame ends
  promised = 1 // the highest `next` that a caller may have learned of
  damage = null // why nothing from `next` on can be read

  constructor(file, size) {
    this.file = file
    this.size = size // of the file when it was read, a torn tail included
  }

  get next() {
    return this.frames.length + 1
  }

  add(records, length) {
    for (const { sequence, event_id } of records) {
      this.sequences.set(event_id, sequence)
      this.frames.push(this.end)
    }
    this.end += length
  }
}

/**
 * Reads every frame. What ends before its frame does, or would if it were not for zeros, is the torn tail of an append
 * that was never acknowledged; `run.end` stays in front of it. Anything else that is no frame is damage. An error of
 * `read` is neither: it is thrown.
 */
function scan(run, fd) {
  const end = endOfData(fd, run.size)
  try {
    while (run.end < end) {
      const frame = readFrame(fd, run.end, end)
      if (frame === null) return
      if (!Array.isArray(frame.records) || faultOf(run.next, frame.records)) {
        throw new Corrupt(`the frame at ${run.end} does not continue the run`)
      }
      run.add(frame.records, frame.length)
    }
  } catch (error) {
    if (!(error instanceof Corrupt)) throw error
    run.damage = error.message
  }
}

/** The records of a run from a sequence on, read from its file. */
function* stored(run, sequence) {
  if (sequence >= run.next) return
  const fd = fs.openSync(run.file, 'r')
  try {
    while (sequence < run.next) {
      const at = run.frames[sequence - 1]
      const frame = readFrame(fd, at, run.end)
      const index = frame?.records.findIndex((record) => record.sequence === sequence) ?? -1
      if (index < 0) throw new Corrupt(`the frame at ${at} is not the one that was there`)
      yield* frame.records.slice(index)
      sequence += frame.records.length - index
    }
  } finally {
    fs.closeSync(fd)
  }
}

function pageOf(run, fromSequence, limit, maxBytes) {
  const records = []
  let bytes = '[]'.length
  for (const record of stored(run, fromSequence)) {
    bytes += Buffer.byteLength(JSON.stringify(record)) + ','.length
    if (bytes > maxBytes || records.push(record) === limit) break
  }
  if (records.length > 0) return { records, end: !run.damage && records.at(-1).sequence + 1 === run.next }
  if (fromSequence < run.next) return { refused: 'unavailable', detail: 'the record is longer than a page' }
  if (run.damage) return { refused: 'corrupt', sequence: run.next, detail: run.damage }
  return { records, end: true }
}

function holdsExactly(run, records) {
  if (!records.every(({ event_id, sequence }) => run.sequences.get(event_id) === sequence)) return false
  let matched = 0
  for (const { body } of stored(run, records[0].sequence)) {
    if (body !== records[matched].body) return false
    if (++matched === records.length) return true
  }
  return false
}

/** What is wrong with the envelopes of a batch, or null. */
function faultOf(first, records) {
  if (!Number.isSafeInteger(first) || first < 1) return 'expected_next is not a position'
  if (records.length === 0) return 'the batch is empty'
  const ids = new Set()
  for (const [index, record] of records.entries()) {
    const { sequence, event_id, body } = record ?? {}
    if (sequence !== first + index) return `record ${index}: the sequence is not ${first + index}`
    if (!isUuid(event_id)) return `record ${index}: the event id is not a canonical lowercase UUID`
    if (ids.has(event_id)) return `record ${index}: the event id stands twice in the batch`
    if (typeof body !== 'string' || body === '') return `record ${index}: the body is not a string, or is empty`
    ids.add(event_id)
  }
  return null
}

function acknowledge(records) {
  return { acknowledged: records.map(({ sequence, event_id }) => ({ sequence, event_id })) }
}

function encode(records) {
  const batch = records.map(({ sequence, event_id, body }) => ({ sequence, event_id, body }))
  const payload = Buffer.from(`${JSON.stringify(batch)}\n`)
  const header = Buffer.alloc(HEADER)
  MAGIC.copy(header)
  header.writeUInt32LE(payload.length, 4)
  header.writeUInt32LE(crc32(payload), 8)
  header.writeUInt32LE(crc32(header.subarray(0, 12)), 12)
  return Buffer.concat([header, payload])
}

/** The frame at `at`, as {records, length}, or null if the data ends before the frame does. */
function readFrame(fd, at, end) {
  const header = readExactly(fd, at, Math.min(HEADER, end - at))
  const magic = header.subarray(0, MAGIC.length)
  if (!magic.equals(MAGIC.subarray(0, magic.length))) throw new Corrupt(`no frame begins at ${at}`)
  if (header.length < HEADER) return null
  if (header.readUInt32LE(12) !== crc32(header.subarray(0, 12))) throw new Corrupt(`the header at ${at} is damaged`)
  const length = header.readUInt32LE(4)
  if (length === 0) throw new Corrupt(`the frame at ${at} is empty`)
  if (length > end - at - HEADER) return null
  const payload = readExactly(fd, at + HEADER, length)
  if (header.readUInt32LE(8) !== crc32(payload)) throw new Corrupt(`the payload of the frame at ${at} is damaged`)
  try {
    return { records: JSON.parse(payload.toString()), length: HEADER + length }
  } catch {
    throw new Corrupt(`the payload of the frame at ${at} is not JSON`)
  }
}

/** The size of a file without the zeros at its end. */
function endOfData(fd, size) {
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - 65536)
    const last = readExactly(fd, start, end - start).findLastIndex((byte) => byte !== 0)
    if (last >= 0) return start + last + 1
    end = start
  }
  return 0
}

function readExactly(fd, position, length) {
  const buffer = Buffer.alloc(length)
  for (let done = 0; done < length; ) {
    const count = fs.readSync(fd, buffer, done, length - done, position + done)
    if (count === 0) throw Object.assign(new Error('the file ends before its size'), { syscall: 'read' })
    done += count
  }
  return buffer
}

function truncate(fd, length) {
  fs.ftruncateSync(fd, length)
  fs.fdatasyncSync(fd)
}

function syncDirectory(directory) {
  withFile(directory, 'r', (fd) => fs.fsyncSync(fd))
}

function withFile(file, flags, use) {
  const fd = fs.openSync(file, flags)
  try {
    return use(fd)
  } finally {
    fs.closeSync(fd)
  }
}

export function requirePositive(name, value) {
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgument(`${name} must be a positive integer`)
}

function isUuid(value) {
  return typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, value) => {
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

function crc32(bytes) {
  let crc = 0xffffffff
  for (let i = 0; i < bytes.length; i++) crc = CRC_TABLE[(crc ^ bytes[i]) & 0xff] ^ (crc >>> 8)
  return ~crc >>> 0
}
