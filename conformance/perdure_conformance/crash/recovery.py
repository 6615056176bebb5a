"""How thousands of crash states are put before a journal: each as a folder, which it opens, by `recover` if it can.

A Python journal is opened in this process. A program that offers `recover` is asked again and again; any other is
started anew for each opening, which is slower and has the same verdict.

Source: `docs/spec/protocol.md`, `recover`.
"""

from __future__ import annotations

import os
import queue
import shutil
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

import msgspec

from perdure.journal.contract import Capabilities, Description, Unavailable
from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.crash.disk import Image
from perdure_conformance.crash.judge import TRIES, Expectation, Journal, Recovered, Refused, recover
from perdure_conformance.harness.connection import AdapterFault, Connection, Unsupported
from perdure_conformance.harness.dispatch import Served
from perdure_conformance.harness.process import STDERR_KEPT_BYTES, ProcessConnection
from perdure_conformance.harness.schemas import Remembered, Repeated
from perdure_conformance.harness.targets import CommandTarget, PythonTarget, Target
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.interrupts import Interrupted, owe, settle, uninterrupted
from perdure_conformance.journal.client import Answer, JournalClient, NotSupported

_TRIES_TO_REMOVE: Final = 20
_IN_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - where syncs of recovered journals cost nothing


@dataclass(frozen=True, slots=True)
class LastWords:
    """What was said in one recovery, for people: nothing is judged by it."""

    stderr: str = ""
    """The end of standard error, or the traceback of an exception."""
    transcript: str = ""
    """What was asked and answered; of a program that stays, since it was started."""


class Recoverer(Protocol):
    """What opens states, one after the other."""

    @property
    def description(self) -> Description:
        """Who the journal is, and what it claims."""
        ...

    @property
    def claims(self) -> Capabilities:
        """What the journal claims."""
        ...

    @property
    def timeout_s(self) -> float:
        """How long one answer may take."""
        ...

    def recovered(self, folder: Path, expectation: Expectation) -> Recovered:
        """Return what comes back from the state in a folder, which is changed by that, and removed in its time."""
        ...

    def last_words(self) -> LastWords:
        """Return what was said in the last recovery; a program is ended for that, since only then all is heard."""
        ...

    def close(self) -> None:
        """Let go of all that is open."""
        ...


@contextmanager
def recoverer(target: Target, timeout_s: float) -> Iterator[Recoverer]:
    """Open a target for many states."""
    with scratch() as folder:
        found: Recoverer = (
            InThisProcess(target, timeout_s, folder)
            if isinstance(target, PythonTarget)
            else InItsOwnProcess(target, timeout_s, folder)
        )
        try:
            yield found
        finally:
            found.close()


@contextmanager
def scratch(place: Path | None = None) -> Iterator[Path]:
    """Make a folder for states, in memory if there is such a place and no other is given; remove it at the end."""
    if place is None and os.access(_IN_MEMORY, os.W_OK):
        place = _IN_MEMORY
    with uninterrupted():
        folder = Path(tempfile.mkdtemp(prefix="perdure-crash-", dir=place))
        owe(folder, lambda: _remove(folder))
    try:
        yield folder
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder, though something may still be put into it."""
    for _ in range(_TRIES_TO_REMOVE):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            settle(folder)
            return


def lay_out(image: Image, folder: Path) -> None:
    """Put what a disk holds into a new folder."""
    folder.mkdir()
    for path in sorted(image.folders):
        folder.joinpath(path).mkdir()
    for path, content in image.files.items():
        descriptor = os.open(f"{folder}/{path}", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            _write(descriptor, content)
        finally:
            os.close(descriptor)
    for path, same in image.links.items():
        folder.joinpath(path).hardlink_to(folder / same)


def _write(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


class _Former:
    """The folder of the last state: it stays until another is open, since its files may be looked at until then."""

    def __init__(self) -> None:
        self._folder: Path | None = None

    def give_way_to(self, folder: Path | None) -> None:
        """Remove it."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = folder


class InThisProcess:
    """A Python journal, on a thread of its own, so that one that hangs can be left behind."""

    def __init__(self, target: PythonTarget, timeout_s: float, folder: Path) -> None:
        self._target = target
        self.timeout_s = timeout_s
        self._former = _Former()
        self.description = self._begin(folder)

    @property
    def claims(self) -> Capabilities:
        """What it claims."""
        return self.description.capabilities

    def _begin(self, folder: Path) -> Description:
        self._work: queue.SimpleQueue[Callable[[], Recovered] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Recovered] = queue.SimpleQueue()
        self._direct = Direct(self._target.dispatcher(self._target.factory))
        self._thread = threading.Thread(
            target=_work, args=(self._work, self._done), daemon=True, name="perdure-recovery"
        )
        self._thread.start()
        return JournalClient(self._direct).initialize(folder)

    def recovered(self, folder: Path, expectation: Expectation) -> Recovered:
        """Recover one state within the time-out."""
        client = JournalClient(self._direct)
        self._direct.said = ""
        self._work.put(lambda: recover(lambda: _reopened(client, folder), expectation))
        try:
            return self._done.get(timeout=self.timeout_s)
        except queue.Empty:
            self._begin(folder.parent)
            return Recovered(refused=Refused(f"nothing came within {self.timeout_s:g} s"))
        finally:
            self._former.give_way_to(folder)

    def last_words(self) -> LastWords:
        """Return the traceback of what it raised last, if it did."""
        return LastWords(self._direct.stderr())

    def close(self) -> None:
        """Close the journal, and end the thread."""
        self._work.put(None)
        self._thread.join(self.timeout_s)  # What it still does would be left behind.
        with suppress(AdapterFault):
            self._direct.call("shutdown", {})
        self._former.give_way_to(None)


