"""Corrections, applied in the text itself: comments, order and white space stay as they are.

Each changed text is read again, and counts only if its value is what the corrections make of the one before. What
cannot be changed so is left as it is.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from perdure.authoring.positions import SourceError, Span
from perdure.authoring.source import Source, read_source
from perdure.kernel.problems import Correction
from perdure.kernel.values import JsonValue, canonical_json
from perdure_conformance.lint.findings import Finding, Linted

_LAST: Final = frozenset({"wrong_content_hash"})
"""Mended when nothing else is left to mend: every other change makes the hash another."""

_MAX_ROUNDS: Final = 100
_BEFORE_DASH: Final = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*+)*+-")
_BEFORE_COLON: Final = re.compile(r"[^:#'\"\r\n]*+:|'[^']*+'[ \t]*+:|\"[^\"]*+\"[ \t]*+:")
_COMMENT_OR_COMMA: Final = re.compile(r"#[^\r\n]*|,")


class _Edit(NamedTuple):
    """A part of the text, and what stands there instead."""

    start: int
    end: int
    text: str


@dataclass(slots=True)
class Fixed:
    """A document after its corrections."""

    linted: Linted
    done: list[Finding] = field(default_factory=list)
    """The findings that were mended, with their places at that time."""


def fix(linted: Linted, lint_again: Callable[[Source], Linted]) -> Fixed:
    """Apply the corrections of a file's findings, until nothing is left that can be mended."""
    fixed = Fixed(linted)
    for _ in range(_MAX_ROUNDS):
        source, findings = fixed.linted.source, _chosen(fixed.linted.findings)
        if source is None or not findings:
            break
        changed, done = _mended(source, findings)
        if not done:
            break
        fixed.done += sorted(done, key=lambda finding: finding.position)
        fixed.linted = lint_again(changed)
    return fixed


def marked(linted: Linted, fixed: Fixed) -> Linted:
    """Return what was found in a file, each finding with what a fix makes of it."""
    done = {id(finding) for finding in fixed.done}
    left = Counter(_identity(finding) for finding in fixed.linted.findings)
    marked = []
    for finding in linted.findings:
        is_left = id(finding) not in done and left[_identity(finding)] > 0
        left[_identity(finding)] -= is_left
        marked.append(_with_fate(finding) if is_left else replace(finding, fate="mended"))
    return replace(linted, findings=tuple(marked))


def marked_as_left(linted: Linted) -> Linted:
    """Return what is left after a fix, each finding that could not be mended marked so."""
    return replace(linted, findings=tuple(_with_fate(finding) for finding in linted.findings))


def _with_fate(finding: Finding) -> Finding:
    return finding if finding.problem.correction is None else replace(finding, fate="left")


def _identity(finding: Finding) -> tuple[str, str, str]:
    """Return what a finding keeps when others are mended: elements of arrays may move up, and a hash is another."""
    problem = finding.problem
    return problem.code, _parent(problem.pointer), "" if problem.code in _LAST else problem.sentence


def told(finding: Finding) -> str:
    """Return what mended a finding, for people."""
    correction = finding.problem.correction
    assert correction is not None
    if correction.remove:
        return f"took {correction.pointer} away"
    return f"set {correction.pointer} to {json.dumps(correction.value)}"


