"""Vectors of histories, commands and journals: what the model's kernel makes of them is what every kernel must."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from perdure.kernel.commands import Rejection
from perdure.kernel.events import RUNTIME_VERSION
from perdure.kernel.records import document_of
from perdure.kernel.snapshots import state_digest
from perdure.kernel.values import JsonObject, digest
from perdure_conformance.golden.chosen import SCENARIOS
from perdure_conformance.golden.tours import VERSIONS, all_tours
from perdure_conformance.reducer.contract import Entry, Shown
from perdure_conformance.reducer.histories import create, document, fact, outcome, owner, written_history
from perdure_conformance.reducer.kept import kept
from perdure_conformance.reducer.playing import Run
from perdure_conformance.reducer.questions import Query, Truth, truth_about
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.scenarios import Scenario, all_scenarios
from perdure_conformance.reducer.shown import written_shown
from perdure_conformance.vectors.vector import Vector

_KERNEL: Final = ReferenceKernel(Path(), "vectors")


def all_of_kernels() -> Iterator[Vector]:
    """Yield all of them."""
    for tour in all_tours():
        yield _of_history(tour.name, tour.requirements, tour.history.entries)
    for scenario in all_scenarios():
        if scenario.name in SCENARIOS.get(scenario.requirement, ()):
            yield from _of_scenario(scenario)
    yield from _of_commands()
    yield from _of_versions()


def _of_commands() -> Iterator[Vector]:
    """Yield what no scenario asks in few words."""
    with_input = create(document("A"), input={"goal": "tea"})
    yield _of_command("an input that no document declares", ("RUN-003", "RUN-029"), Query((), with_input))
    run = Run("AB")
    run.start("A")
    past = run.past.entries
    cancel = fact("RequestCancellation", requester="somebody", reason="enough")
    yield _of_command("a run is cancelled", ("RUN-006", "CAN-001", "CAN-002"), Query(past, cancel))
    acquire = fact("AcquireRecovery", owner=owner(1), epoch=1)
    yield _of_command("a run is taken over", ("RUN-006", "RUN-028"), Query(past, acquire))


def _of_versions() -> Iterator[Vector]:
    """Yield a command after each version, and what a journal keeps of a run of each version, and of all of them."""
    mixed = Run("ABCDE", version=1)
    for version, name in zip(VERSIONS, "ABCDE", strict=True):
        run = Run("AB", version=version)
        run.start("A")
        ends = fact("CompleteAttempt", node="A", attempt_id=run.of("A").attempt_id, outcome=outcome("succeeded"))
        yield _of_command(f"a command after version {version}", ("VER-006",), Query(run.past.entries, ends))
        run.end("A", output={"of": version})
        mixed.goes_on(version)
        mixed.run(name, output={"of": version})
        yield from _restored_with_and_without(f"a run of version {version}", run)
        if version > 1:
            yield from _restored_with_and_without(f"a run of every version up to {version}", mixed)
    unknown = kept(run.past).but(3, event={**run.past.entries[2].event, "type": "NodePaused"})
    yield _of_what_is_shown("a record of a type that nobody knows", ("JRN-050",), unknown.shown)
    begun = kept(run.past)
    yield _of_what_is_shown(
        "a record with false in the place of 0", ("JRN-043",), begun.but(1, batch_index=False).shown
    )


def _restored_with_and_without(name: str, run: Run) -> Iterator[Vector]:
    """Yield what is kept of a run, and the same with the snapshot before what its last command brought."""
    shown = kept(run.past)
    before = max(at for at in range(1, len(shown)) if shown.record(at + 1)["batch_index"] == 0)
    yield _of_what_is_shown(f"{name} is restored", ("JRN-050",), shown.shown)
    yield _of_what_is_shown(f"{name} is restored with a snapshot", ("SNP-010",), shown.taken(before).shown)


def _of_scenario(scenario: Scenario) -> Iterator[Vector]:
    seen: dict[str, int] = {}
    for side in scenario.sides:
        name = f"{scenario.requirement} {scenario.name}: {_answer(side.question, side.truth)}"
        seen[name] = seen.get(name, 0) + 1
        numbered = f"{name} {seen[name]}" if seen[name] > 1 else name
        if side.question.shown is not None:
            yield _of_what_is_shown(numbered, (scenario.requirement,), side.question.shown)
        elif side.question.command is None:
            yield _of_history(numbered, (scenario.requirement,), side.question.history)
        else:
            yield _of_command(numbered, (scenario.requirement,), side.question)


def _answer(question: Query, truth: Truth) -> str:
    """Return what the model says, in a word or two."""
    if question.shown is not None:
        return "refused" if truth.state is None else "restored"
    if truth.error is not None:
        return "refused"
    if truth.decided is None:
        return "accepted" if truth.owed is None else "unfinished"
    return "rejected" if isinstance(truth.decided, Rejection) else "allowed"


def _of_history(name: str, requirements: tuple[str, ...], history: Sequence[Entry]) -> Vector:
    return Vector("reduce", name, requirements, {".jsonl": written_history(history)}, reduced(history))


def reduced(history: Sequence[Entry]) -> JsonObject:
    """Return what the model makes of a history."""
    found = _KERNEL.reduce(history)
    if not found.accepted:
        return {"accepted": False, "kind": found.kind, "code": found.code, "sequence": found.sequence}
    state = truth_about(Query(tuple(history))).state
    if not found.whole or state is None:
        return {"accepted": True, "whole": False}
    return {"accepted": True, "whole": True, "state_digest": state_digest(state), "output": found.output}


def _of_command(name: str, requirements: tuple[str, ...], question: Query) -> Vector:
    content = written_history(question.history, question.command)
    return Vector("decide", name, requirements, {".jsonl": content}, decided(question))


def decided(question: Query) -> JsonObject:
    """Return what the model decides."""
    found = truth_about(question).decided
    assert found is not None
    if not isinstance(found, Rejection):
        return {"allowed": True, "version": RUNTIME_VERSION, "events": [document_of(event) for event in found]}
    disposition = {} if found.disposition is None else {"disposition": found.disposition}
    return {"allowed": False, "codes": [found.code, *question.codes], **disposition}


def _of_what_is_shown(name: str, requirements: tuple[str, ...], shown: Shown) -> Vector:
    return Vector("restore", name, requirements, {".json": written_shown(shown)}, restored(shown))


def restored(shown: Shown) -> JsonObject:
    """Return what the model's client makes of what a journal shows."""
    found = _KERNEL.restore(shown)
    if not found.restored:
        return {"restored": False, "kind": found.kind, "code": found.code, "sequence": found.sequence}
    return {"restored": True, "state_digest": digest(found.state)}
