"""A crash that was found, as a case: what was asked, what was left, and the line that does all of it again.

A case is judged again from what was left, without recording anything (`replay`); its line records anew.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

import msgspec

from perdure.journal.contract import Capabilities, DurabilityLevel
from perdure.kernel.values import JsonObject
from perdure_conformance.crash import bundle
from perdure_conformance.crash.campaign import Found, Layer, Outcome
from perdure_conformance.crash.judge import (
    AFTER_AN_ERROR,
    Broken,
    Exchange,
    Expectation,
    Rule,
    broken,
    expected,
    requirement_of,
)
from perdure_conformance.crash.recording import REBUILDABLE
from perdure_conformance.crash.recovery import lay_out, recoverer, scratch
from perdure_conformance.harness.connection import AdapterFault, Silence
from perdure_conformance.harness.targets import Target
from perdure_conformance.journal.client import NotSupported, answer_of
from perdure_conformance.suite import Case, Replay
from perdure_conformance.timeline import Moment, Timeline

_MAX_STATE_BYTES: Final = 8 * 2**20
_MAX_REQUESTS: Final = 10_000


class Asked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One request before the crash."""

    method: str
    params: dict[str, Any]
    answer: dict[str, Any] | None
    """What came, as the protocol says it, or `{"not_supported": METHOD}`; null if the crash came first."""


class CrashCase(Case, frozen=True, kw_only=True, tag="crash"):
    """All that is needed to judge again what comes back after one crash."""

    layer: Layer
    level: DurabilityLevel
    """The lowest level that allows this crash."""
    rule: Rule
    blame: str
    """Which call is to blame."""
    line: str
    """What `perdure crash --replay` plays again."""
    rebuildable: tuple[str, ...]
    """Names of files that the journal makes anew whenever it likes, as patterns."""
    claims: Capabilities
    asked: tuple[Asked, ...]
    state: bytes
    """The state directory as the crash has left it: a tar, compressed by gzip."""
    holds: DurabilityLevel | None
    """The highest level at which nothing was found; null if there is none."""
    recovered: Any = None
    """What came back, for people; null if that is not known."""

    @property
    def size(self) -> int:
        """How much was asked."""
        return len(self.asked)

    @property
    def is_plausible(self) -> bool:
        """Whether it holds a state, and asks for no more than what is recorded."""
        if len(self.asked) > _MAX_REQUESTS or len(self.state) > _MAX_STATE_BYTES:
            return False
        try:
            self.expectation()
            bundle.unpacked(self.state)
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
        return True

    def expectation(self) -> Expectation:
        """Return what may be there."""
        return expected([_exchange(each) for each in self.asked], self.claims)

    def in_words(self, answers: tuple[str, ...], *, whole: bool) -> list[str]:
        """Return what crashed and who is to blame; `whole` tells what was asked and left, too."""
        del answers
        holds = f"; nothing was found at {self.holds}" if self.holds else ""
        lines = [f"level     {self.level}{holds}", f"blame     {self.blame}"]
        if whole:
            lines += [f"{'asked' if not number else '':8}  {each}" for number, each in enumerate(_told(self.asked))]
            left = list(bundle.listed(bundle.unpacked(self.state))) or ["nothing"]
            lines += [f"{'left' if not number else '':8}  {each}" for number, each in enumerate(left)]
        more = "".join(f" --rebuildable {shlex.quote(each)}" for each in self.rebuildable if each not in REBUILDABLE)
        return [*lines, f"replay    perdure crash {words_of(self.target)}{more} --replay {shlex.quote(self.line)}"]

    def timeline(self, answers: tuple[str, ...]) -> Timeline:
        """Return what was asked, the crash, and the recovery."""
        del answers
        asked = [Moment(0, _in_words(each), _answer_in_words(each)) for each in self.asked if each.method != "shutdown"]
        crash = Moment(None, self.blame, mark="kill")
        return Timeline(("journal",), (*asked, crash, Moment(0, "recovery", f"{self.actual}", fails=True)))


def words_of(target: dict[str, str | list[str]]) -> str:
    """Return what names a target on the command line."""
    command = target.get("command")
    return f"--command {shlex.quote(shlex.join(command))}" if isinstance(command, list) else f"{target.get('name')}"