def _chosen(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings to mend now: one for each place, the last of the text first."""
    found: dict[str, Finding] = {}
    for finding in findings:
        correction = finding.problem.correction
        if correction is not None:
            other = found.get(correction.pointer)
            if other is None or _is_more(correction, other.problem.correction):
                found[correction.pointer] = finding
    chosen = list(found.values())
    early = [finding for finding in chosen if finding.problem.code not in _LAST]
    return sorted(early or chosen, key=lambda finding: finding.position, reverse=True)


def _is_more(correction: Correction, other: Correction | None) -> bool:
    """Tell whether a correction asks for a larger number than another one of the same place: a later version."""
    assert other is not None
    value, value_of_other = correction.value, other.value
    return isinstance(value, int) and isinstance(value_of_other, int) and value > value_of_other


def _mended(source: Source, findings: Sequence[Finding]) -> tuple[Source, list[Finding]]:
    """Mend all findings at once; if that cannot be done, each half of them, down to those that cannot be mended."""
    changed = _changed(source, findings)
    if changed is not None:
        return changed, list(findings)
    if len(findings) == 1:
        return source, []
    half = len(findings) // 2
    source, done = _mended(source, findings[:half])
    source, more = _mended(source, findings[half:])
    return source, done + more


def _changed(source: Source, findings: Iterable[Finding]) -> Source | None:
    """Return the document with corrections applied to its text, or None if that does not give what they say."""
    corrections = [finding.problem.correction for finding in findings if finding.problem.correction is not None]
    around = [_parent(correction.pointer) for correction in corrections]
    spans = source.spans([*(correction.pointer for correction in corrections), *around])
    edits = []
    for correction, parent in zip(corrections, around, strict=True):
        if correction.pointer not in spans or parent not in spans:
            return None
        edit = _edit(source, correction, spans[correction.pointer], spans[parent])
        if edit is None:
            return None
        edits += edit
    text = _edited(source.text, edits)
    try:
        changed = read_source(text.encode(), source.syntax) if text is not None else None
        wanted = read_source(source.text.encode(), source.syntax).value
    except SourceError:
        return None
    spot = sorted(corrections, key=lambda correction: _order(correction.pointer), reverse=True)
    for correction in spot:
        wanted = _corrected(wanted, _names(correction.pointer), correction)
    if changed is None or canonical_json(changed.value) != canonical_json(wanted):
        return None
    return changed


def _edited(text: str, edits: Iterable[_Edit]) -> str | None:
    """Return the text with all edits made; None if they touch the same part."""
    parts, done = [], 0
    for edit in sorted(edits):
        if edit.start < done:
            return None
        parts += [text[done : edit.start], edit.text]
        done = edit.end
    return "".join([*parts, text[done:]])


# The value that is wanted


def _parent(pointer: str) -> str:
    return pointer.rpartition("/")[0]


def _names(pointer: str) -> list[str]:
    return [name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/")[1:]]


def _order(pointer: str) -> list[tuple[int, str]]:
    """Return a key by which the elements of an array stand in their order."""
    return [(int(name) if name.isdecimal() else 0, name) for name in _names(pointer)]


def _corrected(value: JsonValue, names: Sequence[str], correction: Correction) -> JsonValue:
    """Return a value with one correction applied; what it consists of is changed in place."""
    within = value
    for name in names[:-1]:
        within = within[name] if isinstance(within, dict) else within[int(name)]  # type: ignore[index]
    last: str | int = names[-1] if isinstance(within, dict) else int(names[-1])
    if correction.remove:
        del within[last]  # type: ignore[union-attr]
    else:
        within[last] = correction.value  # type: ignore[index]
    return value


# The text


def _edit(source: Source, correction: Correction, span: Span, around: Span) -> list[_Edit] | None:
    if not correction.remove:
        return [_Edit(span.start, span.end, json.dumps(correction.value))]
    if source.text[around.start] in "[{":
        return _without_in_brackets(source.text, span)
    return _without_in_block(source.text, span, around)


def _without_in_brackets(text: str, span: Span) -> list[_Edit]:
    """Take a value and one of its commas away; comments between brackets stay."""
    if span.before is not None and "#" not in text[span.before : span.key]:
        return [_Edit(span.before, span.end, "")]
    if span.after is not None and "#" not in text[span.end : span.after]:
        return [_Edit(span.key, span.after, "")]
    start, end = (span.before, span.key) if span.before is not None else (span.end, span.after or span.end)
    commas = (found for found in _COMMENT_OR_COMMA.finditer(text, start, end) if found[0] == ",")
    comma = next(commas, None)
    value = _Edit(*_with_its_line(text, span.key, span.end), "")
    return [value] if comma is None else [value, _Edit(comma.start(), comma.end(), "")]


def _without_in_block(text: str, span: Span, around: Span) -> list[_Edit] | None:
    """Take the lines of a value away, with its key or dash; comments stay, on lines of their own where they must."""
    start, after_start = _start_in_block(text, span, around)
    if "#" in text[after_start : span.start]:  # Between key or dash and value: the comments stay where they are.
        first, last = _with_its_line(text, span.start, span.end)
        return [_Edit(start, _skipped(text, after_start, " \t"), ""), _Edit(first, last, "")]
    indented = _skipped_back(text, start, " ")
    if indented > 0 and text[indented - 1] not in "\r\n":
        is_followed = span.after is not None and "#" not in text[span.end : span.after]
        return [_Edit(start, span.after if is_followed and span.after is not None else span.end, "")]
    first, last = _with_its_line(text, start, span.end)
    if last == span.end and first == start:  # A comment follows.
        return [_Edit(start, _skipped(text, span.end, " \t"), "")]
    return [_Edit(first, last, "")]


def _start_in_block(text: str, span: Span, around: Span) -> tuple[int, int]:
    """Return where the key of a value starts, and where its colon ends; of an element of an array, its dash."""
    if span.key == span.start:
        dash = _BEFORE_DASH.match(text, around.start if span.before is None else span.before)
        assert dash is not None, "an element of a block begins with a dash"
        return dash.end() - 1, dash.end()
    colon = _BEFORE_COLON.match(text, span.key)
    return span.key, span.start if colon is None else colon.end()


def _with_its_line(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a part of the text, or its lines, with the end of the last one, if nothing else stands on them."""
    first = _skipped_back(text, start, " \t")
    last = _skipped(text, end, " \t")
    is_alone = (first == 0 or text[first - 1] in "\r\n") and (last == len(text) or text[last] in "\r\n")
    if not is_alone:
        return start, end
    if text.startswith("\r\n", last):
        return first, last + 2
    return first, min(last + 1, len(text))


def _skipped(text: str, offset: int, characters: str) -> int:
    while offset < len(text) and text[offset] in characters:
        offset += 1
    return offset


def _skipped_back(text: str, offset: int, characters: str) -> int:
    while offset > 0 and text[offset - 1] in characters:
        offset -= 1
    return offset