_REPLIES: Final = Remembered()


def _remembering(command: Sequence[str], timeout_s: float, transcript: Transcript) -> Connection:
    return ProcessConnection(command, timeout_s, transcript, _REPLIES)


def _work(work: queue.SimpleQueue[Callable[[], Recovered] | None], done: queue.SimpleQueue[Recovered]) -> None:
    while (job := work.get()) is not None:
        done.put(job())


class Direct:
    """A connection to a Python journal on the calling thread. Whatever it raises is a fault."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self.said = ""
        """The traceback of the last exception."""

    def call(self, method: str, params: JsonObject) -> JsonObject:
        try:
            result: JsonValue = self._served.dispatch(method, params)
        except (AdapterFault, Unsupported, Interrupted):
            raise
        except BaseException as error:
            self.said = "".join(traceback.format_exception(error))
            sentence = f"{method} raised {type(error).__name__}: {str(error)[:300]!a}."
            raise AdapterFault("error", sentence, self.said) from error
        assert isinstance(result, dict)
        return result

    def close(self) -> None:
        self.call("shutdown", {})

    def kill(self) -> None:
        pass

    def stderr(self) -> str:
        return self.said


class InItsOwnProcess:
    """A program. It is started once, if it offers `recover`; else for each opening."""

    def __init__(self, target: Target, timeout_s: float, folder: Path) -> None:
        self._target = target if not isinstance(target, CommandTarget) else replace(target, connect=_remembering)
        self.timeout_s = timeout_s
        self._folder = folder
        self._connection: Connection | None = None
        self._client: JournalClient | None = None
        self._former = _Former()
        self._transcript = Transcript()
        self._said = ""
        """The end of what was written to standard error in this recovery, by programs that have ended."""
        self._said_before = ""
        """What the program that runs wrote to it before this recovery."""
        self.is_served = True
        """Whether it offers `recover`, as far as is known."""
        self.description = self._start(folder)

    @property
    def claims(self) -> Capabilities:
        """What it claims."""
        return self.description.capabilities

    def recovered(self, folder: Path, expectation: Expectation) -> Recovered:
        """Recover one state."""
        self._said, self._said_before = "", "" if self._connection is None else self._connection.stderr()
        if self._connection is None or not self.is_served:
            self._transcript = Transcript()
        found = recover(lambda: self._open(folder), expectation)
        if found.refused is not None and (found.refused.is_fault or not self.is_served):
            self._kill()  # Whatever state it is in, the next one must not suffer from it.
        self._former.give_way_to(folder)
        return found

    def last_words(self) -> LastWords:
        """End the program, and return what it said."""
        self._kill()
        return LastWords(self._said, self._transcript.text())

    def close(self) -> None:
        """End the program."""
        self._kill()
        self._former.give_way_to(None)

    def _open(self, folder: Path) -> Journal:
        if self.is_served:
            if self._client is None:
                self._start(self._folder)
            assert self._client is not None
            try:
                return _reopened(self._client, folder)
            except Unsupported:
                self.is_served = False
        self._end(lambda connection: connection.close())
        self._start(folder)
        assert self._client is not None
        return _Sound(self._client)

    def _start(self, folder: Path) -> Description:
        self._connection = self._target.open(self.timeout_s, self._transcript)
        self._client = JournalClient(self._connection)
        return self._client.initialize(folder)

    def _kill(self) -> None:
        self._end(lambda connection: connection.kill())

    def _end(self, how: Callable[[Connection], None]) -> None:
        """End the program, if one runs, and keep the end of its standard error."""
        connection, self._connection, self._client = self._connection, None, None
        if connection is None:
            return
        try:
            how(connection)
        finally:
            said = connection.stderr().removeprefix(self._said_before)
            self._said, self._said_before = (self._said + said)[-STDERR_KEPT_BYTES:], ""


class _Sound:
    """A client whose answers are of a known form, or a fault."""

    def __init__(self, client: JournalClient) -> None:
        self._client = client

    def ask(self, method: str, params: JsonObject) -> Answer:
        try:
            return self._client.ask(method, params)
        except msgspec.ValidationError as error:
            raise AdapterFault("wrong_reply", f"The result of {method} is of no known form: {error}.") from error


def _reopened(client: JournalClient, folder: Path) -> Journal:
    """Open a state by `recover`. Raises `AdapterFault`, `Silence`, `Unsupported`."""
    reason = ""
    params = Repeated(path=str(folder))
    params.is_held = True  # All of them have this one form.
    for _ in range(TRIES):
        answer = client.ask("recover", params)
        if isinstance(answer, NotSupported):
            raise Unsupported("recover")
        if not isinstance(answer, Unavailable):
            return _Sound(client)
        reason = answer.detail
    raise AdapterFault("cannot_start", reason or "it answers unavailable")
