"""Faults of runs: RUN-001 to RUN-031."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import msgspec

from perdure.kernel.commands import AnyCommand, Rejection
from perdure.kernel.decide import Events
from perdure.kernel.rules import RULES
from perdure.kernel.state import State
from perdure.kernel.values import JsonObject
from perdure_conformance.reducer.contract import Entry, Reduced
from perdure_conformance.reducer.mutants.faults import Forgives, with_moves
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import mutant


@mutant("RUN-001")
class IsCreatedTwice(Forgives):
    """Takes a second RunCreated for a repetition of the first."""

    forgiven: ClassVar = frozenset({"run_conflict"})


@mutant("RUN-008")
class CallsEveryHistoryWhole(ReferenceKernel):
    """Does not look whether something is owed where a history ends."""

    def told(self, answer: Reduced, history: Sequence[Entry]) -> Reduced:
        del history
        return msgspec.structs.replace(answer, whole=True) if answer.accepted else answer


@mutant("RUN-012")
class StartsWhatIsNotReady(Forgives):
    """Starts a node whatever its status is."""

    forgiven: ClassVar = frozenset({"not_ready"})
    rules = with_moves(("pending", "running"), ("succeeded", "running"))


@mutant("RUN-013")
class UsesAttemptIdsAgain(Forgives):
    """Does not look whether an attempt id was used before."""

    forgiven: ClassVar = frozenset({"attempt_id_used"})


@mutant("RUN-016")
class SkipsAttempts(Forgives):
    """Lets an attempt end as skipped."""

    forgiven: ClassVar = frozenset({"invalid_outcome"})
    rules = with_moves(("running", "skipped"))


@mutant("RUN-024")
class BlockedBeatsFailed(ReferenceKernel):
    """Says that a run is blocked, although a node of it failed."""

    rules = replace(RULES, result_precedence=(("blocked", "blocked"), ("failed", "failed"), ("cancelled", "cancelled")))


@mutant("RUN-027")
class HasNoOutput(ReferenceKernel):
    """Never derives an output of the run."""

    def output(self, state: State) -> JsonObject:
        del state
        return {}


@mutant("RUN-029")
class HasItsOwnCodes(ReferenceKernel):
    """Names its rejections in its own words."""

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        found = super().choose(state, command)
        if isinstance(found, Rejection) and found.code == "not_ready":
            return msgspec.structs.replace(found, code="NodeIsNotReady")
        return found


@mutant("RUN-031")
class CallsEverythingCorrupt(ReferenceKernel):
    """Has one word for all that it refuses."""

    def told(self, answer: Reduced, history: Sequence[Entry]) -> Reduced:
        del history
        return answer if answer.accepted else msgspec.structs.replace(answer, kind="corrupt")
