// Records as a journal stores them (kernel.md "Values and records"): texts in, a history of events with their versions out.
// The reducer is given events; this is for whoever has the records. Each code is of the table of "Corruption".
import { canonical, bytes, isInteger, isObject, own, parseStrict, sha256 } from './json.mjs';
import { UUID, isForm } from './specification.mjs';

const MEMBERS = ['run_id', 'sequence', 'event_id', 'batch_index', 'batch_size', 'schema_version', 'event', 'checksum'];
const LARGE = new Set(['RunCreated', 'CancellationRequested']);

// { history } or { code, sequence }: the first record that is wrong, in the order of the texts.
export function readRecords(texts) {
  const history = [];
  const ids = new Set();
  let runId = null;
  let batch = null;
  const place = () => history.length + 1;
  for (const text of texts) {
    let record;
    try {
      record = parseStrict(text);
    } catch {
      return { code: 'not_json', sequence: place() };
    }
    if (canonical(record) !== text) return { code: 'not_canonical', sequence: place() };
    if (!isObject(record) || MEMBERS.some((key) => !own(record, key)) || Object.keys(record).length > MEMBERS.length || !isObject(record.event)) {
      return { code: 'wrong_structure', sequence: place() };
    }
    const { checksum, ...rest } = record;
    if (checksum !== sha256(canonical(rest))) return { code: 'wrong_checksum', sequence: place() };
    if (bytes(text) > (LARGE.has(record.event.type) ? 16 : 1) * 1024 * 1024) return { code: 'over_limit', sequence: place() }; // RUN-005
    if (!isForm(UUID, record.run_id) || (runId ?? record.run_id) !== record.run_id) return { code: 'wrong_run', sequence: place() };
    if (record.sequence !== place()) return { code: 'gap', sequence: place() };
    if (!isForm(UUID, record.event_id) || ids.has(record.event_id)) return { code: 'event_id_used', sequence: place() };
    const { batch_index: index, batch_size: size } = record;
    const isNext = isInteger(size, 1) && index === (batch ? batch.index + 1 : 0) && index < size && (!batch || batch.size === size);
    if (!isNext) return { code: 'wrong_batch', sequence: place() };
    batch = index + 1 < size ? { index, size } : null;
    runId = record.run_id;
    ids.add(record.event_id);
    history.push({ version: record.schema_version, event: record.event });
  }
  return batch ? { code: 'incomplete_batch', sequence: place() } : { history };
}
