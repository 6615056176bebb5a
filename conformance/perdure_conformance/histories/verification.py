"""Verification: whether a history can be, and whether its end is the end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from perdure_conformance.histories.files import Line
from perdure_conformance.histories.walk import Fault, Walk
from perdure_conformance.lint.document import name_of

VERIFY_VERSION: Final = 1

CHECKED: Final = (
    "each record: strict JSON in canonical form, its members, its limits, and its checksum",
    "the order: one run, sequences without a gap, no event id twice, every batch whole",
    "each event: it is what the state owes, or begins the batch of a command that is allowed",
)

UNANCHORED: Final = (
    "the end: a history that was cut where a batch ends cannot be told from a whole one; "
    "--head SEQUENCE:CHECKSUM pins the last record that you know of"
)
NOT_AN_ORIGINAL: Final = (
    "the origin: a checksum covers one record and is no signature, "
    "so that a record which was changed within the rules and sealed anew is accepted"
)

Anchor = Literal["none", "end", "earlier"]
"""What is known of the end: nothing, that it is the head, or that the head lies before it."""


class HeadRefused(ValueError):
    """What is no head. `str(error)` is one sentence."""


@dataclass(frozen=True, slots=True)
class Head:
    """The last record that somebody knows of."""

    sequence: int
    checksum: str


def head_of(text: str) -> Head:
    """Read `SEQUENCE:CHECKSUM`. Raises `HeadRefused`."""
    sequence, colon, checksum = text.partition(":")
    is_number = sequence.isascii() and sequence.isdigit() and 0 < len(sequence) <= 16 and int(sequence) > 0
    is_digest = len(checksum) == 64 and set(checksum) <= set("0123456789abcdef")
    if not colon or not is_number or not is_digest:
        told = "--head is SEQUENCE:CHECKSUM, a number from 1 and 64 lowercase hexadecimal digits, as verify prints it."
        raise HeadRefused(told)
    return Head(int(sequence), checksum)


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found out about one history."""

    file: str
    walk: Walk
    head: Head | None
    fault: Fault | None
    anchor: Anchor

    @property
    def is_empty(self) -> bool:
        """Tell whether there was no record at all, so that nothing was checked."""
        return self.fault is None and self.walk.record is None

    @property
    def not_checked(self) -> tuple[str, ...]:
        """What a sound history is still not known for."""
        match self.anchor:
            case "end":
                return (NOT_AN_ORIGINAL,)
            case "earlier":
                assert self.head is not None
                told = f"the end: the head is record {self.head.sequence}, and what follows it may have been cut"
                return (told, NOT_AN_ORIGINAL)
            case "none":
                return (UNANCHORED, NOT_AN_ORIGINAL)


def verify(file: str, lines: Iterable[Line], head: Head | None) -> Verification:
    """Verify a history, in memory for its state and one line."""
    walk = Walk(lines)
    for record in walk.steps():
        if head is not None and record.sequence == head.sequence and record.checksum != head.checksum:
            fault = _not_the_head(head, f"the checksum of this record is {record.checksum}")
            return Verification(file, walk, head, fault, "none")
    if walk.fault is not None or head is None or walk.record is None:
        return Verification(file, walk, head, walk.fault, "none")
    if walk.sequence < head.sequence:
        fault = _not_the_head(head, f"the history ends after record {walk.sequence}: it was cut, or is an older copy")
        return Verification(file, walk, head, fault, "none")
    return Verification(file, walk, head, None, "end" if walk.sequence == head.sequence else "earlier")


def _not_the_head(head: Head, sentence: str) -> Fault:
    owed = f"the record with the checksum {head.checksum}, as --head says"
    return Fault(head.sequence, head.sequence, "not_the_head", "not_the_head", sentence, owed, None)


def document(verification: Verification, exit_code: int) -> dict[str, object]:
    """Return what was found out as JSON."""
    walk, fault = verification.walk, verification.fault
    verdict = "nothing_checked" if verification.is_empty else "sound" if fault is None else "bad"
    record, state = walk.record, walk.state
    return {
        "verify_version": VERIFY_VERSION,
        "file": name_of(verification.file),
        "format": "records",
        "verdict": verdict,
        "exit_code": exit_code,
        "run_id": None if record is None else record.run_id,
        "status": None if state is None else state.status,
        "records": walk.sequence,
        "batches": walk.batches,
        "head": None if record is None else {"sequence": record.sequence, "checksum": record.checksum},
        "fault": None if fault is None else _fault(fault),
        "anchored": verification.anchor,
        "checked": [] if verification.is_empty else list(CHECKED),
        "not_checked": [] if verification.is_empty else list(verification.not_checked),
    }


def _fault(fault: Fault) -> dict[str, object]:
    return {
        "sequence": fault.sequence,
        "line": fault.line,
        "code": fault.code,
        "kind": fault.kind,
        "sentence": fault.sentence,
        "owed": fault.owed,
        "owed_event": fault.owed_event,
    }


def in_words(verification: Verification) -> list[str]:
    """Return what was found out, as lines."""
    walk, fault = verification.walk, verification.fault
    if verification.is_empty:
        return ["NOTHING CHECKED  the history is empty: it has no record."]
    if fault is not None:
        return [*bad(fault), *_so_far(walk)]
    assert walk.record is not None
    assert walk.state is not None
    lines = [
        f"SOUND  {counted(walk.sequence, 'record')} in {counted(walk.batches, 'batch', 'batches')}",
        f"run      {walk.record.run_id}, {walk.state.status}",
        f"head     {walk.sequence}:{walk.record.checksum}",
        *(["note     no line feed ends the last line"] if not walk.is_ended else []),
        "Checked:",
        *(f"  {each}" for each in CHECKED),
    ]
    if verification.anchor == "none":
        lines.append("End not anchored. Not checked:")
    else:
        lines.append("The head is there. Not checked:")
    return [*lines, *(f"  {each}" for each in verification.not_checked)]


def bad(fault: Fault) -> list[str]:
    """Return where a history goes wrong, and why, as lines."""
    return [
        f"BAD  record {fault.sequence} (line {fault.line}): {fault.code} ({fault.kind.replace('_', ' ')})",
        f"why      {fault.sentence}",
        f"owed     {fault.owed}",
    ]


def _so_far(walk: Walk) -> list[str]:
    if not walk.sequence:
        return ["before   nothing: it is the first record"]
    whole = counted(walk.batches, "whole batch", "whole batches")
    return [f"before   {counted(walk.sequence, 'record')}, {whole}; nothing after this place was looked at"]


def counted(number: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"
