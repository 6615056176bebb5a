"""A journal server, as small as it gets: JSON lines over TCP, runs in SQLite.

python tcp_server.py PORT FOLDER
"""

from __future__ import annotations

import json
import socket
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Any

Record = list[Any]
"""Sequence, event id, body."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS records (
    run TEXT, sequence INTEGER, event_id TEXT, body TEXT, PRIMARY KEY (run, sequence), UNIQUE (run, event_id)
)
"""


class Server:
    """One database, a thread for each connection, one request at a time.

    A request is a line, `{"append": RUN, "at": SEQUENCE, "records": COUNT}`, with a line for each record behind it, or
    `{"load": RUN, "from": SEQUENCE, "limit": COUNT}`. One that is cut off is as if it had never come.
    """

    def __init__(self, listener: socket.socket, folder: Path) -> None:
        self._listener = listener
        self._lock = threading.Lock()
        self._database = sqlite3.connect(folder / "journal.sqlite", check_same_thread=False, isolation_level=None)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = FULL")
        self._database.execute(SCHEMA)

    def serve(self) -> None:
        """Take connections, until the listener is closed."""
        while True:
            connection, _ = self._listener.accept()
            threading.Thread(target=self.converse, args=(connection,), daemon=True).start()

    def converse(self, connection: socket.socket) -> None:
        """Answer what comes on one connection, until it ends."""
        with connection, connection.makefile("rwb") as stream:
            try:
                while (request := read_line(stream)) is not None:
                    answer = self.answer(request, stream)
                    if answer is None:
                        return
                    stream.write(json.dumps(answer, ensure_ascii=False).encode() + b"\n")
                    stream.flush()
            except OSError:  # The client is gone. What it asked for is done, or never was.
                return

    def answer(self, request: dict[str, Any], stream: BufferedIOBase) -> dict[str, Any] | None:
        """Return the answer to one request; None if it is cut off."""
        if "load" in request:
            with self._lock:
                return self.load(request["load"], request["from"], request["limit"])
        records = [read_line(stream) for _ in range(request["records"])]
        if None in records:
            return None
        with self._lock, self.transaction():
            return self.append(request["append"], request["at"], records)

    def append(self, run: str, sequence: int, records: list[Record]) -> dict[str, Any]:
        """Compare, and store whole."""
        if self.rows(run, sequence, len(records)) == records:
            return {"acknowledged": True}
        if any(self.holds(run, event_id) for _, event_id, _ in records):
            return {"refused": "event_id_conflict"}
        if self.following(run) != sequence:
            return {"refused": "sequence_conflict", "actual_next": self.following(run)}
        self.store(run, records)
        return {"acknowledged": True}

    def load(self, run: str, sequence: int, limit: int) -> dict[str, Any]:
        """Return a page."""
        rows = self.rows(run, sequence, limit)
        return {"records": rows, "end": sequence + len(rows) >= self.following(run)}

    def rows(self, run: str, sequence: int, limit: int) -> list[Record]:
        """Return what is stored from a sequence on."""
        query = "SELECT sequence, event_id, body FROM records WHERE run = ? AND sequence >= ? ORDER BY sequence LIMIT ?"
        return [list(row) for row in self._database.execute(query, (run, sequence, limit))]

    def holds(self, run: str, event_id: str) -> bool:
        """Tell whether a run has an event id."""
        query = "SELECT 1 FROM records WHERE run = ? AND event_id = ?"
        return self._database.execute(query, (run, event_id)).fetchone() is not None

    def following(self, run: str) -> int:
        """Return a run's next sequence."""
        query = "SELECT coalesce(max(sequence), 0) + 1 FROM records WHERE run = ?"
        return int(self._database.execute(query, (run,)).fetchone()[0])

    def store(self, run: str, records: list[Record]) -> None:
        """Add records to a run."""
        self._database.executemany("INSERT INTO records VALUES (?, ?, ?, ?)", [(run, *record) for record in records])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do all of it or nothing, and have it on the disk at the end."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")


def read_line(stream: BufferedIOBase) -> Any:
    """Return the value on the next line; None if the connection ends before the line does."""
    line = stream.readline()
    return json.loads(line) if line.endswith(b"\n") else None


def listen(port: int) -> socket.socket:
    """Return a listener on this machine alone."""
    return socket.create_server(("127.0.0.1", port))


if __name__ == "__main__":
    Server(listen(int(sys.argv[1])), Path(sys.argv[2])).serve()
