"""How the workload is sent to a journal while it is watched: what it did, what it answered, what it claims."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from perdure.journal.contract import Capabilities, Done
from perdure.kernel.values import JsonObject
from perdure_conformance.crash.judge import Exchange
from perdure_conformance.crash.power import Recorded
from perdure_conformance.crash.recording import read, traced
from perdure_conformance.crash.replay import Asked
from perdure_conformance.crash.workload import workload
from perdure_conformance.harness.connection import Connection
from perdure_conformance.harness.targets import CommandTarget, Target
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.journal.client import Answer, JournalClient
from perdure_conformance.journal.operations import Identities, SaveSnapshot

_TTL_MS: Final = 1_000


def record(target: Target, asked: Asked, folder: Path, timeout_s: float) -> Recorded:
    """Start a journal under the tracer, send the workload, and shut it down. Raises `AdapterFault`, `Silence`."""
    state, log = folder / "state", folder / "log"
    state.mkdir(parents=True)
    program = target.as_process()
    assert isinstance(program, CommandTarget), "what has a process of its own is a command"
    watched = replace(program, command=traced(program.command, state, log))
    connection = watched.open(timeout_s, Transcript())
    try:
        claims, exchanges = converse(connection, asked, state)
        connection.close()
    finally:
        connection.kill()
    return Recorded(read(log).trace, exchanges, claims)


def converse(connection: Connection, asked: Asked, state: Path) -> tuple[Capabilities, list[Exchange]]:
    """Send the workload, then save a snapshot and ask for a lease, if they are claimed. `shutdown` is left to do."""
    client = JournalClient(connection)
    claims = client.initialize(state).capabilities
    exchanges = [Exchange("initialize", {}, Done())]

    def ask(method: str, params: JsonObject) -> Answer:
        answer = client.ask(method, params)
        exchanges.append(Exchange(method, params, answer))
        return answer

    sent = workload(asked)
    for each in sent:
        ask("append", each.params())
    run_id, following = sent[0].run_id, 1 + sum(len(each.records) for each in sent if each.run_id == sent[0].run_id)
    if claims.snapshots:
        body = Identities(asked.seed, 0).snapshot_body(SaveSnapshot(run=0, sequence=following - 1, text="so far"))
        ask("save_snapshot", {"run_id": run_id, "sequence": following - 1, "body": body})
    if claims.leases:
        owner = Identities(asked.seed, 0).owner_id(0)
        ask("acquire", {"run_id": run_id, "owner": owner, "ttl_ms": _TTL_MS, "now_ms": 0})
    return claims, exchanges
