"""The server behind a journal: started on a folder of its own, killed, and started again.

Where it listens is said to it by `{port}` in its command, and where it keeps its files by `{state_dir}`. The port is
another one at each start, since the last may not be free yet; a client is given that of the proxy, which stays.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

import msgspec

from perdure_conformance.crash.proxy import HOST, Address
from perdure_conformance.harness.process import end_all, inherited, wait_for
from perdure_conformance.harness.starting import why_not_started
from perdure_conformance.harness.targets import CommandTarget, Target
from perdure_conformance.interrupts import owe, settle, uninterrupted

_LOOK_EVERY_S: Final = 0.005
_LOG_SHOWN_BYTES: Final = 400
_TRIES: Final = 3
_MARKER: Final = "PERDURE_SERVER"


class Behind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The server behind a journal, in words: what starts it, and how the journal is told where it is."""

    command: tuple[str, ...]
    connect: tuple[str, ...] = ()
    """Variables of the journal's environment, as `reached` takes them."""


class ServerFault(Exception):
    """The server does not start, or takes no connections. `str(error)` says what to do."""


class Server(Protocol):
    """A server on one folder. It may be started again once it was killed."""

    def start(self) -> Address:
        """Start it, and return where it listens once it takes connections. Raises `ServerFault`."""
        ...

    def kill(self) -> None:
        """End it at once, with all that it started. Never raises, and may be repeated."""
        ...


MakeServer = Callable[[Path], Server]
"""Makes a server that keeps its files in a folder; it is not started yet."""


class CommandServer:
    """A program."""

    def __init__(self, command: Sequence[str], folder: Path, timeout_s: float) -> None:
        self._command = command
        self._folder = folder
        self._timeout_s = timeout_s
        self._log = folder.with_name(f"{folder.name}.log")
        self._process: subprocess.Popen[bytes] | None = None
        self._marker = ""

    def start(self) -> Address:
        """Start the program, on another port if that one was taken meanwhile."""
        for _ in range(_TRIES):
            with socket.create_server((HOST, 0)) as free:
                port = int(free.getsockname()[1])
            if self._takes_connections(port):
                return HOST, port
        raise ServerFault(f"{self._command[0]!a} ended before it took connections at its {{port}}{self._last_words()}.")

    def kill(self) -> None:
        """Kill −9 its process group, and whatever else it started."""
        process, self._process = self._process, None
        if process is not None:
            end_all(process, f"{_MARKER}={self._marker}")
            settle(self._marker)

    def _takes_connections(self, port: int) -> bool:
        """Start the program and wait until it takes a connection; tell whether it did, or ended."""
        self._marker = secrets.token_hex(16)
        words = [filled(word, {"port": f"{port}", "state_dir": f"{self._folder}"}) for word in self._command]
        with self._log.open("ab") as log, uninterrupted():
            self._process = process = self._started(words, log.fileno())
            owe(self._marker, self.kill)
        if self._is_there(process, port):
            return True
        ended = process.poll() is not None
        self.kill()
        if ended:
            return False
        raise ServerFault(
            f"{words[0]!a} took no connection at port {port} within {self._timeout_s:g} s{self._last_words()}. "
            "Write {port} where it is told its port."
        )

    def _started(self, words: Sequence[str], log: int) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**inherited(), _MARKER: self._marker},
            )
        except (OSError, ValueError) as error:
            raise ServerFault(f"{words[0]!a} cannot be started: {why_not_started(words[0], error)}") from error

    def _is_there(self, process: subprocess.Popen[bytes], port: int) -> bool:
        """Ask until a connection is taken, the program ends, or the time is up: no event says it for every server."""
        deadline = time.monotonic() + self._timeout_s
        ended = os.pidfd_open(process.pid)
        try:
            while time.monotonic() < deadline:
                if _takes_connection(port):
                    return True
                if wait_for([ended], _LOOK_EVERY_S):
                    process.wait()
                    return False
        finally:
            os.close(ended)
        return False

    def _last_words(self) -> str:
        text = self._log.read_bytes()[-_LOG_SHOWN_BYTES:].decode("utf-8", "backslashreplace").strip()
        return f"; it said {text!a}" if text else ""


def _takes_connection(port: int) -> bool:
    try:
        with socket.create_connection((HOST, port)) as connection:
            return bool(connection.getsockname() != connection.getpeername())  # Else it has reached itself.
    except OSError:
        return False


def filled(text: str, values: Mapping[str, str]) -> str:
    """Put values in the place of `{name}`; any other brace stays as it is."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def reached(target: Target, address: Address, variables: Sequence[str]) -> Target:
    """Return a target as a program that is to find its server at an address.

    `{host}` and `{port}` in its command are filled in. `variables` are put into its environment: `NAME=…` with both
    filled in, or `NAME` alone, which means `NAME={host}:{port}`.
    """
    values = {"host": address[0], "port": f"{address[1]}"}
    program = target.as_process()
    assert isinstance(program, CommandTarget)
    settings = [filled(each if "=" in each else f"{each}={{host}}:{{port}}", values) for each in variables]
    words = [filled(word, values) for word in program.command]
    return CommandTarget(("env", *settings, *words) if settings else tuple(words), name=program.name)
