"""Verification: whether a history can be, and whether its end is the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from perdure_conformance.histories.checks import CHECKS, Check
from perdure_conformance.histories.files import opened
from perdure_conformance.histories.stored import FORMAT_NAMES, UNITS, History
from perdure_conformance.histories.walk import Fault, Walk
from perdure_conformance.lint.document import name_of
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT

VERIFY_VERSION: Final = 1

UNANCHORED: Final = (
    "the end: a history that was cut where a batch ends cannot be told from a whole one; "
    "--head SEQUENCE:CHECKSUM pins the last record that you know of"
)
NOT_AN_ORIGINAL: Final = (
    "the origin: a checksum covers one record and is no signature, "
    "so that a record which was changed within the rules and sealed anew is accepted"
)

TORN: Final = (
    "an append that was never acknowledged leaves such a tail; whether anything was cut that was acknowledged, "
    "--head SEQUENCE:CHECKSUM tells"
)
TORN_BUT_WHOLE: Final = "an append that was never acknowledged leaves such a tail; what --head pins is there"

Verdict = Literal["sound", "torn_tail", "bad", "nothing_checked"]
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
class Result:
    """What became of one kind of check."""

    is_checked: bool
    count: int
    """How many lines, frames or rows, records, batches or pinned records it found good."""
    found: str | None
    """The code of the fault that it found."""

    def document(self) -> dict[str, object]:
        """Return it as JSON."""
        return {"checked": self.is_checked, "count": self.count, "found": self.found}


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found out about one history."""

    walk: Walk
    head: Head | None
    fault: Fault | None
    anchor: Anchor

    @property
    def is_empty(self) -> bool:
        """Tell whether there was no record at all, so that nothing was checked."""
        return self.fault is None and self.walk.record is None

    @property
    def verdict(self) -> Verdict:
        """What it comes to, in one word."""
        if self.fault is None:
            return "nothing_checked" if self.is_empty else "sound"
        return "torn_tail" if self.fault.kind == "torn_tail" else "bad"

    @property
    def records(self) -> int:
        """How many records are sound: of a history with a torn tail, those before it."""
        if self.verdict == "torn_tail":
            return 0 if self.walk.whole is None else self.walk.whole.sequence
        return self.walk.sequence

    @property
    def checks(self) -> Mapping[Check, Result]:
        """What became of each kind of check. What is after a fault is not looked at."""
        return {check: self._result(check) for check in CHECKS}

    def _result(self, check: Check) -> Result:
        found = self.fault.code if self.fault is not None and self.fault.check == check else None
        count = self.records
        if check == "framing":
            count = self.walk.pieces
        elif check == "batches":
            count = self.walk.batches
        elif check == "end":
            count = int(self.anchor != "none")
        return Result(found is not None or count > 0, count, found)

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


def verify(history: History, head: Head | None) -> Verification:
    """Verify a history, in memory for its state and one record. Raises `HistoryRefused` where reading fails."""
    walk = Walk(history)
    for record in walk.steps():
        if head is not None and record.sequence == head.sequence and record.checksum != head.checksum:
            fault = _not_the_head(walk, head, f"the checksum of this record is {record.checksum}")
            return Verification(walk, head, fault, "none")
    is_torn = walk.fault is not None and walk.fault.kind == "torn_tail"
    if head is None or (walk.fault is not None and not is_torn) or (walk.record is None and not is_torn):
        return Verification(walk, head, walk.fault, "none")
    last = 0 if walk.whole is None else walk.whole.sequence
    if last < head.sequence:
        told = f"the history ends after record {last}: it was cut, or is an older copy"
        return Verification(walk, head, _not_the_head(walk, head, told), "none")
    return Verification(walk, head, walk.fault, "end" if last == head.sequence else "earlier")


def _not_the_head(walk: Walk, head: Head, sentence: str) -> Fault:
    owed = f"the record with the checksum {head.checksum}, as --head says"
    return Fault(head.sequence, walk.here, "not_the_head", "not_the_head", sentence, owed, None)


def verified_file(name: str, head: str | None = None) -> dict[str, object]:
    """Verify a file, and return what was found out as JSON. Raises `HistoryRefused`, `HeadRefused`."""
    with opened(name) as history:
        return document(verify(history, None if head is None else head_of(head)))


