// What the checks have to say about a document.

const MAX_FINDINGS = 1_000_000 // more than the longest answer holds

export class Findings {
  problems = []
  warnings = []

  /** Returns null, which stands for a value that cannot be used. */
  problem(code, pointer, message, witness) {
    if (this.problems.length < MAX_FINDINGS) {
      this.problems.push(witness ? { code, pointer, message, witness } : { code, pointer, message })
    }
    return null
  }

  warning(code, pointer, message) {
    if (this.warnings.length < MAX_FINDINGS) this.warnings.push({ code, pointer, message })
  }
}
