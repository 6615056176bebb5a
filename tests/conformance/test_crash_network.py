"""Connections that are cut at every message, and servers that are killed: what is good holds, what is bad is named."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import json
import os
import shlex
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from functools import partial
from io import BufferedIOBase
from pathlib import Path
from typing import Any, NoReturn

import broken_tcp
import pytest
from broken_tcp import (
    AcknowledgesBeforeItCommits,
    AppliesARetryAgain,
    CutMeansNotStored,
    CutMeansStored,
    DoesItAgainAtTheStart,
    KeepsAnUnreadReply,
    KeepsItsLock,
    LeavesALock,
    RefusesARetry,
    RetriesUnderANewIdentity,
    StoresAsItComes,
)
from jsonschema import Draft202012Validator
from msgspec.structs import replace
from tcp_journal import NoAnswer, TcpJournal
from tcp_server import Server
from tests.conformance.helpers import ROOT, perdure_here
from tests.conformance.tcp_journals import EXAMPLE, subject

from perdure.journal.contract import AppendAnswer, Capabilities, Envelope, Unavailable
from perdure.kernel.identity import RunId
from perdure_conformance import data
from perdure_conformance.crash import network
from perdure_conformance.crash.network import (
    REQUIREMENTS,
    Judged,
    Subject,
    is_claimed,
    judge_connections,
    judge_kills,
    replayed,
)
from perdure_conformance.crash.proxy import Address, Proxy
from perdure_conformance.crash.replay import Network, ReplayError, ServerKill, Workload, parse
from perdure_conformance.crash.selftest import SERVED, planted
from perdure_conformance.crash.servers import CommandServer, ServerFault, reached
from perdure_conformance.harness.targets import CommandTarget, Target
from perdure_conformance.interrupts import Interrupted
from perdure_conformance.journal.dispatch import JOURNALS

SEEDS = range(20) if os.environ.get("PERDURE_FULL") == "1" else range(7, 8)

MUTANTS: list[tuple[str, type[Server | TcpJournal], str]] = [
    ("CRS-051", CutMeansStored, "v1:w=append,n=1,seed=7:net/c2s#1=drop"),
    ("CRS-051", KeepsAnUnreadReply, "v1:w=append,n=1,seed=7:net/s2c#1=late"),
    ("CRS-052", AppliesARetryAgain, "v1:w=append,n=1,seed=7:net/s2c#1=drop"),
    ("CRS-052", RetriesUnderANewIdentity, "v1:w=append,n=1,seed=7:net/s2c#1=drop"),
    ("CRS-052", StoresAsItComes, "v1:w=append,n=1,seed=7:net/c2s#1=cut-MOST"),
    ("CRS-053", CutMeansNotStored, "v1:w=append,n=1,seed=7:net/s2c#1=drop"),
    ("CRS-054", RefusesARetry, "v1:w=append,n=1,seed=7:net/s2c#1=drop"),
    ("CRS-055", KeepsItsLock, "v1:w=append,n=1,seed=7:net/c2s#1=cut-MOST"),
    ("CRS-056", AcknowledgesBeforeItCommits, "v1:w=append,n=1,seed=7:server/kill#3"),
    ("CRS-057", DoesItAgainAtTheStart, "v1:w=append,n=1,seed=7:server/kill#2"),
    ("CRS-058", LeavesALock, "v1:w=append,n=1,seed=7:server/kill#1"),
]
"""What each bad one breaks, and the smallest case that shows it."""


@pytest.fixture(autouse=True)
def in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep files where nothing waits for a disk: neither a cut nor a kill loses what the system has."""
    del tmp_path  # Before it, or pytest would keep its own there too.
    if Path("/dev/shm").is_dir():  # noqa: S108
        monkeypatch.setattr(tempfile, "tempdir", "/dev/shm")  # noqa: S108


def bad(kind: type[Server | TcpJournal]) -> Subject:
    quick = 0.05 if kind in {KeepsItsLock, KeepsAnUnreadReply} else 2.0
    if issubclass(kind, Server):
        return subject(kind=kind, client_timeout_s=quick)
    return subject(client=kind, client_timeout_s=quick)


