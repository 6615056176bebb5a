"""Many journals behind one adapter: a plain one, some that are odd and good, and many that are broken on purpose.

Usage::

    python3 independent_journals.py VARIANT
    python3 independent_journals.py --list

Their author saw only `docs/spec`: neither the suite, nor its mutants, nor the model. What the suite makes of them tells
whether it judges by the specification or by what it happens to know. Each variant is one small class below, named after
its oddity or its fault and described by its docstring. `--list` prints them as JSON, with the requirements that each
breaks by its author's word.

State is one SQLite file per namespace in `state_dir`, and nothing else. Standard library only; POSIX only.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import random
import re
import sqlite3
import sys
import time
import unicodedata
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

# A method takes what any of the journals needs, and none needs all of it; chance is no secret; SQL is all constants.
# ruff: noqa: ARG002, S311, S608

MIB = 1 << 20
TOP = (1 << 53) - 1
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
METHODS = ("append", "load", "save_snapshot", "load_snapshot", "acquire", "renew", "release")

Answer = dict[str, Any]
Record = dict[str, Any]
Row = tuple[int, str, bytes]


class Batch(NamedTuple):
    """What an append is asked to store."""

    run: str
    expected: int
    epoch: int | None
    records: list[Record]


class Lease(NamedTuple):
    epoch: int
    owner: str
    until: int
    held: int


class Variant(NamedTuple):
    journal: type[Journal]
    kind: Literal["good", "broken"]
    breaks: tuple[str, ...]


VARIANTS: dict[str, Variant] = {}

AnyJournal = TypeVar("AnyJournal", bound="type[Journal]")


def good(journal: AnyJournal) -> AnyJournal:
    """Enter a journal that keeps to the specification."""
    VARIANTS[name_of(journal)] = Variant(journal, "good", ())
    return journal


def broken(*breaks: str) -> Callable[[AnyJournal], AnyJournal]:
    """Enter a journal that breaks these requirements: it may be blamed on any of them."""

    def enter(journal: AnyJournal) -> AnyJournal:
        VARIANTS[name_of(journal)] = Variant(journal, "broken", breaks)
        return journal

    return enter


def name_of(journal: type[Journal]) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Z])", "_", journal.__name__).lower()


class Unsupported(Exception):
    """An operation that is not claimed."""


SCHEMA = """
CREATE TABLE IF NOT EXISTS records (run TEXT, seq INTEGER, event_id TEXT, body BLOB, PRIMARY KEY (run, seq));
CREATE INDEX IF NOT EXISTS ids ON records (run, event_id);
CREATE INDEX IF NOT EXISTS all_ids ON records (event_id);
CREATE TABLE IF NOT EXISTS batches (run TEXT, first INTEGER, count INTEGER, PRIMARY KEY (run, first));
CREATE TABLE IF NOT EXISTS leases (run TEXT PRIMARY KEY, epoch INTEGER, owner TEXT, until INTEGER, held INTEGER);
CREATE TABLE IF NOT EXISTS snaps (run TEXT PRIMARY KEY, seq INTEGER, body BLOB);
CREATE TABLE IF NOT EXISTS meta (run TEXT, k TEXT, v, PRIMARY KEY (run, k));
"""


class Journal:
    """What all the others change: a journal that is right. Each check is a method of its own."""

    caps: ClassVar[dict[str, Any]] = {
        "exact_replay": True,
        "event_id_dedup": True,
        "atomic_batch": True,
        "durable": "process-crash",
        "multi_process": True,
        "snapshots": True,
        "leases": True,
        "fencing": True,
        "read": "linearizable",
    }
    limits: ClassVar[dict[str, int]] = {
        "max_batch_records": 1000,
        "max_batch_bytes": MIB,
        "max_snapshot_bytes": MIB,
    }
    steps: ClassVar[tuple[str, ...]] = ("stale", "replay", "conflict", "sequence")
    """What is asked of an append, in this order, after `invalid_record` and `too_large`."""
    insert: ClassVar[str] = "INSERT"
    db: sqlite3.Connection
    base: str
    force: dict[str, int]
    line_limit: int

    def __init__(self) -> None:
        self.memory: dict[str, Any] = {}
        """Of this process only. The good base keeps nothing in it."""

    # Open and close

    def open(self, state_dir: str, namespace: str, theirs: dict[str, int]) -> None:
        self.base = str(Path(state_dir) / f"journal-{namespace}")
        self.force = {name: min(limit, theirs[name]) for name, limit in self.limits.items()}
        self.line_limit = 2 * max(self.force["max_batch_bytes"], self.force["max_snapshot_bytes"]) + 65536
        self.db = self.connect()
        with self.transaction():
            for statement in SCHEMA.split(";"):
                self.db.execute(statement)
        self.opened()

    def connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.base + ".db", timeout=20, isolation_level=None)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        return db

    def opened(self) -> None:
        pass

    def close(self) -> None:
        self.db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def one(self, sql: str, *arguments: object) -> Any:
        row = self.db.execute(sql, arguments).fetchone()
        return row[0] if row else None

    def get(self, run: str, key: str, default: Any = None) -> Any:
        value = self.one("SELECT v FROM meta WHERE run=? AND k=?", run, key)
        return default if value is None else value

    def put(self, run: str, key: str, value: object) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?,?,?)", (run, key, value))

    def refuse(self, why: str, **more: object) -> Answer:
        return {"refused": why, **more}

    # Append

    def append(self, batch: Batch) -> Answer:
        if self.invalid(batch):
            return self.refuse("invalid_record")
        if self.oversize(batch.records):
            return self.refuse("too_large")
        with self.transaction():
            return self.decide(batch)

    def decide(self, batch: Batch) -> Answer:
        for step in self.steps:
            answer: Answer | None = getattr(self, step)(batch)
            if answer is not None:
                return answer
        self.store(batch.run, batch.expected, batch.records)
        return self.acknowledge(batch.records)

    def invalid(self, batch: Batch) -> bool:
        return (
            not batch.records
            or self.bad_sequences(batch.expected, batch.records)
            or any(self.bad_id(record["event_id"]) for record in batch.records)
            or self.twice(batch.records)
            or self.bad_bodies(batch.records)
        )

    def bad_sequences(self, expected: int, records: list[Record]) -> bool:
        return [record["sequence"] for record in records] != list(range(expected, expected + len(records)))

    def bad_id(self, event_id: str) -> bool:
        return not UUID.fullmatch(event_id)

    def twice(self, records: list[Record]) -> bool:
        return len({record["event_id"] for record in records}) < len(records)

    def bad_bodies(self, records: list[Record]) -> bool:
        return any(record["body"] == "" for record in records)

    def oversize(self, records: list[Record]) -> bool:
        return (
            len(records) > self.force["max_batch_records"]
            or sum(len(record["body"].encode()) for record in records) > self.force["max_batch_bytes"]
        )

    def stale(self, batch: Batch) -> Answer | None:
        return self.refuse("stale_epoch") if self.is_stale(batch.run, batch.epoch) else None

    def is_stale(self, run: str, epoch: int | None) -> bool:
        return (epoch or 0) < self.top(run)

    def top(self, run: str) -> int:
        return self.one("SELECT epoch FROM leases WHERE run=?", run) or 0

    def replay(self, batch: Batch) -> Answer | None:
        return self.acknowledge_again(batch) if self.is_replay(batch) else None

    def is_replay(self, batch: Batch) -> bool:
        return self.count_at(batch.run, batch.expected) == len(batch.records) and self.is_stored(batch)

    def is_stored(self, batch: Batch) -> bool:
        """Tell whether exactly these records are there, in whatever batches."""
        sent = [(record["sequence"], record["event_id"], record["body"].encode()) for record in batch.records]
        return self.stored(batch.run, batch.expected, len(batch.records)) == sent

    def acknowledge_again(self, batch: Batch) -> Answer:
        return self.acknowledge(batch.records)

    def count_at(self, run: str, first: int) -> int | None:
        """Return the number of records of the batch that was stored here, if one was."""
        count: int | None = self.one("SELECT count FROM batches WHERE run=? AND first=?", run, first)
        return count

    def stored(self, run: str, first: int, count: int) -> list[Row]:
        return self.db.execute(
            "SELECT seq, event_id, body FROM records WHERE run=? AND seq>=? AND seq<? ORDER BY seq",
            (run, first, first + count),
        ).fetchall()

    def conflict(self, batch: Batch) -> Answer | None:
        return self.refuse("event_id_conflict") if any(self.held(batch.run, r) for r in batch.records) else None

    def held(self, run: str, record: Record) -> bool:
        return self.one("SELECT 1 FROM records WHERE run=? AND event_id=?", run, record["event_id"]) is not None

    def sequence(self, batch: Batch) -> Answer | None:
        if batch.expected != self.next(batch.run):
            return self.refuse("sequence_conflict", actual_next=self.actual_next(batch.run))
        return None

    def next(self, run: str) -> int:
        return (self.one("SELECT MAX(seq) FROM records WHERE run=?", run) or 0) + 1

    def actual_next(self, run: str) -> int:
        return self.next(run)

    def store(self, run: str, first: int, records: list[Record]) -> None:
        self.db.executemany(
            self.insert + " INTO records VALUES (?,?,?,?)",
            [(run, at, record["event_id"], record["body"].encode()) for at, record in enumerate(records, first)],
        )
        self.db.execute(self.insert + " INTO batches VALUES (?,?,?)", (run, first, len(records)))

    def acknowledge(self, records: list[Record]) -> Answer:
        return {"acknowledged": [{"sequence": r["sequence"], "event_id": r["event_id"]} for r in records]}

    # Load

    def page(self, run: str, start: int, limit: int) -> Answer:
        records: list[Record] = []
        size = 1024
        for sequence, event_id, body in self.rows(run, start, limit + 1):
            record = {"sequence": sequence, "event_id": event_id, "body": self.out_body(body.decode())}
            size += len(json.dumps(record, ensure_ascii=False).encode()) + 2
            if len(records) == limit or (records and size > self.line_limit):
                return {"records": records, "end": False}
            records.append(record)
        return {"records": records, "end": True}

    def rows(self, run: str, start: int, limit: int) -> list[Row]:
        return self.db.execute(
            "SELECT seq, event_id, body FROM records WHERE run=? AND seq>=? ORDER BY seq LIMIT ?", (run, start, limit)
        ).fetchall()

    def out_body(self, body: str) -> str:
        return body

    # Snapshots

    def save_snapshot(self, run: str, sequence: int, body: str) -> Answer:
        if len(body.encode()) > self.force["max_snapshot_bytes"]:
            return self.refuse("too_large")
        with self.transaction():
            self.put_snapshot(run, sequence, body)
        return {}

    def put_snapshot(self, run: str, sequence: int, body: str) -> None:
        self.db.execute("INSERT OR REPLACE INTO snaps VALUES (?,?,?)", (run, sequence, body.encode()))

    def load_snapshot(self, run: str) -> Answer:
        snapshot = self.find_snapshot(run)
        return {"sequence": snapshot[0], "body": snapshot[1].decode()} if snapshot else {"none": True}

    def find_snapshot(self, run: str) -> tuple[int, bytes] | None:
        row: tuple[int, bytes] | None = self.db.execute("SELECT seq, body FROM snaps WHERE run=?", (run,)).fetchone()
        return row

    # Leases

    def lease(self, run: str) -> Lease | None:
        row = self.db.execute("SELECT epoch, owner, until, held FROM leases WHERE run=?", (run,)).fetchone()
        return Lease(*row) if row else None

    def put_lease(self, run: str, lease: Lease) -> None:
        self.db.execute("INSERT OR REPLACE INTO leases VALUES (?,?,?,?,?)", (run, *lease))

    def acquire(self, run: str, owner: str, ttl: int, now: int) -> Answer:
        with self.transaction():
            lease = self.lease(run)
            if self.is_held(run, lease, owner, now):
                return self.refuse("held")
            epoch = self.new_epoch(run, lease, owner)
            until = self.until(now, ttl, None)
            self.put_lease(run, Lease(epoch, owner, until, held=1))
            return {"epoch": epoch, "until_ms": until}

    def is_held(self, run: str, lease: Lease | None, owner: str, now: int) -> bool:
        return bool(lease and lease.held and now <= lease.until)

    def new_epoch(self, run: str, lease: Lease | None, owner: str) -> int:
        return (lease.epoch if lease else 0) + 1

    def until(self, now: int, ttl: int, before: Lease | None) -> int:
        """Return the end of a lease; `before` is the one that is renewed, None for a grant."""
        return min(now + ttl, TOP)

    def renew(self, run: str, epoch: int, ttl: int, now: int) -> Answer:
        with self.transaction():
            lease = self.lease(run)
            if not lease or not self.may_renew(lease, epoch, now):
                return self.refuse("stale_epoch")
            until = self.until(now, ttl, lease)
            self.put_renewed(run, lease, until, now)
            return {"until_ms": until}

    def may_renew(self, lease: Lease, epoch: int, now: int) -> bool:
        return epoch == lease.epoch

    def put_renewed(self, run: str, lease: Lease, until: int, now: int) -> None:
        self.put_lease(run, lease._replace(until=until, held=1))

    def release(self, run: str, epoch: int) -> Answer:
        with self.transaction():
            lease = self.lease(run)
            if not lease or epoch != lease.epoch:
                return self.refuse("stale_epoch")
            self.put_released(run, lease)
            return {}

    def put_released(self, run: str, lease: Lease) -> None:
        self.put_lease(run, lease._replace(held=0))

    # Which operation

    def claimed(self, method: str) -> bool:
        if method in {"save_snapshot", "load_snapshot"}:
            return bool(self.caps.get("snapshots"))
        if method in {"acquire", "renew", "release"}:
            return bool(self.caps.get("leases"))
        return method in METHODS

    def unsupported(self, method: str) -> Answer:
        raise Unsupported(method)

    def call(self, method: str, params: dict[str, Any]) -> Answer:
        if not self.claimed(method):
            return self.unsupported(method)
        try:
            return self.perform(method, params)
        except sqlite3.Error as error:
            print("sqlite:", error, file=sys.stderr, flush=True)
            return self.refuse("unavailable", detail=str(error))

    def perform(self, method: str, p: dict[str, Any]) -> Answer:
        match method:
            case "append":
                return self.append(Batch(p["run_id"], p["expected_next"], p["epoch"], p["records"]))
            case "load":
                return self.page(p["run_id"], p["from_sequence"], p["limit"])
            case "save_snapshot":
                return self.save_snapshot(p["run_id"], p["sequence"], p["body"])
            case "load_snapshot":
                return self.load_snapshot(p["run_id"])
            case "acquire":
                return self.acquire(p["run_id"], p["owner"], p["ttl_ms"], p["now_ms"])
            case "renew":
                return self.renew(p["run_id"], p["epoch"], p["ttl_ms"], p["now_ms"])
            case _:
                return self.release(p["run_id"], p["epoch"])

    def text(self, message: dict[str, Any]) -> str:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def without(*names: str) -> dict[str, Any]:
    return {name: claim for name, claim in Journal.caps.items() if name not in names}


class Lifecycle(Journal):
    """Tells a first open, a clean reopen and a crash apart by a locked file for each handle."""

    mine: Path

    def opened(self) -> None:
        handles = Path(self.base + ".handles")
        handles.mkdir(exist_ok=True)
        with Path(self.base + ".mutex").open("w") as mutex:
            fcntl.flock(mutex, fcntl.LOCK_EX)
            alive = crashed = False
            for path in handles.iterdir():
                try:
                    handle = os.open(path, os.O_RDWR)
                except FileNotFoundError:  # Closed just now.
                    continue
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    crashed = True
                    path.unlink()
                except BlockingIOError:
                    alive = True
                os.close(handle)
            self.mine = handles / uuid.uuid4().hex
            fcntl.flock(os.open(self.mine, os.O_RDWR | os.O_CREAT), fcntl.LOCK_EX)
            with self.transaction():
                if not alive and self.get("", "opened"):
                    self.restarted(crashed=crashed)
                self.put("", "opened", 1)

    def restarted(self, *, crashed: bool) -> None:
        """Do what is done, in a transaction, at an open at which no other handle is alive."""

    def close(self) -> None:
        self.mine.unlink()
        super().close()

    def cut(self, run: str, last: int) -> None:
        """Lose what comes after `last`."""
        self.db.execute("DELETE FROM records WHERE run=? AND seq>?", (run, last))
        self.db.execute("DELETE FROM batches WHERE run=? AND first+count-1>?", (run, last))

    def runs(self) -> list[str]:
        return [run for (run,) in self.db.execute("SELECT DISTINCT run FROM records").fetchall()]


# Good


@good
class Base(Journal):
    """The plain journal."""


@good
class EpochsJump(Journal):
    """Granted epochs jump by big, seeded steps."""

    def new_epoch(self, run: str, lease: Lease | None, owner: str) -> int:
        chance: random.Random = self.memory.setdefault("chance", random.Random(7))
        return super().new_epoch(run, lease, owner) + chance.randrange(1_000, 1_000_000_000)


@good
class OneRecordPages(Journal):
    """Every page holds one record and says it is not the end; an empty end page comes last."""

    def page(self, run: str, start: int, limit: int) -> Answer:
        answer = super().page(run, start, 1)
        answer["end"] = not answer["records"]
        return answer


@good
class PagesBySize(Journal):
    """Pages end early after about 3 KB, whatever the limit."""

    def opened(self) -> None:
        self.line_limit = 3_000


@good
class CoreOnly(Journal):
    """Claims nothing; leases and snapshots are unsupported."""

    caps: ClassVar[dict[str, Any]] = {}


@good
class CoreWithoutDedup(Journal):
    """Claims nothing and keeps no event ids.

    A replay is a sequence_conflict, a known id at the next sequence is stored.
    """

    caps: ClassVar[dict[str, Any]] = {}
    steps = ("sequence",)


@good
class CoreWritesAtClose(Journal):
    """Claims nothing and writes only at the clean close (shutdown or end of input); a kill loses the session."""

    caps: ClassVar[dict[str, Any]] = {}

    def opened(self) -> None:
        self.db.execute("BEGIN IMMEDIATE")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        inner = self.db.in_transaction
        self.db.execute("SAVEPOINT s" if inner else "BEGIN IMMEDIATE")
        yield
        self.db.execute("RELEASE s" if inner else "COMMIT")

    def close(self) -> None:
        self.db.execute("COMMIT")
        super().close()


class Flaky(Journal):
    """Fails honestly now and then, never twice in a row."""

    one_in: ClassVar[int]
    methods: ClassVar[tuple[str, ...]]

    def __init__(self) -> None:
        super().__init__()
        self.chance = random.Random(20250611)
        self.calm = True

    def perform(self, method: str, p: dict[str, Any]) -> Answer:
        if method not in self.methods or self.calm or self.chance.randrange(self.one_in):
            self.calm = False
            return super().perform(method, p)
        self.calm = True
        if method.startswith("load"):
            return self.refuse("unavailable")
        how = self.chance.choice(("unavailable before", "unavailable after", "not_stored"))
        if how == "unavailable after":
            super().perform(method, p)
        return self.refuse(how.split()[0])


@good
class FlakyAppends(Flaky):
    """One append in nine or so is `unavailable` (stored or not) or an honest `not_stored`, by a seeded generator."""

    one_in = 9
    methods = ("append",)


@good
class FlakyEverything(Flaky):
    """Now and then any operation, a load or an acquire too, is `unavailable` (done or not) or `not_stored`."""

    one_in = 11
    methods = METHODS


@good
class FirstAppendNotStored(Journal):
    """The first append of each process is answered `not_stored`, honestly."""

    def append(self, batch: Batch) -> Answer:
        if not self.memory.get("warm"):
            self.memory["warm"] = True
            return self.refuse("not_stored", detail="connecting")
        return super().append(batch)


@good
class FirstAppendUnavailableButStored(Journal):
    """The first append of each process is stored and answered `unavailable`."""

    def append(self, batch: Batch) -> Answer:
        answer = super().append(batch)
        if not self.memory.get("warm"):
            self.memory["warm"] = True
            return self.refuse("unavailable")
        return answer


@good
class SnapshotsForgottenAtReopen(Journal):
    """Snapshots are kept in the handle's memory, so forgotten at every reopen."""

    def put_snapshot(self, run: str, sequence: int, body: str) -> None:
        self.memory[run] = (sequence, body.encode())

    def find_snapshot(self, run: str) -> tuple[int, bytes] | None:
        return self.memory.get(run)


