"""Speaks protocol 1, JSON-RPC over standard input and output, for the journal in journal.py.

perdure adapter smoke --command "python3 adapter.py"
perdure check journal --command "python3 adapter.py"
"""

import json
import sys
import traceback
from typing import Any

from journal import LIMITS, FileJournal, Record

# What is claimed is judged. What is not claimed must be refused as unsupported (JRN-022).
CAPABILITIES = {
    "exact_replay": True,  # JRN-008
    "event_id_dedup": True,  # JRN-009, JRN-023
    "atomic_batch": True,  # JRN-015
    "durable": "process-crash",  # JRN-017
}
PAGE_BYTES = 1_048_576


class Adapter:
    """What is done for each method of the protocol that is offered."""

    def initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        """Open the journal. All its state lives in `state_dir`, under `namespace`, and nowhere else."""
        self.journal = FileJournal(params["state_dir"], params["namespace"])
        return {"protocol": 1, "name": "my-journal", "version": "0.1.0", "capabilities": CAPABILITIES, "limits": LIMITS}

    def append(self, params: dict[str, Any]) -> dict[str, Any]:
        """Append a batch. `epoch` is null, unless `fencing` is claimed."""
        return self.journal.append(params["run_id"], params["expected_next"], params["records"])

    def load(self, params: dict[str, Any]) -> dict[str, Any]:
        """Load a page. One that would not fit in a line ends early, and is then not the end (JRN-021)."""
        records, end = self.journal.load(params["run_id"], params["from_sequence"], params["limit"])
        count = fitting(records)
        return {"records": records[:count], "end": end and count == len(records)}

    def shutdown(self, _params: dict[str, Any]) -> dict[str, Any]:
        """Close the journal; the process ends after the answer."""
        self.journal.close()
        return {}


METHODS = {
    "initialize": Adapter.initialize,
    "append": Adapter.append,
    "load": Adapter.load,
    "shutdown": Adapter.shutdown,
}


def fitting(records: list[Record]) -> int:
    """Return how many records fit in a line, at least one: text takes up to twice its bytes as JSON."""
    size = 0
    for count, record in enumerate(records):
        size += len(record["body"].encode()) + 100
        if size > PAGE_BYTES and count > 0:
            return count
    return len(records)


def outcome(adapter: Adapter, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a request, or an error. A refusal is a result; an error is a fault of this program."""
    if method not in METHODS:
        return {"error": {"code": -32601, "message": f"method not found: {method}"}}
    try:
        return {"result": METHODS[method](adapter, params)}
    except Exception as error:  # noqa: BLE001 - the journal's faults are told, and do not end this program
        traceback.print_exc()  # Logs go to standard error: standard output is for messages alone.
        return {"error": {"code": -32603, "message": str(error)}}


def main() -> None:
    """Answer requests, one line each, until `shutdown` or the end of input."""
    adapter = Adapter()
    for line in sys.stdin.buffer:  # Bytes: lines end at LF alone.
        request = json.loads(line)
        answer = outcome(adapter, request["method"], request["params"])
        message = {"jsonrpc": "2.0", "id": request["id"], **answer}
        sys.stdout.buffer.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        sys.stdout.buffer.flush()  # Else the answer stays in this process.
        if request["method"] == "shutdown":
            return


if __name__ == "__main__":
    main()
