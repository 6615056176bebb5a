"""Layers 3 and 5: the connection to a server is cut at every message, and the server killed at drawn ones.

For each window, fresh state, the same requests, one disturbance. What got no answer is sent again, as a client does,
and what was refused is held to have stored nothing. Then the journal is recovered and judged as after any other crash.

Source: `docs/spec/crash.md`; "Layers, by value" of the crash design.
"""

from __future__ import annotations

import contextlib
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

import msgspec

from perdure.journal.contract import (
    Acknowledged,
    Capabilities,
    Description,
    Envelope,
    NotStored,
    Page,
    Unavailable,
    acknowledge,
)
from perdure.kernel.identity import RunId
from perdure.kernel.values import JsonObject
from perdure_conformance.crash.findings import Found, Layer, WrongRule
from perdure_conformance.crash.judge import (
    TRIES,
    Broken,
    Exchange,
    Expectation,
    Recovered,
    RunShown,
    broken,
    expected,
    recover,
)
from perdure_conformance.crash.proxy import Address, Message, Proxy, happening_of
from perdure_conformance.crash.recovery import scratch
from perdure_conformance.crash.replay import Fault, Network, Replay, ReplayError, ServerKill, Undisturbed, Workload
from perdure_conformance.crash.servers import Behind, CommandServer, MakeServer, Server, reached
from perdure_conformance.crash.workload import Request, requests
from perdure_conformance.harness.connection import AdapterFault, Silence
from perdure_conformance.harness.process import STDERR_KEPT_BYTES
from perdure_conformance.harness.targets import Target
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.journal.client import Answer, JournalClient
from perdure_conformance.journal.operations import Append, Identities, RecordSpec
from perdure_conformance.suite import Progress, say_nothing

LAYERS: Final[tuple[Layer, ...]] = ("net", "server")
"""What is disturbed: the connection, or the server itself."""

REQUIREMENTS: Final[Mapping[tuple[Layer, WrongRule], str]] = {
    ("net", "lost"): "CRS-051",
    ("net", "mixed"): "CRS-052",
    ("net", "untrue"): "CRS-053",
    ("net", "unrecognised"): "CRS-054",
    ("net", "refused"): "CRS-055",
    ("net", "unsteady"): "CRS-055",
    ("server", "lost"): "CRS-056",
    ("server", "mixed"): "CRS-057",
    ("server", "untrue"): "CRS-053",
    ("server", "unrecognised"): "CRS-054",
    ("server", "refused"): "CRS-058",
    ("server", "unsteady"): "CRS-058",
}
"""Which requirement of `docs/spec/crash.md` is broken, by what was disturbed and how it is wrong."""

ENOUGH: Final = 5
"""After so many windows that break something, enough is known; broken code breaks in most of them."""
_MOST_KILLS: Final = 3
_PAGE: Final = 1_000
_PROBE: Final = 9_000
"""The number of the first event that nothing else sends."""
_PAUSE_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class Subject:
    """A journal that keeps its state in a server."""

    adapter: Callable[[Address], Target]
    """The journal, which is to find its server at this address."""
    server: MakeServer
    timeout_s: float = 10.0
    """How long an adapter may take for one answer."""
    patience_s: float = 10.0
    """How long a server that is there again may answer `unavailable` before it is said to refuse."""


