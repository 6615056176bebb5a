"""A small journal as a program, with the standard library alone, and many ways to break what a crash must not break.

`python journal.py CLASS` serves one of the classes. One file holds all runs: a line for each batch. What is
said of each class is what it does wrong.
"""

from __future__ import annotations

import json
import os
import sys

Message = dict[str, object]
LIMITS = {"max_batch_records": 1000, "max_batch_bytes": 2**20, "max_snapshot_bytes": 2**20}


class Good:
    """Nothing: it appends a line, and takes back what it cannot write whole. When it opens, it cuts off a torn one."""

    durable: str | None = "process-crash"

    def __init__(self, state: str) -> None:
        self.path = f"{state}/log"
        self.runs: dict[str, list[Message]] = {}
        self.log = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        self.end = self.recovered(self.content())

    def content(self) -> bytes:
        content = b""
        while part := os.pread(self.log, 2**20, len(content)):
            content += part
        return content

    def recovered(self, content: bytes) -> int:
        """Take in what is there; return where the next line goes."""
        end = content.rfind(b"\n") + 1
        for line in content[:end].splitlines():
            self.take(line)
        if end < len(content):
            self.cut(end)
        return end

    def take(self, line: bytes) -> None:
        run, records = json.loads(line)
        self.runs.setdefault(run, []).extend(records)

    def cut(self, end: int) -> None:
        os.ftruncate(self.log, end)

    def append(self, run_id: str, expected_next: int, records: list[Message]) -> Message:
        run = self.runs.get(run_id, [])
        acknowledged: Message = {
            "acknowledged": [{"sequence": each["sequence"], "event_id": each["event_id"]} for each in records]
        }
        if run[expected_next - 1 : expected_next - 1 + len(records)] == records:
            return acknowledged
        if expected_next != len(run) + 1:
            return {"refused": "sequence_conflict", "actual_next": len(run) + 1}
        refused = self.store(run_id, records)
        if refused is not None:
            return refused
        self.runs.setdefault(run_id, []).extend(records)
        return acknowledged

    def store(self, run_id: str, records: list[Message]) -> Message | None:
        line = json.dumps([run_id, records]).encode() + b"\n"
        try:
            self.write(line)
        except OSError as error:
            try:
                self.cut(self.end)
            except OSError:
                os._exit(3)
            return {"refused": "not_stored", "detail": f"{error.strerror}"}
        self.end += len(line)
        return None

    def write(self, line: bytes) -> None:
        written = 0
        while written < len(line):
            written += os.pwrite(self.log, line[written:], self.end + written)

    def load(self, run_id: str, from_sequence: int, limit: int) -> Message:
        records = self.runs.get(run_id, [])[from_sequence - 1 :]
        return {"records": records[:limit], "end": len(records) <= limit}

    def close(self) -> None:
        os.close(self.log)


class WritesInPlace(Good):
    """It empties the file and writes all of it anew."""

    def write(self, line: bytes) -> None:
        content = self.content()
        os.ftruncate(self.log, 0)
        os.pwrite(self.log, content + line, 0)


class AcknowledgesBeforeItWrites(Good):
    """It writes an append when the next request comes."""

    pending: tuple[str, list[Message]] | None = None

    def store(self, run_id: str, records: list[Message]) -> Message | None:
        self.flush()
        self.pending = (run_id, records)
        return None

    def flush(self) -> None:
        if self.pending is not None:
            super().store(*self.pending)
            self.pending = None

    def close(self) -> None:
        self.flush()
        super().close()


class IgnoresAnErrorOfAWrite(Good):
    """It goes on as if a write that failed had been made."""

    def write(self, line: bytes) -> None:
        try:
            super().write(line)
        except OSError:
            return


class IgnoresAShortWrite(Good):
    """It does not look how much was written."""

    def write(self, line: bytes) -> None:
        os.pwrite(self.log, line, self.end)


class LeavesHalfABatch(Good):
    """It writes each record as a line of its own."""

    def store(self, run_id: str, records: list[Message]) -> Message | None:
        refusals = [super(LeavesHalfABatch, self).store(run_id, [record]) for record in records]
        return next((refused for refused in refusals if refused is not None), None)


class CutsTooMuch(Good):
    """Where it finds a torn line, it cuts off the one before it too."""

    def recovered(self, content: bytes) -> int:
        if content and not content.endswith(b"\n"):
            whole = content[: content.rfind(b"\n") + 1]
            content = whole[: whole.rfind(b"\n", 0, -1) + 1]
            self.cut(len(content))
        return super().recovered(content)


class DoesNotOpenATornFile(Good):
    """It takes a torn line for damage."""

    def recovered(self, content: bytes) -> int:
        if content and not content.endswith(b"\n"):
            raise SystemExit("damaged")
        return super().recovered(content)


class LeavesWhatIsNotStored(Good):
    """It says that nothing was stored where it does not know: the line stands, and only its sync failed."""

    def write(self, line: bytes) -> None:
        super().write(line)
        try:
            os.fsync(self.log)
        except OSError:
            self.end += len(line)
            raise

    def cut(self, end: int) -> None:
        if end > self.end:
            super().cut(end)


class TakesAnErrorForTheEnd(Good):
    """What it cannot read, it takes for not being there."""

    def content(self) -> bytes:
        try:
            return super().content()
        except OSError:
            return b""


class RecoversInPlace(Good):
    """Where it finds a torn line, it empties the file and writes the whole ones anew."""

    def cut(self, end: int) -> None:
        whole = self.content()[:end]
        os.ftruncate(self.log, 0)
        os.pwrite(self.log, whole, 0)


class RefusesAll(Good):
    """It stores nothing."""

    def store(self, run_id: str, records: list[Message]) -> Message | None:
        del run_id, records
        return {"refused": "not_stored", "detail": "full"}


class PromisesNothing(Good):
    """It does not say that it survives a kill."""

    durable = None


class ViaATemporaryFile(Good):
    """Nothing: it writes the whole file anew under another name."""

    def write(self, line: bytes) -> None:
        content = self.content()
        name = f"{self.path}.tmp"
        new = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
        rest = content + line
        while rest:
            rest = rest[os.write(new, rest) :]
        os.rename(name, self.path)  # noqa: PTH104 - pathlib would take longer to import than all else
        os.close(self.log)
        self.log = new


def description(durable: str | None) -> Message:
    """Return what it claims."""
    capabilities: Message = {"exact_replay": True, "atomic_batch": True}
    if durable is not None:
        capabilities["durable"] = durable
    return {"protocol": 1, "name": "crashing", "version": "1", "capabilities": capabilities, "limits": LIMITS}


def main(kind: type[Good]) -> None:
    """Answer until it is told to stop."""
    journal: Good | None = None
    for line in sys.stdin:
        request = json.loads(line)
        method, params = request["method"], request["params"]
        result: Message = {}
        match method:
            case "initialize":
                journal = kind(params["state_dir"])
                result = description(journal.durable)
            case "recover":
                assert journal is not None
                journal.close()
                journal = kind(params["path"])
            case "append":
                assert journal is not None
                result = journal.append(params["run_id"], params["expected_next"], params["records"])
            case "load":
                assert journal is not None
                result = journal.load(params["run_id"], params["from_sequence"], params["limit"])
            case "shutdown":
                assert journal is not None
                journal.close()
            case _:
                raise AssertionError(method)
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
        if method == "shutdown":
            return


if __name__ == "__main__":
    main(globals()[sys.argv[1]])