@good
class FurthestSnapshotWins(Journal):
    """Of two snapshots the one with the furthest sequence is served, not the last saved."""

    def put_snapshot(self, run: str, sequence: int, body: str) -> None:
        old = self.find_snapshot(run)
        if not old or sequence >= old[0]:
            super().put_snapshot(run, sequence, body)


@good
class RefusalsWithDetail(Journal):
    """Every refusal carries a `detail` text, with quotes, newlines and characters beyond ASCII."""

    def refuse(self, why: str, **more: object) -> Answer:
        return {"detail": f'für Menschen: „{why}“\n\t"\u2028" \U0001f6d1', "refused": why, **more}


@good
class SlowStart(Journal):
    """`initialize` is answered only after a second."""

    def open(self, state_dir: str, namespace: str, theirs: dict[str, int]) -> None:
        time.sleep(1)
        super().open(state_dir, namespace, theirs)


@good
class NoisyStderr(Journal):
    """2 MB of logs on standard error at the start and 8 KB at every operation."""

    def open(self, state_dir: str, namespace: str, theirs: dict[str, int]) -> None:
        print(("starting " + "x" * 1014 + "\n") * 2048, file=sys.stderr, flush=True)
        super().open(state_dir, namespace, theirs)

    def perform(self, method: str, p: dict[str, Any]) -> Answer:
        print((f"{method} " + "y" * 500 + "\n") * 16, file=sys.stderr, flush=True)
        return super().perform(method, p)


