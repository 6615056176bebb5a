// Records as a journal keeps them (kernel.md "Values and records"; client.md "Records that come back"), and a run restored
// from them. Each code is of the table of "Corruption", or says the same of an envelope or a snapshot.
import { bytes, canonical, isInteger, isObject, own, parseStrict, sha256 } from './json.mjs';
import { Refusal, corrupt } from './events.mjs';
import { owed } from './consequences.mjs';
import { reduceEvent } from './reduce.mjs';
import { HASH, UUID, isForm } from './specification.mjs';

const FORMS = { // record-1.json
  run_id: (value) => isForm(UUID, value),
  sequence: (value) => isInteger(value, 1),
  event_id: (value) => isForm(UUID, value),
  batch_index: (value) => isInteger(value),
  batch_size: (value) => isInteger(value, 1),
  schema_version: (value) => isInteger(value, -Number.MAX_SAFE_INTEGER), // which are known is the reducer's business
  event: isObject,
  checksum: (value) => isForm(HASH, value),
};
const LARGE = new Set(['RunCreated', 'CancellationRequested']);

// A text in canonical form, or a Refusal (JRN-040, JRN-041).
export function readCanonical(text) {
  let value;
  try {
    value = parseStrict(text);
  } catch (error) {
    corrupt('not_json', error.message);
  }
  return canonical(value) === text ? value : corrupt('not_canonical');
}

// One record alone (JRN-042, JRN-043, RUN-005).
function readRecord(text) {
  const record = readCanonical(text);
  const isWhole = isObject(record) && Object.keys(FORMS).every((key) => own(record, key) && FORMS[key](record[key]));
  if (!isWhole || Object.keys(record).length > Object.keys(FORMS).length) corrupt('wrong_structure');
  const { checksum, ...rest } = record;
  if (checksum !== sha256(canonical(rest))) corrupt('wrong_checksum');
  if (bytes(text) > (LARGE.has(record.event.type) ? 16 : 1) * 1024 * 1024) corrupt('over_limit');
  return record;
}

// A run as its records tell it, one after the other.
export function makeReader(runId) {
  return { runId, state: null, last: null, ids: new Set() };
}

// Takes the next record into the run, or throws a Refusal.
export function follow(reader, text) {
  const record = readRecord(text);
  const { last, ids } = reader;
  if (record.run_id !== (reader.runId ?? record.run_id)) corrupt('wrong_run'); // JRN-046
  if (record.sequence !== (last ? last.sequence + 1 : 1)) corrupt('gap'); // JRN-045
  if (ids.has(record.event_id)) corrupt('event_id_used'); // JRN-047
  followBatch(reader, record); // JRN-048
  if (record.event.type === 'RunCreated' && record.event.run_id !== record.run_id) corrupt('wrong_run'); // JRN-046
  reader.state = reduceEvent(reader.state, record.schema_version, record.event); // JRN-050
  if (!isInsideBatch(record) && owed(reader.state)) corrupt('incomplete_batch', 'more is owed, and the batch ends');
  reader.runId = record.run_id;
  reader.last = record;
  ids.add(record.event_id);
  return record;
}

export const isInsideBatch = (record) => record !== null && record.batch_index + 1 < record.batch_size;

function followBatch({ state, last }, { batch_index: index, batch_size: size, schema_version: version }) {
  const isNext = isInsideBatch(last)
    ? index === last.batch_index + 1 && size === last.batch_size && version === last.schema_version
    : index === 0;
  if (!isNext || index >= size) corrupt('wrong_batch');
  if (index > 0 && !owed(state)) corrupt('nothing_owed', 'the batch goes on, and nothing is owed');
}

// { state } or { kind, sequence, code }: a run from all that a journal keeps of it (client.md "Records that come
// back"). A snapshot is a cache: this client replays the whole history, and needs none.
export function restore({ run_id: runId, records }) {
  const reader = makeReader(runId);
  const refused = ({ kind, code, message }, sequence) => ({ restored: false, kind, sequence, code, sentence: message });
  for (const [position, { sequence, event_id: eventId, body }] of records.entries()) {
    try {
      const record = follow(reader, body);
      if (record.sequence !== sequence || record.event_id !== eventId) corrupt('wrong_envelope'); // JRN-044
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      return refused(refusal, position + 1); // JRN-051
    }
  }
  if (isInsideBatch(reader.last)) return refused(new Refusal('corrupt', 'incomplete_batch'), records.length + 1); // JRN-049
  return { restored: true, state: reader.state };
}
