"""The TCP journal of the examples, in this process: a server that can be killed, a client that is told where it is."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tcp_journal import TcpJournal
from tcp_server import Server, listen

from perdure_conformance.crash.network import Subject
from perdure_conformance.crash.proxy import Address
from perdure_conformance.crash.servers import ServerFault
from perdure_conformance.harness.targets import PythonTarget, Target
from perdure_conformance.journal.dispatch import Dispatcher

EXAMPLE = Path(__file__).resolve().parents[2] / "conformance" / "examples" / "tcp-journal"


class Listener(socket.socket):
    """Remembers what it has accepted, so that all of it can be cut at once."""

    def __init__(self) -> None:
        super().__init__(fileno=listen(0).detach())
        self.accepted: list[socket.socket] = []

    def accept(self) -> tuple[socket.socket, tuple[str, int]]:
        connection, address = super().accept()
        self.accepted.append(connection)
        return connection, address


class ThreadedServer:
    """A server on threads: what is not committed when it is killed is gone, as after a kill −9."""

    def __init__(self, kind: type[Server], folder: Path) -> None:
        self._kind = kind
        self._folder = folder
        self._running: tuple[Server, Listener] | None = None

    def start(self) -> Address:
        listener = Listener()
        try:
            server = self._kind(listener, self._folder)
        except SystemExit as error:
            listener.close()
            raise ServerFault(f"{error}") from error
        server._database.execute("PRAGMA synchronous = OFF")  # A kill loses nothing that the system has.
        self._running = server, listener
        threading.Thread(target=partial(_serve, server), daemon=True).start()
        host, port = listener.getsockname()
        return host, port

    def kill(self) -> None:
        if self._running is None:
            return
        (server, listener), self._running = self._running, None
        for each in (listener, *listener.accepted):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        listener.close()
        server._lock.acquire(timeout=0.5)
        server._database.close()


def _serve(server: Server) -> None:
    with contextlib.suppress(OSError):
        server.serve()


def subject(
    kind: type[Server] = Server, client: type[TcpJournal] = TcpJournal, client_timeout_s: float = 0.1
) -> Subject:
    """Return the example, or what is wrong with it, in this process."""
    quick = type(client.__name__, (client,), {"timeout_s": client_timeout_s})

    def adapter(address: Address) -> Target:
        factory: Callable[..., object] = partial(quick, address="{}:{}".format(*address))
        return PythonTarget(client.__name__, factory, f"{client.__module__}:{client.__name__}", Dispatcher)

    return Subject(adapter, partial(ThreadedServer, kind), timeout_s=5.0, patience_s=0.0)