def subject_of(target: Target, behind: Behind, timeout_s: float) -> Subject:
    """Return a journal and the program that keeps its state."""

    def server(folder: Path) -> Server:
        return CommandServer(behind.command, folder, timeout_s)

    return Subject(lambda address: reached(target, address, behind.connect), server, timeout_s, timeout_s)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one window has shown: a finding, or why nothing can be said, or neither: it holds."""

    replay: Replay
    description: Description | None = None
    finding: Found | None = None
    inconclusive: str | None = None
    messages: Sequence[Message] = ()


@dataclass(slots=True)
class Judged:
    """What all windows have shown."""

    layer: Layer
    description: Description | None = None
    windows: int = 0
    findings: dict[str, Found] = field(default_factory=dict)
    """The smallest of each requirement."""
    inconclusive: list[Outcome] = field(default_factory=list)
    seconds: float = 0.0


def layers_of(requirement: str) -> tuple[Layer, ...]:
    """Return which layers judge a requirement."""
    judging = {layer for (layer, _), known in REQUIREMENTS.items() if known == requirement}
    return tuple(layer for layer in LAYERS if layer in judging)


def is_claimed(requirement: str, claims: Capabilities) -> bool:
    """Tell whether a requirement is judged under these claims."""
    if requirement == "CRS-054":
        return claims.exact_replay
    return claims.durable is not None or "net" in layers_of(requirement)


def judge_connections(
    subject: Subject,
    workload: Workload,
    enough: int = ENOUGH,
    *,
    until: str | None = None,
    progress: Progress = say_nothing,
) -> Judged:
    """Disturb each message of each exchange in every way, until what is named is broken, if anything is."""
    return _judged("net", subject, workload, _windows, enough, until, progress)


def judge_kills(
    subject: Subject,
    workload: Workload,
    rounds: int,
    enough: int = ENOUGH,
    *,
    until: str | None = None,
    progress: Progress = say_nothing,
) -> Judged:
    """Kill the server at each message, and then at two or three drawn ones a round."""

    def faults(messages: Sequence[Message], claims: Capabilities) -> Iterator[tuple[Fault, ...]]:
        if claims.durable is None:
            return
        draw = random.Random(f"{workload}")  # noqa: S311 - drawn again from the same words
        yield from ((ServerKill(number),) for number in range(1, len(messages) + 1))
        for _ in range(rounds):
            kills = draw.randint(2, _MOST_KILLS)
            yield tuple(ServerKill(draw.randint(1, len(messages))) for _ in range(kills))

    return _judged("server", subject, workload, faults, enough, until, progress)


def replayed(subject: Subject, replay: Replay) -> Outcome:
    """Play one window. Raises `ReplayError` if the line is of another layer, `ServerFault` if no server starts."""
    faults = [fault for fault in replay.faults if isinstance(fault, Network | ServerKill)]
    if any(not isinstance(fault, Network | ServerKill | Undisturbed) for fault in replay.faults):
        raise ReplayError(f"{replay} is of another layer than that of connections and servers.")
    with _Window(subject, replay, faults) as window:
        return window.play()


_Faults = Callable[[Sequence[Message], Capabilities], Iterable[tuple[Fault, ...]]]


def _judged(
    layer: Layer,
    subject: Subject,
    workload: Workload,
    faults: _Faults,
    enough: int,
    until: str | None,
    progress: Progress,
) -> Judged:
    judged, began = Judged(layer), time.monotonic()
    undisturbed = replayed(subject, Replay(workload, (Undisturbed(),)))
    judged.description = undisturbed.description
    if undisturbed.inconclusive is not None or undisturbed.description is None:
        judged.inconclusive.append(undisturbed)
        return judged
    again = replayed(subject, undisturbed.replay)
    if again.inconclusive is not None:  # Else whatever is disturbed first would be blamed for it.
        sentence = (
            f"played a second time, {again.inconclusive}; the server must keep all that it knows in {{state_dir}}"
        )
        judged.inconclusive.append(replace(again, inconclusive=sentence))
        return judged
    # A client that waited for too long asks twice, in one of the two plays.
    messages = min(undisturbed.messages, again.messages, key=len)
    if not messages:
        sentence = "nothing went by the proxy: the journal must connect to the address that --connect tells it"
        judged.inconclusive.append(replace(undisturbed, inconclusive=sentence))
        return judged
    for each in faults(messages, undisturbed.description.capabilities):
        outcome = _played(subject, workload, each)
        judged.windows += 1
        progress(layer, judged.windows, judged.windows)
        if outcome.inconclusive is not None:
            judged.inconclusive.append(outcome)
        if outcome.finding is not None:
            enough -= 1
            if outcome.finding.requirement not in judged.findings:
                judged.findings[outcome.finding.requirement] = _smaller(subject, workload, outcome.finding, faults)
        if not enough or until in judged.findings:
            break
    judged.seconds = time.monotonic() - began
    return judged


def _played(subject: Subject, workload: Workload, faults: tuple[Fault, ...]) -> Outcome:
    """Play one window; where its message was shorter than before, play it again with less of it."""
    outcome = replayed(subject, Replay(workload, faults))
    for _ in range(TRIES):
        fitted = tuple(_fitted(fault, outcome.messages) for fault in faults)
        if outcome.inconclusive is None or fitted == faults:
            break
        faults = fitted
        outcome = replayed(subject, Replay(workload, faults))
    return outcome


def _fitted(fault: Fault, messages: Sequence[Message]) -> Fault:
    """Return a fault at a byte that its message did not reach at one that it did; any other as it is."""
    if not isinstance(fault, Network):
        return fault
    same = [message.size_bytes for message in messages if message.direction == fault.direction]
    happening = happening_of(fault)
    size = same[fault.message - 1] if fault.message <= len(same) else happening.size_bytes
    if size >= happening.size_bytes or size < 2:
        return fault
    return replace(fault, happening=f"late-{size}" if happening.what == "late" else f"cut-{size - 1}")


def _smaller(subject: Subject, workload: Workload, found: Found, faults: _Faults) -> Found:
    """Return what shows the same with fewer appends, if anything does."""
    for appends in range(1, workload.appends):
        smaller = Workload(workload.name, appends, workload.seed)
        undisturbed = replayed(subject, Replay(smaller, (Undisturbed(),)))
        if undisturbed.description is None:
            continue
        for each in faults(undisturbed.messages, undisturbed.description.capabilities):
            if len(each) > 1:
                break
            finding = _played(subject, smaller, each).finding
            if finding is not None and finding.requirement == found.requirement:
                return finding
    return found


def _windows(messages: Sequence[Message], claims: Capabilities) -> Iterator[tuple[Fault, ...]]:
    """Yield what may happen to each message, the plainest first."""
    knows_again = claims.exact_replay or claims.event_id_dedup  # Whoever does not is never sent an event twice.
    counted = [
        (message.direction, sum(1 for each in messages[: index + 1] if each.direction == message.direction), message)
        for index, message in enumerate(messages)
    ]
    for kind in ("drop", "drop-reset", "half", "most", "idle", "idle-reset", "late"):
        for direction, number, message in counted:
            is_request, size = direction == "c2s", message.size_bytes
            happening = {
                "half": f"cut-{size // 2}" if size > 1 else "",
                "most": f"cut-{size - 1}" if size > 3 else "",
                "idle": "" if is_request else "idle",
                "idle-reset": "" if is_request else "idle-reset",
                "late": "late" if not is_request else f"late-{size}" if knows_again else "",
            }.get(kind, kind)
            if happening:
                yield (Network(direction, number, happening),)


class _Wrong(Exception):
    """Something is broken."""

    def __init__(self, rule: WrongRule, sentence: str) -> None:
        super().__init__(sentence)
        self.rule: WrongRule = rule


class _Open(Exception):
    """Nothing can be said. `str(error)` says why."""


class _Adapter:
    """The journal in one window: an adapter that is started again when it has ended or fell silent."""

    def __init__(self, target: Target, timeout_s: float, state_dir: Path, transcript: Transcript) -> None:
        self._target = target
        self._timeout_s = timeout_s
        self._state_dir = state_dir
        self._transcript = transcript
        self._client: JournalClient | None = None
        self.description: Description | None = None
        self.fault: AdapterFault | None = None
        """The last fault that is no end of a program: a broken message, an error."""
        self.was_killed = False
        self._said = ""
        self._is_sound = False
        """Whether its last answer said something."""

    def start(self) -> None:
        """Open it, as often as it takes while something is disturbed. Raises `_Open`."""
        fault: Exception | None = None
        for _ in range(TRIES):
            try:
                self._start()
            except (AdapterFault, Silence) as error:
                fault = error
            else:
                return
        raise _Open(f"the adapter does not come back: {fault}")

    def ask(self, method: str, params: JsonObject) -> Answer | None:
        """Send one request; None if no answer came, after which it is started again. Raises `_Open`."""
        assert self._client is not None
        self._is_sound = False
        try:
            answer = self._client.ask(method, params)
        except Silence:
            pass
        except AdapterFault as error:
            if error.kind != "exited":
                self.fault = error
        else:
            self._is_sound = not isinstance(answer, NotStored | Unavailable)
            return answer
        self.kill()
        self.was_killed = True
        self.start()
        return None

    def opened(self) -> JournalClient:
        """Return it as it is, if it is sound, and opened again otherwise. The next one is opened again in any case."""
        if self._client is None or not self._is_sound:
            return self.reopened()
        self._is_sound = False
        return self._client

    def reopened(self) -> JournalClient:
        """Close it in good order, as far as it does, and open it again. Raises `AdapterFault`, `Silence`."""
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(AdapterFault):
                client.connection.close()
            self._keep(client)
        self._start()
        assert self._client is not None
        return self._client

    def finish(self) -> None:
        """End it for good: a program is killed, a Python object is closed."""
        client = self._client
        if client is not None and not self._target.is_process:
            with contextlib.suppress(AdapterFault):
                client.connection.close()
        self.kill()

    def kill(self) -> None:
        """End it."""
        client, self._client = self._client, None
        if client is not None:
            self._transcript.event("kill -9")
            client.connection.kill()
            self._keep(client)

    def stderr(self) -> str:
        """Return the end of what it wrote to standard error before it was ended, at each of its starts."""
        return self._said

    def _keep(self, client: JournalClient) -> None:
        self._said = (self._said + client.connection.stderr())[-STDERR_KEPT_BYTES:]

    def _start(self) -> None:
        self._transcript.event("open")
        client = JournalClient(self._target.open(self._timeout_s, self._transcript))
        try:
            self.description = client.initialize(self._state_dir)
        except BaseException:
            client.connection.kill()
            self._keep(client)
            raise
        self._client = client


class _Patient:
    """A client that gives a server that is there again some time to come to itself."""

    def __init__(self, client: JournalClient, patience_s: float) -> None:
        self._client = client
        self._until = time.monotonic() + patience_s

    def ask(self, method: str, params: JsonObject) -> Answer:
        answer = self._client.ask(method, params)
        while isinstance(answer, NotStored | Unavailable) and time.monotonic() < self._until:
            time.sleep(_PAUSE_S)
            answer = self._client.ask(method, params)
        return answer


class _Window:
    """One play: a server, a proxy and an adapter on fresh folders, and what happens between them."""

    def __init__(self, subject: Subject, replay: Replay, faults: Sequence[Network | ServerKill]) -> None:
        self._subject = subject
        self._replay = replay
        self._faults = faults
        self._transcript = Transcript()
        self._exchanges: list[Exchange] = []
        self._during = ""
        words = [each.happening.partition("-")[0] for each in faults if isinstance(each, Network)]
        self._was_late = "late" in words
        self._looks_first = "cut" in words
        """Whether what became of a request is looked at before it is sent again."""
        self._unknown: str | None = None
        """What stayed unknown, in words."""
        self._identities = Identities(replay.workload.seed, 0)
        self._resources = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(scratch(Path(tempfile.gettempdir())))
            kept, state_dir = folder / "server", folder / "client"
            kept.mkdir()
            state_dir.mkdir()
            server = self._subject.server(kept)
            stack.callback(server.kill)
            place = [server.start()]

            def restart() -> None:
                self._transcript.event("kill -9 the server, and start it again")
                server.kill()
                place[0] = server.start()

            self._proxy = Proxy(lambda: place[0], restart, self._faults)
            stack.callback(self._proxy.close)
            target = self._subject.adapter(self._proxy.address)
            self._adapter = _Adapter(target, self._subject.timeout_s, state_dir, self._transcript)
            stack.callback(self._adapter.finish)
            self._resources = stack.pop_all()
        return self

    def __exit__(self, *_error: object) -> None:
        self._resources.close()

    @property
    def _claims(self) -> Capabilities:
        assert self._adapter.description is not None
        return self._adapter.description.capabilities

    def play(self) -> Outcome:
        """Play it to its end and judge it."""
        finding, inconclusive = None, None
        messages: list[Message] = []
        try:
            self._adapter.start()
            self._proxy.answered()
            self._converse()
            messages = list(self._proxy.messages)
            self._recover()
            inconclusive = self._why_inconclusive()
        except _Wrong as wrong:
            if self._proxy.fired:
                finding = self._finding(wrong)
            else:
                inconclusive = f"{wrong}, although nothing was disturbed: let perdure check judge it first"
        except _Open as nothing:
            inconclusive = f"{nothing}"
        return Outcome(self._replay, self._adapter.description, finding, inconclusive, messages)

    def _why_inconclusive(self) -> str | None:
        if len(self._proxy.fired) < min(1, len(self._faults)):
            return "the trace diverged: the message that was to be disturbed never came, or was shorter"
        if self._adapter.fault is not None:
            return f"the adapter is at fault: {self._adapter.fault}"
        return self._unknown

    def _finding(self, wrong: _Wrong) -> Found:
        layer: Layer = "server" if any(isinstance(fault, ServerKill) for fault in self._proxy.fired) else "net"
        replay = Replay(self._replay.workload, tuple(self._proxy.fired))
        transcript = self._transcript.text()
        self._adapter.finish()  # Only then all is heard.
        return Found(
            requirement=REQUIREMENTS[layer, wrong.rule],
            layer=layer,
            level="process-crash" if layer == "server" else None,
            rule=wrong.rule,
            blame=self._happened(),
            sentence=f"{wrong}",
            replay=f"{replay}",
            exchanges=tuple(self._exchanges),
            transcript=transcript,
            stderr=self._adapter.stderr(),
        )

    def _happened(self) -> str:
        during = f" while {self._during} was asked" if self._during else ""
        return f"{' and '.join(_in_words(fault) for fault in self._proxy.fired)}{during}"

    # What is asked

    def _converse(self) -> None:
        for request in requests(self._replay.workload):
            fired = len(self._proxy.fired)
            is_known = self._append(request) if request.method == "append" else self._other(request)
            self._arrive()
            if not is_known:
                return
            if len(self._proxy.fired) > fired:
                self._hold_to_the_truth(asks_first=self._was_late)
        self._hold_to_the_truth(asks_first=False)
        self._arrive()

    def _hold_to_the_truth(self, *, asks_first: bool) -> None:
        """Read each run, and see that there is no room where a record stands.

        Behind a late reply the other way round: it is found out where it may be taken for one to what is asked next.
        """
        for run_id, run in self._expected().runs.items():
            if run.due:
                if asks_first:
                    self._probe(run_id)
                self._look(run_id)
                if not asks_first:
                    self._probe(run_id)

    def _append(self, request: Request) -> bool:
        """Append a batch, again and again while its fate is unknown; tell whether it is known at the end."""
        records = msgspec.convert(request.params["records"], tuple[Envelope, ...])
        was_unknown = False
        for attempt in range(2 * TRIES):
            if attempt == TRIES:  # It may be the adapter that does not come to itself.
                self._adapter.reopened()
            answer = self._ask(request, f"the append of {_numbers(records)}")
            match answer:
                case Acknowledged() if answer != acknowledge(records):
                    raise _Wrong("lost", f"the append of {_numbers(records)} acknowledges what was not sent")
                case Acknowledged():
                    return True
                case None | Unavailable() if not self._claims.exact_replay:
                    shown = self._look(_run_of(request))
                    return shown is not None and records[-1] in shown
                case None | Unavailable():
                    if self._looks_first and not was_unknown:
                        self._look(_run_of(request))
                    was_unknown = True
                case NotStored() if was_unknown:
                    pass
                case _:
                    self._refused(request, records, answer, was_unknown=was_unknown)
        self._unknown = f"what became of the append of {_numbers(records)} stays unknown, however often it is sent"
        return False

    def _refused(self, request: Request, records: Sequence[Envelope], answer: Answer, *, was_unknown: bool) -> None:
        """Hold a definite refusal of new records against what is stored. Raises `_Wrong`, unless they may be sent."""
        said = _said(answer)
        if was_unknown:
            self._look(_run_of(request))
            raise _Wrong(
                "unrecognised",
                f"the append of {_numbers(records)}, sent again since its fate was unknown, is answered {said}",
            )
        shown = self._look(_run_of(request), refused=(records, said))
        if not isinstance(answer, NotStored) and shown is not None:
            raise _Wrong("refused", f"the append of {_numbers(records)}, which are the next, is answered {said}")

    def _other(self, request: Request) -> bool:
        self._ask(request, f"{request.method}")
        return True

    def _look(self, run_id: RunId, refused: tuple[Sequence[Envelope], str] | None = None) -> list[Envelope] | None:
        """Read a run and hold it against what was answered; None if it cannot be read. Raises `_Wrong`."""
        records: list[Envelope] = []
        unanswered = 0
        while True:
            request = Request("load", {"run_id": run_id, "from_sequence": len(records) + 1, "limit": _PAGE})
            answer = self._ask(request, "a load")
            if isinstance(answer, Page):
                records += answer.records
                if answer.end or not answer.records:
                    break
            else:
                unanswered += 1
                if unanswered >= TRIES:
                    return None
        self._hold(run_id, records, refused)
        return records

    def _hold(self, run_id: RunId, records: Sequence[Envelope], refused: tuple[Sequence[Envelope], str] | None) -> None:
        expectation = self._expected()
        wrong = broken(expectation, Recovered({run_id: RunShown(tuple(records), None)}))
        if wrong is None:
            return
        if refused is not None and refused[0][0] in records:
            raise _Wrong("untrue", f"the append of {_numbers(refused[0])} is answered {refused[1]}, and is stored")
        self._raise(wrong)

    def _probe(self, run_id: RunId) -> None:
        """Append a record where another one stands: a sound journal refuses it, whoever asked what before."""
        run = next(number for number in range(_PROBE) if self._identities.run_id(number) == run_id)
        append = Append(run, 1, (RecordSpec(_PROBE + len(self._exchanges)),))
        records = self._identities.envelopes(append)
        params: JsonObject = {"run_id": run_id, "expected_next": 1, "epoch": None}
        request = Request("append", {**params, "records": msgspec.to_builtins(list(records))})
        for _ in range(TRIES):
            answer = self._ask(request, "an append at 1")
            if isinstance(answer, Acknowledged):
                raise _Wrong("lost", "another record is acknowledged at 1, where one was acknowledged before")
            if answer is not None and not isinstance(answer, Unavailable):
                return

    def _ask(self, request: Request, what: str) -> Answer | None:
        fired = len(self._proxy.fired)
        answer = self._adapter.ask(request.method, request.params)
        self._exchanges.append(Exchange(request.method, request.params, answer))
        self._proxy.answered()
        if len(self._proxy.fired) > fired and not self._during:
            self._during = what
        if self._proxy.failure is not None:
            raise _Wrong("refused", f"the server does not start again: {self._proxy.failure}")
        return answer

    def _arrive(self) -> None:
        if not self._proxy.arrive(self._subject.timeout_s):
            raise _Open("the server does not answer a request that came late")

    # What has come of it

    def _expected(self) -> Expectation:
        return expected(self._exchanges, self._claims)

    def _recover(self) -> None:
        self._proxy.calm()
        patience_s = self._subject.patience_s
        recovered = recover(lambda: _Patient(self._adapter.opened(), patience_s), self._expected())
        wrong = broken(self._expected(), recovered)
        if wrong is not None:
            self._raise(wrong)

    def _raise(self, wrong: Broken) -> None:
        if self._adapter.was_killed and self._claims.durable is None:
            raise _Open("the adapter was killed, and claims to survive nothing")
        raise _Wrong(wrong.rule, wrong.sentence)


def _said(answer: Answer) -> str:
    said = msgspec.to_builtins(answer)
    return str(said["refused"]) if isinstance(said, dict) and "refused" in said else "with no refusal that there is"


def _run_of(request: Request) -> RunId:
    return RunId(str(request.params["run_id"]))


def _numbers(records: Sequence[Envelope]) -> str:
    first, last = records[0].sequence, records[-1].sequence
    return f"record {first}" if first == last else f"records {first} to {last}"


_IN_WORDS: Final = {
    "drop": "was lost with its connection",
    "cut": "was cut off with its connection",
    "late": "was late",
    "idle": "was the last before the connection was cut",
}


def _in_words(fault: Network | ServerKill) -> str:
    if isinstance(fault, ServerKill):
        return f"the server was killed at message {fault.message}"
    noun = "reply" if fault.direction == "s2c" else "request"
    return f"{noun} {fault.message} {_IN_WORDS[fault.happening.partition('-')[0]]}"
