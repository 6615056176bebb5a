"""The timeline of a play: a lane for each handle, over the wire a process, and one for what is done to files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from perdure_conformance.journal.calls import MARK, Noun, lines_of, read_back
from perdure_conformance.journal.describe import sentence
from perdure_conformance.journal.operations import Crash, OnFiles, Operation, Race, Reopen
from perdure_conformance.timeline import Moment, Timeline


def timeline(operations: tuple[Operation, ...], answers: tuple[str, ...], noun: Noun) -> Timeline:
    """Return what was done on which handle, with the answers as far as there were any."""
    handles = sorted({0}.union(*map(_handles, operations)))
    names = [f"{noun} {handle}" for handle in handles]
    if any(isinstance(operation, OnFiles) for operation in operations):
        names.append("files")
    moments = tuple(
        moment
        for operation, answer in zip_longest(operations, answers[: len(operations)])
        if operation is not None
        for moment in _moments(operation, answer or "", handles, noun)
    )
    return Timeline(tuple(names), moments)


def _handles(operation: Operation) -> list[int]:
    """Return the handles on which an operation is done; none for what is done to all, or to files."""
    if isinstance(operation, Race):
        return operation.handles
    if isinstance(operation, Crash | OnFiles) or operation.handle is None:
        return []
    return [operation.handle]


def _moments(operation: Operation, answer: str, handles: list[int], noun: Noun) -> Iterator[Moment]:
    words, on = sentence(operation, noun), _handles(operation)
    if isinstance(operation, Race):
        calls = list(_calls(answer, handles))
        yield Moment(None, f"{words}:", mark="together", fails=MARK in answer and not any(call.fails for call in calls))
        yield from calls
    elif isinstance(operation, OnFiles):
        yield Moment(len(handles), words, answer, "outside")
    elif isinstance(operation, Crash):
        yield Moment(None, words, answer, "kill")
    else:
        lane = handles.index(on[0]) if len(on) == 1 else None
        yield Moment(lane, words, answer, "close" if isinstance(operation, Reopen) else "ask")


def _calls(answer: str, handles: list[int]) -> Iterator[Moment]:
    """Yield each call of a race, in the lane of its handle; what tells none, everywhere."""
    for line in lines_of(answer):
        told = read_back(line)
        if told is not None and told.handle in handles:
            lane = handles.index(told.handle)
            yield Moment(lane, told.words, f"{told.answer} {told.when}", fails=told.fails)
        elif not line.startswith(MARK):
            yield Moment(None, line)
