"""The client of a journal server: `ADDRESS` says where it is, as HOST:PORT, `TIMEOUT_S` how long it may take.

perdure crash tcp_journal:TcpJournal --layer net --server "python tcp_server.py {port} {state_dir}" --connect ADDRESS
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from perdure.journal.contract import (
    FLOOR,
    AppendAnswer,
    Capabilities,
    Description,
    Envelope,
    EventIdConflict,
    NotStored,
    Page,
    SequenceConflict,
    Unavailable,
    acknowledge,
    invalid_or_too_large,
)
from perdure.kernel.identity import EventId, RunId


class NothingSent(Exception):
    """There is no connection: whatever was to be asked, the server has not seen it."""


class NoAnswer(Exception):
    """The connection ended, or nothing came in time: the server may have done what it was asked for, or not."""


class TcpJournal:
    """Asks over one connection, and hangs up when an answer does not come: it could only be taken for the next one."""

    description = Description(
        name="tcp",
        version="1",
        capabilities=Capabilities(
            exact_replay=True,
            event_id_dedup=True,
            atomic_batch=True,
            multi_process=True,
            durable="process-crash",
            read="linearizable",
        ),
        limits=FLOOR,
    )
    timeout_s = float(os.environ.get("TIMEOUT_S", "2"))

    def __init__(self, state_dir: Path, namespace: str, address: str | None = None) -> None:
        host, _, port = (os.environ["ADDRESS"] if address is None else address).rpartition(":")
        self._address = (host, int(port))
        self._place = f"{state_dir}/{namespace}"
        self._connection: socket.socket | None = None
        self._replies: BinaryIO | None = None

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Have the server compare and store. What became of it without an answer, nobody here can know."""
        del epoch  # Without leases there are no epochs.
        refusal = invalid_or_too_large(expected_next, records, FLOOR)
        if refusal is not None:
            return refusal
        request = {"append": f"{self._place}/{run_id}", "at": expected_next, "records": len(records)}
        rows = [[record.sequence, record.event_id, record.body] for record in records]
        try:
            answer = self.ask(request, *rows)
        except NothingSent as error:
            return NotStored(detail=str(error))
        except NoAnswer as error:
            return Unavailable(detail=str(error))
        match answer:
            case {"acknowledged": True}:
                return acknowledge(records)
            case {"refused": "event_id_conflict"}:
                return EventIdConflict()
            case _:
                return SequenceConflict(actual_next=answer["actual_next"])

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> Page | Unavailable:
        """Ask for a page."""
        try:
            answer = self.ask({"load": f"{self._place}/{run_id}", "from": from_sequence, "limit": limit})
        except (NothingSent, NoAnswer) as error:
            return Unavailable(detail=str(error))
        records = (Envelope(sequence, EventId(event_id), body) for sequence, event_id, body in answer["records"])
        return Page(tuple(records), end=answer["end"])

    def close(self) -> None:
        """Hang up."""
        self.hang_up()

    def ask(self, *lines: object) -> dict[str, Any]:
        """Send lines and return the reply. Raises `NothingSent`, `NoAnswer`."""
        connection, replies = self.connected()
        try:
            connection.sendall(b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines))
            reply = replies.readline()
        except OSError as error:
            self.hang_up()
            raise NoAnswer(str(error)) from error
        if not reply.endswith(b"\n"):
            self.hang_up()
            raise NoAnswer("the server hung up")
        answer: dict[str, Any] = json.loads(reply)
        return answer

    def connected(self) -> tuple[socket.socket, BinaryIO]:
        """Return the connection, made now if there is none. Raises `NothingSent`."""
        if self._connection is None or self._replies is None:
            try:
                self._connection = socket.create_connection(self._address, self.timeout_s)
            except OSError as error:
                raise NothingSent(str(error)) from error
            self._replies = self._connection.makefile("rb")
        return self._connection, self._replies

    def hang_up(self) -> None:
        """Have no connection any more."""
        for each in (self._replies, self._connection):
            if each is not None:
                with contextlib.suppress(OSError):
                    each.close()
        self._connection = self._replies = None
