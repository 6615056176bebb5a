"""Stored histories on another implementation: it must make of each what was made of it when it was stored.

What that is, a folder of golden vectors says of its own histories; of others the model says it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from perdure.kernel.consequences import owed
from perdure.kernel.errors import HistoryError
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES
from perdure.kernel.state import State
from perdure.kernel.values import JsonObject, digest
from perdure_conformance.gate.referring import StoredHistory, histories_in
from perdure_conformance.gate.sources import GateRefused, Vectors, read_side
from perdure_conformance.gate.values import equal
from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.histories.words import value_in_words
from perdure_conformance.reducer.contract import Capabilities, Entry, Reduced
from perdure_conformance.reducer.histories import read_history
from perdure_conformance.reducer.questions import OF_EITHER_KIND, Query, Setting, hold, question_about, truth_about
from perdure_conformance.reducer.reference import begun, read_entry
from perdure_conformance.reducer.room import KernelRoom
from perdure_conformance.reducer.views import bare, view_of
from perdure_conformance.rooms import LAPSES, LAPSES_BORNE
from perdure_conformance.suite import Inconclusive, Violation
from perdure_conformance.vectors.index import INDEX
from perdure_conformance.vectors.vector import Vector
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT

Verdict = Literal["same", "differs", "unreadable", "no_answer"]


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of one history."""

    file: str
    verdict: Verdict
    sequence: int | None = None
    """The record at which it differs."""
    sentence: str = ""
    requirement: str | None = None
    """The requirement that is broken, where the model says so."""

    @property
    def document(self) -> JsonObject:
        """It as `schemas/gate-1.json` says."""
        return {
            "file": self.file,
            "verdict": self.verdict,
            "sequence": self.sequence,
            "sentence": self.sentence,
            "requirement": self.requirement,
        }


@dataclass(frozen=True, slots=True)
class Replays:
    """What became of all of them."""

    target: str
    histories: tuple[Replayed, ...]
    not_covered: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """0 all the same, 1 one differs, 3 one has no verdict, or there is none."""
        verdicts = {each.verdict for each in self.histories}
        if "differs" in verdicts:
            return NOT_CONFORMANT
        return CONFORMANT if verdicts == {"same"} else NO_VERDICT

    @property
    def document(self) -> JsonObject:
        """It as `schemas/gate-1.json` says."""
        words = {CONFORMANT: "same", NOT_CONFORMANT: "differs", NO_VERDICT: "no_verdict"}
        return {
            "gate_version": 1,
            "verdict": words[self.exit_code],
            "exit_code": self.exit_code,
            "target": self.target,
            "histories": [each.document for each in self.histories],
            "not_covered": list(self.not_covered),
        }


Question = tuple[str, Vector | StoredHistory]
"""The name of a history, and where it is."""


def replay(folder: str, target: Target, timeout_s: float) -> Replays:
    """Play the histories of a folder on a target. Raises `GateRefused` for a folder that cannot be read."""
    questions, left_out = _questions(folder)
    room = KernelRoom(target, timeout_s)
    found: list[Replayed] = []
    name = " ".join(" ".join([words] if isinstance(words, str) else words) for words in target.words().values())
    try:
        description = room.describe()
        name = f"{description.name} {description.version}"
        if not description.capabilities.state:
            left_out = (*left_out, "state: not claimed, so that histories are compared by whether they are accepted")
        lapses = 0
        for file, where in questions:
            found.append(_replayed(room, file, where, description.capabilities))
            lapses += found[-1].verdict == "no_answer"
            if lapses > LAPSES_BORNE:
                break
        room.close()
    except AdapterFault as fault:
        left_out = (*left_out, f"fault of the adapter: {fault.sentence}")
    finally:
        room.remove()
    found += [Replayed(file, "no_answer", sentence="It was not asked about.") for file, _ in questions[len(found) :]]
    return Replays(name, tuple(found), left_out)


def replayed(folder: Path, target: Target) -> JsonObject:
    """Play histories, and say what `perdure gate --journals --json` says. Raises `GateRefused`."""
    return replay(str(folder), target, 10.0).document


def _questions(folder: str) -> tuple[list[Question], tuple[str, ...]]:
    """Return the histories in a folder, and in words what is there and is not asked about."""
    if (Path(folder) / INDEX).is_file():
        side = read_side(str(Path(folder) / INDEX))
        if side.vectors:
            return _of_vectors(side.vectors[0])
    return [(each.name, each) for each in histories_in(folder)], ()


def _of_vectors(vectors: Vectors) -> tuple[list[Question], tuple[str, ...]]:
    asked: list[Question] = [(each.id, each) for each in vectors.contents if each.kind == "reduce"]
    others = Counter(each.kind for each in vectors.contents if each.kind != "reduce")
    told = ", ".join(f"{count} of {kind}" for kind, count in sorted(others.items()))
    return asked, ((f"vectors that are no histories: {told}",) if told else ())


