"""Between a client and its server, over TCP: message after message goes through, and one of them does not.

A **message** is what flows in one direction until something flows in the other: whatever the protocol, a request is one
and its reply is one. Messages are counted over all connections, in the order in which they begin. Nothing here waits
for a time: what is held back goes on when something has happened.

Source: "Layers, by value" of the crash design; `docs/spec/crash.md`.
"""

from __future__ import annotations

import contextlib
import errno
import queue
import re
import selectors
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from perdure_conformance.crash.replay import Direction, Network, ReplayError, ServerKill

Address = tuple[str, int]
"""Host and port."""

HOST: Final = "127.0.0.1"

_READ_BYTES: Final = 64 * 1024
_A_STEP_TAKES_AT_MOST_S: Final = 60.0
_RESET: Final = struct.pack("ii", 1, 0)
"""Linger for no time: the connection is reset when it is closed."""
_FORM: Final = re.compile(r"(drop|cut-([1-9][0-9]*)|late(?:-([1-9][0-9]*))?|idle)(-reset)?")

What = Literal["cut", "late", "idle", "kill"]


@dataclass(frozen=True, slots=True)
class Happening:
    """What is done to one message."""

    what: What
    """It is cut off with its connection; it is late; its connection is cut once all is said; the server dies."""
    size_bytes: int = 0
    """How much of it goes on before the cut; of a late request, how long it is."""
    is_reset: bool = False
    """Whether the connection is reset, not closed."""


def happening_of(fault: Network | ServerKill) -> Happening:
    """Return what a fault does. Raises `ReplayError` if there is no such thing."""
    if isinstance(fault, ServerKill):
        return Happening("kill")
    found = _FORM.fullmatch(fault.happening)
    what: What = "cut"
    if found is not None and found[1].startswith(("late", "idle")):
        what = "late" if found[1].startswith("late") else "idle"
    is_request = fault.direction == "c2s"
    if found is None or (what == "idle" and is_request) or (what == "late" and is_request != (found[3] is not None)):
        raise ReplayError(
            f"Nothing known happens in {fault}: write drop, cut-BYTES, or, of a request, late-BYTES, of a reply, late "
            "or idle; with -reset or without."
        )
    return Happening(what, int(found[2] or found[3] or 0), is_reset=found[4] is not None)


@dataclass(slots=True)
class Message:
    """One message that came."""

    direction: Direction
    size_bytes: int = 0
    """How much of it came so far."""


@dataclass(slots=True)
class _End:
    """One side of a connection, and what is still to be written to it."""

    socket: socket.socket
    unsent: bytearray = field(default_factory=bytearray)
    closing: Literal["", "half", "whole", "reset"] = ""
    """What is done once all is written."""
    is_open: bool = True
    reads: bool = True
    """Whether it may still say something."""
    watched: int = 0
    ready: Callable[[int], None] = lambda _mask: None


@dataclass(slots=True, eq=False)
class _Link:
    """One connection of a client, and the one to the server that belongs to it."""

    client: _End
    server: _End
    message: Message | None = None
    """The last one that began."""
    happening: Happening | None = None
    """What is done to it."""
    late: bytearray = field(default_factory=bytearray)
    """What of it is held back."""
    is_late: bool = False
    is_idle_cut: Happening | None = None
    reached_server: threading.Event | None = None
    """Of a late request that goes on at last: set when the server has said something, or is gone."""

    def end(self, direction: Direction) -> _End:
        """Return where a message goes."""
        return self.server if direction == "c2s" else self.client