def assert_holds(judged: Judged) -> None:
    assert (judged.findings, judged.inconclusive) == ({}, [])


# What is good


@pytest.mark.parametrize("seed", SEEDS)
def test_the_good_one_holds_at_every_window(seed: int) -> None:
    workload = Workload("append", 1 if len(SEEDS) == 1 else 3, seed)
    connections = judge_connections(subject(), workload)
    assert_holds(connections)
    assert connections.windows == 36 if workload.appends == 1 else connections.windows > 48
    assert_holds(judge_kills(subject(), workload, rounds=2))


class AsksAgainItself(TcpJournal):
    """Sends the same again, once, before it says that it does not know."""

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        answer = super().append(run_id, expected_next, records, epoch)
        return super().append(run_id, expected_next, records, epoch) if isinstance(answer, Unavailable) else answer


class ConnectsForEachRequest(TcpJournal):
    """Hangs up behind each answer."""

    def ask(self, *lines: object) -> dict[str, Any]:
        try:
            return super().ask(*lines)
        finally:
            self.hang_up()


class TellsHowLongItTook(Server):
    """Its replies are never twice of the same length."""

    lengths = itertools.cycle((40, 30, 20, 10))

    def answer(self, request: dict[str, Any], stream: BufferedIOBase) -> dict[str, Any] | None:
        answer = super().answer(request, stream)
        return None if answer is None else {**answer, "took": "0" * next(self.lengths)}


@pytest.mark.parametrize(
    "good",
    [subject(client=ConnectsForEachRequest), subject(kind=TellsHowLongItTook)],
    ids=["a connection for each request", "replies of any length"],
)
def test_nobody_good_is_left_open(good: Subject) -> None:
    assert_holds(judge_connections(good, Workload("append", 1, 7)))


class EndsWithItsConnection(TcpJournal):
    """Ends when its connection is cut, and is started again: here, an exception that is no protocol's."""

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        answer = super().append(run_id, expected_next, records, epoch)
        if isinstance(answer, Unavailable):
            raise NoAnswer
        return answer


class KnowsNothingAgain(TcpJournal):
    """Claims no replay, and refuses one."""

    description = replace(TcpJournal.description, capabilities=Capabilities(atomic_batch=True, durable="process-crash"))


@pytest.mark.parametrize(
    "good",
    [
        subject(client=AsksAgainItself),
        subject(client=KnowsNothingAgain),
        subject(client=KnowsNothingAgain, kind=RefusesARetry),
    ],
    ids=["asks again itself", "knows nothing again", "refuses a replay that it does not claim"],
)
@pytest.mark.parametrize("fault", ["net/s2c#1=drop", "net/c2s#1=drop", "net/s2c#1=idle", "server/kill#2"])
def test_twins_hold_where_others_break(good: Subject, fault: str) -> None:
    outcome = replayed(good, parse(f"v1:w=append,n=2,seed=7:{fault}"))
    assert (outcome.finding, outcome.inconclusive) == (None, None)


# What is bad


@pytest.mark.parametrize(("requirement", "kind", "line"), MUTANTS, ids=[each[1].__name__ for each in MUTANTS])
def test_each_bad_one_is_named_by_its_smallest_case(
    requirement: str, kind: type[Server | TcpJournal], line: str
) -> None:
    if line.endswith("cut-MOST"):
        line = line.replace("MOST", f"{_bytes_of_the_first_request() - 1}")
    outcome = replayed(bad(kind), parse(line))
    assert outcome.finding is not None, outcome.inconclusive
    assert outcome.finding.requirement == requirement, outcome.finding
    assert outcome.finding.replay == line
    good = replayed(subject(), parse(line))
    assert (good.finding, good.inconclusive) == (None, None)


def _bytes_of_the_first_request() -> int:
    return replayed(subject(), parse("v1:w=append,n=1,seed=7:none")).messages[0].size_bytes


def test_each_requirement_has_a_mutant() -> None:
    assert {requirement for requirement, _, _ in MUTANTS} == set(REQUIREMENTS.values())