@good
class GapsInInternalPositions(Journal):
    """The store's own positions have big random gaps, which the sequences do not show."""

    def store(self, run: str, first: int, records: list[Record]) -> None:
        for at, record in enumerate(records, first):
            position = (self.one("SELECT MAX(rowid) FROM records") or 0) + random.randrange(1, 100_000)
            self.db.execute(
                "INSERT INTO records (rowid, run, seq, event_id, body) VALUES (?,?,?,?,?)",
                (position, run, at, record["event_id"], record["body"].encode()),
            )
        self.db.execute("INSERT INTO batches VALUES (?,?,?)", (run, first, len(records)))


@good
class PartialReplayAcknowledged(Journal):
    """A part of a stored batch, or a batch that spans several, is acknowledged if it is stored exactly so."""

    def is_replay(self, batch: Batch) -> bool:
        return self.is_stored(batch)


@good
class LargerLimits(Journal):
    """Declares larger limits, 5,000 records and 4 MiB a batch, and keeps them."""

    limits: ClassVar[dict[str, int]] = {
        "max_batch_records": 5000,
        "max_batch_bytes": 4 * MIB,
        "max_snapshot_bytes": 2 * MIB,
    }

    def opened(self) -> None:
        self.force = dict(self.limits)


@good
class AsciiAnswers(Journal):
    """Answers in ASCII escapes with blanks and keys in reverse order, as long as the line limit allows."""

    def text(self, message: dict[str, Any]) -> str:
        turned = {key: message[key] for key in reversed(list(message))}
        wide = json.dumps(turned, ensure_ascii=True, separators=(" , ", " : "))
        return wide if len(wide) < self.line_limit else super().text(message)


@good
class ClaimsSpelledOut(Journal):
    """Spells out what it does not claim as false, own_writes and caller."""

    caps: ClassVar[dict[str, Any]] = {
        **Journal.caps,
        "multi_handle": False,
        "multi_process": False,
        "snapshots": False,
        "leases": False,
        "fencing": False,
        "read": "own_writes",
        "lease_clock": "caller",
    }


@good
class DurableSector(Journal):
    """Claims durability level `sector`."""

    caps: ClassVar[dict[str, Any]] = {**Journal.caps, "durable": "sector"}