def exit_code(verification: Verification) -> int:
    """Return what a command comes to: a torn tail is not what the writer left when it was last well."""
    return {"sound": CONFORMANT, "nothing_checked": NO_VERDICT}.get(verification.verdict, NOT_CONFORMANT)


def document(verification: Verification) -> dict[str, object]:
    """Return what was found out as JSON."""
    walk, fault = verification.walk, verification.fault
    record, state = walk.record, walk.state
    return {
        "verify_version": VERIFY_VERSION,
        "file": name_of(walk.history.name),
        "format": walk.history.format,
        "verdict": verification.verdict,
        "exit_code": exit_code(verification),
        "run_id": None if record is None else record.run_id,
        "status": None if state is None else state.status,
        "records": verification.records,
        "batches": walk.batches,
        "head": None if walk.whole is None else {"sequence": walk.whole.sequence, "checksum": walk.whole.checksum},
        "fault": None if fault is None else fault_document(fault),
        "anchored": verification.anchor,
        "checks": {check: result.document() for check, result in verification.checks.items()},
        "not_checked": [] if verification.is_empty else list(verification.not_checked),
    }


def fault_document(fault: Fault) -> dict[str, object]:
    """Return a fault as JSON."""
    return {
        "sequence": fault.sequence,
        "place": fault.place._asdict(),
        "check": fault.check,
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
        return [f"NOTHING CHECKED  the history is empty: it has no record ({FORMAT_NAMES[walk.history.format]})."]
    if verification.verdict == "torn_tail":
        return _torn(verification)
    if fault is not None:
        return [*bad(fault), *_so_far(verification)]
    assert walk.record is not None
    assert walk.state is not None
    return [
        f"SOUND  {counted(walk.sequence, 'record')} in {counted(walk.batches, 'batch', 'batches')}",
        f"format   {FORMAT_NAMES[walk.history.format]}",
        f"run      {walk.record.run_id}, {walk.state.status}",
        f"head     {walk.sequence}:{walk.record.checksum}",
        "Checked:",
        *(
            f"  {check:<9}  {_amount(verification, check, result):<12}  {CHECKS[check]}"
            for check, result in verification.checks.items()
            if result.is_checked
        ),
        "End not anchored. Not checked:" if verification.anchor == "none" else "The head is there. Not checked:",
        *(f"  {each}" for each in verification.not_checked),
    ]


def _amount(verification: Verification, check: Check, result: Result) -> str:
    if check == "framing":
        return counted(result.count, UNITS[verification.walk.history.format])
    return counted(result.count, "batch", "batches") if check == "batches" else counted(result.count, "record")


def bad(fault: Fault) -> list[str]:
    """Return where a history goes wrong, and why, as lines."""
    verdict = "TORN TAIL  from" if fault.kind == "torn_tail" else "BAD "
    return [
        f"{verdict} record {fault.sequence} ({fault.place}): {fault.code} ({fault.kind.replace('_', ' ')})",
        f"why      {fault.sentence}",
        f"owed     {fault.owed}",
    ]


def _torn(verification: Verification) -> list[str]:
    walk, fault = verification.walk, verification.fault
    assert fault is not None
    head = [] if walk.whole is None else [f"head     {walk.whole.sequence}:{walk.whole.checksum}"]
    return [
        *bad(fault)[:2],
        f"means    {TORN if verification.anchor == 'none' else TORN_BUT_WHOLE}",
        *_so_far(verification),
        *head,
    ]


def _so_far(verification: Verification) -> list[str]:
    """Return what was found good before a fault, and which kind of check found it, as lines."""
    results = verification.checks.items()
    good = [f"{check} {result.count:,}" for check, result in results if result.count and not result.found]
    wrong = [f"{check} {result.count:,}, then {result.found}" for check, result in results if result.found]
    checks = f"checks   {'; '.join([*wrong, *(f'{each} good' for each in good)])}"
    if not verification.records:
        return [checks, "before   nothing: it is the first record"]
    whole = counted(verification.walk.batches, "whole batch", "whole batches")
    before = f"before   {counted(verification.records, 'record')}, {whole}; nothing after this place was looked at"
    return [checks, before]


def counted(number: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"