@pytest.mark.parametrize("kind", [AppliesARetryAgain, CutMeansNotStored, AcknowledgesBeforeItCommits])
def test_a_search_finds_it_and_makes_it_smaller(kind: type[Server | TcpJournal]) -> None:
    requirement, line = next((known, line) for known, which, line in MUTANTS if which is kind)
    workload = Workload("append", 2, 7)
    is_kill = "server" in line
    judged = judge_kills(bad(kind), workload, 0, 1) if is_kill else judge_connections(bad(kind), workload, 1)
    assert judged.findings[requirement].replay == line


def test_it_says_what_happened_and_what_is_wrong() -> None:
    finding = replayed(bad(CutMeansNotStored), parse("v1:w=append,n=1,seed=7:net/s2c#1=drop")).finding
    assert finding is not None
    assert finding.blame == "reply 1 was lost with its connection while the append of records 1 to 2 was asked"
    assert finding.sentence == "the append of records 1 to 2 is answered not_stored, and is stored"
    assert "not_stored" in finding.transcript


# What nothing can be said of


class Empty(TcpJournal):
    """Claims nothing that the tests ask about kills."""

    description = replace(TcpJournal.description, capabilities=Capabilities())


@pytest.mark.parametrize(
    ("client", "fault", "sentence"),
    [
        (EndsWithItsConnection, "net/s2c#1=drop", "the adapter is at fault: append raised NoAnswer"),
        (TcpJournal, "net/s2c#99=drop", "the trace diverged: the message that was to be disturbed never came"),
        (TcpJournal, "net/s2c#1=cut-9999", "the trace diverged"),
    ],
)
def test_what_leaves_it_open_is_never_a_pass(client: type[TcpJournal], fault: str, sentence: str) -> None:
    outcome = replayed(subject(client=client), parse(f"v1:w=append,n=1,seed=7:{fault}"))
    assert outcome.finding is None
    assert outcome.inconclusive is not None
    assert outcome.inconclusive.startswith(sentence)


def test_a_server_that_knows_what_was_said_on_another_folder_is_not_accused(tmp_path: Path) -> None:
    class KeepsItElsewhere(Server):
        def __init__(self, listener: socket.socket, _folder: Path) -> None:
            super().__init__(listener, tmp_path)

    class LooksNowhere(TcpJournal):
        def __init__(self, state_dir: Path, namespace: str, address: str | None = None) -> None:
            super().__init__(state_dir, namespace, address)
            self._place = namespace

    judged = judge_connections(subject(kind=KeepsItElsewhere, client=LooksNowhere), Workload("append", 2, 7))
    assert judged.findings == {}
    assert judged.inconclusive[0].inconclusive is not None
    assert "must keep all that it knows in {state_dir}" in judged.inconclusive[0].inconclusive


class StaysAway(TcpJournal):
    """Knows no answer any more once it got none, nor does any that is opened later."""

    is_away = False

    def ask(self, *lines: object) -> dict[str, object]:
        if StaysAway.is_away:
            raise NoAnswer
        try:
            return super().ask(*lines)
        except NoAnswer:
            StaysAway.is_away = True
            raise


def test_an_adapter_that_does_not_come_back_refuses() -> None:
    StaysAway.is_away = False
    outcome = replayed(subject(client=StaysAway), parse("v1:w=append,n=1,seed=7:net/s2c#1=drop"))
    assert outcome.finding is not None
    assert outcome.finding.requirement == "CRS-055"


def test_kills_are_not_judged_of_whom_claims_to_survive_none() -> None:
    judged = judge_kills(subject(client=Empty), Workload("append", 1, 7), 3)
    assert (judged.windows, judged.description is None) == (0, False)
    assert not is_claimed("CRS-056", Capabilities())


@pytest.mark.parametrize(
    "fault", ["net/s2c#1=lose", "net/c2s#1=idle", "net/c2s#1=late", "net/s2c#1=late-5", "kill/after:1"]
)
def test_a_line_that_means_nothing_here_is_refused(fault: str) -> None:
    with pytest.raises(ReplayError, match=r"Nothing known happens|of another layer"):
        replayed(subject(), parse(f"v1:w=append,n=1,seed=7:{fault}"))


