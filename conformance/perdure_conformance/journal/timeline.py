"""The timeline of a play: a lane for each handle, and one for what is done to files."""

from __future__ import annotations

from itertools import zip_longest

from perdure_conformance.journal.describe import sentence
from perdure_conformance.journal.operations import Crash, OnFiles, Operation, Reopen
from perdure_conformance.timeline import Moment, Timeline


def timeline(operations: tuple[Operation, ...], answers: tuple[str, ...]) -> Timeline:
    """Return what was done on which handle, with the answers as far as there were any."""
    handles = sorted({0} | {handle for operation in operations if (handle := _handle(operation)) is not None})
    names = [f"handle {handle}" for handle in handles]
    if any(isinstance(operation, OnFiles) for operation in operations):
        names.append("files")
    moments = tuple(
        _moment(operation, answer or "", handles)
        for operation, answer in zip_longest(operations, answers[: len(operations)])
        if operation is not None
    )
    return Timeline(tuple(names), moments)


def _handle(operation: Operation) -> int | None:
    """Return the handle on which an operation is done; None for all, or none."""
    return None if isinstance(operation, Crash | OnFiles) else operation.handle


def _moment(operation: Operation, answer: str, handles: list[int]) -> Moment:
    words, handle = sentence(operation), _handle(operation)
    if isinstance(operation, OnFiles):
        return Moment(len(handles), words, answer, "outside")
    if isinstance(operation, Crash):
        return Moment(None, words, answer, "kill")
    lane = None if handle is None else handles.index(handle)
    return Moment(lane, words, answer, "close" if isinstance(operation, Reopen) else "ask")
