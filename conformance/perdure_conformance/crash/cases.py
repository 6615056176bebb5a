"""A crash that was found, as a case: what was asked, what was left, and the line that does all of it again.

A case is judged again from what was left, without recording anything (`replay`); its line records anew. Of a journal
that keeps its state in a server nothing is left but what the line says: that is done again on fresh folders.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

import msgspec

from perdure.journal.contract import Capabilities, DurabilityLevel
from perdure.kernel.values import JsonObject
from perdure_conformance.crash import bundle, network, scheduling
from perdure_conformance.crash.findings import Found, Layer, WrongRule
from perdure_conformance.crash.judge import (
    AFTER_AN_ERROR,
    LEVELS,
    Broken,
    Exchange,
    Expectation,
    broken,
    expected,
    requirement_of,
)
from perdure_conformance.crash.recording import REBUILDABLE, why_not_disturbed
from perdure_conformance.crash.recovery import LastWords, lay_out, recoverer, scratch
from perdure_conformance.crash.replay import Fault, parse, parse_fault
from perdure_conformance.crash.servers import Behind, ServerFault
from perdure_conformance.crash.windows import CannotBeTried, Windows
from perdure_conformance.harness.connection import AdapterFault, Silence
from perdure_conformance.harness.targets import Target
from perdure_conformance.journal.client import NotSupported, answer_of
from perdure_conformance.suite import Case, Finding, Options, Replay
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
    level: DurabilityLevel | None
    """The lowest level that allows this crash; null where only a connection was disturbed."""
    rule: WrongRule
    blame: str
    """Which call or message is to blame."""
    line: str
    """What `perdure crash --replay` plays again."""
    rebuildable: tuple[str, ...]
    """Names of files that the journal makes anew whenever it likes, as patterns."""
    claims: Capabilities
    asked: tuple[Asked, ...]
    state: bytes | None
    """The state directory as the crash has left it: a tar, compressed by gzip; null of what a server keeps."""
    server: Behind | None = None
    """The server that keeps the state, if one does."""
    holds: DurabilityLevel | None = None
    """The highest level at which nothing was found; null if there is none."""
    then: tuple[str, ...] = ()
    """What must happen to starts on the state for what is wrong to be seen, as a line says it."""
    recovered: Any = None
    """What came back, for people; null if that is not known."""

    @property
    def size(self) -> int:
        """How much was asked."""
        return len(self.asked)

    @property
    def is_plausible(self) -> bool:
        """Whether it holds a state, and asks for no more than what is recorded."""
        if len(self.asked) > _MAX_REQUESTS or len(self.state or b"") > _MAX_STATE_BYTES:
            return False
        try:
            self.expectation()
            self.later()
            if self.server is None:
                bundle.unpacked(self.state or b"")
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
        return self.server is None or (self.layer in network.LAYERS and "{port}" in "".join(self.server.command))

    def expectation(self) -> Expectation:
        """Return what may be there."""
        exchanges, workload = [_exchange(each) for each in self.asked], parse(self.line).workload
        if self.layer == "schedule":
            return scheduling.expected(exchanges, self.claims, scheduling.run_ids(workload))
        return expected(exchanges, self.claims)

    def later(self) -> Sequence[Fault]:
        """Return what must happen to starts on the state."""
        return [parse_fault(each) for each in self.then]

    def in_words(self, answers: tuple[str, ...], *, whole: bool) -> list[str]:
        """Return what crashed and who is to blame; `whole` tells what was asked and left, too."""
        del answers
        is_beneath = self.level and self.holds and LEVELS.index(self.holds) < LEVELS.index(self.level)
        holds = f"; nothing was found at {self.holds}" if is_beneath else ""
        lines = [f"level     {self.level}{holds}"] if self.level is not None else []
        lines.append(f"blame     {self.blame}")
        if whole:
            lines += [f"{'asked' if not number else '':8}  {each}" for number, each in enumerate(self._told())]
        if whole and self.state is not None:
            left = list(bundle.listed(bundle.unpacked(self.state))) or ["nothing"]
            lines += [f"{'left' if not number else '':8}  {each}" for number, each in enumerate(left)]
        return [*lines, f"replay    perdure crash {shlex.join(self._words())} --replay {shlex.quote(self.line)}"]

    def _told(self) -> Iterator[str]:
        """Yield what was asked, with its answers; the first is that whose acknowledgement has the number 1."""
        nothing = "the crash came first" if self.server is None else "no answer came"
        asked = [each for each in self.asked if each.method != "initialize"]
        has_several = len({each.params["run_id"] for each in asked if "run_id" in each.params}) > 1
        for number, each in enumerate(asked, 1):
            run = f" of run {each.params['run_id']}" if has_several and "run_id" in each.params else ""
            yield f"{number}. {_in_words(each)}{run} → {_answer_in_words(each) or nothing}"

    def _words(self) -> list[str]:
        """Return the words of the command that say what was crashed."""
        command = self.target.get("command")
        words = ["--command", shlex.join(command)] if isinstance(command, list) else [str(self.target.get("name"))]
        if self.server is not None:
            words += ["--server", " ".join(map(_split_again, self.server.command))]
            words += [word for each in self.server.connect for word in ("--connect", each)]
        made_anew = [each for each in self.rebuildable if each not in REBUILDABLE]
        return words + [word for each in made_anew for word in ("--rebuildable", each)]

    @property
    def anew(self) -> str:
        """The command that records anew and crashes that; empty if no state was kept: then playing again does so."""
        return "" if self.state is None else f"perdure crash {shlex.join(self._words())}"

    def timeline(self, answers: tuple[str, ...]) -> Timeline:
        """Return what was asked, the crash, and the recovery."""
        del answers
        asked = [Moment(0, _in_words(each), _answer_in_words(each)) for each in self.asked if each.method != "shutdown"]
        crash = Moment(None, self.blame, mark="kill")
        return Timeline(("journal",), (*asked, crash, Moment(0, "recovery", f"{self.actual}", fails=True)))


def _split_again(word: str) -> str:
    """Return what is this word again once `shlex.split` has split it: a brace means nothing to that."""
    bare = re.sub(r"[{}]", "", word)
    return word if bare and shlex.quote(bare) == bare else shlex.quote(word)


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


def finding_of(case: CrashCase, target: Target, found: Found) -> Finding:
    """Return a case as a finding, once it was judged again; what was said comes from that, if it was not kept."""
    again = replay(case, target)
    return Finding(
        case=case,
        reproduced=again.failure == case.failure,
        found_by=f"layer {case.layer}",
        answers=(),
        transcript=found.transcript or again.transcript,
        stderr=found.stderr or again.stderr,
        seconds=0.0,
        state=case.state,
    )


def case_of(  # noqa: PLR0913 - all that a case tells
    found: Found,
    target: Target,
    options: Options,
    claims: Capabilities,
    *,
    requirement: str | None = None,
    rebuildable: tuple[str, ...] = (),
    holds: DurabilityLevel | None = None,
    server: Behind | None = None,
) -> CrashCase:
    """Return a finding as the case of a requirement that it breaks: its own, if none is named."""
    case = CrashCase(
        target=target.words(),
        in_own_process=target.is_process,
        timeout_s=options.timeout_s,
        seed=options.seed,
        failure=requirement or found.requirement,
        actual=f"{found.sentence}",
        layer=found.layer,
        level=found.level,
        rule=found.rule,
        blame=found.blame,
        line=found.replay,
        rebuildable=rebuildable,
        claims=msgspec.convert(msgspec.structs.asdict(claims), Capabilities),
        asked=tuple(map(_asked, found.exchanges)),
        state=None if found.image is None else bundle.packed(found.image),
        server=server,
        holds=holds,
        then=tuple(map(str, found.then)),
        recovered=None if found.recovered is None else msgspec.to_builtins(asdict(found.recovered)),
    )
    return msgspec.structs.replace(case, expected=_due(case.expectation()))


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
    """Put the state before the journal once more, or do again what was done to its server; judge what comes of it."""
    try:
        return _again(case, target) if case.server is None else _behind(case, case.server, target)
    except ServerFault as fault:
        return _replayed("fault:cannot_start", None, f"{fault}", "")
    except AdapterFault as fault:
        return _replayed(f"fault:{fault.kind}", None, fault.sentence, fault.stderr)
    except Silence as silence:
        return _replayed("fault:silence", None, f"{silence}.", "")


def _again(case: CrashCase, target: Target) -> Replay:
    expectation = case.expectation()
    image, later = bundle.unpacked(case.state or b""), case.later()
    if later and (reason := why_not_disturbed()) is not None:
        return _untold(reason)
    with scratch() as folder, recoverer(target, case.timeout_s) as opened:
        if later:
            workload = parse(case.line).workload
            windows = Windows(target, workload, opened, folder, case.timeout_s, rebuildable=case.rebuildable)
            try:
                judged = windows.judge_again(image, expectation, later)
            except CannotBeTried as error:
                return _untold(f"{error}")
            wrong, said = judged.broken, LastWords(judged.stderr)
        else:
            lay_out(image, folder / "state")
            wrong = broken(expectation, opened.recovered(folder / "state", expectation))
            said = opened.last_words()
    if wrong is None:
        return _replayed(None, None, None, "")
    return _replayed(_failure(case, wrong), _due(expectation), wrong.sentence, said.stderr, said.transcript)


def _behind(case: CrashCase, server: Behind, target: Target) -> Replay:
    outcome = network.replayed(network.subject_of(target, server, case.timeout_s), parse(case.line))
    if outcome.finding is None:
        return _replayed(None, None, None, "") if outcome.inconclusive is None else _untold(outcome.inconclusive)
    expectation = expected(outcome.finding.exchanges, case.claims)
    found = outcome.finding
    return _replayed(found.requirement, _due(expectation), found.sentence, found.stderr, found.transcript)


def _failure(case: CrashCase, wrong: Broken) -> str:
    if wrong.rule == case.rule or case.failure == AFTER_AN_ERROR:
        return case.failure
    if case.layer == "schedule":
        return scheduling.REQUIREMENTS[wrong.rule]
    return requirement_of(case.level or "process-crash", wrong.rule)


def _untold(why: str) -> Replay:
    """Return that nothing can be said."""
    return Replay(None, None, f"{why}", (), finished=False, transcript="", stderr="")


def _replayed(
    failure: str | None, expectation: str | None, actual: str | None, stderr: str, transcript: str = ""
) -> Replay:
    return Replay(failure, expectation, actual, (), finished=True, transcript=transcript, stderr=stderr)


def shrink(case: CrashCase, target: Target, *, attempts: int) -> CrashCase:
    """Return the case: it was made smaller where it was found."""
    del target, attempts
    return case