# The proxy


class Echo:
    """A server that answers each request of six bytes with twelve, on as many connections as come."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.heard: list[bytes] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def address(self) -> Address:
        host, port = self.listener.getsockname()
        return host, port

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            while request := connection.recv(6, socket.MSG_WAITALL):
                self.heard.append(request)
                connection.sendall(request + request)


@pytest.fixture
def echo() -> Iterator[Echo]:
    server = Echo()
    yield server
    with contextlib.suppress(OSError):
        server.listener.shutdown(socket.SHUT_RDWR)
    server.listener.close()


def said(proxy: Proxy, *requests: bytes) -> list[bytes]:
    """Return what one connection hears of each request; of what is reset, `b"reset"`."""
    heard = []
    with socket.create_connection(proxy.address, 10) as client:
        for request in requests:
            try:
                client.sendall(request)
                heard.append(exactly(client, 12))
            except ConnectionError:
                heard.append(b"reset")
    return heard


def exactly(client: socket.socket, size_bytes: int) -> bytes:
    """Return so many bytes, or fewer if the connection ends."""
    heard = b""
    while len(heard) < size_bytes and (more := client.recv(size_bytes - len(heard))):
        heard += more
    return heard


@pytest.mark.parametrize(
    ("fault", "client_hears", "server_hears"),
    [
        (Network("s2c", 9, "drop"), [b"firstAfirstA", b"secondsecond"], [b"firstA", b"second"]),
        (Network("s2c", 2, "drop"), [b"firstAfirstA", b""], [b"firstA", b"second"]),
        (Network("c2s", 2, "drop"), [b"firstAfirstA", b""], [b"firstA"]),
        (Network("s2c", 2, "cut-3"), [b"firstAfirstA", b"sec"], [b"firstA", b"second"]),
        (Network("c2s", 1, "drop-reset"), [b"reset", b"reset"], []),
    ],
)
def test_one_message_is_disturbed_and_no_other(
    echo: Echo, fault: Network, client_hears: list[bytes], server_hears: list[bytes]
) -> None:
    proxy = Proxy(echo.address, lambda: None, [fault])
    try:
        assert said(proxy, b"firstA", b"second") == client_hears
        assert proxy.fired == ([] if fault.message == 9 else [fault])
    finally:
        proxy.close()
    assert echo.heard == server_hears


def test_a_late_request_arrives_behind_the_one_that_was_sent_again(echo: Echo) -> None:
    proxy = Proxy(echo.address, lambda: None, [Network("c2s", 1, "late-6")])
    try:
        assert said(proxy, b"first!") == [b""]
        assert said(proxy, b"again!") == [b"again!again!"]
        assert proxy.arrive(10)
        assert echo.heard == [b"again!", b"first!"]
    finally:
        proxy.close()


def test_a_late_reply_comes_once_the_client_has_gone_on(echo: Echo) -> None:
    late = Network("s2c", 1, "late")
    proxy = Proxy(echo.address, lambda: None, [late])
    try:
        with socket.create_connection(proxy.address, 10) as client:
            client.sendall(b"first!")
            while not proxy.fired:
                proxy.answered()
            proxy.answered()
            client.sendall(b"second")
            assert exactly(client, 24) == b"first!first!secondsecond"
    finally:
        proxy.close()


def test_an_idle_connection_is_cut_when_all_is_said_and_a_kill_cuts_all(echo: Echo) -> None:
    killed: list[str] = []
    proxy = Proxy(echo.address, lambda: killed.append("server"), [Network("s2c", 1, "idle")])
    try:
        with socket.create_connection(proxy.address, 10) as client:
            client.sendall(b"first!")
            assert exactly(client, 12) == b"first!first!"
            proxy.answered()
            assert client.recv(1) == b""
    finally:
        proxy.close()
    proxy = Proxy(echo.address, lambda: killed.append("server"), [ServerKill(2), ServerKill(1)])
    try:
        assert said(proxy, b"second") == [b""]
        assert said(proxy, b"third!") == [b""]
        assert killed == ["server", "server"]
        assert echo.heard == [b"first!", b"second"]
    finally:
        proxy.close()


def test_whoever_finds_no_server_is_cut_off() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    proxy = Proxy(lambda: ("127.0.0.1", port), lambda: None)
    try:
        with pytest.raises(ConnectionResetError), socket.create_connection(proxy.address, 10) as client:
            client.recv(1)
    finally:
        proxy.close()


def test_a_server_that_accepts_nothing_does_not_hold_the_proxy_up() -> None:
    with socket.socket() as server, contextlib.ExitStack() as stack:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        stack.enter_context(socket.create_connection(server.getsockname()))  # No other one has room.
        proxy = Proxy(server.getsockname, lambda: None)
        stack.callback(proxy.close)
        stack.enter_context(socket.create_connection(proxy.address)).sendall(b"first!")
        began = time.monotonic()
        proxy.answered()
        proxy.close()
        assert time.monotonic() - began < 5


# Programs

SERVER = (sys.executable, "-S", str(EXAMPLE / "tcp_server.py"), "{port}", "{state_dir}")


def programs(server: Sequence[str] = SERVER) -> Subject:
    """Return the example, its server and its client each a program."""
    target = JOURNALS.find("tcp_journal:TcpJournal")

    def adapter(address: Address) -> Target:
        return reached(target, address, [f"PYTHONPATH={EXAMPLE}:{os.environ.get('PYTHONPATH', '')}", "ADDRESS"])

    return Subject(adapter, partial(_server, server), timeout_s=20.0)


def _server(command: Sequence[str], folder: Path) -> CommandServer:
    return CommandServer(command, folder, 20.0)


def test_programs_are_killed_and_started_again_and_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    outcome = replayed(programs(), parse("v1:w=append,n=1,seed=7:server/kill#2"))
    assert (outcome.finding, outcome.inconclusive) == (None, None)
    assert_nothing_is_left(tmp_path)


def test_an_interruption_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def interrupt(_address: Address) -> NoReturn:
        raise Interrupted

    with pytest.raises(Interrupted):
        replayed(Subject(interrupt, programs().server), parse("v1:w=append,n=1,seed=7:none"))
    assert_nothing_is_left(tmp_path)


def assert_nothing_is_left(folder: Path) -> None:
    assert list(folder.iterdir()) == []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            assert str(folder).encode() not in (process / "cmdline").read_bytes()


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("sh -c 'echo no room >&2; exit 3'", "'sh' ended before it took connections at its {port}; it said 'no room"),
        ("no-such-server {port}", "'no-such-server' cannot be started: no program of this name is on PATH."),
        ("sleep 60", "'sleep' took no connection at port"),
    ],
)
def test_a_server_that_does_not_start_is_told(command: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    server = CommandServer(shlex.split(command), tmp_path / "server", 0.2)
    with pytest.raises(ServerFault) as error:
        server.start()
    assert str(error.value).startswith(sentence)
    server.kill()


@pytest.mark.parametrize("name", SERVED)
def test_what_is_told_of_a_broken_server_is_what_its_source_says(name: str) -> None:
    assert planted()[name].fault == inspect.getdoc(getattr(broken_tcp, name))


def test_a_journal_that_does_not_go_by_the_proxy_has_no_verdict_and_is_told_why(tmp_path: Path) -> None:
    serve = f"{sys.executable} {ROOT / 'conformance/examples/tcp-journal/tcp_server.py'} {{port}} {{state_dir}}"
    words = ("--server", serve, "--connect", "ADDRESS", "--appends", "1", "--rounds", "1", "--layer", "net")
    done = perdure_here("crash", "lines", *words, "--json", "--report", "there", cwd=tmp_path)
    (why,) = {each["why"] for each in json.loads(done.stdout)["requirements"] if "why" in each}
    assert done.returncode == 3
    assert why.endswith("nothing went by the proxy: the journal must connect to the address that --connect tells it")


@pytest.mark.parametrize("word", ["", "A B", "--help", "=x", "-i"])
def test_what_names_no_variable_is_wrong_usage(word: str, tmp_path: Path) -> None:
    done = perdure_here("crash", "lines", "--server", "server {port}", f"--connect={word}", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "names no variable of the environment" in done.stderr


def test_a_client_is_told_where_its_server_is() -> None:
    target = reached(CommandTarget(("client", "--port={port}", "{other}")), ("127.0.0.1", 9), ["PLACE", "PORT={port}"])
    assert target.words() == {"command": ["env", "PLACE=127.0.0.1:9", "PORT=9", "client", "--port=9", "{other}"]}


# The command


WORDS = ["--server", "server {port}", "--connect", "ADDRESS", "--appends", "1", "--rounds", "1", "--seed", "7"]


def told(words: Sequence[str], tmp_path: Path) -> tuple[int, dict[str, Any]]:
    done = perdure_here("crash", "tcp_journal:TcpJournal", *words, "--json", "--report", "there", cwd=tmp_path)
    document: dict[str, Any] = json.loads(done.stdout)
    assert document == json.loads((tmp_path / "there" / "report.json").read_text("utf-8"))
    return done.returncode, document


@pytest.mark.parametrize(
    ("here", "layer", "code", "failed"),
    [
        (subject(), "server", 0, []),
        (subject(kind=RefusesARetry), "server", 1, ["CRS-054"]),
        (subject(client=EndsWithItsConnection), "server", 3, []),
    ],
    ids=["good", "bad", "open"],
)
def test_the_command_tells_what_came_of_it(
    here: Subject, layer: str, code: int, failed: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "subject_of", lambda _target, _behind, _timeout_s: here)
    exit_code, document = told([*WORDS, "--layer", layer], tmp_path)
    assert exit_code == document["exit_code"] == code
    judged = {each["id"]: each for each in document["requirements"]}
    assert set(judged) == {known for (of_layer, _), known in REQUIREMENTS.items() if of_layer == layer}
    assert [key for key, each in judged.items() if each["verdict"] == "fail"] == failed
    assert any(each["verdict"] == "inconclusive" for each in judged.values()) == (code == 3)
    for key in failed:
        case = json.loads((tmp_path / judged[key]["case"] / "case.json").read_text("utf-8"))
        Draft202012Validator(json.loads((data.schemas() / "case-1.json").read_text("utf-8"))).validate(case)
        shown = (tmp_path / judged[key]["case"] / "failure.txt").read_text("utf-8")
        line = shown.partition("replay    ")[2].partition("\n")[0]
        assert "tcp_journal:TcpJournal --server 'server {port}' --connect ADDRESS --replay" in line
        assert "it fails again on fresh state" in shown
        done = perdure_here(*shlex.split(line)[1:], cwd=tmp_path)
        assert done.returncode == 1
        assert case["actual"] in done.stdout
        done = perdure_here("rerun", judged[key]["case"], cwd=tmp_path)
        assert done.returncode == 1
        assert "It fails again, the same way." in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--layer", "net"), 2, '--layer net needs the server: --server "server --port {port} --data {state_dir}".'),
        (("--server", "server"), 2, "--server does not say where {port} goes; write --server"),
        (("--server", '"'), 2, "--server cannot be split into words"),
        (("--server", "server {port}", "--layer", "power"), 2, "There is no layer 'power' of a server."),
        (
            ("--server", "no-such-server {port}"),
            3,
            "'no-such-server' cannot be started: no program of this name is on PATH.",
        ),
        (("--server", "server {port}", "--replay", "v1:w=append,n=1,seed=7:kill/after:1"), 3, "is of another layer"),
    ],
)
def test_words_of_the_command_that_do_not_fit_are_told(
    words: Sequence[str], code: int, sentence: str, tmp_path: Path
) -> None:
    done = perdure_here("crash", "tcp_journal:TcpJournal", *words, cwd=tmp_path)
    assert done.returncode == code
    assert sentence in done.stdout + done.stderr
