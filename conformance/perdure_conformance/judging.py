"""One procedure for every judgement: open, ask what was thought of, then what is drawn; keep what fails.

A profile says how it asks and how a case of its own is played. What fails is played again on fresh state, made
smaller, and kept once.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Generic, TypedDict, TypeVar

from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.rules import Rules
from perdure_conformance.suite import (
    AnyCase,
    AnyClaims,
    Description,
    Finding,
    Judgement,
    Options,
    Progress,
    Replay,
    Violation,
)

Item = TypeVar("Item")


class Circumstances(TypedDict):
    """What a case says beside what was done."""

    target: dict[str, str | list[str]]
    timeout_s: float
    seed: int
    off: tuple[str, ...]
    failure: str
    expected: object
    actual: object


def failure_of(stop: Violation | AdapterFault) -> str:
    """Return the word for a failure: the requirement, or the kind of fault."""
    return stop.requirement if isinstance(stop, Violation) else f"fault:{stop.kind}"


def replayed(
    stop: Violation | AdapterFault | None,
    answers: Sequence[str],
    *,
    all_done: bool,
    transcript: str,
    stderr: Callable[[], str],
) -> Replay:
    """Return what came of playing a case: what stopped it, if anything, and whether all of it was done else."""
    expected, actual = _difference(stop) if stop is not None else (None, None)
    return Replay(
        failure=None if stop is None else failure_of(stop),
        expected=expected,
        actual=actual,
        answers=tuple(answers),
        finished=stop is not None or all_done,
        transcript=transcript,
        stderr=stop.stderr if isinstance(stop, AdapterFault) and stop.stderr else stderr(),
    )


class Court(ABC, Generic[AnyCase, AnyClaims]):
    """One judgement under way."""

    def __init__(
        self, target: Target, options: Options, progress: Progress, rules: Rules[AnyClaims], pages: Collection[str]
    ) -> None:
        self.judgement = Judgement()
        self.target = target
        self.options = options
        self.progress = progress
        self._rules = rules
        self._pages = pages
        self._started = time.monotonic()
        self._description: Description[AnyClaims] | None = None

    @property
    def claims(self) -> AnyClaims:
        """What the implementation claims."""
        assert self._description is not None  # It was opened first.
        return self._description.capabilities

    # What a profile does in its own way

    @abstractmethod
    def describe(self) -> Description[AnyClaims]:
        """Open the implementation, and learn who it is and what it claims."""

    @abstractmethod
    def ask_written(self) -> None:
        """Ask what somebody thought of."""

    @abstractmethod
    def ask_drawn(self) -> None:
        """Ask what is drawn."""

    @abstractmethod
    def close(self) -> None:
        """End the implementation in good order, if that is judged."""

    @abstractmethod
    def remove(self) -> None:
        """Leave nothing behind, and add up."""

    @abstractmethod
    def bare_case(self, stop: AdapterFault) -> AnyCase:
        """Return the case in which nothing is done but to open and to close."""

    @abstractmethod
    def with_history(self, case: AnyCase) -> AnyCase:
        """Return a case with what was done before it, which it may need to fail."""

    @abstractmethod
    def replay(self, case: AnyCase) -> Replay:
        """Play a case on fresh state."""

    @abstractmethod
    def shrink(self, case: AnyCase) -> AnyCase:
        """Make a case smaller."""

    @abstractmethod
    def seen(self, case: AnyCase) -> str:
        """Return what was said up to now where a case failed."""

    # What all do alike

    def judge(self) -> Judgement:
        """Judge. An adapter fault ends it, and is in the judgement."""
        try:
            self.judgement.description = self._description = self.or_keep(self.describe, "initialize")
            if self._claims_any_of_the_selected():
                if "written" in self.options.parts:
                    self.ask_written()
                if "drawn" in self.options.parts:
                    self.ask_drawn()
            self.or_keep(self.close, "shutdown")
        except AdapterFault as fault:
            self.judgement.fault = fault
        finally:
            self.remove()
        return self.judgement

    def or_keep(self, do: Callable[[], Item], found_by: str) -> Item:
        """Open or close, and keep the fault of it."""
        try:
            return do()
        except AdapterFault as fault:
            self.keep(fault, self.bare_case(fault), found_by)
            raise

    def each(self, label: str, items: Sequence[Item]) -> Iterator[Item]:
        """Yield all items, or those up to a first failure, and tell how far it is; note how long it took."""
        began = time.monotonic()
        for done, item in enumerate(items):
            if self.options.first_alone and self.judgement.findings:
                break
            self.progress(label, done, len(items))
            yield item
        self.progress(label, len(items), len(items))
        self._note_time(label, began)

    def rounds(self, label: str, most: int, draw: Callable[[int], None]) -> None:
        """Draw round after round, with a seed for each and without what is known, until one finds nothing new."""
        began = time.monotonic()
        for number in range(most):
            known = len(self.judgement.findings)
            draw(self.options.seed + number)
            if len(self.judgement.findings) == known:
                break
        self._note_time(label, began)

    def circumstances(self, stop: Violation | AdapterFault, off: frozenset[str]) -> Circumstances:
        """Return what a case says beside what was done."""
        expected, actual = _difference(stop)
        return Circumstances(
            target=self.target.words(),
            timeout_s=self.options.timeout_s,
            seed=self.options.seed,
            off=tuple(sorted(off)),
            failure=failure_of(stop),
            expected=expected,
            actual=actual,
        )

    def keep(self, stop: Violation | AdapterFault, case: AnyCase, found_by: str) -> None:
        """Confirm a failure on fresh state, make it smaller, and keep it, unless one of its kind is known."""
        if case.failure in self.judgement.findings:
            return
        seconds = time.monotonic() - self._started
        is_silence = case.failure == "fault:silence"  # Each further look would cost a time-out.
        confirmed = None if is_silence else self._confirmed(case)
        again = self.replay(confirmed) if confirmed is not None else None
        self.judgement.findings[case.failure] = Finding(
            case=confirmed.as_played(again) if confirmed is not None and again is not None else case,
            reproduced=None if is_silence else confirmed is not None,
            found_by=found_by,
            answers=again.answers if again else case.unanswered if is_silence else (),
            transcript=again.transcript if again else self.seen(case),
            stderr=again.stderr if again else stop.stderr if isinstance(stop, AdapterFault) else "",
            seconds=seconds,
        )

    def _confirmed(self, case: AnyCase) -> AnyCase | None:
        """Return the smallest case that fails the same way on fresh state, alone or after what was done before."""
        for candidate in self._candidates(case):
            if self.replay(candidate).failure == case.failure:
                return self.shrink(candidate) if self.options.smaller else candidate
        return None

    def _candidates(self, case: AnyCase) -> Iterator[AnyCase]:
        yield case
        yield self.with_history(case)

    def _claims_any_of_the_selected(self) -> bool:
        claimed = self._rules.claimed(self._pages, self.claims, in_process=not self.target.is_process)
        only = self.options.only
        return not only or any(requirement.id in only for requirement in claimed)

    def _note_time(self, label: str, began: float) -> None:
        self.judgement.durations_s[label] = time.monotonic() - began


def _difference(stop: Violation | AdapterFault) -> tuple[object, object]:
    """Return what was expected at the first difference, and what came."""
    return (stop.expected, stop.actual) if isinstance(stop, Violation) else (None, stop.sentence)
