"""A few of the written scripts of the journal profile, within seconds: what works, and the first thing to mend.

It has no rule of its own: the scripts, the clauses and the schemas of `perdure check journal` say what is wrong.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from perdure.journal.contract import Capabilities, Description
from perdure.kernel.values import JsonObject, JsonValue, read_json
from perdure_conformance.adapters.model import ModelDispatcher
from perdure_conformance.harness import messages
from perdure_conformance.harness.connection import FAULTS, AdapterFault, Connection, Silence
from perdure_conformance.harness.serve import outcome
from perdure_conformance.harness.targets import Target
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.journal.claims import is_claimed, made, woken_by
from perdure_conformance.journal.operations import Identities
from perdure_conformance.journal.play import Play, PlayEnded, Site, Tally
from perdure_conformance.journal.rules import RULES, Rules
from perdure_conformance.journal.scripts import SCRIPTS, SNAPSHOT_AND_LEASE_SCRIPTS, Script
from perdure_conformance.requirements import requirements
from perdure_conformance.suite import Inconclusive, Violation

SECONDS: Final = 5.0
"""What all of it may take, unless something else is said."""

_SHARE_OF_ONE_ANSWER: Final = 0.4
_OPENING: Final = "initialize"
_SEED: Final = 1
_UNCLAIMED: Final = "JRN-022"
"""What is broken where something that is not claimed is not answered as unsupported."""

_NAMES: Final = (
    "append and load",
    "odd text in one batch",
    "two runs side by side",
    "the same event in two runs",
    "a position that is past",
    "1 is not anywhere",
    "a refused append leaves nothing",
    "an empty batch",
    "sequences that are not dense",
    "malformed event ids",
    "an event id twice in a batch",
    "an exact replay after the run has grown",
    "the same id at the right position",
    "a known id and out of place",
    "pages across batches",
    "snapshots, claimed or not",
    "snapshots of two runs",
    "leases, claimed or not",
    "held up to its last instant",
    "renewed after expiry",
    "the former owner does not renew",
    "a former epoch is fenced off",
    "stale comes before replay and conflict",
    "reopen and go on",
    "replays and conflicts after a reopen",
    "a renewal over a reopen",
    "epochs over kill -9",
    "kill -9 and go on",
)

STEPS: Final[tuple[Script, ...]] = tuple(
    next(script for script in (*SCRIPTS, *SNAPSHOT_AND_LEASE_SCRIPTS) if script.name == name) for name in _NAMES
)
"""The most usual mistakes, the most basic first."""

Outcome = Literal["ok", "not_claimed", "not_tried", "wrong", "unknown"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step that was taken."""

    name: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Fix:
    """The first thing to mend."""

    failure: str
    """The requirement that is broken, `fault:KIND`, or, if nothing is known to be wrong, `slow` or `unclear`."""
    sentence: str
    advice: str
    """What helps, or is asked for; empty if the sentence says it."""
    sent: str | None
    received: str | None
    """None if nothing came."""
    right: str | None
    """How a right answer looks."""
    stderr: str


@dataclass(frozen=True, slots=True)
class Smoked:
    """What came of it."""

    description: Description | None
    steps: tuple[Step, ...]
    fix: Fix | None
    untried: tuple[str, ...] = ()
    """What is claimed and was not tried, if nothing is to be mended: `perdure check` tries it."""
    unjudged: tuple[str, ...] = ()
    """What is claimed, and `perdure check` does not try either."""


def smoke(
    target: Target,
    seconds: float = SECONDS,
    *,
    clock: Callable[[], float] = time.monotonic,
    rules: Rules = RULES,
) -> Smoked:
    """Take one step after another, up to the first that goes wrong."""
    transcript = _Conversation()
    answer_s = seconds * _SHARE_OF_ONE_ANSWER
    hasty = _Hasty(target, lambda: clock() - began > seconds - answer_s)
    began = clock()
    site = Site(hasty, answer_s, transcript)
    taken: list[Step] = []
    reached: Counter[str] = Counter()
    description: Description | None = None
    fix: Fix | None = None
    try:
        description = _as_it_says(site.describe())
        taken.append(Step(_OPENING, "ok"))
        for number, script in enumerate(STEPS):
            taken.append(Step(script.name, "wrong"))
            taken[-1] = Step(script.name, _take(script, number, site, rules, reached))
    except (AdapterFault, Violation, Inconclusive, _OutOfTime) as stop:
        name = _OPENING if description is None else taken.pop().name
        taken.append(Step(name, "unknown" if isinstance(stop, Inconclusive | _OutOfTime) else "wrong"))
        fix = _fix(stop, transcript, description, seconds)
    finally:
        site.remove()
    if description is None or fix is not None:
        return Smoked(description, tuple(taken), fix)
    return Smoked(
        description, tuple(taken), None, *_left_out(description.capabilities, reached, in_process=not target.is_process)
    )


def _as_it_says(description: Description) -> Description:
    """Return a description without what was made of it."""
    said = {name: getattr(description.capabilities, name) for name in Capabilities.__struct_fields__}
    return msgspec.structs.replace(description, capabilities=Capabilities(**said))


