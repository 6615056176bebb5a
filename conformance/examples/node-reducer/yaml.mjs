// Authors' YAML, as far as readers of YAML 1.1 and 1.2 agree (specification.md, "YAML"): the package `yaml` has the grammar
// and both schemas; what JSON cannot say, or they take for different values, is refused. Throws an Error whose message is a code.
import { parseStrict, record, survey } from './json.mjs';

const BREAKS_OF_1_1 = /[\u0085\u2028\u2029]/;
const fail = (code) => { throw new Error(code); };

export function readYaml(yaml, text) {
  if (/^%/m.test(text)) fail('yaml_directive');
  const documents = yaml.parseAllDocuments(text, { schema: 'core', uniqueKeys: false, logLevel: 'silent' });
  if (documents.length > 1) fail('yaml_documents');
  if (documents.length === 0) fail('empty');
  const [{ contents, errors: [error] }] = documents;
  if (error) fail(error.code === 'TAB_AS_INDENT' ? 'yaml_tab' : 'not_yaml');
  const value = valueOf(yaml, contents);
  const { depth, problem } = survey(value);
  if (depth > 100) fail('too_deep');
  if (problem) fail(problem);
  return value;
}

function valueOf(yaml, node) {
  if (node === null) fail('yaml_ambiguous');
  if (yaml.isAlias(node) || node.anchor) fail('yaml_alias');
  if (node.tag) fail('yaml_tag');
  if (yaml.isScalar(node)) return node.type === 'PLAIN' ? plain(yaml, node.source) : node.value;
  if (yaml.isSeq(node)) return node.items.map((item) => valueOf(yaml, item));
  const entries = new Map();
  for (const { key, value } of node.items) {
    if (yaml.isScalar(key) && key.type === 'PLAIN' && key.source === '<<') fail('yaml_merge');
    const name = valueOf(yaml, key);
    if (typeof name !== 'string') fail('yaml_key');
    if (entries.has(name)) fail('duplicate_key');
    entries.set(name, valueOf(yaml, value));
  }
  return record(entries);
}

// A text without quotes: what JSON writes so, or else a text for the readers of both versions.
function plain(yaml, source) {
  if (/^(null|true|false|-?[0-9])/.test(source)) {
    try {
      return parseStrict(source);
    } catch (error) {
      if (error.message !== 'not_json') throw error;
    }
  }
  const readers = [{ version: '1.1' }, { version: '1.2', schema: 'core' }];
  const agree = readers.every((reader) => yaml.parse(source, { ...reader, logLevel: 'silent' }) === source);
  return agree && source !== '<<' && !BREAKS_OF_1_1.test(source) ? source : fail('yaml_ambiguous');
}
