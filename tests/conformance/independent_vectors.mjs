// What of the golden vectors can be worked out without perdure, in another language: digests, canonical forms, jitter,
// checksums. Prints each difference, then how many comparisons were made.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const folder = process.argv[2];
const { vectors } = JSON.parse(readFileSync(`${folder}/index.json`, "utf8"));
const sha256 = (content) => createHash("sha256").update(content).digest("hex");
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const members = (value) => Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
const canonical = (value) => {
  if (Array.isArray(value)) return `[${value.map(canonical)}]`;
  return value !== null && typeof value === "object" ? `{${members(value)}}` : JSON.stringify(value);
};

const jitter = ({ seed, run_id, node, next_attempt, maximum_ms }) => {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from([seed, run_id, node, next_attempt].join("\0"))) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return Number(hash % (BigInt(maximum_ms) + 1n));
};

let compared = 0;
const compare = ({ id }, found, expected) => {
  compared += 1;
  if (found !== expected) console.log(`${id}: ${found}, and not ${expected}`);
};

for (const vector of vectors) {
  const { kind, files, expected } = vector;
  for (const { path, sha256: digest } of files) compare(vector, sha256(readFileSync(`${folder}/${path}`)), digest);
  const content = readFileSync(`${folder}/${files[0].path}`);
  if (kind === "read" && expected.read) {
    compare(vector, canonical(JSON.parse(decoder.decode(content))), expected.canonical);
    compare(vector, sha256(expected.canonical), expected.sha256);
  }
  if (kind === "token") compare(vector, sha256(content), expected.token_sha256);
  if (kind === "checksum") compare(vector, sha256(canonical(JSON.parse(content))), expected.checksum);
  if (kind === "jitter") compare(vector, jitter(JSON.parse(content)), expected.jitter_ms);
  if (kind === "validate" && expected.valid) {
    const { content_hash, ...covered } = JSON.parse(content);
    compare(vector, sha256(canonical(covered)), expected.content_hash);
  }
  if (kind === "restore" && expected.restored) {
    for (const { body, ...envelope } of JSON.parse(content).records) {
      const { checksum, ...sealed } = JSON.parse(body);
      compare(vector, sha256(canonical(sealed)), checksum);
      compare(vector, sealed.event_id, envelope.event_id);
    }
  }
  if (kind === "verify" && expected.verdict === "sound" && files[0].path.endsWith(".jsonl")) {
    for (const line of content.toString().trimEnd().split("\n")) {
      const { checksum, ...sealed } = JSON.parse(line);
      compare(vector, sha256(canonical(sealed)), checksum);
    }
  }
}
console.log(compared);