def _left_out(
    claims: Capabilities, reached: Counter[str], *, in_process: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what is claimed and was not tried, and of what is claimed what is not judged either."""
    untried, unjudged = [], []
    for name, told in made(claims).items():
        judged = [each for each in woken_by(name) if is_claimed(requirements()[each], claims, in_process=in_process)]
        if not judged:
            unjudged.append(told)
        elif not any(reached[each] for each in judged):
            untried.append(told)
    return tuple(untried), tuple(unjudged)


def _take(script: Script, number: int, site: Site, rules: Rules, reached: Counter[str]) -> Outcome:
    """Play one script, and add up what it reaches. Raises what ends the whole."""
    tally = Tally()
    try:
        play = Play(site, Identities(_SEED, number), tally, rules)
        if script.alone and not play.can_crash:
            return "not_claimed" if play.claims.durable is None else "not_tried"
        for operation in script.operations:
            play.do(operation)
    except PlayEnded:
        return "unknown"
    reached.update(tally.reached)
    return "ok" if any(tally.reached[requirement] for requirement in script.reaches) else "not_claimed"


def _fix(stop: Exception, transcript: _Conversation, description: Description | None, seconds: float) -> Fix:
    sent = None if transcript.last_sent is None else _text(transcript.last_sent)
    received = None if transcript.last_received is None else _text(transcript.last_received)
    right = _right(transcript.requests, description)
    match stop:
        case Violation(requirement=requirement, expected=expected, actual=actual):
            is_whole = isinstance(expected, dict) and "records" not in expected
            due = _reply(transcript.requests[-1], {"result": expected}) if is_whole else right
            advice = _unsupported(transcript) if requirement != _UNCLAIMED else _told(actual)
            return Fix(requirement, requirements()[requirement].sentence, advice, sent, received, due, "")
        case AdapterFault(kind=kind, sentence=sentence, stderr=stderr):
            advice = "" if FAULTS[kind] in sentence else FAULTS[kind]
            return Fix(f"fault:{kind}", sentence, advice, sent, received, right, stderr)
        case _OutOfTime():
            sentence = f"{seconds:g} seconds were not enough. Nothing was wrong so far; --within gives more."
            return Fix("slow", sentence, "", sent, received, None, "")
        case _:
            return Fix("unclear", f"{stop}.", "", sent, received, None, "")


def _told(actual: JsonValue) -> str:
    """Return what came in place of an answer, if it is told in words."""
    return actual if isinstance(actual, str) else ""


def _unsupported(transcript: _Conversation) -> str:
    """Return what helps where something that is claimed was answered as not supported; nothing elsewhere."""
    reply = f'"code":{messages.METHOD_NOT_FOUND}'.encode()
    if transcript.last_received is None or reply not in transcript.last_received.replace(b" ", b""):
        return ""
    method = transcript.requests[-1]["method"]
    return f"{method} goes with what is claimed, and was answered as not supported. Answer it, or claim less."


def _right(requests: Sequence[JsonObject], description: Description | None) -> str | None:
    """Return what the model answers to the last request, after all that came before; None if nothing was asked."""
    model = ModelDispatcher(description.capabilities) if description is not None else ModelDispatcher()
    replies = [_reply(request, outcome(model, request)) for request in requests]
    return replies[-1] if replies else None


def _reply(request: JsonObject, said: JsonObject) -> str:
    """Return what answers a request as a line; a request to a Python object has no id."""
    envelope: JsonObject = {"jsonrpc": "2.0", "id": request["id"]} if "id" in request else {}
    return _text(messages.encode_line({**envelope, **said}))


def _text(line: bytes) -> str:
    return line.decode("utf-8", "backslashreplace").rstrip("\n")


class _OutOfTime(Exception):
    """The time is over."""


class _Conversation(Transcript):
    """A transcript that knows all requests."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[JsonObject] = []

    def sent(self, line: bytes) -> None:
        super().sent(line)
        request = read_json(line)
        assert isinstance(request, dict)
        self.requests.append(request)


@dataclass(frozen=True, slots=True)
class _Hasty:
    """A target that is asked nothing any more when the time is over, and nothing again that it did not answer."""

    target: Target
    is_late: Callable[[], bool]

    @property
    def is_process(self) -> bool:
        return self.target.is_process

    def open(self, timeout_s: float, transcript: Transcript) -> Connection:
        return _HastyConnection(self.target.open(timeout_s, transcript), self.is_late)

    def as_process(self) -> Target:
        return self.target.as_process()

    def words(self) -> dict[str, str | list[str]]:
        return self.target.words()


@dataclass(slots=True)
class _HastyConnection:
    connection: Connection
    is_late: Callable[[], bool]
    is_silent: bool = False

    def call(self, method: str, params: JsonObject) -> JsonObject:
        if self.is_late():
            raise _OutOfTime
        try:
            return self.connection.call(method, params)
        except Silence as silence:
            self.is_silent = True
            self.connection.kill()
            raise AdapterFault("silence", f"{silence}.", self.connection.stderr()) from silence

    def close(self) -> None:
        if not self.is_silent:
            self.connection.close()

    def kill(self) -> None:
        self.connection.kill()

    def stderr(self) -> str:
        return self.connection.stderr()
