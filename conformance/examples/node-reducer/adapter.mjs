// Protocol 1, profile `reducer`, over standard input and output (protocol.md).
import { canonical } from './json.mjs';
import { decide } from './decide.mjs';
import { restore } from './records.mjs';
import { reduceHistory } from './reduce.mjs';
import { outputOf, tellState } from './state.mjs';

const LIMITS = { max_history_bytes: 33_554_432 };
const CAPABILITIES = { state: true, decide: true, codes: true, jitter: true, records: true, snapshots: true };
const short = (text) => [...text].slice(0, 1000).join('').toWellFormed();

const METHODS = {
  initialize: () => ({ protocol: 1, name: 'node-reducer', version: '1.0.0', capabilities: CAPABILITIES, limits: LIMITS }),
  reduce({ history }) {
    const { accepted, state, whole, kind, sequence, code, sentence } = reduceHistory(history);
    if (!accepted) return { accepted, kind, sequence, code, sentence: short(sentence) };
    return whole ? { accepted, whole, state: tellState(state), output: outputOf(state) } : { accepted, whole };
  },
  decide({ history, command }) {
    const before = history.length > 0 ? reduceHistory(history) : { state: null };
    if (before.accepted === false) throw new Error(`the history is refused at ${before.sequence}: ${before.code}`);
    const { allowed, version, events, code, disposition, sentence } = decide(before.state, command);
    return allowed ? { allowed, version, events } : { allowed, code, ...(disposition ? { disposition } : {}), sentence: short(sentence) };
  },
  restore(shown) {
    const { restored, state, kind, sequence, code, sentence } = restore(shown);
    return restored ? { restored, state: tellState(state) } : { restored, kind, sequence, code, sentence: short(sentence) };
  },
  shutdown: () => ({}),
};

function answer({ id, method, params }) {
  const reply = { jsonrpc: '2.0', id };
  if (!Object.hasOwn(METHODS, method)) return { ...reply, error: { code: -32601, message: `method not found: ${method}` } };
  try {
    return { ...reply, result: METHODS[method](params) };
  } catch (error) {
    process.stderr.write(`${error.stack}\n`);
    return { ...reply, error: { code: -32603, message: short(String(error.message)) } };
  }
}

let parts = [];
const decoder = new TextDecoder('utf-8', { fatal: true });
process.stdin.on('data', (chunk) => {
  let from = 0;
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) { // LF alone ends a line
    const request = JSON.parse(decoder.decode(Buffer.concat([...parts, chunk.subarray(from, at)])));
    parts = [];
    from = at + 1;
    const line = `${canonical(answer(request))}\n`;
    if (request.method === 'shutdown') process.stdout.write(line, () => process.exit(0));
    else process.stdout.write(line);
  }
  if (from < chunk.length) parts.push(chunk.subarray(from));
});
