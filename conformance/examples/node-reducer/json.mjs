// JSON values: a strict reader of texts, the canonical form (RFC 8785), digests, and what I-JSON allows.
import { createHash } from 'node:crypto';

export const MAX = Number.MAX_SAFE_INTEGER; // 2^53 − 1
export const own = (object, key) => Object.hasOwn(object, key);
export const get = (object, key) => (Object.hasOwn(object, key) ? object[key] : undefined);
export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
export const isInteger = (value, low = 0, high = MAX) => Number.isInteger(value) && value >= low && value <= high;

// An object without a prototype: `__proto__` is a name like any other in it.
export const record = (entries = []) => {
  const object = Object.create(null);
  for (const [key, value] of entries) object[key] = value;
  return object;
};

export function canonical(value) {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return String(value); // ECMAScript's own form; −0 is 0
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const keys = Object.keys(value).filter((key) => value[key] !== undefined).sort(); // by UTF-16 code units
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}

export const same = (a, b) => a === b || canonical(a) === canonical(b);
export const bytes = (text) => Buffer.byteLength(text, 'utf8');
export const canonicalBytes = (value) => bytes(canonical(value));
export const sha256 = (text) => createHash('sha256').update(text, 'utf8').digest('hex');

// How deep a value nests (a scalar is 0, {} is 1), and whether I-JSON has it (SPC-001). Iterative, for values of any depth.
export function survey(value) {
  let depth = 0;
  let problem = null;
  const stack = [[value, 0]];
  while (stack.length > 0) {
    const [item, level] = stack.pop();
    if (typeof item === 'string') {
      if (!item.isWellFormed()) problem = 'lone_surrogate';
    } else if (typeof item === 'number') {
      if (!isNumberInRange(item)) problem = 'number_out_of_range';
    } else if (item !== null && typeof item === 'object') {
      if (level + 1 > depth) depth = level + 1;
      for (const key of Object.keys(item)) {
        if (!Array.isArray(item) && !key.isWellFormed()) problem = 'lone_surrogate';
        stack.push([item[key], level + 1]);
      }
    }
  }
  return { depth, problem };
}

// Finite; and an integer in canonical form (no exponent, so below 10^21) lies within ±(2^53 − 1).
const isNumberInRange = (number) =>
  Number.isFinite(number) && (!Number.isInteger(number) || Math.abs(number) <= MAX || Math.abs(number) >= 1e21);

// A strict reader: no duplicate keys, no byte order mark, at most `maximum` levels. Throws an Error whose message is a code.
export function parseStrict(text, maximum = 100) {
  let at = 0;
  const fail = (code = 'not_json') => { throw new Error(code); };
  const space = () => { while (at < text.length && ' \t\n\r'.includes(text[at])) at += 1; };
  const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
  const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
  const match = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (!found) fail();
    at += found[0].length;
    return found[0];
  };
  const string = () => {
    const value = JSON.parse(match(STRING));
    return value.isWellFormed() ? value : fail('lone_surrogate');
  };
  const value = (level) => {
    space();
    const first = text[at];
    if (first === '{' || first === '[') {
      if (level > maximum) fail('too_deep');
      at += 1;
      return first === '{' ? object(level) : array(level);
    }
    if (first === '"') return string();
    for (const [word, constant] of [['true', true], ['false', false], ['null', null]]) {
      if (text.startsWith(word, at)) { at += word.length; return constant; }
    }
    const digits = match(NUMBER);
    const number = Number(digits);
    const isRounded = /^-?[0-9]+$/.test(digits) && !Number.isSafeInteger(number); // also beyond 10^21
    return isNumberInRange(number) && !isRounded ? number : fail('number_out_of_range');
  };
  const object = (level) => {
    const result = record();
    space();
    if (text[at] === '}') { at += 1; return result; }
    for (;;) {
      space();
      const key = string();
      if (own(result, key)) fail('duplicate_key');
      space();
      if (text[at] !== ':') fail();
      at += 1;
      result[key] = value(level + 1);
      space();
      if (text[at] === '}') { at += 1; return result; }
      if (text[at] !== ',') fail();
      at += 1;
    }
  };
  const array = (level) => {
    const result = [];
    space();
    if (text[at] === ']') { at += 1; return result; }
    for (;;) {
      result.push(value(level + 1));
      space();
      if (text[at] === ']') { at += 1; return result; }
      if (text[at] !== ',') fail();
      at += 1;
    }
  };
  const result = value(1);
  space();
  if (at < text.length) fail();
  return result;
}
