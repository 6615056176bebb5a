"""Faults of what is in events: RUN-004 and RUN-005."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from perdure.kernel.errors import corrupt
from perdure.kernel.events import AnyEvent, NodeStarted
from perdure.kernel.state import State
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import mutant

_IDS: Final = ("run_id", "attempt_id", "child_run_id", "signal_id", "owner")
_SOME_ID: Final = "11111111-1111-4111-8111-111111111111"


class _ReadsIdsOtherwise(ReferenceKernel):
    """It takes an id for another one."""

    def meant(self, text: Any) -> Any:
        """Return the id that it takes one for."""
        raise NotImplementedError

    def read(self, entry: Entry) -> AnyEvent:
        changed = {name: self.meant(value) if name in _IDS else value for name, value in entry.event.items()}
        return super().read(Entry(entry.version, changed))


@mutant("RUN-004")
class TakesCapitals(_ReadsIdsOtherwise):
    """Reads ids as its library does: in capitals too."""

    def meant(self, text: Any) -> Any:
        return text.lower() if isinstance(text, str) else text


@mutant("RUN-004")
class TakesWhatParses(_ReadsIdsOtherwise):
    """Reads ids as its library does: in braces, after `urn:uuid:`, without hyphens."""

    def meant(self, text: Any) -> Any:
        if not isinstance(text, str):
            return text
        digits = text.removeprefix("urn:uuid:").strip("{}").replace("-", "")
        if len(digits) != 32 or text.isupper() or digits != digits.strip():
            return text
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


@mutant("RUN-004", report="dbos-inc/dbos-transact-py#759")
class MakesUpIds(_ReadsIdsOtherwise):
    """Takes an empty id for none, and makes one up."""

    def meant(self, text: Any) -> Any:
        return text or _SOME_ID


@mutant("RUN-004")
class StripsIds(_ReadsIdsOtherwise):
    """Takes white space around an id for nothing."""

    def meant(self, text: Any) -> Any:
        return text.strip() if isinstance(text, str) else text


@mutant("RUN-004", overlaps=("RUN-013",))
class WantsIdsToGoUp(ReferenceKernel):
    """Takes an attempt id that is lower than one before for an old one."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is not None and isinstance(event, NodeStarted):
            highest = max(state.attempts, default="")
            if event.attempt_id < highest:
                corrupt("attempt_id_used", f"{highest} came before")
        return super().step(state, event, version)


@mutant("RUN-004")
class WantsIdsOfVersion7(ReferenceKernel):
    """Takes no attempt id that is not of the version that it makes itself."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if isinstance(event, NodeStarted) and event.attempt_id[14] != "7":
            corrupt("wrong_structure", f"{event.attempt_id} is not of version 7")
        return super().step(state, event, version)


# Limits


def _at(event: Mapping[str, Any], name: str) -> Any:
    """Return what an event, or the outcome in it, has under a name."""
    within = event.get("outcome")
    return event.get(name, within.get(name) if isinstance(within, Mapping) else None)


@mutant("RUN-005")
class CountsCharacters(ReferenceKernel):
    """Measures a reason in characters."""

    def read(self, entry: Entry) -> AnyEvent:
        outcome = entry.event.get("outcome")
        reason = outcome.get("reason") if isinstance(outcome, Mapping) else None
        if not isinstance(outcome, Mapping) or not isinstance(reason, str):
            return super().read(entry)
        counted = {**outcome, "reason": "x" * len(reason)}
        return super().read(Entry(entry.version, {**entry.event, "outcome": counted}))


@mutant("RUN-005")
class CountsEscapes(ReferenceKernel):
    """Measures an output as its library writes it, with all that is not ASCII escaped."""

    def read(self, entry: Entry) -> AnyEvent:
        output = _at(entry.event, "output")
        if isinstance(output, str) and len(output.encode("ascii", "backslashreplace")) > 65_534:
            corrupt("over_limit", "the output is too large")
        return super().read(entry)


@mutant("RUN-005")
class StopsShortOfTheLimit(ReferenceKernel):
    """Takes a limit for the first size that is too large."""

    def read(self, entry: Entry) -> AnyEvent:
        reason = _at(entry.event, "reason")
        if isinstance(reason, str) and len(reason.encode()) == 4_096:
            corrupt("over_limit", "the reason is too long")
        return super().read(entry)


@mutant("RUN-005")
class TakesMuchEvidence(ReferenceKernel):
    """Does not count the evidence of an outcome."""

    def read(self, entry: Entry) -> AnyEvent:
        outcome = entry.event.get("outcome")
        if not isinstance(outcome, Mapping) or not isinstance(outcome.get("evidence"), list):
            return super().read(entry)
        evidence: Any = outcome["evidence"]
        kept = {**outcome, "evidence": evidence[:32]}
        return super().read(Entry(entry.version, {**entry.event, "outcome": kept}))


class _NeverMeasures(ReferenceKernel):
    """It does not measure a member of some events."""

    kinds: tuple[str, ...]
    member: str

    def read(self, entry: Entry) -> AnyEvent:
        value = entry.event.get(self.member)
        if entry.event.get("type") not in self.kinds or not isinstance(value, str | Mapping):
            return super().read(entry)
        return super().read(Entry(entry.version, {**entry.event, self.member: _shortened(value)}))


def _shortened(value: Any) -> Any:
    """Return a value with short texts in it."""
    if isinstance(value, Mapping):
        return {name: _shortened(part) for name, part in value.items()}
    return value[:100] if isinstance(value, str) else value


@mutant("RUN-005")
class TakesAnyPayload(_NeverMeasures):
    """Takes whatever a signal carries, since somebody else sent it."""

    kinds, member = ("SignalAccepted",), "payload"


@mutant("RUN-005")
class MeasuresTheNewestAlone(_NeverMeasures):
    """Measures reasons of the newest version, and not those of the first."""

    kinds, member = ("NodeFailed", "NodeBlocked"), "reason"


@mutant("RUN-005", overlaps=("CHD-014",))
class TakesAnyOutputOfAChild(_NeverMeasures):
    """Takes whatever a child run gives, and measures what its node takes of it."""

    kinds, member = ("ChildCompleted",), "output"


@mutant("RUN-005")
class TakesAnyInput(_NeverMeasures):
    """Does not measure the input of a run."""

    kinds, member = ("RunCreated",), "input"
