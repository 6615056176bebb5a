"""How the workload is sent to a journal while it is watched: what it did, what it answered, what it claims."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from perdure.journal.contract import Capabilities, Done
from perdure_conformance.crash.disk import Cut, Disk, Image
from perdure_conformance.crash.judge import Exchange
from perdure_conformance.crash.power import Recorded, is_any_of
from perdure_conformance.crash.recording import REBUILDABLE, read, traced
from perdure_conformance.crash.recording import Done as CallDone
from perdure_conformance.crash.replay import Failure, Fault, Undisturbed, Workload
from perdure_conformance.crash.trace import Blind, Call, Sync, Trace
from perdure_conformance.crash.windows import CANNOT_FAIL, CannotBeTried, image_of, require_that_it_can_happen
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
    """Start a journal under the tracer, send the workload, and shut it down.

    Raises `CannotBeTried`, `AdapterFault`, `Silence`.
    """
    require_that_it_can_happen(fault)
    state, log = folder / "state", folder / "log"
    state.mkdir(parents=True)
    program = target.as_process()
    assert isinstance(program, CommandTarget), "what has a process of its own is a command"
    watched = replace(program, command=traced(program.command, state, log, fault, rebuildable=rebuildable))
    connection = watched.open(timeout_s, Transcript())
    try:
        claims, exchanges = converse(connection, workload, state)
        rebuilt = _rebuilt(state, rebuildable)
        connection.close()
    finally:
        connection.kill()
    recording = read(log)
    syncs = [each for each in recording.done if each.number and isinstance(each.call.operation, Sync)]
    failures = [_failure(each, syncs) for each in syncs if each.name not in CANNOT_FAIL]
    trace = _held_against(state, recording.trace, rebuildable)
    return Recorded(trace, exchanges, claims, failures, rebuildable, rebuilt)


def _failure(sync: CallDone, syncs: Sequence[CallDone]) -> Failure:
    """Return what makes a sync fail; strace can tell it from others if all of its name are of one thread."""
    threads = {each.call.thread for each in syncs if each.name == sync.name}
    return Failure(sync.name, sync.ordinal, "EIO", sync.thread_ordinal if len(threads) == 1 else 0)


def _rebuilt(state: Path, rebuildable: Sequence[str]) -> Mapping[str, bytes]:
    """Return what the files hold that are made anew, of a program that runs and may take away others meanwhile."""
    found: dict[str, bytes] = {}
    for folder, _, names in os.walk(state):
        for path in (Path(folder, name) for name in names if is_any_of(name, rebuildable)):
            with suppress(OSError):
                found[f"{path.relative_to(state)}"] = path.read_bytes()
    return found


def _held_against(state: Path, trace: Trace, rebuildable: Sequence[str]) -> Trace:
    """Return the trace; with a `Blind` call at its end, if what it shows is not what was left."""
    disk = Disk(trace)
    sentence = None if disk.blind else _difference(state, disk.image(Cut(len(trace.calls))), rebuildable)
    if sentence is None:
        return trace
    return msgspec.structs.replace(trace, calls=[*trace.calls, Call(sentence, Blind(sentence))])


def _difference(state: Path, shown: Image, rebuildable: Sequence[str]) -> str | None:
    """Return where a state directory is not as a trace shows it, in one sentence; None if it is."""
    try:
        left, known = (_by_name(each, rebuildable) for each in (image_of(state), shown))
    except CannotBeTried as reason:
        return f"{reason}"
    names = {name for name, _ in left.items() ^ known.items()}
    if not names:
        return None
    return f"{min(names)} is not as the calls that were seen leave it: it was changed where nobody looked"


def _by_name(image: Image, rebuildable: Sequence[str]) -> Mapping[str, bytes | None]:
    """Return what each name leads to, None for a folder; without the files that are made anew."""
    links = {name: image.files[same] for name, same in image.links.items()}
    files = {name: held for name, held in {**image.files, **links}.items() if not is_any_of(name, rebuildable)}
    return {**files, **dict.fromkeys(image.folders)}


def converse(connection: Connection, workload: Workload, state: Path) -> tuple[Capabilities, list[Exchange]]:
    """Send the workload. `shutdown` is left to do."""
    client = JournalClient(connection)
    claims = client.initialize(state).capabilities
    asked = (Exchange(each.method, each.params, client.ask(each.method, each.params)) for each in requests(workload))
    return claims, [Exchange("initialize", {}, Done()), *asked]
