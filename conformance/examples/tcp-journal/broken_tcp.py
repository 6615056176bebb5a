"""Servers and clients that are broken on purpose, each in one place, and what each of them does wrong is its name.

python broken_tcp.py SERVER PORT FOLDER
perdure crash broken_tcp:CutMeansNotStored --layer net --server "…" --connect ADDRESS
"""

from __future__ import annotations

import json
import socket
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Any

from tcp_journal import NoAnswer, TcpJournal
from tcp_server import Record, Server, listen, read_line

from perdure.journal.contract import (
    Acknowledged,
    AppendAnswer,
    Envelope,
    NotStored,
    SequenceConflict,
    Unavailable,
    acknowledge,
)
from perdure.kernel.identity import EventId, RunId


class AcknowledgesBeforeItCommits(Server):
    """Leaves each transaction open until the next append."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what came before, and nothing of what comes now."""
        if self._database.in_transaction:
            self._database.execute("COMMIT")
        self._database.execute("BEGIN IMMEDIATE")
        yield


class AppliesARetryAgain(Server):
    """Takes a batch whose sequences are taken to be meant for the end."""

    def append(self, run: str, sequence: int, records: list[Record]) -> dict[str, Any]:
        """Store what is a replay once more, under ids that do not collide."""
        if self.rows(run, sequence, len(records)) == records:
            following = self.following(run)
            again = [[following + index, str(uuid.uuid4()), record[2]] for index, record in enumerate(records)]
            self.store(run, again)
            return {"acknowledged": True}
        return super().append(run, sequence, records)


class RefusesARetry(Server):
    """Knows each event id again, and not that it is the same batch."""

    def append(self, run: str, sequence: int, records: list[Record]) -> dict[str, Any]:
        """Look for event ids first."""
        if any(self.holds(run, event_id) for _, event_id, _ in records):
            return {"refused": "event_id_conflict"}
        return super().append(run, sequence, records)


class StoresAsItComes(Server):
    """Stores each record as soon as its line is there."""

    def answer(self, request: dict[str, Any], stream: BufferedIOBase) -> dict[str, Any] | None:
        """Commit each record by itself."""
        if "load" in request:
            return super().answer(request, stream)
        answer = None
        for index in range(request["records"]):
            record = read_line(stream)
            if record is None:
                return None
            with self._lock, self.transaction():
                answer = self.append(request["append"], request["at"] + index, [record])
            if "refused" in answer:
                return answer
        return answer


class KeepsItsLock(Server):
    """Locks the database as soon as an append begins, and forgets that when the connection is cut."""

    def answer(self, request: dict[str, Any], stream: BufferedIOBase) -> dict[str, Any] | None:
        """Lock first, read then."""
        if "load" in request:
            return super().answer(request, stream)
        self._lock.acquire()
        records = [read_line(stream) for _ in range(request["records"])]
        if None in records:
            return None
        with self.transaction():
            answer = self.append(request["append"], request["at"], records)
        self._lock.release()
        return answer


class DoesItAgainAtTheStart(Server):
    """Keeps a log of what it was asked, for the case that it dies, and does all of it again."""

    def __init__(self, listener: socket.socket, folder: Path) -> None:
        super().__init__(listener, folder)
        self._log = folder / "redo.log"
        for line in self._log.read_text("utf-8").splitlines() if self._log.exists() else []:
            run, records = json.loads(line)
            following = self.following(run)
            super().store(run, [[following + n, str(uuid.uuid4()), record[2]] for n, record in enumerate(records)])

    def store(self, run: str, records: list[Record]) -> None:
        """Log first."""
        with self._log.open("a", encoding="utf-8") as log:
            log.write(json.dumps([run, records]) + "\n")
        super().store(run, records)


class LeavesALock(Server):
    """Does not start where another one has not ended in good order."""

    def __init__(self, listener: socket.socket, folder: Path) -> None:
        super().__init__(listener, folder)
        lock = folder / "lock"
        if lock.exists():
            raise SystemExit("another server is running on this folder")
        lock.touch()


class CutMeansNotStored(TcpJournal):
    """Says that nothing is stored when no answer came."""

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Be sure of what nobody knows."""
        answer = super().append(run_id, expected_next, records, epoch)
        return NotStored(detail=answer.detail) if isinstance(answer, Unavailable) else answer


class CutMeansStored(TcpJournal):
    """Says that all is stored when it was sent."""

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Be sure of what nobody knows."""
        answer = super().append(run_id, expected_next, records, epoch)
        return acknowledge(records) if isinstance(answer, Unavailable) else answer


class RetriesUnderANewIdentity(TcpJournal):
    """Sends what got no answer again, as other records, and where there is room for them."""

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Try until something is stored."""
        answer = super().append(run_id, expected_next, records, epoch)
        if not isinstance(answer, Unavailable):
            return answer
        answer = super().append(run_id, expected_next, _renamed(records, expected_next), epoch)
        if isinstance(answer, SequenceConflict):
            following = answer.actual_next
            answer = super().append(run_id, following, _renamed(records, following), epoch)
        return acknowledge(records) if isinstance(answer, Acknowledged) else answer


def _renamed(records: Sequence[Envelope], first: int) -> list[Envelope]:
    return [Envelope(first + index, EventId(str(uuid.uuid4())), record.body) for index, record in enumerate(records)]


class KeepsAnUnreadReply(TcpJournal):
    """Goes on with a connection on which a reply did not come in time."""

    def ask(self, *lines: object) -> dict[str, Any]:
        """Wait, and take the reply that comes next for the one to what was asked last."""
        connection, _ = self.connected()
        try:
            connection.sendall(b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines))
            reply = self._read_reply(connection)
        except TimeoutError as error:
            raise NoAnswer(str(error)) from error
        except OSError as error:
            self.hang_up()
            raise NoAnswer(str(error)) from error
        if not reply:
            self.hang_up()
            raise NoAnswer("the server hung up")
        answer: dict[str, Any] = json.loads(reply)
        return answer

    def _read_reply(self, connection: socket.socket) -> bytes:
        reply = b""
        while not reply.endswith(b"\n"):
            byte = connection.recv(1)
            if not byte:
                return b""
            reply += byte
        return reply


if __name__ == "__main__":
    servers = {each.__name__: each for each in Server.__subclasses__()}
    servers[sys.argv[1]](listen(int(sys.argv[2])), Path(sys.argv[3])).serve()