def _replayed(room: KernelRoom, file: str, where: Vector | StoredHistory, claims: Capabilities) -> Replayed:
    try:
        history = tuple(where.entries()) if isinstance(where, StoredHistory) else read_history(where.question)[0]
    except (GateRefused, ValueError) as error:
        return Replayed(file, "unreadable", sentence=str(error))
    if not history:
        return Replayed(file, "unreadable", sentence="It has no record.")
    try:
        if isinstance(where, Vector):
            return _by_the_vector(room, where, history, claims)
        return _by_the_model(room, file, history, claims)
    except Inconclusive as error:
        return Replayed(file, "no_answer", sentence=f"{error}")
    except msgspec.ValidationError as error:
        return Replayed(file, "unreadable", sentence=f"Its vector has no answer: {error}.")
    except AdapterFault as fault:
        if fault.kind not in LAPSES:
            raise
        return Replayed(file, "no_answer", sentence=fault.sentence)


class _Expected(msgspec.Struct, frozen=True):
    """The answer that a vector has to a history."""

    accepted: bool
    whole: bool | None = None
    kind: str | None = None
    code: str | None = None
    sequence: int | None = None
    state_digest: str | None = None
    output: Any = None


def _by_the_vector(room: KernelRoom, vector: Vector, history: Sequence[Entry], claims: Capabilities) -> Replayed:
    """Compare an answer with the one that a vector has."""
    answer, expected = room.reduce(history), msgspec.convert(vector.expected, _Expected)
    if answer.accepted != expected.accepted:
        return _otherwise(vector.id, expected, answer)
    if not answer.accepted:
        is_free = expected.code in OF_EITHER_KIND
        same = answer.sequence == expected.sequence and (is_free or answer.kind == expected.kind)
        return Replayed(vector.id, "same") if same else _otherwise(vector.id, expected, answer)
    if answer.whole != expected.whole:
        return _otherwise(vector.id, expected, answer)
    if claims.state and answer.whole:
        digests = {digest(answer.state or {}), digest(bare(answer.state or {}))}
        if expected.state_digest not in digests or not equal(expected.output, answer.output):
            told = f"state_digest {min(digests)}, output {value_in_words(answer.output)}"
            wanted = f"state_digest {expected.state_digest}, output {value_in_words(expected.output)}"
            return Replayed(vector.id, "differs", len(history), f"The state after it is another: {told}, not {wanted}.")
    return Replayed(vector.id, "same")


def _otherwise(name: str, expected: _Expected, answer: Reduced) -> Replayed:
    sequences = [each for each in (answer.sequence, expected.sequence) if each is not None]
    why = "" if answer.code is None else f" ({answer.code})"
    sentence = f"The answer is {_words(answer)}{why}, and not {_words(expected)}."
    return Replayed(name, "differs", min(sequences, default=None), sentence)


def _words(answer: Reduced | _Expected) -> str:
    told = {"accepted": answer.accepted, "whole": answer.whole, "kind": answer.kind, "sequence": answer.sequence}
    return value_in_words({name: value for name, value in told.items() if value is not None})


def _by_the_model(room: KernelRoom, file: str, history: tuple[Entry, ...], claims: Capabilities) -> Replayed:
    """Hold an answer against the model's, as `perdure check reducer` does."""
    question, truth = question_about(history)
    answer = room.reduce(history)
    try:
        hold(question, truth, answer, Setting(claims, room.reduce), frozenset(), Counter())
    except Violation as violation:
        told = f"{value_in_words(violation.actual)}, and not {value_in_words(violation.expected)}"
        why = "" if answer.code is None else f": {answer.code}"
        found = Replayed(file, "differs", None, f"The answer is {told}{why}.", violation.requirement)
        if truth.error is not None:
            return replace(found, sequence=min(truth.sequence, answer.sequence or truth.sequence))
        return replace(found, sequence=answer.sequence or _first(room, history))
    return Replayed(file, "same")


def _first(room: KernelRoom, history: tuple[Entry, ...]) -> int:
    """Return the record after which an implementation has another state first, by halves, among the ends of batches."""
    ends = [number for number, state in enumerate(_states(history), 1) if owed(state, RULES) is None]
    right, wrong = 0, len(ends) - 1
    while right < wrong:
        middle = (right + wrong) // 2
        if _is_right(room, history[: ends[middle]]):
            right = middle + 1
        else:
            wrong = middle
    return ends[wrong] if ends else len(history)


def _states(history: Sequence[Entry]) -> Iterator[State]:
    state: State | None = None
    for entry in history:
        try:
            event = read_entry(entry)
            state = begun(event, entry.version, RULES) if state is None else reduce(state, event, version=entry.version)
        except HistoryError:
            return
        yield state


def _is_right(room: KernelRoom, history: tuple[Entry, ...]) -> bool:
    answer, truth = room.reduce(history), truth_about(Query(history))
    if not answer.accepted or not answer.whole or truth.state is None:
        return False
    wanted = view_of(truth.state)
    return equal(wanted, {**bare(answer.state or {}), "output": answer.output})
