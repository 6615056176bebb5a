"""How the workload is sent to a journal while it is watched: what it did, what it answered, what it claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from perdure.journal.contract import Capabilities, Done
from perdure_conformance.crash.judge import Exchange
from perdure_conformance.crash.power import Recorded, is_any_of
from perdure_conformance.crash.recording import REBUILDABLE, read, traced
from perdure_conformance.crash.replay import Failure, Fault, Undisturbed, Workload
from perdure_conformance.crash.trace import Sync
from perdure_conformance.crash.windows import image_of
from perdure_conformance.crash.workload import requests
from perdure_conformance.harness.connection import Connection
from perdure_conformance.harness.targets import CommandTarget, Target
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.journal.client import JournalClient

_UNDISTURBED = Undisturbed()


def record(
    target: Target,
    workload: Workload,
    folder: Path,
    timeout_s: float,
    fault: Fault = _UNDISTURBED,
    rebuildable: Sequence[str] = REBUILDABLE,
) -> Recorded:
    """Start a journal under the tracer, send the workload, and shut it down. Raises `AdapterFault`, `Silence`."""
    state, log = folder / "state", folder / "log"
    state.mkdir(parents=True)
    program = target.as_process()
    assert isinstance(program, CommandTarget), "what has a process of its own is a command"
    watched = replace(program, command=traced(program.command, state, log, fault, rebuildable=rebuildable))
    connection = watched.open(timeout_s, Transcript())
    try:
        claims, exchanges = converse(connection, workload, state)
        rebuilt = {path: held for path, held in image_of(state).files.items() if is_any_of(path, rebuildable)}
        connection.close()
    finally:
        connection.kill()
    recording = read(log)
    syncs = [each for each in recording.done if each.number and isinstance(each.call.operation, Sync)]
    failures = [Failure(each.name, each.ordinal, "EIO") for each in syncs]
    return Recorded(recording.trace, exchanges, claims, failures, rebuildable, rebuilt)


def converse(connection: Connection, workload: Workload, state: Path) -> tuple[Capabilities, list[Exchange]]:
    """Send the workload. `shutdown` is left to do."""
    client = JournalClient(connection)
    claims = client.initialize(state).capabilities
    asked = (Exchange(each.method, each.params, client.ask(each.method, each.params)) for each in requests(workload))
    return claims, [Exchange("initialize", {}, Done()), *asked]