def _told(asked: tuple[Asked, ...]) -> Iterator[str]:
    for number, each in enumerate(asked):
        answer = _answer_in_words(each)
        yield f"{number}. {_in_words(each)}" + (f" → {answer}" if answer else " → the crash came first")


def _in_words(asked: Asked) -> str:
    records = asked.params.get("records")
    if not isinstance(records, list):
        return asked.method
    first, last = asked.params.get("expected_next", 0), asked.params.get("expected_next", 0) + len(records) - 1
    return f"{asked.method} record {first}" if first == last else f"{asked.method} records {first} to {last}"


def _answer_in_words(asked: Asked) -> str:
    if asked.answer is None:
        return ""
    word = asked.answer.get("refused") or next(iter(asked.answer), "done")
    return f"{word}".replace("_", " ")


def case_of(requirement: str, found: Found, target: Target, outcome: Outcome) -> CrashCase:
    """Return a finding as the case of a requirement that it breaks."""
    assert outcome.description is not None, "what did not open was not crashed"
    claims = outcome.description.capabilities
    return CrashCase(
        target=target.words(),
        in_own_process=target.is_process,
        timeout_s=outcome.plan.timeout_s,
        seed=outcome.plan.seed,
        failure=requirement,
        expected=_due(expected(found.exchanges, claims)),
        actual=f"{found.sentence}",
        layer=found.layer,
        level=found.level,
        rule=found.rule,
        blame=found.blame,
        line=found.replay,
        rebuildable=outcome.plan.rebuildable,
        claims=msgspec.convert(msgspec.structs.asdict(claims), Capabilities),
        asked=tuple(map(_asked, found.exchanges)),
        state=bundle.packed(found.image),
        holds=outcome.highest_level,
        recovered=None if found.recovered is None else msgspec.to_builtins(asdict(found.recovered)),
    )


def _due(expectation: Expectation) -> str:
    """Return what must be there, and what may, in words."""
    told = []
    for run_id, run in expectation.runs.items():
        due, most = len(run.due), max(map(len, run.allowed))
        may_be = f", and at most {most - due} more, of one batch" if most > due else ""
        told.append(f"run {run_id} with {due or 'no'} record{'' if due == 1 else 's'}{may_be}")
    return "; ".join(told) or "an empty journal"


def _asked(exchange: Exchange) -> Asked:
    answer = None if exchange.answer is None else msgspec.to_builtins(exchange.answer)
    return Asked(method=exchange.method, params=dict(exchange.params), answer=answer)


def _exchange(asked: Asked) -> Exchange:
    params: JsonObject = asked.params
    if asked.answer is None:
        return Exchange(asked.method, params, None)
    if "not_supported" in asked.answer or asked.method == "initialize":
        return Exchange(asked.method, params, NotSupported(asked.method))
    return Exchange(asked.method, params, answer_of(asked.method, asked.answer))


def replay(case: CrashCase, target: Target) -> Replay:
    """Put the state before the journal once more, and judge what comes back."""
    expectation = case.expectation()
    try:
        with scratch() as folder, recoverer(target, case.timeout_s) as opened:
            state = folder / "state"
            lay_out(bundle.unpacked(case.state), state)
            wrong = broken(expectation, opened.recovered(state, expectation))
    except AdapterFault as fault:
        return _replayed(f"fault:{fault.kind}", None, fault.sentence, fault.stderr)
    except Silence as silence:
        return _replayed("fault:silence", None, f"{silence}.", "")
    if wrong is None:
        return _replayed(None, None, None, "")
    return _replayed(_failure(case, wrong), _due(expectation), wrong.sentence, "")


def _failure(case: CrashCase, wrong: Broken) -> str:
    is_same = wrong.rule == case.rule or case.failure == AFTER_AN_ERROR
    return case.failure if is_same else requirement_of(case.level, wrong.rule)


def _replayed(failure: str | None, expectation: str | None, actual: str | None, stderr: str) -> Replay:
    return Replay(failure, expectation, actual, (), finished=True, transcript="", stderr=stderr)


def shrink(case: CrashCase, target: Target, *, attempts: int) -> CrashCase:
    """Return the case: it was made smaller where it was found."""
    del target, attempts
    return case
