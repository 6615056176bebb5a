"""Speaks protocol 1, JSON-RPC over standard input and output, for the journal in journal.py.

perdure adapter smoke --command "python3 adapter.py"
perdure check journal --command "python3 adapter.py"
"""

import json
import sys
from typing import Any

from journal import LIMITS, FileJournal

# What is claimed is judged. What is not claimed is refused as unsupported (JRN-022). To claim more, ask what it takes:
# perdure explain snapshots, or leases, fencing, multi_process, read, durable.
CAPABILITIES = {
    "exact_replay": True,  # JRN-008
    "event_id_dedup": True,  # JRN-009, JRN-023
    "atomic_batch": True,  # JRN-015
    "durable": "process-crash",  # JRN-017
}


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
        """Load a page."""
        return self.journal.load(params["run_id"], params["from_sequence"], params["limit"])

    def shutdown(self, _params: dict[str, Any]) -> dict[str, Any]:
        """Close the journal, if it has something to close; the process ends after the answer."""
        return {}


METHODS = {
    "initialize": Adapter.initialize,
    "append": Adapter.append,
    "load": Adapter.load,
    "shutdown": Adapter.shutdown,
}


def main() -> None:
    """Answer requests, one line each, until `shutdown` or the end of input.

    A refusal is a result. An exception is a fault, and ends this program: standard error tells it, and takes logs too.
    """
    adapter = Adapter()
    for line in sys.stdin.buffer:  # Bytes: lines end at LF alone.
        request = json.loads(line)
        answer = {"jsonrpc": "2.0", "id": request["id"]}
        if request["method"] in METHODS:
            answer["result"] = METHODS[request["method"]](adapter, request["params"])
        else:
            answer["error"] = {"code": -32601, "message": f"method not found: {request['method']}"}
        sys.stdout.buffer.write(json.dumps(answer, ensure_ascii=False).encode() + b"\n")
        sys.stdout.buffer.flush()  # Else the answer stays in this process.
        if request["method"] == "shutdown":
            return


if __name__ == "__main__":
    main()
