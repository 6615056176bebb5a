"""The timeline of a play: a lane for each handle, and one for what is done to files."""

from __future__ import annotations

from itertools import zip_longest

from perdure_conformance.journal.describe import sentence
from perdure_conformance.journal.operations import Crash, OnFiles, Operation, Race, Reopen
from perdure_conformance.timeline import Moment, Timeline


def timeline(operations: tuple[Operation, ...], answers: tuple[str, ...]) -> Timeline:
    """Return what was done on which handle, with the answers as far as there were any."""
    handles = sorted({0}.union(*map(_handles, operations)))
    names = [f"handle {handle}" for handle in handles]
    if any(isinstance(operation, OnFiles) for operation in operations):
        names.append("files")
    moments = tuple(
        _moment(operation, answer or "", handles)
        for operation, answer in zip_longest(operations, answers[: len(operations)])
        if operation is not None
    )
    return Timeline(tuple(names), moments)


def _handles(operation: Operation) -> list[int]:
    """Return the handles on which an operation is done; none for what is done to all, or to files."""
    if isinstance(operation, Race):
        return operation.handles
    if isinstance(operation, Crash | OnFiles) or operation.handle is None:
        return []
    return [operation.handle]


def _moment(operation: Operation, answer: str, handles: list[int]) -> Moment:
    words, on = sentence(operation), _handles(operation)
    if isinstance(operation, OnFiles):
        return Moment(len(handles), words, answer, "outside")
    if isinstance(operation, Crash):
        return Moment(None, words, answer, "kill")
    lane = handles.index(on[0]) if len(on) == 1 else None
    return Moment(lane, words, answer, "close" if isinstance(operation, Reopen) else "ask")