@good
class LeasesByStoreClock(Journal):
    """Claims lease_clock=store and judges leases by its own clock; until_ms is an instant of that clock."""

    caps: ClassVar[dict[str, Any]] = {**Journal.caps, "lease_clock": "store"}

    def acquire(self, run: str, owner: str, ttl: int, now: int) -> Answer:
        return super().acquire(run, owner, ttl, time.time_ns() // 1_000_000)

    def renew(self, run: str, epoch: int, ttl: int, now: int) -> Answer:
        return super().renew(run, epoch, ttl, time.time_ns() // 1_000_000)


class PinnedReader(Journal):
    """Loads go over a second connection, whose read transaction is renewed only after an own append."""

    reader: sqlite3.Connection

    def opened(self) -> None:
        self.reader = self.connect()
        self.pin()

    def pin(self) -> None:
        if self.reader.in_transaction:
            self.reader.execute("COMMIT")
        self.reader.execute("BEGIN")
        self.reader.execute("SELECT COUNT(*) FROM records").fetchone()

    def append(self, batch: Batch) -> Answer:
        answer = super().append(batch)
        if "acknowledged" in answer:
            self.pin()
        return answer

    def rows(self, run: str, start: int, limit: int) -> list[Row]:
        return self.reader.execute(
            "SELECT seq, event_id, body FROM records WHERE run=? AND seq>=? ORDER BY seq LIMIT ?", (run, start, limit)
        ).fetchall()

    def close(self) -> None:
        self.reader.close()
        super().close()


@good
class OwnWritesReader(PinnedReader):
    """Claims read=own_writes, and shows records of other processes only after an own append."""

    caps: ClassVar[dict[str, Any]] = {**Journal.caps, "read": "own_writes"}


# Broken in the core


@broken("JRN-001")
class AckInHashOrder(Journal):
    """The acknowledgement of a batch comes in hash order of the event ids, not in the order sent."""

    def acknowledge(self, records: list[Record]) -> Answer:
        def digest(record: Record) -> bytes:
            return hashlib.md5(record["event_id"].encode(), usedforsecurity=False).digest()

        return super().acknowledge(sorted(records, key=digest))


@broken("JRN-001", "JRN-014")
class AckCappedAt100(Journal):
    """An acknowledgement lists at most the first 100 records of a batch, though all are stored."""

    def acknowledge(self, records: list[Record]) -> Answer:
        return super().acknowledge(records[:100])


@broken("JRN-001")
class FullAfterSeven(Journal):
    """Once a run has more than seven records, every further append is answered not_stored."""

    def sequence(self, batch: Batch) -> Answer | None:
        if self.next(batch.run) > 8:
            return self.refuse("not_stored")
        return super().sequence(batch)


@broken("JRN-001")
class AckRepeatsFirstSequence(Journal):
    """The second and later records of a batch are acknowledged with the sequence of the first."""

    def acknowledge(self, records: list[Record]) -> Answer:
        return {"acknowledged": [{"sequence": records[0]["sequence"], "event_id": r["event_id"]} for r in records]}


def written_anew(body: str) -> str:
    try:
        return json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return body


@broken("JRN-002")
class JsonReserialised(Journal):
    """A body that is JSON is parsed and written anew at load: white space, numbers and escapes change."""

    def out_body(self, body: str) -> str:
        return written_anew(body)


@broken("JRN-002")
class JsonKeysSorted(Journal):
    """A body that is a JSON object comes back with its keys sorted, if it was written compactly."""

    def out_body(self, body: str) -> str:
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            return body
        if json.dumps(value, ensure_ascii=False, separators=(",", ":")) != body:
            return body
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


@broken("JRN-002")
class NfcNormalised(Journal):
    """Bodies are normalised to Unicode NFC at load."""

    def out_body(self, body: str) -> str:
        return unicodedata.normalize("NFC", body)


@broken("JRN-002")
class LongBodyCut(Journal):
    """A body longer than 65,535 bytes is cut there at load, as in a TEXT column."""

    def out_body(self, body: str) -> str:
        return body.encode()[:65535].decode("utf-8", "ignore")


@broken("JRN-002")
class AstralReplaced(Journal):
    """Characters beyond the basic plane become U+FFFD at load, as in utf8mb3."""

    def out_body(self, body: str) -> str:
        return re.sub("[\U00010000-\U0010ffff]", "\ufffd", body)


@broken("JRN-003")
class BatchReversedAtLoad(Journal):
    """The records of one batch come in reverse order in a load, as after LPUSH."""

    def rows(self, run: str, start: int, limit: int) -> list[Row]:
        out: list[Row] = []
        group: list[Row] = []
        for row in super().rows(run, start, limit):
            if group and self.count_at(run, row[0]):
                out, group = out + group[::-1], []
            group.append(row)
        return out + group[::-1]


@broken("JRN-003")
class PageBorderSkipped(Journal):
    """A load from a sequence above 1 takes it as the last one seen and begins after it."""

    def rows(self, run: str, start: int, limit: int) -> list[Row]:
        return super().rows(run, start + 1 if start > 1 else start, limit)


@broken("JRN-003")
class ChunkBorderRepeated(Journal):
    """A load reads in chunks of four and repeats the record at the border of two chunks."""

    def rows(self, run: str, start: int, limit: int) -> list[Row]:
        out: list[Row] = []
        at = start
        while len(out) < limit:
            want = min(4, limit - len(out))
            part = super().rows(run, at, want)
            out += part
            if len(part) < want or want < 4:
                break
            at = part[-1][0]
        return out


@broken("JRN-003")
class BatchHeadEventId(Journal):
    """Every record of a batch is loaded with the event id of the first record of its batch."""

    def rows(self, run: str, start: int, limit: int) -> list[Row]:
        return [(row[0], self.head_of(run, row[0]), row[2]) for row in super().rows(run, start, limit)]

    def head_of(self, run: str, sequence: int) -> str:
        head = self.one("SELECT first FROM batches WHERE run=? AND first<=? ORDER BY first DESC LIMIT 1", run, sequence)
        return self.stored(run, head or sequence, 1)[0][1]


@broken("JRN-003")
class EmptyRunCached(Journal):
    """A handle that found a run empty once goes on to show it empty, after its own appends too."""

    def page(self, run: str, start: int, limit: int) -> Answer:
        if run in self.memory:
            return {"records": [], "end": True}
        answer = super().page(run, start, limit)
        if start == 1 and not answer["records"]:
            self.memory[run] = True
        return answer


@broken("JRN-004")
class GapAccepted(Journal):
    """An append ahead of the next sequence is stored and leaves a gap (< instead of !=)."""

    def sequence(self, batch: Batch) -> Answer | None:
        return super().sequence(batch) if batch.expected < self.next(batch.run) else None


@broken("JRN-004")
class GapAcceptedAfterFive(Journal):
    """An append ahead is stored with a gap, but only in a run that has more than five records."""

    def sequence(self, batch: Batch) -> Answer | None:
        return None if 6 < self.next(batch.run) < batch.expected else super().sequence(batch)


@broken("JRN-004", "JRN-003")
class OverlapAccepted(Journal):
    """A batch of new records that overlaps the end of the run is acknowledged, and its part beyond the end stored."""

    def sequence(self, batch: Batch) -> Answer | None:
        at = self.next(batch.run)
        if 1 < batch.expected < at < batch.expected + len(batch.records):
            self.store(batch.run, at, batch.records[at - batch.expected :])
            return self.acknowledge(batch.records)
        return super().sequence(batch)


@broken("JRN-005")
class ActualNextCountsBatches(Journal):
    """actual_next counts batches, so it is right only while every batch has one record."""

    def actual_next(self, run: str) -> int:
        count: int = self.one("SELECT COUNT(*) FROM batches WHERE run=?", run)
        return count + 1


@broken("JRN-005")
class ActualNextIsLast(Journal):
    """actual_next is the last sequence, one too low, in a run that exists."""

    def actual_next(self, run: str) -> int:
        return max(1, self.next(run) - 1)


@broken("JRN-005")
class ActualNextZeroForNewRun(Journal):
    """actual_next of a run that does not exist is 0."""

    def actual_next(self, run: str) -> int:
        return self.next(run) if self.next(run) > 1 else 0


@broken("JRN-005")
class ActualNextOfOtherRun(Journal):
    """actual_next is that of the run which this process appended to last, so wrong only with two runs."""

    def store(self, run: str, first: int, records: list[Record]) -> None:
        super().store(run, first, records)
        self.memory["run"] = run

    def actual_next(self, run: str) -> int:
        return self.next(self.memory.get("run", run))


@broken("JRN-006", "JRN-004")
class OneMeansAnywhere(Journal):
    """expected_next 1 means anywhere: new records are stored at the end of the run."""

    def sequence(self, batch: Batch) -> Answer | None:
        at = self.next(batch.run)
        if batch.expected == 1 < at:
            moved = [{**record, "sequence": sequence} for sequence, record in enumerate(batch.records, at)]
            self.store(batch.run, at, moved)
            return self.acknowledge(moved)
        return super().sequence(batch)


@broken("JRN-006", "JRN-004")
class OneOverwritesSingleRecord(Journal):
    """An append at 1 replaces the record of a run that has just one (an upsert)."""

    insert = "INSERT OR REPLACE"

    def sequence(self, batch: Batch) -> Answer | None:
        return None if batch.expected == 1 == self.next(batch.run) - 1 else super().sequence(batch)


@broken("JRN-007", "JRN-001")
class RefusedIdsBurnt(Journal):
    """The event ids of a batch refused with sequence_conflict count as held from then on."""

    def decide(self, batch: Batch) -> Answer:
        answer = super().decide(batch)
        if answer.get("refused") == "sequence_conflict":
            for record in batch.records:
                self.put(batch.run, "burnt " + record["event_id"], 1)
        return answer

    def held(self, run: str, record: Record) -> bool:
        return super().held(run, record) or bool(self.get(run, "burnt " + record["event_id"]))


@broken("JRN-007", "JRN-001", "JRN-005")
class ConflictBurnsSequence(Journal):
    """An append refused with event_id_conflict uses up a sequence, as an INCR before the check does."""

    def decide(self, batch: Batch) -> Answer:
        answer = super().decide(batch)
        if answer.get("refused") == "event_id_conflict":
            self.put(batch.run, "burnt", self.get(batch.run, "burnt", 0) + 1)
        return answer

    def next(self, run: str) -> int:
        burnt: int = self.get(run, "burnt", 0)
        return super().next(run) + burnt


@broken("JRN-007")
class StaleAppendStored(Journal):
    """An append refused with stale_epoch is stored all the same, if it fits."""

    def stale(self, batch: Batch) -> Answer | None:
        answer = super().stale(batch)
        if answer and not self.conflict(batch) and batch.expected == self.next(batch.run):
            self.store(batch.run, batch.expected, batch.records)
        return answer


@broken("JRN-010")
class EventIdsGlobal(Journal):
    """Event ids are unique over all runs: one that another run holds is a conflict."""

    def held(self, run: str, record: Record) -> bool:
        return self.one("SELECT 1 FROM records WHERE event_id=?", record["event_id"]) is not None


@broken("JRN-010", "JRN-001")
class DuplicateOfOtherRun(Journal):
    """A batch whose first event id another run holds is acknowledged as a duplicate and not stored.

    A window of message ids, as a queue has it, does so.
    """

    def replay(self, batch: Batch) -> Answer | None:
        answer = super().replay(batch)
        if answer:
            return answer
        first = batch.records[0]
        other = self.one("SELECT 1 FROM records WHERE event_id=? AND run<>?", first["event_id"], batch.run)
        return self.acknowledge(batch.records) if other and not self.held(batch.run, first) else None


@broken("JRN-011", "JRN-003")
class RangeScanSpills(Journal):
    """A load goes on from the end of a run into the run whose id comes next (a range scan without an upper bound)."""

    def rows(self, run: str, start: int, limit: int) -> list[Row]:
        return self.db.execute(
            "SELECT seq, event_id, body FROM records WHERE (run,seq)>=(?,?) ORDER BY run, seq LIMIT ?",
            (run, start, limit),
        ).fetchall()


@broken("JRN-011")
class LastRunLeaks(Journal):
    """A load of a run without records returns those of the run that this process loaded before."""

    def page(self, run: str, start: int, limit: int) -> Answer:
        if self.next(run) > 1:
            self.memory["run"] = run
        return super().page(self.memory.get("run", run) if self.next(run) == 1 else run, start, limit)


@broken("JRN-011")
class UnknownRunHasNoEnd(Journal):
    """The page of a run to which nothing was appended never says that the end is reached."""

    def page(self, run: str, start: int, limit: int) -> Answer:
        return super().page(run, start, limit) if self.next(run) > 1 else {"records": [], "end": False}


@broken("JRN-012")
class UpperCaseEventId(Journal):
    """Event ids in upper case are accepted."""

    def bad_id(self, event_id: str) -> bool:
        return super().bad_id(event_id.lower())


@broken("JRN-012")
class EventIdWithLineFeed(Journal):
    r"""An event id with a line feed at its end is accepted ($ instead of \Z)."""

    def bad_id(self, event_id: str) -> bool:
        return not re.match("^" + UUID.pattern + "$", event_id)


@broken("JRN-012")
class AnyUuidForm(Journal):
    """Any form of UUID is accepted, without hyphens, in braces or as urn:uuid:."""

    def bad_id(self, event_id: str) -> bool:
        try:
            uuid.UUID(event_id)
        except ValueError:
            return True
        return event_id != event_id.lower()


@broken("JRN-012")
class TwiceInBatch(Journal):
    """An event id that stands twice in a batch is accepted."""

    def twice(self, records: list[Record]) -> bool:
        return False


@broken("JRN-012")
class DenseAtEndsOnly(Journal):
    """Of the sequences only the first and the last are checked."""

    def bad_sequences(self, expected: int, records: list[Record]) -> bool:
        ends = (records[0]["sequence"], records[-1]["sequence"])
        return ends != (expected, expected + len(records) - 1)


@broken("JRN-012")
class DenseFromAnywhere(Journal):
    """Sequences are checked to be dense among themselves, not to begin at expected_next, where they are stored."""

    def bad_sequences(self, expected: int, records: list[Record]) -> bool:
        return super().bad_sequences(records[0]["sequence"], records)


@broken("JRN-012")
class EmptyBatchAcknowledged(Journal):
    """An empty batch at the next sequence is acknowledged with an empty list."""

    def append(self, batch: Batch) -> Answer:
        fits = batch.expected == self.next(batch.run) and not self.is_stale(batch.run, batch.epoch)
        return {"acknowledged": []} if not batch.records and fits else super().append(batch)


@broken("JRN-012")
class EmptyBodyAfterFirst(Journal):
    """An empty body is refused only in the first record of a batch."""

    def bad_bodies(self, records: list[Record]) -> bool:
        return super().bad_bodies(records[:1])


@broken("JRN-013", "JRN-009")
class SequenceBeforeEventIds(Journal):
    """The sequence is checked before the event ids: a known id at a wrong sequence is a sequence_conflict."""

    steps = ("stale", "replay", "sequence", "conflict")


@broken("JRN-013", "JRN-024")
class ReplayBeforeFence(Journal):
    """An exact replay under a stale epoch is acknowledged."""

    steps = ("replay", "stale", "conflict", "sequence")


@broken("JRN-013")
class FenceBeforeEnvelope(Journal):
    """The epoch is checked before the envelope: a wrong envelope under a stale epoch is stale_epoch."""

    def append(self, batch: Batch) -> Answer:
        return self.stale(batch) or super().append(batch)


@broken("JRN-013")
class EnvelopeAfterSequence(Journal):
    """An empty body is noticed only after the sequence check: at a wrong sequence it is a sequence_conflict."""

    def append(self, batch: Batch) -> Answer:
        answer = super().append(batch)
        if answer.get("refused") != "invalid_record" or not batch.records or self.is_stale(batch.run, batch.epoch):
            return answer
        if self.bad_sequences(batch.expected, batch.records) or batch.expected == self.next(batch.run):
            return answer
        return self.refuse("sequence_conflict", actual_next=self.next(batch.run))


@broken("JRN-013")
class EventIdsBeforeFence(Journal):
    """event_id_conflict is checked before the epoch: a known id under a stale epoch is event_id_conflict."""

    def stale(self, batch: Batch) -> Answer | None:
        answer = super().stale(batch)
        if answer and not self.is_replay(batch):
            return self.conflict(batch) or answer
        return answer


@broken("JRN-014")
class LimitOfRecordsExclusive(Journal):
    """A batch of exactly 1,000 records is too_large (>= instead of >)."""

    def oversize(self, records: list[Record]) -> bool:
        return len(records) >= 1000 or super().oversize(records)


@broken("JRN-014")
class LimitOfBytesExclusive(Journal):
    """A batch of exactly 1 MiB of bodies is too_large (>= instead of >)."""

    def oversize(self, records: list[Record]) -> bool:
        return sum(len(record["body"].encode()) for record in records) >= MIB or super().oversize(records)


@broken("JRN-014")
class EventIdsCountAsBytes(Journal):
    """The event ids count towards the bytes of a batch, so that 1 MiB of bodies is too_large."""

    def oversize(self, records: list[Record]) -> bool:
        return sum(len(record["body"].encode()) + 36 for record in records) > MIB or super().oversize(records)


@broken("JRN-014")
class Declares500Records(Journal):
    """The declared limit is 500 records a batch, and it is enforced."""

    limits: ClassVar[dict[str, int]] = {**Journal.limits, "max_batch_records": 500}


@broken("JRN-014", "JRN-001")
class SqlVariables999(Journal):
    """A batch of more than 999 records is always answered not_stored (too many SQL variables)."""

    def store(self, run: str, first: int, records: list[Record]) -> None:
        if len(records) <= 999:
            super().store(run, first, records)

    def acknowledge(self, records: list[Record]) -> Answer:
        return super().acknowledge(records) if len(records) <= 999 else self.refuse("not_stored")


@broken("JRN-015", "JRN-007")
class PartialBatchOnKnownId(Journal):
    """Of a batch refused with event_id_conflict the records before the one at fault are stored."""

    def conflict(self, batch: Batch) -> Answer | None:
        answer = super().conflict(batch)
        if answer and batch.expected == self.next(batch.run):
            before = [self.held(batch.run, record) for record in batch.records].index(True)
            if before:
                self.store(batch.run, batch.expected, batch.records[:before])
        return answer


@broken("JRN-015", "JRN-007")
class PartialBatchOnEmptyBody(Journal):
    """Of a batch refused for an empty body the records before that one are stored."""

    def append(self, batch: Batch) -> Answer:
        answer = super().append(batch)
        bodies = [record["body"] for record in batch.records]
        if answer.get("refused") == "invalid_record" and "" in bodies[1:]:
            super().append(batch._replace(records=batch.records[: bodies.index("")]))
        return answer


@broken("JRN-016")
class UnsealedSegmentLost(Lifecycle):
    """Of a run of more than four records those after the last full segment of four are lost at a clean reopen."""

    def restarted(self, *, crashed: bool) -> None:
        for run in self.runs() if not crashed else ():
            last = self.next(run) - 1
            if last > 4:
                self.cut(run, last // 4 * 4)


@broken("JRN-016", "JRN-002")
class CompactionToAscii(Lifecycle):
    """At a clean reopen the bodies are compacted into ASCII: other characters become question marks."""

    def restarted(self, *, crashed: bool) -> None:
        rows = self.db.execute("SELECT rowid, body FROM records").fetchall() if not crashed else ()
        for rowid, body in rows:
            narrow = body.decode().encode("ascii", "replace")
            self.db.execute("UPDATE records SET body=? WHERE rowid=?", (narrow, rowid))


class Spool(Lifecycle):
    """Keeps the batches that were refused; `drain` appends them to their runs."""

    def decide(self, batch: Batch) -> Answer:
        answer = super().decide(batch)
        if answer.get("refused") == "sequence_conflict":
            self.put(batch.run, f"spool {time.monotonic_ns():020}", json.dumps(batch.records))
        return answer

    def drain(self) -> None:
        spooled = self.db.execute("SELECT run, v FROM meta WHERE k LIKE 'spool %' ORDER BY k").fetchall()
        for run, text in spooled:
            records = [record for record in json.loads(text) if not self.held(run, record)]
            if records:
                self.store(run, self.next(run), records)

    def empty(self) -> None:
        self.db.execute("DELETE FROM meta WHERE k LIKE 'spool %'")


@broken("JRN-016", "JRN-007")
class RefusedBatchesAfterReopen(Spool):
    """Batches refused with sequence_conflict are spooled, and are in the run after a clean reopen."""

    def restarted(self, *, crashed: bool) -> None:
        if not crashed:
            self.drain()
        self.empty()


@broken("JRN-021")
class PageOfLimitPlusOne(Journal):
    """A page that is not the end holds limit + 1 records (the one that was read ahead)."""

    def page(self, run: str, start: int, limit: int) -> Answer:
        return super().page(run, start, limit + 1)


@broken("JRN-021")
class EndOneTooEarly(Journal):
    """A full page says it is the end if exactly one record follows."""

    def page(self, run: str, start: int, limit: int) -> Answer:
        answer = super().page(run, start, limit)
        if len(answer["records"]) == limit:
            answer["end"] = self.next(run) - 1 - start <= limit
        return answer


@broken("JRN-021")
class EmptyPageBeforeBigRecord(Journal):
    """A page whose first record is longer than 256 KiB comes empty and not as the end, if the limit is above 1."""

    def page(self, run: str, start: int, limit: int) -> Answer:
        first = self.stored(run, start, 1)
        if limit > 1 and first and len(first[0][2]) > 256 * 1024:
            return {"records": [], "end": False}
        return super().page(run, start, limit)


@broken("JRN-021")
class EndLostAfterFullPage(Journal):
    """A reader whose last page was full gets empty pages that are not the end for ever."""

    def page(self, run: str, start: int, limit: int) -> Answer:
        answer = super().page(run, start, limit)
        full = len(answer["records"]) == limit
        if full or (not answer["records"] and self.next(run) > 1):
            answer["end"] = False
        return answer


@broken("JRN-022")
class UnclaimedAnsweredEmpty(Journal):
    """Leases, snapshots and fencing are not claimed, and their operations are answered {}."""

    caps: ClassVar[dict[str, Any]] = without("leases", "snapshots", "fencing")

    def unsupported(self, method: str) -> Answer:
        return {}


@broken("JRN-022")
class UnclaimedUnavailable(Journal):
    """Leases and snapshots are not claimed; their operations are refused as unavailable instead of unsupported."""

    caps: ClassVar[dict[str, Any]] = without("leases", "snapshots", "fencing")

    def unsupported(self, method: str) -> Answer:
        return self.refuse("unavailable")


@broken("JRN-022")
class UnclaimedSnapshotsWork(Journal):
    """Snapshots are not claimed, but they work."""

    caps: ClassVar[dict[str, Any]] = without("snapshots")

    def claimed(self, method: str) -> bool:
        return True


# Broken in replays and identities


@broken("JRN-008")
class ReplayOfLastBatchOnly(Journal):
    """A replay is recognised only while its batch is the last of the run; afterwards it is an event_id_conflict."""

    def is_replay(self, batch: Batch) -> bool:
        return super().is_replay(batch) and batch.expected + len(batch.records) == self.next(batch.run)


@broken("JRN-008")
class ReplayWindowOfSix(Journal):
    """A replay is recognised only while its first record is among the last six of the run."""

    def is_replay(self, batch: Batch) -> bool:
        return super().is_replay(batch) and self.next(batch.run) - batch.expected <= max(6, len(batch.records))


@broken("JRN-008")
class ReplayOfSingleRecordsOnly(Journal):
    """A batch of more than one record that is sent again is an event_id_conflict."""

    def is_replay(self, batch: Batch) -> bool:
        return len(batch.records) == 1 and super().is_replay(batch)


@broken("JRN-008")
class ReplayAcknowledgesFirstOnly(Journal):
    """The acknowledgement of a replay lists only the first record of the batch."""

    def acknowledge_again(self, batch: Batch) -> Answer:
        return self.acknowledge(batch.records[:1])


@broken("JRN-008")
class ReplayStoredAgain(Journal):
    """Once the run has grown, a replayed batch is acknowledged as before but stored again at the end."""

    def acknowledge_again(self, batch: Batch) -> Answer:
        if self.next(batch.run) > batch.records[-1]["sequence"] + 1:
            self.store(batch.run, self.next(batch.run), batch.records)
        return super().acknowledge_again(batch)


@broken("JRN-008")
class ReplayComparesEpoch(Journal):
    """A replay under a higher epoch than the first time is an event_id_conflict."""

    def replay(self, batch: Batch) -> Answer | None:
        same = self.get(batch.run, f"epoch at {batch.expected}") == (batch.epoch or 0)
        return super().replay(batch) if same else None

    def sequence(self, batch: Batch) -> Answer | None:
        answer = super().sequence(batch)
        if not answer:
            self.put(batch.run, f"epoch at {batch.expected}", batch.epoch or 0)
        return answer


class Lenient(Journal):
    """Compares a batch that is as long as the one which is stored in its place in a way of its own."""

    def is_replay(self, batch: Batch) -> bool:
        count = len(batch.records)
        return self.count_at(batch.run, batch.expected) == count and self.looks_stored(
            self.stored(batch.run, batch.expected, count), batch
        )

    def looks_stored(self, stored: list[Row], batch: Batch) -> bool:
        raise NotImplementedError


@broken("JRN-009")
class ReplayComparesIdsOnly(Lenient):
    """A batch with the same event ids but other bodies is acknowledged as a replay."""

    def looks_stored(self, stored: list[Row], batch: Batch) -> bool:
        return [row[1] for row in stored] == [record["event_id"] for record in batch.records]


@broken("JRN-009")
class ReplayComparesLengths(Lenient):
    """A batch with the same event ids and other bodies of the same length is acknowledged as a replay."""

    def looks_stored(self, stored: list[Row], batch: Batch) -> bool:
        sent = [(record["event_id"], len(record["body"].encode())) for record in batch.records]
        return [(event_id, len(body)) for _, event_id, body in stored] == sent


@broken("JRN-009")
class ReplayComparesFirstRecord(Lenient):
    """Of a replay only the first record is compared; what differs behind it is acknowledged."""

    def looks_stored(self, stored: list[Row], batch: Batch) -> bool:
        first = batch.records[0]
        return stored[:1] == [(batch.expected, first["event_id"], first["body"].encode())]


@broken("JRN-009")
class ReplayCompareStopsEarly(Journal):
    """A stored batch with new records behind it is taken for a replay, and the new ones are not stored (zip)."""

    def is_replay(self, batch: Batch) -> bool:
        count = self.count_at(batch.run, batch.expected) or 0
        return 0 < count <= len(batch.records) and super().is_replay(batch._replace(records=batch.records[:count]))


@broken("JRN-009")
class EventIdWindowOfSix(Journal):
    """Only the last six event ids of a run are remembered; an older one is stored a second time."""

    def held(self, run: str, record: Record) -> bool:
        known = "SELECT 1 FROM records WHERE run=? AND event_id=? AND seq>?"
        return self.one(known, run, record["event_id"], self.next(run) - 7) is not None


@broken("JRN-009")
class FirstEventIdOnly(Journal):
    """Only the first event id of a batch is looked up; a known one behind it is stored again."""

    def conflict(self, batch: Batch) -> Answer | None:
        return super().conflict(batch._replace(records=batch.records[:1]))


@broken("JRN-009")
class EventIdKeyHasSequence(Journal):
    """The key of the event ids has the sequence in it: a known id at another sequence is stored again."""

    def held(self, run: str, record: Record) -> bool:
        known = "SELECT 1 FROM records WHERE run=? AND event_id=? AND seq=?"
        return self.one(known, run, record["event_id"], record["sequence"]) is not None


@broken("JRN-009")
class BatchHeadRememberedOnly(Journal):
    """Only the first event id of each stored batch is remembered."""

    def held(self, run: str, record: Record) -> bool:
        known = "SELECT 1 FROM records JOIN batches USING (run) WHERE run=? AND event_id=? AND seq=first"
        return self.one(known, run, record["event_id"]) is not None


class KnowsIdsFrom(Lifecycle):
    """Knows the event ids of a run only from a sequence on, which is noted in `ids from`."""

    def held(self, run: str, record: Record) -> bool:
        known = "SELECT 1 FROM records WHERE run=? AND event_id=? AND seq>=?"
        return self.one(known, run, record["event_id"], self.get(run, "ids from", 1)) is not None


@broken("JRN-023", "JRN-009")
class EventIdsForgottenAtReopen(KnowsIdsFrom):
    """Event ids are forgotten at a reopen or a crash: a known one is stored again (replays are still recognised)."""

    def restarted(self, *, crashed: bool) -> None:
        for run in self.runs():
            self.put(run, "ids from", self.next(run))


@broken("JRN-023", "JRN-008")
class BatchBordersForgottenAtReopen(Lifecycle):
    """The borders of the batches are forgotten at a reopen or a crash: a replay is then an event_id_conflict."""

    def restarted(self, *, crashed: bool) -> None:
        self.db.execute("DELETE FROM batches")


@broken("JRN-023", "JRN-009")
class IndexRebuiltInPart(KnowsIdsFrom):
    """After a crash only, the index of event ids is rebuilt from the last three records of each run."""

    def restarted(self, *, crashed: bool) -> None:
        for run in self.runs() if crashed else ():
            self.put(run, "ids from", self.next(run) - 3)


# Broken over crashes, handles and processes


@broken("JRN-017")
class LastBatchLostAtKill(Lifecycle):
    """The recovery after a kill drops the batch that was stored last, taking it for torn."""

    def restarted(self, *, crashed: bool) -> None:
        run = self.one("SELECT run FROM records ORDER BY rowid DESC LIMIT 1")
        if crashed and run is not None:
            self.cut(run, self.one("SELECT MAX(first) FROM batches WHERE run=?", run) - 1)


@broken("JRN-017")
class FlushedEveryFourthAppend(Lifecycle):
    """Data is flushed at every fourth append and at a clean close; a kill loses what came after."""

    def store(self, run: str, first: int, records: list[Record]) -> None:
        super().store(run, first, records)
        appends = self.get("", "appends", 0) + 1
        self.put("", "appends", appends)
        if appends % 4 == 0:
            self.put("", "flushed", self.one("SELECT MAX(rowid) FROM records"))

    def restarted(self, *, crashed: bool) -> None:
        for run in self.runs() if crashed else ():
            kept = "SELECT MAX(seq) FROM records WHERE run=? AND rowid<=?"
            self.cut(run, self.one(kept, run, self.get("", "flushed", 0)) or 0)
        self.put("", "flushed", self.one("SELECT MAX(rowid) FROM records") or 0)


@broken("JRN-017", "JRN-007")
class RefusedBatchesAfterKill(Spool):
    """After a kill the redo log appends batches that had been refused with sequence_conflict."""

    def restarted(self, *, crashed: bool) -> None:
        if crashed:
            self.drain()
        self.empty()


class CachedTail(Journal):
    """Keeps the next sequence of each run in the memory of the process."""

    def next(self, run: str) -> int:
        if run not in self.memory:
            self.memory[run] = super().next(run)
        tail: int = self.memory[run]
        return tail

    def store(self, run: str, first: int, records: list[Record]) -> None:
        super().store(run, first, records)
        self.memory[run] = first + len(records)


@broken("JRN-019", "JRN-020")
class TailCachedOverwrites(CachedTail):
    """Each process keeps the next sequence of a run in memory and overwrites what another has appended since."""

    insert = "INSERT OR REPLACE"


@broken("JRN-019", "JRN-018", "JRN-005")
class TailCachedPerHandle(CachedTail):
    """multi_handle is claimed too, but each handle compares with its own cached tail.

    What does not fit then is acknowledged and dropped (INSERT OR IGNORE).
    """

    caps: ClassVar[dict[str, Any]] = {**Journal.caps, "multi_handle": True}
    insert = "INSERT OR IGNORE"


@broken("JRN-019", "JRN-009")
class EventIdsOfOwnProcess(Journal):
    """A process learns a run's event ids when it first appends to it.

    Ids that another process adds later are stored again.
    """

    def held(self, run: str, record: Record) -> bool:
        if run not in self.memory:
            known = self.db.execute("SELECT event_id FROM records WHERE run=?", (run,)).fetchall()
            self.memory[run] = {event_id for (event_id,) in known}
        return record["event_id"] in self.memory[run]

    def store(self, run: str, first: int, records: list[Record]) -> None:
        super().store(run, first, records)
        self.memory[run].update(record["event_id"] for record in records)


@broken("JRN-020")
class ReaderPinned(PinnedReader):
    """Loads go over a read transaction that is renewed only after an own append, and claim to be linearizable."""


@broken("JRN-020")
class EmptyPollCached(Journal):
    """A poll at the end of a run that came back empty stays empty until this process appends to the run itself."""

    def page(self, run: str, start: int, limit: int) -> Answer:
        empty: set[int] = self.memory.setdefault(run, set())
        if start in empty:
            return {"records": [], "end": True}
        answer = super().page(run, start, limit)
        if not answer["records"]:
            empty.add(start)
        return answer

    def store(self, run: str, first: int, records: list[Record]) -> None:
        super().store(run, first, records)
        self.memory.pop(run, None)


# Broken in fencing


@broken("JRN-024")
class FenceDownAfterRelease(Journal):
    """After a release the fence is down: any lower epoch is accepted."""

    def is_stale(self, run: str, epoch: int | None) -> bool:
        lease = self.lease(run)
        return super().is_stale(run, epoch) and bool(lease and lease.held)


@broken("JRN-024")
class FenceByLastAppend(Journal):
    """The fence is the highest epoch that has appended, not the highest that was granted."""

    def top(self, run: str) -> int:
        top: int = self.get(run, "appended under", 0)
        return top

    def sequence(self, batch: Batch) -> Answer | None:
        answer = super().sequence(batch)
        if not answer:
            self.put(batch.run, "appended under", max(self.top(batch.run), batch.epoch or 0))
        return answer


@broken("JRN-024")
class NoEpochNoFence(Journal):
    """An append without an epoch is never fenced."""

    def is_stale(self, run: str, epoch: int | None) -> bool:
        return epoch is not None and super().is_stale(run, epoch)


@broken("JRN-024")
class FenceOneTooLow(Journal):
    """The epoch just below the highest is still accepted."""

    def is_stale(self, run: str, epoch: int | None) -> bool:
        return epoch < self.top(run) - 1 if epoch else self.top(run) > 0


@broken("JRN-024", "JRN-019")
class FenceCachedPerProcess(Journal):
    """Each process fences by the grants that it made or saw first; a later one by another process does not count."""

    def top(self, run: str) -> int:
        top: int = self.memory.setdefault(run, super().top(run))
        return top

    def put_lease(self, run: str, lease: Lease) -> None:
        super().put_lease(run, lease)
        self.memory[run] = lease.epoch


@broken("JRN-024")
class FenceForgottenAtReopen(Lifecycle):
    """The fence is forgotten at a reopen or a crash, until the next grant (the epochs go on)."""

    def restarted(self, *, crashed: bool) -> None:
        for run, epoch in self.db.execute("SELECT run, epoch FROM leases").fetchall():
            self.put(run, "unfenced", epoch)

    def top(self, run: str) -> int:
        top = super().top(run)
        return 0 if self.get(run, "unfenced") == top else top


@broken("JRN-025")
class HighestEpochIsStale(Journal):
    """The highest granted epoch itself is refused as stale (<= instead of <)."""

    def is_stale(self, run: str, epoch: int | None) -> bool:
        return self.top(run) > 0 and (epoch or 0) <= self.top(run)


@broken("JRN-025")
class StaleAfterRelease(Journal):
    """The highest epoch is refused as stale once its lease was released."""

    def is_stale(self, run: str, epoch: int | None) -> bool:
        lease = self.lease(run)
        return super().is_stale(run, epoch) or bool(lease and not lease.held)


@broken("JRN-025")
class FenceAcrossRuns(Journal):
    """An append must have at least the highest epoch that was granted for any run."""

    def top(self, run: str) -> int:
        return self.one("SELECT MAX(epoch) FROM leases") or 0


@broken("JRN-025")
class StaleAfterExpirySeen(Journal):
    """The highest epoch is refused as stale once an operation on any run has told an instant after its lease's end."""

    def perform(self, method: str, p: dict[str, Any]) -> Answer:
        if "now_ms" in p:
            self.put("", "clock", max(self.get("", "clock", 0), p["now_ms"]))
        return super().perform(method, p)

    def is_stale(self, run: str, epoch: int | None) -> bool:
        lease = self.lease(run)
        return super().is_stale(run, epoch) or bool(lease and lease.until < self.get("", "clock", 0))


@broken("JRN-025")
class StaleByWallClock(Journal):
    """The highest epoch is refused as stale if its lease has expired by the clock on the wall, not the caller's."""

    def is_stale(self, run: str, epoch: int | None) -> bool:
        lease = self.lease(run)
        return super().is_stale(run, epoch) or bool(lease and lease.until < time.time() * 1000)


# Broken in snapshots


@broken("SNP-001")
class SnapshotAtRunTail(Journal):
    """A snapshot is loaded with the last sequence of its run, not with the one under which it was saved."""

    def find_snapshot(self, run: str) -> tuple[int, bytes] | None:
        snapshot = super().find_snapshot(run)
        return (self.next(run) - 1 or snapshot[0], snapshot[1]) if snapshot else None


@broken("SNP-001")
class SnapshotsMixed(Journal):
    """Of two snapshots the later body is served with the furthest sequence."""

    def put_snapshot(self, run: str, sequence: int, body: str) -> None:
        old = self.find_snapshot(run)
        super().put_snapshot(run, max(sequence, old[0]) if old else sequence, body)


@broken("SNP-001")
class FirstSnapshotStays(Journal):
    """The first snapshot of a run stays for ever, though a later and further one was saved (INSERT OR IGNORE)."""

    def put_snapshot(self, run: str, sequence: int, body: str) -> None:
        self.db.execute("INSERT OR IGNORE INTO snaps VALUES (?,?,?)", (run, sequence, body.encode()))


@broken("SNP-001")
class SnapshotDroppedByAppend(Journal):
    """An append to the run drops its snapshot."""

    def store(self, run: str, first: int, records: list[Record]) -> None:
        super().store(run, first, records)
        self.db.execute("DELETE FROM snaps WHERE run=?", (run,))


@broken("SNP-001")
class SnapshotReserialised(Journal):
    """A snapshot body is parsed and written anew if it is JSON."""

    def put_snapshot(self, run: str, sequence: int, body: str) -> None:
        super().put_snapshot(run, sequence, written_anew(body))


@broken("SNP-001")
class SnapshotCut(Journal):
    """A snapshot longer than 64 KiB is cut."""

    def put_snapshot(self, run: str, sequence: int, body: str) -> None:
        super().put_snapshot(run, sequence, body.encode()[:65536].decode("utf-8", "ignore"))


@broken("SNP-002")
class SnapshotOfAnyRun(Journal):
    """A run without a snapshot gets the one that was saved last for any run."""

    def find_snapshot(self, run: str) -> tuple[int, bytes] | None:
        last = "SELECT seq, body FROM snaps ORDER BY rowid DESC LIMIT 1"
        return super().find_snapshot(run) or self.db.execute(last).fetchone()


@broken("SNP-002")
class SnapshotsMixedUpAtReopen(Lifecycle):
    """After a reopen or a crash a run that has records but no snapshot gets the snapshot of another run."""

    def restarted(self, *, crashed: bool) -> None:
        for run in self.runs():
            self.db.execute("INSERT OR IGNORE INTO snaps SELECT ?, seq, body FROM snaps LIMIT 1", (run,))


# Broken in leases


@broken("LSE-001", "JRN-024")
class EpochsRestartAtRelease(Journal):
    """A release deletes the lease, so that the epochs of the run begin again at 1."""

    def put_released(self, run: str, lease: Lease) -> None:
        self.db.execute("DELETE FROM leases WHERE run=?", (run,))


@broken("LSE-001", "JRN-024")
class EpochsRestartAtReopen(Lifecycle):
    """Released leases are cleared away at a reopen or a crash, so that their epochs begin again at 1."""

    def restarted(self, *, crashed: bool) -> None:
        self.db.execute("DELETE FROM leases WHERE held=0")


@broken("LSE-001")
class EpochsRestartAtExpiry(Journal):
    """A run whose lease has expired is granted with epoch 1 again."""

    def new_epoch(self, run: str, lease: Lease | None, owner: str) -> int:
        return 1 if lease and lease.held else super().new_epoch(run, lease, owner)


@broken("LSE-001")
class SameOwnerSameEpoch(Journal):
    """An owner who acquires a run again gets the same epoch as before."""

    def new_epoch(self, run: str, lease: Lease | None, owner: str) -> int:
        return lease.epoch if lease and lease.owner == owner else super().new_epoch(run, lease, owner)


@broken("LSE-001")
class EpochRepeatsAfterKill(Lifecycle):
    """After a crash only, the epoch granted last for a run is granted again."""

    def restarted(self, *, crashed: bool) -> None:
        leases = self.db.execute("SELECT run, epoch FROM leases").fetchall() if crashed else ()
        for run, epoch in leases:
            self.put(run, "repeat", epoch)

    def new_epoch(self, run: str, lease: Lease | None, owner: str) -> int:
        repeated = lease is not None and self.get(run, "repeat") == lease.epoch
        return super().new_epoch(run, lease, owner) - (1 if repeated else 0)


@broken("LSE-002")
class HeldUntilExclusive(Journal):
    """At the instant until_ms itself the lease counts as expired (< instead of <=)."""

    def is_held(self, run: str, lease: Lease | None, owner: str, now: int) -> bool:
        return bool(lease and lease.held and now < lease.until)


@broken("LSE-002")
class OwnOwnerAcquiresAgain(Journal):
    """The owner of a held lease is granted it again."""

    def is_held(self, run: str, lease: Lease | None, owner: str, now: int) -> bool:
        return super().is_held(run, lease, owner, now) and not (lease and owner == lease.owner)


@broken("LSE-002")
class StaleReleaseFrees(Journal):
    """A release under a lower epoch is refused, but it frees the lease of the later owner."""

    def release(self, run: str, epoch: int) -> Answer:
        answer = super().release(run, epoch)
        lease = self.lease(run)
        if lease and epoch < lease.epoch:
            self.put_released(run, lease)
        return answer


@broken("LSE-002")
class LeaseForgottenAtReopen(Lifecycle):
    """A held lease is forgotten at a reopen or a crash (the epochs go on)."""

    def restarted(self, *, crashed: bool) -> None:
        self.db.execute("UPDATE leases SET held=0")


@broken("LSE-003")
class ReleasedStillHeld(Journal):
    """A released lease counts as held until its time is up."""

    def put_released(self, run: str, lease: Lease) -> None:
        pass


@broken("LSE-003")
class ReleaseAfterRenewIgnored(Journal):
    """The release of a lease that was renewed is answered {} but has no effect."""

    def put_renewed(self, run: str, lease: Lease, until: int, now: int) -> None:
        super().put_renewed(run, lease, until, now)
        self.put(run, "renewed", lease.epoch)

    def put_released(self, run: str, lease: Lease) -> None:
        if self.get(run, "renewed") != lease.epoch:
            super().put_released(run, lease)


@broken("LSE-003")
class HeldOneTooLong(Journal):
    """At the first instant after until_ms an expired lease is still refused as held."""

    def is_held(self, run: str, lease: Lease | None, owner: str, now: int) -> bool:
        return bool(lease and lease.held and now <= min(lease.until + 1, TOP))


@broken("LSE-003")
class ExpiredForOwnerOnly(Journal):
    """An expired lease is granted only to its former owner."""

    def is_held(self, run: str, lease: Lease | None, owner: str, now: int) -> bool:
        return bool(lease and lease.held and (now <= lease.until or owner != lease.owner))


@broken("LSE-003")
class OneLeasePerOwner(Journal):
    """An owner who holds a lease on one run is refused every other run."""

    def is_held(self, run: str, lease: Lease | None, owner: str, now: int) -> bool:
        elsewhere = "SELECT 1 FROM leases WHERE run<>? AND owner=? AND held=1 AND until>=?"
        return super().is_held(run, lease, owner, now) or self.one(elsewhere, run, owner, now) is not None


@broken("LSE-004")
class RenewAfterExpiryRefused(Journal):
    """A renew under the highest epoch is refused as stale once the lease has expired."""

    def may_renew(self, lease: Lease, epoch: int, now: int) -> bool:
        return super().may_renew(lease, epoch, now) and now <= lease.until


@broken("LSE-004")
class RenewAtLastInstantRefused(Journal):
    """A renew at the instant until_ms itself is refused as stale."""

    def may_renew(self, lease: Lease, epoch: int, now: int) -> bool:
        return super().may_renew(lease, epoch, now) and now != lease.until


@broken("LSE-004", "LSE-002")
class RenewDoesNotRevive(Journal):
    """A renew after the expiry is answered with until_ms, but the lease is not held again."""

    def put_renewed(self, run: str, lease: Lease, until: int, now: int) -> None:
        if now <= lease.until:
            super().put_renewed(run, lease, until, now)


@broken("LSE-005")
class RenewUnderLowerEpoch(Journal):
    """A renew under a lower epoch succeeds."""

    def may_renew(self, lease: Lease, epoch: int, now: int) -> bool:
        return epoch <= lease.epoch


@broken("LSE-005")
class RenewUnderFutureEpoch(Journal):
    """A renew under an epoch that was never granted, above the highest, succeeds."""

    def may_renew(self, lease: Lease, epoch: int, now: int) -> bool:
        return epoch >= lease.epoch


@broken("LSE-005")
class StaleRenewMovesEnd(Journal):
    """A renew under a lower epoch is refused, but it moves the end of the lease."""

    def renew(self, run: str, epoch: int, ttl: int, now: int) -> Answer:
        answer = super().renew(run, epoch, ttl, now)
        if answer.get("refused"):
            self.db.execute("UPDATE leases SET until=? WHERE run=?", (min(now + ttl, TOP), run))
        return answer


@broken("LSE-006")
class UntilNotSaturated(Journal):
    """until_ms is now + ttl_ms beyond 2^53-1 too."""

    def until(self, now: int, ttl: int, before: Lease | None) -> int:
        return now + ttl


@broken("LSE-006")
class UntilSaturatesOneTooHigh(Journal):
    """until_ms saturates at 2^53, one too high."""

    def until(self, now: int, ttl: int, before: Lease | None) -> int:
        return min(now + ttl, TOP + 1)


@broken("LSE-006", "LSE-002")
class SaturatedLeaseExpired(Journal):
    """A saturated grant says 2^53-1 but has expired at once (an overflow)."""

    def put_lease(self, run: str, lease: Lease) -> None:
        super().put_lease(run, lease._replace(until=-1) if lease.until == TOP else lease)


@broken("LSE-006")
class TtlInSeconds(Journal):
    """A lease lasts whole seconds: until_ms is now plus ttl_ms cut to seconds (at least one)."""

    def until(self, now: int, ttl: int, before: Lease | None) -> int:
        return super().until(now, max(1, ttl // 1000) * 1000, before)


@broken("LSE-006")
class RenewAddsToOldEnd(Journal):
    """A renew adds ttl_ms to the old end of a lease that is still held, not to now."""

    def until(self, now: int, ttl: int, before: Lease | None) -> int:
        return super().until(max(now, before.until) if before else now, ttl, before)


@broken("LSE-006")
class RenewNeverShortens(Journal):
    """A renew never shortens: with a shorter ttl_ms the old end stays."""

    def until(self, now: int, ttl: int, before: Lease | None) -> int:
        return max(super().until(now, ttl, before), before.until if before else 0)


@broken("LSE-006", "LSE-002")
class RenewedEndNotKept(Journal):
    """A renew answers the new until_ms, but while the lease is held its old end goes on to count."""

    def put_renewed(self, run: str, lease: Lease, until: int, now: int) -> None:
        if now > lease.until or not lease.held:
            super().put_renewed(run, lease, until, now)


# The adapter


def serve(journal: Journal) -> None:
    """Answer requests until `shutdown` or the end of standard input."""
    is_open = False
    for line in sys.stdin.buffer:
        if not line.endswith(b"\n"):
            break
        request = json.loads(line)
        reply = {"jsonrpc": "2.0", "id": request["id"], **answer(journal, request["method"], request["params"])}
        sys.stdout.buffer.write(journal.text(reply).encode() + b"\n")
        sys.stdout.buffer.flush()
        is_open = request["method"] != "shutdown"
        if not is_open:
            break
    if is_open:
        journal.close()


def answer(journal: Journal, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the result of one request, or the error that says that there is no such operation."""
    if method == "initialize":
        journal.open(params["state_dir"], params["namespace"], params["limits"])
        name = "independent-" + name_of(type(journal)).replace("_", "-")
        said = {"protocol": 1, "name": name, "version": "1.0.0"}
        return {"result": {**said, "capabilities": journal.caps, "limits": journal.limits}}
    if method == "shutdown":
        journal.close()
        return {"result": {}}
    try:
        return {"result": journal.call(method, params)}
    except Unsupported:
        return {"error": {"code": -32601, "message": f"method not found: {method}"}}


def listed(name: str, variant: Variant) -> dict[str, Any]:
    says = " ".join((variant.journal.__doc__ or "").split())
    return {"variant": name, "kind": variant.kind, "breaks": variant.breaks, "says": says}


def main() -> int:
    match sys.argv[1:]:
        case ["--list"]:
            print(json.dumps([listed(name, variant) for name, variant in VARIANTS.items()], indent=1))
        case [name] if name in VARIANTS:
            serve(VARIANTS[name].journal())
        case _:
            print("usage: independent_journals.py VARIANT | --list", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
