"""What the compatibility gate promises, tried on planted changes, on what cannot be compared, on stored histories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from perdure.kernel.commands import Rejection
from perdure.kernel.decide import decide
from perdure.kernel.records import document_of
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES
from perdure.kernel.state import State
from perdure.kernel.values import JsonObject
from perdure_conformance.gate.sources import GateRefused
from perdure_conformance.harness.targets import Target
from perdure_conformance.histories.sealing import sealed_anew, stored
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.dispatch import KERNELS
from perdure_conformance.reducer.histories import created, fact, history, ready, started
from perdure_conformance.reducer.mutants import MUTANTS
from perdure_conformance.reducer.reference import begun, command_of, read_entry
from perdure_conformance.tool import frozen, samples
from perdure_conformance.tool.planted import NEXT_WITHOUT_CLEAN, Twins
from perdure_conformance.tool.released import BREW, GONE, MENU, ORDER, RELEASED, Edit, Release, changed, write
from perdure_conformance.vectors.folder import changes, contents_of
from perdure_conformance.vectors.folder import write as write_vectors
from perdure_conformance.vectors.index import INDEX
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT

Document = Mapping[str, object]
Gate = Callable[[Path, Path, Path | None], JsonObject]
"""Compares two releases, with stored histories if there are any, and says what `perdure gate --json` says."""
Replay = Callable[[Path, Target], JsonObject]
"""Replays the histories in a folder on a kernel, and says the same."""
Complaint = str | None

_CODES: Final = {"breaking": NOT_CONFORMANT, "compatible": CONFORMANT}


def planted_changes_are_told(gate: Gate, planted: Sequence[Twins]) -> Complaint:
    """Compare a release with itself, and with each planted change of it."""
    with TemporaryDirectory(prefix="perdure-") as place:
        old = write(Path(place, "old"), RELEASED)
        if told := _changes(gate(old, old, None)):
            return f"nothing changed, and {len(told)} changes are told"
        for number, twins in enumerate(planted):
            for verdict, one in (("breaking", twins.breaking), ("compatible", twins.compatible)):
                found = gate(old, write(Path(place, f"{number} {verdict}"), changed(RELEASED, *one.edits)), None)
                codes = {str(each["code"]) for each in _changes(found)}
                if (found["verdict"], found["exit_code"]) != (verdict, _CODES[verdict]) or codes != one.codes:
                    return f"{one.name}: told as {found['verdict']} with {sorted(codes)}"
                if not all(each["file"] and each["sentence"] and each["reason"] for each in _changes(found)):
                    return f"{one.name}: told without a place, or without a reason"
    return None


def _changes(found: JsonObject) -> Sequence[Document]:
    changes = found["changes"]
    assert isinstance(changes, Sequence)
    return [each for each in changes if isinstance(each, Mapping)]


# What histories refer to


@cache
def _of_brewing(*, has_ended: bool) -> samples.Lines:
    """Return a history of the workflow in the release that has begun, and ended or not."""
    entries = list(history(created(RELEASED[BREW]), ready("boil"), started("boil", 1)).entries)
    if has_ended:
        state: State | None = None
        for entry in entries:
            event = read_entry(entry)
            state = begun(event, 5, RULES) if state is None else reduce(state, event, version=5)
        found = decide(state, command_of(fact("RequestCancellation", requester="somebody", reason="enough")))
        assert not isinstance(found, Rejection)
        entries += [Entry(5, document_of(event)) for event in found]
    return stored(entries)


_AS_THE_NEXT: Final[Edit] = (BREW, "", NEXT_WITHOUT_CLEAN)
_IN_PLACE: Final[tuple[Edit, ...]] = ((BREW, "/nodes/2", GONE), (BREW, "/edges", GONE))
_REFERRING: Final[Mapping[str, tuple[bool, str, int, tuple[Edit, ...]]]] = {
    "has a later version, and the run has not ended": (False, "node_removed", NOT_CONFORMANT, (_AS_THE_NEXT,)),
    "has a later version, and the run has ended": (True, "node_left_out", CONFORMANT, (_AS_THE_NEXT,)),
    "is gone, and the run has not ended": (False, "workflow_removed", NOT_CONFORMANT, ((BREW, "", GONE),)),
    "is gone, and the run has ended": (True, "workflow_left_out", CONFORMANT, ((BREW, "", GONE),)),
    "is another in place, and the run has ended": (True, "node_removed", NOT_CONFORMANT, _IN_PLACE),
}


def what_histories_refer_to_is_told(gate: Gate) -> Complaint:
    """Take a node and a workflow away from a release, with a history that refers to them, and one that has ended."""
    with TemporaryDirectory(prefix="perdure-") as place:
        old = write(Path(place, "old"), RELEASED)
        for number, (name, (has_ended, code, exit_code, edits)) in enumerate(_REFERRING.items()):
            journals = Path(place, f"journals {number}")
            journals.mkdir()
            samples.write(journals / f"run{samples.SUFFIXES[number % 3]}", _of_brewing(has_ended=has_ended))
            found = gate(old, write(Path(place, f"new {number}"), changed(RELEASED, *edits)), journals)
            told = {str(each["code"]): each["histories"] for each in _changes(found)}
            if code not in told or found["exit_code"] != exit_code:
                return f"a workflow {name}: told as {found['verdict']} with {sorted(told)}"
            if bool(told[code]) is has_ended:
                return f"a workflow {name}: told to be referred to by {told[code]}"
    return None


# What cannot be compared

_NOWHERE: Final = ("schemas/order-2.json", "http://localhost:9/order.json", "urn:sample:nobody", "#/$defs/Nobody")
_REFUSED: Final[Mapping[str, Release]] = {
    **{f"refers to {each}": {MENU: {"$id": "urn:sample:menu", "$ref": each}} for each in _NOWHERE},
    "refers to itself": {MENU: {"$id": "urn:sample:menu", "$ref": "#"}},
    "has a type that is none": {MENU: {"$id": "urn:sample:menu", "type": "text"}},
    "has a name twice": {MENU: RELEASED[ORDER], ORDER: RELEASED[ORDER]},
}


def what_cannot_be_compared_is_no_pass(gate: Gate) -> Complaint:
    """Compare what has nothing in it, what is no JSON, what refers to what is not there, and what a link leads to."""
    with TemporaryDirectory(prefix="perdure-") as place:
        old = write(Path(place, "old"), RELEASED)
        empty = Path(place, "empty")
        empty.mkdir()
        if (code := gate(empty, old, None)["exit_code"]) != NO_VERDICT:
            return f"there was nothing to compare, and the exit code is {code}"
        bad = {
            name: write(Path(place, f"bad {number}"), release)
            for number, (name, release) in enumerate(_REFUSED.items())
        }
        cut = write(Path(place, "cut"), RELEASED)
        (cut / MENU).write_bytes(b'{"type": ')
        for name, folder in {**bad, "is no JSON": cut, "is not there": Path(place, "nowhere")}.items():
            for pair in ((old, folder), (folder, old)):
                if (told := _refusal(gate, *pair)) is None:
                    return f"a schema {name}, and is compared"
                if not told.endswith(".") or "\n" in told:
                    return f"a schema {name}, and that is told as {told!a}"
        linked = write(Path(place, "linked"), changed(RELEASED, (MENU, "", GONE)))
        (linked / MENU).symlink_to(old / MENU)
        if gate(old, linked, None)["exit_code"] != NOT_CONFORMANT:
            return "a schema is gone, and a link is followed to it"
    return None


def _refusal(gate: Gate, old: Path, new: Path) -> str | None:
    try:
        gate(old, new, None)
    except GateRefused as error:
        return str(error)
    return None


# Stored histories on a kernel

_FAULTY: Final = ("NeverTooLate", "UsesAttemptIdsAgain", "TellsLiveNodesAsFailed")
"""Mutants of a kernel that refuse what is right, accept what is wrong, or tell another state."""


@cache
def _histories() -> tuple[samples.Lines, ...]:
    """Return histories of every kind, and one that cannot be, each record as it was sealed."""
    lines = samples.with_precise_numbers()
    wrong = [*lines[:5], sealed_anew(lines[5].replace(b"000200000002", b"000200000001"))]
    return (*samples.of_every_kind(), lines, wrong)


def replayed_histories_are_told(replay: Replay) -> Complaint:
    """Replay histories on the model, and on kernels that are wrong; with one that is damaged, and one that is none."""
    with TemporaryDirectory(prefix="perdure-") as place:
        for number, lines in enumerate(_histories()):
            samples.write(Path(place, f"{number}{samples.SUFFIXES[number % 3]}"), lines)
        reference = KERNELS.find("reference", ())
        found = replay(Path(place), reference)
        if found["exit_code"] != CONFORMANT or len(_rows(found)) != len(_histories()):
            return f"the model makes of histories what it makes of them, and is told as {found['verdict']}"
        for name in _FAULTY:
            told = replay(Path(place), MUTANTS[name].target)
            differing = [each for each in _rows(told) if each["verdict"] == "differs"]
            if told["exit_code"] != NOT_CONFORMANT or not all(each["sequence"] for each in differing):
                return f"{name} is told as {told['verdict']}"
    return _damaged_ones_are_told(replay, reference)


def _damaged_ones_are_told(replay: Replay, reference: Target) -> Complaint:
    lines = samples.with_precise_numbers()
    damaged = [*lines[:2], lines[2].replace(b'"attempt":1', b'"attempt":2'), *lines[3:]]
    for name, content in {"damaged": damaged, "left-out": [*lines[:2], *lines[3:]], "empty": []}.items():
        with TemporaryDirectory(prefix="perdure-") as place:
            samples.write(Path(place, "sound.jsonl"), lines)
            samples.write(Path(place, f"{name}.jsonl"), content)
            found = replay(Path(place), reference)
        verdicts = {str(each["file"]): each["verdict"] for each in _rows(found)}
        if found["exit_code"] != NO_VERDICT or verdicts != {"sound.jsonl": "same", f"{name}.jsonl": "unreadable"}:
            return f"a history that is {name} is told as {verdicts}, exit code {found['exit_code']}"
    return None


def vectors_decide_what_is_right(replay: Replay) -> Complaint:
    """Replay golden vectors on the model, as they are, and with another answer each."""
    vector = next(each for each in frozen.vectors_of_every_kind() if each.kind == "reduce")
    with TemporaryDirectory(prefix="perdure-") as place:
        contents = contents_of([vector])
        write_vectors(Path(place), contents, changes({}, contents))
        reference = KERNELS.find("reference", ())
        found = replay(Path(place), reference)
        if found["exit_code"] != CONFORMANT or not _rows(found):
            return f"the model answers as a golden vector says, and is told as {found['verdict']}"
        index = Path(place, INDEX)
        index.write_bytes(index.read_bytes().replace(b'"accepted": true', b'"accepted": false, "code": "x"'))
        changed_answer = replay(Path(place), reference)
        if changed_answer["exit_code"] != NOT_CONFORMANT:
            return f"a golden vector says something else, and the model is told as {changed_answer['verdict']}"
    return None


def _rows(found: JsonObject) -> Sequence[Document]:
    rows = found["histories"]
    assert isinstance(rows, Sequence)
    return [each for each in rows if isinstance(each, Mapping)]