class Proxy:
    """A proxy on a port of its own. `faults` come one after the other; behind a kill messages are counted anew.

    `restart` kills the server and starts it again; `server` says where it is.
    """

    def __init__(
        self,
        server: Callable[[], Address],
        restart: Callable[[], None],
        faults: Sequence[Network | ServerKill] = (),
    ) -> None:
        self._server = server
        self._restart = restart
        self._faults = deque((fault, happening_of(fault)) for fault in faults)
        self.fired: list[Network | ServerKill] = []
        """What has happened of the faults."""
        self.failure: Exception | None = None
        """What the server could not be started again for."""
        self.messages: list[Message] = []
        self._since_kill: list[Message] = []
        self._links: list[_Link] = []
        self._late: list[_Link] = []
        self._commands: queue.SimpleQueue[tuple[Callable[[], object], threading.Event]] = queue.SimpleQueue()
        self._is_closing = False
        self._listener = socket.create_server((HOST, 0))
        self._wake, self._woken = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._selector.register(self._woken, selectors.EVENT_READ, self._obey)
        self.address: Address = (HOST, self._listener.getsockname()[1])
        """Where a client finds it."""
        self._thread = threading.Thread(target=self._run, daemon=True, name="perdure-proxy")
        self._thread.start()

    def answered(self) -> None:
        """The client has answered its user, or was ended: a late reply goes on, an idle connection is cut."""
        self._do(self._after_answer)

    def arrive(self, timeout_s: float) -> bool:
        """Let late requests reach the server: the client has sent them again, and was answered.

        Return whether the server answered each, or hung up, in time.
        """
        events: list[threading.Event] = []
        self._do(lambda: events.extend(self._let_arrive()))
        return all(event.wait(timeout_s) for event in events)

    def calm(self) -> None:
        """Let nothing happen any more."""
        self._do(self._faults.clear)

    def close(self) -> None:
        """Close every connection and the port."""
        if not self._is_closing:
            self._do(self._stop)
            self._thread.join(_A_STEP_TAKES_AT_MOST_S)

    # On the thread of the proxy

    def _do(self, command: Callable[[], object]) -> None:
        """Have something done between two messages, and wait until it is."""
        done = threading.Event()
        self._commands.put((command, done))
        self._wake.send(b".")
        assert done.wait(_A_STEP_TAKES_AT_MOST_S), "the proxy does not come back"

    def _stop(self) -> None:
        self._is_closing = True

    def _obey(self, _mask: int) -> None:
        self._woken.recv(_READ_BYTES)
        while not self._commands.empty():
            command, done = self._commands.get()
            command()
            done.set()

    def _run(self) -> None:
        try:
            while not self._is_closing:
                for key, mask in self._selector.select():
                    key.data(mask)
        finally:
            for link in [*self._links, *self._late]:
                self._shut(link.client)
                self._shut(link.server)
            self._selector.close()
            for each in (self._listener, self._woken):
                each.close()
            self._wake.close()

    def _accept(self, _mask: int) -> None:
        connection, _ = self._listener.accept()
        server = socket.socket()
        server.settimeout(0)  # A server that accepts nothing is waited for by who wants it, and not by the proxy.
        if server.connect_ex(self._server()) not in {0, errno.EINPROGRESS}:
            server.close()
            _reset(connection)
            connection.close()
            return
        link = _Link(_End(connection), _End(server))
        self._links.append(link)
        self._open(link.client, link, "c2s")
        self._open(link.server, link, "s2c")

    def _open(self, end: _End, link: _Link, direction: Direction) -> None:
        def ready(mask: int) -> None:
            if mask & selectors.EVENT_WRITE and end.is_open:
                self._write(end)
            if mask & selectors.EVENT_READ and end.is_open:
                self._read(end, link, direction)

        end.ready = ready
        end.socket.settimeout(0)
        end.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._watch(end)

    def _read(self, end: _End, link: _Link, direction: Direction) -> None:
        try:
            data = end.socket.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            self._hung_up(end, link, direction, is_reset=True)
            return
        if data:
            self._came(link, direction, data)
        else:
            self._hung_up(end, link, direction, is_reset=False)

    def _came(self, link: _Link, direction: Direction, data: bytes) -> None:
        """Take what came in one direction."""
        if link.reached_server is not None:  # An answer that nobody waits for any more.
            self._gone(link)
            return
        if link.message is None or link.message.direction != direction:
            if link.is_late and direction == "c2s":  # The client goes on without the reply; it finds it later.
                self._release(link)
            self._begin(link, direction)
        assert link.message is not None
        before = link.message.size_bytes
        link.message.size_bytes += len(data)
        if link.happening is None:
            self._send(link.end(direction), data)
        else:
            self._disturb(link, link.happening, data, before)

    def _begin(self, link: _Link, direction: Direction) -> None:
        link.message = Message(direction)
        self.messages.append(link.message)
        self._since_kill.append(link.message)
        link.happening = None
        if self._faults and self._is_meant(self._faults[0][0], direction):
            happening = self._faults[0][1]
            if happening.what == "idle":
                link.is_idle_cut = happening
            else:
                link.happening = happening

    def _is_meant(self, fault: Network | ServerKill, direction: Direction) -> bool:
        if isinstance(fault, ServerKill):
            return fault.message == len(self._since_kill)
        same = sum(1 for message in self._since_kill if message.direction == direction)
        return (fault.direction, fault.message) == (direction, same)

    def _disturb(self, link: _Link, happening: Happening, data: bytes, before: int) -> None:
        assert link.message is not None
        match happening.what:
            case "cut":
                going = happening.size_bytes - before
                self._send(link.end(link.message.direction), data[:going])
                if len(data) >= going:
                    self._happened()
                    self._cut(link, is_reset=happening.is_reset)
            case "late" if link.message.direction == "s2c":
                if not link.is_late:
                    self._happened()
                    link.is_late = True
                link.late += data
            case "late":
                link.late += data
                if len(link.late) >= happening.size_bytes:
                    self._happened()
                    self._links.remove(link)
                    self._late.append(link)
                    self._finish(link.client, "reset" if happening.is_reset else "whole")
            case "kill":
                self._happened()
                self._kill()
            case "idle":
                raise AssertionError("it happens to no message")

    def _happened(self) -> None:
        fault, _ = self._faults.popleft()
        self.fired.append(fault)

    def _kill(self) -> None:
        """Kill the server, start it again, and only then cut every connection."""
        try:
            self._restart()
        except Exception as error:  # noqa: BLE001 - told to whoever asks
            self.failure = error
        self._since_kill.clear()
        for link in list(self._links):
            self._cut(link, is_reset=False)
        for link in list(self._late):
            self._gone(link)

    def _after_answer(self) -> None:
        for link in list(self._links):
            if link.is_late:
                self._release(link)
            if link.is_idle_cut is not None:
                self._cut(link, is_reset=link.is_idle_cut.is_reset)

    def _release(self, link: _Link) -> None:
        link.is_late, link.happening = False, None
        self._send(link.client, bytes(link.late))
        link.late.clear()

    def _let_arrive(self) -> list[threading.Event]:
        events = []
        for link in list(self._late):
            link.reached_server = threading.Event()
            events.append(link.reached_server)
            if link.server.is_open:
                self._send(link.server, bytes(link.late))
            else:
                self._gone(link)
        return events

    def _gone(self, link: _Link) -> None:
        """A late request has had its effect, or never will."""
        if link in self._late:
            self._late.remove(link)
        self._finish(link.server, "whole")
        if link.reached_server is not None:
            link.reached_server.set()

    def _hung_up(self, end: _End, link: _Link, direction: Direction, *, is_reset: bool) -> None:
        if link in self._late:
            self._shut(end)
            self._gone(link)
        elif is_reset or direction == "s2c" or link.is_late:  # Who hangs up does not want a late reply any more.
            self._cut(link, is_reset=is_reset)
        else:  # The client says no more; the server may.
            end.reads = False
            self._watch(end)
            self._finish(link.server, "half")

    def _cut(self, link: _Link, *, is_reset: bool) -> None:
        """End both sides, once what was given on is written. A connection that ends by itself need not be cut idle."""
        if link in self._links:
            self._links.remove(link)
        if link.is_idle_cut is not None:
            self._happened()
            link.is_idle_cut = None
        for end in (link.client, link.server):
            self._finish(end, "reset" if is_reset else "whole")

    def _send(self, end: _End, data: bytes) -> None:
        if end.is_open:
            end.unsent += data
            self._write(end)

    def _finish(self, end: _End, how: Literal["half", "whole", "reset"]) -> None:
        if end.is_open:
            end.closing = how
            self._write(end)

    def _write(self, end: _End) -> None:
        try:
            while end.unsent:
                del end.unsent[: end.socket.send(end.unsent)]
        except BlockingIOError:
            self._watch(end)
            return
        except OSError:
            end.unsent.clear()
        if end.closing == "half":
            with contextlib.suppress(OSError):
                end.socket.shutdown(socket.SHUT_WR)
        elif end.closing:
            if end.closing == "reset":
                _reset(end.socket)
            self._shut(end)
            return
        self._watch(end)

    def _watch(self, end: _End) -> None:
        """Look at what an end can do now, as far as anything is wanted of it."""
        wanted = (selectors.EVENT_READ if end.reads else 0) | (selectors.EVENT_WRITE if end.unsent else 0)
        if end.watched == wanted:
            return
        if end.watched:
            self._selector.unregister(end.socket)
        if wanted:
            self._selector.register(end.socket, wanted, end.ready)
        end.watched = wanted

    def _shut(self, end: _End) -> None:
        if end.is_open:
            end.is_open, end.reads = False, False
            end.unsent.clear()
            self._watch(end)
            end.socket.close()


def _reset(connection: socket.socket) -> None:
    """Let the connection be reset when it is closed."""
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
