// Runs and snapshots in files (formats.md; client.md "Snapshots"): the bytes of one in; out, whether it is sound and, if not,
// the first position at which it is not.
import { Refusal, corrupt } from './events.mjs';
import { canonical, isInteger, isObject, own, sha256 } from './json.mjs';
import { follow, isInsideBatch, makeReader, readCanonical } from './records.mjs';
import { HASH, UUID, isForm } from './specification.mjs';
import { bareState } from './state.mjs';

const LINE_FEED = 10;
const HEADER_BYTES = 12;
const MAX_BYTES = { MWJ1: 16 * 1024 * 1024, MWS1: 64 * 1024 * 1024 };
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const bad = (sequence) => ({ verdict: 'bad', sequence });
const placeOf = ({ last }) => (last ? last.sequence + 1 : 1);
const headOf = ({ last }) => ({ sequence: last.sequence, checksum: last.checksum });
const textOf = (content) => {
  try {
    return decoder.decode(content);
  } catch {
    return corrupt('not_json', 'no UTF-8');
  }
};

// Whether something holds, or is refused.
function isRight(what) {
  try {
    what();
    return true;
  } catch (refusal) {
    if (refusal instanceof Refusal) return false;
    throw refusal;
  }
}

// ---- JSON lines: what a killed writer left behind the last whole batch is a torn tail; all else is damage.

export function verifyLines(content) {
  const reader = makeReader(null);
  let complete = 0; // the last sequence of a whole batch
  let from = 0;
  for (let at = content.indexOf(LINE_FEED); at >= 0; at = content.indexOf(LINE_FEED, from)) {
    const line = content.subarray(from, at);
    if (line.every((byte) => byte === 0) && line.length > 0) return bad(placeOf(reader));
    if (!isRight(() => follow(reader, textOf(line)))) return bad(placeOf(reader));
    if (!isInsideBatch(reader.last)) complete = reader.last.sequence;
    from = at + 1;
  }
  const rest = content.subarray(from);
  let end = rest.length;
  while (end > 0 && rest[end - 1] === 0) end -= 1;
  const tail = rest.subarray(0, end);
  if (tail.length > 0 && !isBeginning(tail.toString('latin1'))) {
    if (end < rest.length || !isRight(() => follow(reader, textOf(tail)))) return bad(placeOf(reader));
  }
  if (rest.length > 0 || isInsideBatch(reader.last)) return { verdict: 'torn_tail', sequence: complete + 1 };
  return reader.last ? { verdict: 'sound', head: headOf(reader) } : { verdict: 'nothing_checked' };
}

// Whether a text begins an object and does not end it; which bytes stand between its braces and quotes is not looked at.
function isBeginning(text) {
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    if (isInText && text[at] === '\\') at += 1;
    else if (text[at] === '"') isInText = !isInText;
    else if (!isInText && '{['.includes(text[at])) depth += 1;
    else if (!isInText && '}]'.includes(text[at])) depth -= 1;
    if (depth === 0) return false;
  }
  return true;
}

// ---- Frames.

// The payload of the frame at an offset, or a Refusal.
function frameAt(content, offset, letters) {
  const header = content.subarray(offset, offset + HEADER_BYTES);
  if (header.length < HEADER_BYTES) corrupt('cut_frame');
  if (header.toString('latin1', 0, 4) !== letters) corrupt('not_a_frame');
  const length = header.readUInt32BE(4);
  if (length === 0 || length > MAX_BYTES[letters]) corrupt('wrong_length');
  const payload = content.subarray(offset + HEADER_BYTES, offset + HEADER_BYTES + length);
  if (payload.length < length) corrupt('cut_frame');
  if (crc32(payload) !== header.readUInt32BE(8)) corrupt('wrong_crc');
  return payload;
}

function crc32(content) { // IEEE 802.3
  let found = 0xffffffff;
  for (const byte of content) {
    found ^= byte;
    for (let bit = 0; bit < 8; bit += 1) found = (found >>> 1) ^ (found & 1 ? 0xedb88320 : 0);
  }
  return (found ^ 0xffffffff) >>> 0;
}

// The history of a run in MWJ1. `each` is told the run after each record.
export function verifyFrames(content, each = () => {}) {
  const reader = makeReader(null);
  for (let offset = 0; offset < content.length;) {
    const isFollowed = isRight(() => {
      const payload = frameAt(content, offset, 'MWJ1');
      follow(reader, textOf(payload));
      offset += HEADER_BYTES + payload.length;
    });
    if (!isFollowed) return bad(placeOf(reader));
    each(reader);
  }
  if (!reader.last || isInsideBatch(reader.last)) return bad(placeOf(reader));
  return { verdict: 'sound', head: headOf(reader) };
}

const SNAPSHOT = { // snapshot-1.json
  snapshot_schema_version: (value) => value === 1, // SNP-011
  run_id: (value) => isForm(UUID, value),
  sequence: (value) => isInteger(value, 1),
  event_id: (value) => isForm(UUID, value),
  record_checksum: (value) => isForm(HASH, value),
  content_hash: (value) => isForm(HASH, value),
  state_checksum: (value) => isForm(HASH, value),
  state: isObject,
};

function readSnapshot(content) {
  const payload = frameAt(content, 0, 'MWS1');
  if (HEADER_BYTES + payload.length < content.length) corrupt('trailing_bytes');
  const snapshot = readCanonical(textOf(payload)); // SNP-012
  const isWhole = isObject(snapshot) && Object.keys(SNAPSHOT).every((key) => own(snapshot, key) && SNAPSHOT[key](snapshot[key]));
  if (!isWhole || Object.keys(snapshot).length > Object.keys(SNAPSHOT).length) corrupt('wrong_structure');
  if (sha256(canonical(snapshot.state)) !== snapshot.state_checksum) corrupt('wrong_checksum'); // SNP-013
  return snapshot;
}

// A snapshot in MWS1, and the MWJ1 history beside it if there is one (SNP-014 … SNP-020, TOL-016).
export function verifySnapshot(content, history) {
  let snapshot = null;
  if (!isRight(() => { snapshot = readSnapshot(content); })) return bad(1);
  if (!history) return { verdict: 'sound' };
  let fits = false;
  verifyFrames(history, ({ runId, last, state }) => {
    if (last.sequence !== snapshot.sequence) return;
    fits = runId === snapshot.run_id && last.event_id === snapshot.event_id && last.checksum === snapshot.record_checksum
      && !isInsideBatch(last) && state.contentHash === snapshot.content_hash && canonical(bareState(state)) === canonical(snapshot.state);
  });
  return fits ? { verdict: 'sound' } : bad(snapshot.sequence);
}
