// I-JSON read strictly, and written canonically (RFC 8785). JSON.parse keeps the last of two equal keys, rounds
// integers, and takes lone surrogates and any depth, so the texts are read here.

const MAX_DEPTH = 100

const SPACE = /[\t\n\r ]*/y
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const HEX = /[0-9a-fA-F]{4}/y
const ESCAPES = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/**
 * The value of a text and its depth, a scalar's being 0; or problems. A fault of the syntax ends the reading; duplicate
 * keys, lone surrogates and numbers out of range are collected.
 */
export function parse(text, maxBytes) {
  const fatal = (code, message) => ({ problems: [{ code, pointer: '', message }] })
  if (Buffer.byteLength(text) > maxBytes) return fatal('too_large', `Keep the text within ${maxBytes} bytes.`)
  if (!text.isWellFormed()) return fatal('not_utf8', 'Encode the text in UTF-8.')
  if (/^[\t\n\r ]*$/.test(text)) return fatal('empty', 'Write a document.')
  return new Parser(text).document()
}

/** Why a text cannot be read on. */
class Fault extends Error {
  constructor(code, message) {
    super(message)
    this.code = code
  }
}

class Parser {
  #text
  #position = 0
  #path = [] // the keys and indices that lead to the value being read
  #depth = 0
  #deepest = 0
  #problems = []

  constructor(text) {
    this.#text = text
  }

  document() {
    try {
      const value = this.#value()
      this.#skipSpace()
      if (this.#position < this.#text.length) throw this.#syntax('the end of the text')
      return { value, depth: this.#deepest, problems: this.#problems }
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      return { problems: [...this.#problems, { code: error.code, pointer: '', message: error.message }] }
    }
  }

  #value() {
    this.#skipSpace()
    switch (this.#text[this.#position]) {
      case '{':
        return this.#nested(() => this.#object())
      case '[':
        return this.#nested(() => this.#array())
      case '"':
        return this.#soundString()
      case 't':
        return this.#literal('true', true)
      case 'f':
        return this.#literal('false', false)
      case 'n':
        return this.#literal('null', null)
      default:
        return this.#number()
    }
  }

  #nested(read) {
    this.#position++
    if (++this.#depth > MAX_DEPTH) throw new Fault('too_deep', `Nest at most ${MAX_DEPTH} arrays and objects.`)
    this.#deepest = Math.max(this.#deepest, this.#depth)
    const value = read()
    this.#depth--
    return value
  }

  #array() {
    const array = []
    if (this.#take(']')) return array
    do {
      this.#path.push(array.length)
      array.push(this.#value())
      this.#path.pop()
    } while (this.#take(','))
    this.#expect(']')
    return array
  }

  #object() {
    const object = {}
    if (this.#take('}')) return object
    do {
      this.#skipSpace()
      const key = this.#soundString() // a fault of a key lies in its object
      this.#expect(':')
      this.#path.push(key)
      if (Object.hasOwn(object, key)) this.#problem('duplicate_key', 'Keep one member of this name.')
      setOwn(object, key, this.#value())
      this.#path.pop()
    } while (this.#take(','))
    this.#expect('}')
    return object
  }

  #soundString() {
    const string = this.#string()
    if (!string.isWellFormed()) this.#problem('lone_surrogate', 'Write surrogates in pairs.')
    return string
  }

  #string() {
    if (this.#text[this.#position] !== '"') throw this.#syntax('a string')
    let start = ++this.#position
    let string = ''
    for (;;) {
      const unit = this.#text.charCodeAt(this.#position) // NaN at the end
      if (unit === 0x22) return string + this.#text.slice(start, this.#position++)
      if (!(unit >= 0x20)) throw this.#syntax('a string that is closed and has no control characters')
      this.#position++
      if (unit !== 0x5c) continue
      string += this.#text.slice(start, this.#position - 1) + this.#escape()
      start = this.#position
    }
  }

  #escape() {
    const letter = this.#text[this.#position++]
    if (letter === 'u') return String.fromCharCode(Number.parseInt(this.#match(HEX, 'four hexadecimal digits'), 16))
    if (letter === undefined || !Object.hasOwn(ESCAPES, letter)) throw this.#syntax('an escape of JSON')
    return ESCAPES[letter]
  }

  #number() {
    const text = this.#match(NUMBER, 'a value')
    const value = Number(text)
    const isInteger = /^-?[0-9]+$/.test(text) || /^-?[0-9]+$/.test(String(value))
    const isInRange = Number.isFinite(value) && (!isInteger || Number.isSafeInteger(value))
    if (!isInRange) this.#problem('number_out_of_range', 'Write numbers that are finite, integers within ±(2^53−1).')
    return value
  }

  #literal(word, value) {
    if (!this.#text.startsWith(word, this.#position)) throw this.#syntax('a value')
    this.#position += word.length
    return value
  }

  #match(pattern, what) {
    pattern.lastIndex = this.#position
    const match = pattern.exec(this.#text)
    if (match === null) throw this.#syntax(what)
    this.#position = pattern.lastIndex
    return match[0]
  }

  #skipSpace() {
    SPACE.lastIndex = this.#position
    SPACE.test(this.#text)
    this.#position = SPACE.lastIndex
  }

  #take(character) {
    this.#skipSpace()
    if (this.#text[this.#position] !== character) return false
    this.#position++
    return true
  }

  #expect(character) {
    if (!this.#take(character)) throw this.#syntax(`“${character}”`)
  }

  #syntax(expected) {
    return new Fault('not_json', `Write ${expected} at character ${this.#position}.`)
  }

  #problem(code, message) {
    const pointer = this.#path.reduce(pointTo, '').toWellFormed()
    this.#problems.push({ code, pointer, message })
  }
}

/** The JSON Pointer to a member or an element of what `at` points to. */
export function pointTo(at, key) {
  return `${at}/${typeof key === 'number' ? key : key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** The canonical form. ECMAScript writes numbers and strings as RFC 8785 does, and sorts by UTF-16 code units. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)
  return `{${members.join(',')}}`
}

function setOwn(object, key, value) {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true })
  } else {
    object[key] = value
  }
}
