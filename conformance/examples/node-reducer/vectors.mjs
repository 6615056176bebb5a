// Holds the golden vectors of a folder against these modules: prints each that is answered otherwise, then how many of each
// kind were asked, of how many. `node vectors.mjs FOLDER`; the format is fixtures/README.md. YAML is asked about where the
// package `yaml` can be imported; a document beside a catalogue of handlers is asked of the validator in ../node-validator.
import { readFileSync } from 'node:fs';
import { validate as validateBeside } from '../node-validator/validator.mjs';
import { decide } from './decide.mjs';
import { Refusal, readEvent } from './events.mjs';
import { verifyFrames, verifyLines, verifySnapshot } from './files.mjs';
import { canonical, own, parseStrict, record, same, sha256 } from './json.mjs';
import { jitter } from './plan.mjs';
import { restore } from './records.mjs';
import { reduceHistory } from './reduce.mjs';
import { contentHash, initialNodes, validate } from './specification.mjs';
import { outputOf, stateDigest } from './state.mjs';
import { readYaml } from './yaml.mjs';

const yaml = await import('yaml').catch(() => null);

const OF_MEMBERS = new Set(['unknown_member', 'wrong_structure']); // of either kind (RUN-031, JRN-051)
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const linesOf = (content) => content.toString().trimEnd().split('\n').map((line) => JSON.parse(line));
const pick = (object, names) => record(names.filter((name) => object[name] !== undefined).map((name) => [name, object[name]]));
const refused = (found, { code }) => pick(found, OF_MEMBERS.has(code) ? ['sequence'] : ['kind', 'sequence']);

const codeOf = (error) => (error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'not_utf8' : error.message);
// The first problem is told here: the problems that are expected, if it is one of them.
const asked = (code, pointer, { problems = [] }) => (problems.some((one) => one.code === code) ? problems : [{ code, pointer }]);

// An event without its reasons, which are free, and without the members that have their default.
function bareEvent(event) {
  const { reason, ...outcome } = event.outcome ?? {};
  const told = event.outcome ? { ...event, outcome } : event;
  return record(Object.entries(told).filter(([, value]) => !['null', '[]', '{}'].includes(canonical(value))));
}

function asRead(read) {
  try {
    const text = canonical(read());
    return { read: true, canonical: text, sha256: sha256(text) };
  } catch (error) {
    return { read: false, code: codeOf(error) };
  }
}

function besideHandlers(content, handlers) {
  const found = validateBeside(decoder.decode(content), { handlers: handlers.map((each) => ({ inputs: [], ...each })) });
  if (found.isValid) return { valid: true, content_hash: found.contentHash, initial_nodes: found.initialNodes };
  return { valid: false, problems: found.problems.map(({ code, pointer }) => ({ code, pointer })) };
}

// Each answers a vector in the words of its `expected`, as far as these modules have them; null if they have none.
const ANSWER = {
  reduce({ content, expected }) {
    const { accepted, whole, state, ...refusal } = reduceHistory(linesOf(content));
    if (!accepted) return { accepted, ...refused(refusal, expected) };
    return whole ? { accepted, whole, state_digest: stateDigest(state), output: outputOf(state) } : { accepted, whole };
  },
  decide({ content, expected }) {
    const lines = linesOf(content);
    const { command } = lines.pop();
    const { allowed, version, events, code, disposition } = decide(lines.length > 0 ? reduceHistory(lines).state : null, command);
    if (allowed) return { allowed, version, events: events.map(bareEvent) };
    return { allowed, codes: expected.codes?.includes(code) ? expected.codes : [code], ...pick({ disposition }, ['disposition']) };
  },
  restore({ content, expected }) {
    const { restored, state, ...refusal } = restore(JSON.parse(content));
    return restored ? { restored, state_digest: stateDigest(state) } : { restored, ...refused(refusal, expected) };
  },
  upcast: ({ content }) => ({ events: linesOf(content).map(({ version, event }) => bareEvent(readEvent(version, event))) }),
  validate({ content, others, expected }) {
    if (others.length > 0) return besideHandlers(content, JSON.parse(others[0]).handlers);
    let document;
    try {
      document = parseStrict(decoder.decode(content));
    } catch (error) {
      return { valid: false, problems: asked(content.length > 0 ? codeOf(error) : 'empty', '', expected) };
    }
    const problem = validate(document);
    if (problem) return { valid: false, problems: asked(problem.code, problem.pointer, expected) };
    return { valid: true, content_hash: contentHash(document), initial_nodes: initialNodes(document) };
  },
  read: ({ content }) => asRead(() => parseStrict(decoder.decode(content))),
  read_yaml: ({ content }) => yaml && asRead(() => readYaml(yaml, decoder.decode(content))),
  verify({ content, others, path }) {
    if (path.endsWith('.jsonl')) return verifyLines(content);
    return path.endsWith('.mwj1') ? verifyFrames(content) : verifySnapshot(content, others[0]);
  },
  jitter({ content }) {
    const { seed, maximum_ms, run_id: runId, node, next_attempt: attempt } = JSON.parse(content);
    return { jitter_ms: jitter({ jitter: { seed, maximum_ms } }, runId, node, attempt) };
  },
  token: ({ content }) => ({ token_sha256: sha256(content) }),
  checksum: ({ content }) => ({ checksum: sha256(canonical(JSON.parse(content))) }),
};

// What is expected, as far as it is compared.
const WANTED = {
  reduce: (expected) => (expected.accepted ? expected : { accepted: false, ...refused(expected, expected) }),
  decide: (expected) => (expected.allowed ? { ...expected, events: expected.events.map(bareEvent) } : expected),
  restore: (expected) => (expected.restored ? expected : { restored: false, ...refused(expected, expected) }),
  upcast: ({ events }) => ({ events: events.map(bareEvent) }),
  validate: (expected) => pick(expected, ['valid', 'content_hash', 'initial_nodes', 'problems']),
  verify({ verdict, head, fault }) {
    return { verdict, ...(fault && { sequence: fault.sequence }), ...(verdict === 'sound' && head && { head }) };
  },
};

function answer(vector) {
  try {
    return ANSWER[vector.kind](vector);
  } catch (error) {
    return { threw: error instanceof Refusal ? error.code : error.stack };
  }
}

const folder = process.argv[2];
const { vectors } = JSON.parse(readFileSync(`${folder}/index.json`, 'utf8'));
const counts = {};
for (const { id, kind, files, expected } of vectors) {
  const contents = files.map(({ path }) => readFileSync(`${folder}/${path}`));
  files.forEach((file, i) => { if (sha256(contents[i]) !== file.sha256) console.log(`${file.path}: another SHA-256`); });
  const found = answer({ kind, expected, path: files[0].path, content: contents[0], others: contents.slice(1) });
  counts[kind] ??= { asked: 0, of: 0 };
  counts[kind].of += 1;
  if (found === null) continue;
  counts[kind].asked += 1;
  const wanted = own(WANTED, kind) ? WANTED[kind](expected) : expected;
  if (!same(found, wanted)) console.log(`${id}: ${canonical(found)}, and not ${canonical(wanted)}`);
}
console.log(JSON.stringify(counts));
