"""Operations in words: what a person reads of a case."""

from __future__ import annotations

from itertools import zip_longest
from typing import TypeGuard, assert_never

import msgspec

from perdure_conformance.journal.calls import Noun, lines_of
from perdure_conformance.journal.operations import (
    Acquire,
    Append,
    Clear,
    Crash,
    Damage,
    Follow,
    Interrupt,
    Load,
    LoadSnapshot,
    Obstruct,
    OnFiles,
    Operation,
    Race,
    Racing,
    ReadFile,
    RecordSpec,
    Release,
    Renew,
    Reopen,
    SaveSnapshot,
)

_EVENTS_SHOWN = 6


def numbered(operations: tuple[Operation, ...], answers: tuple[str, ...], noun: Noun) -> list[str]:
    """Return operations in words, each with its answer as far as there was one; a race takes a line for each call."""
    return [
        line
        for number, (operation, answer) in enumerate(zip_longest(operations, answers, fillvalue=""), 1)
        if not isinstance(operation, str)
        for line in _lines(number, operation, answer, noun)
    ]


def _lines(number: int, operation: Operation, answer: str, noun: Noun) -> list[str]:
    told = f"  {number}. {sentence(operation, noun)}"
    if not isinstance(operation, Race):
        return [told + (f"  → {answer}" if answer else "")]
    told += ":"
    parts = [f"       {noun} {handle}: {_of_one_handle(operation, handle, noun)}" for handle in operation.handles]
    if answer:
        parts += ["     what came, with the instants from request to answer:"]
        parts += [f"       {line}" for line in lines_of(answer)]
    return [told, *parts]


def sentence(operation: Operation, noun: Noun) -> str:
    """Return one operation as a sentence; of a race, that it is one."""
    match operation:
        case Append():
            return f"append {_events(operation.records)} to run {operation.run} at {operation.expected_next}" + _under(
                operation, noun
            )
        case Load(run=run, from_sequence=start, limit=limit):
            return f"load run {run} from {start} in pages of {limit}" + _on(operation.handle, noun)
        case SaveSnapshot(run=run, sequence=sequence, text=text):
            padded = f", {_padded(operation)}" if operation.body_bytes else ""
            return f"save a snapshot of run {run} at {sequence}, text {text!a}{padded}" + _on(operation.handle, noun)
        case LoadSnapshot(run=run):
            return f"load the snapshot of run {run}" + _on(operation.handle, noun)
        case Acquire() | Renew() | Release():
            return _of_lease(operation, noun)
        case Race():
            return "at the same time"
        case Reopen(handle=handle):
            again = "start it again" if noun == "process" else "open it again"
            return f"close {f'every {noun}' if handle is None else f'{noun} {handle}'} and {again}"
        case ReadFile() | Interrupt() | Damage() | Obstruct() | Clear():
            return _on_files(operation)
        case Crash():
            return "kill -9 every process and start again"
        case _:
            assert_never(operation)


def _of_lease(operation: Acquire | Renew | Release, noun: Noun) -> str:
    on = _on(operation.handle, noun)
    match operation:
        case Acquire(run=run, owner=owner, ttl_ms=ttl_ms, now_ms=now_ms):
            return f"acquire run {run} for owner {owner}, for {ttl_ms} ms from {now_ms} ms{on}"
        case Renew(run=run, grant=grant, ahead=ahead, ttl_ms=ttl_ms, now_ms=now_ms):
            return f"renew grant {grant} of run {run}{_ahead(ahead)}, for {ttl_ms} ms from {now_ms} ms{on}"
        case Release(run=run, grant=grant):
            return f"release grant {grant} of run {run}{on}"


def _on_files(operation: OnFiles) -> str:
    match operation:
        case ReadFile(run=run):
            return f"look at the file of run {run}"
        case Interrupt(run=run, kept_bytes=kept, zeros=zeros):
            tail = f" and {zeros} zeros" if zeros else ""
            return f"cut an append of {_events(operation.records)} to run {run} short after {kept} bytes{tail}"
        case Damage(run=run, snapshot=True):
            return f"damage the snapshot of run {run}: {_damage(operation)}"
        case Damage(run=run, record=record):
            return f"damage the file of run {run}: {_damage(operation)} of its last record but {record}"
        case Obstruct(run=run):
            return f"let the file of run {run} be unreadable"
        case Clear(run=run):
            return f"let the file of run {run} be readable again"


def _damage(operation: Damage) -> str:
    match operation.how:
        case "flip":
            return f"flip bits {operation.size} of byte {operation.offset}"
        case "cut":
            return f"cut it at byte {operation.offset}"
        case "erase":
            return f"write {operation.size} zeros from byte {operation.offset}"
        case "zeros":
            return f"add {operation.size} zeros behind the last byte"


def _of_one_handle(race: Race, handle: int, noun: Noun) -> str:
    told: list[str] = []
    alike: list[Append] = []
    for operation in race.operations:
        if operation.handle != handle:
            continue
        if alike and _goes_on(alike[-1], operation):
            told.pop()
        else:
            alike = []
        if isinstance(operation, Append):
            alike.append(operation)
        told.append(_one_by_one(alike) if len(alike) > 1 else _racing(operation, noun))
    return ", then ".join(told)


def _goes_on(before: Append, operation: Racing) -> TypeGuard[Append]:
    """Tell whether an operation appends one record to the same run, as the one before it does."""
    return isinstance(operation, Append) and (
        operation.run == before.run
        and len(operation.records) == len(before.records) == 1
        and (operation.grant, operation.ahead) == (before.grant, before.ahead)
    )


def _one_by_one(appends: list[Append]) -> str:
    events = _events(tuple(record for each in appends for record in each.records))
    return f"append {events}, one by one, to run {appends[0].run}, at {appends[0].expected_next} or where it is told"


def _racing(operation: Racing, noun: Noun) -> str:
    match operation:
        case Append(run=run, expected_next=expected_next):
            return f"append {_events(operation.records)} to run {run}, at {expected_next} or where it is told"
        case Follow(run=run, times=times, limit=limit):
            often = "once" if times == 1 else f"{times} times"
            return f"read on in run {run}, {often}, in pages of {limit}"
        case _:
            return sentence(msgspec.structs.replace(operation, handle=0), noun)


def _events(records: tuple[RecordSpec, ...]) -> str:
    if not records:
        return "no records"
    shown = ", ".join(_event(record) for record in records[:_EVENTS_SHOWN])
    more = f" and {len(records) - _EVENTS_SHOWN} more" if len(records) > _EVENTS_SHOWN else ""
    return f"event{'s' if len(records) > 1 else ''} {shown}{more}"


def _event(record: RecordSpec) -> str:
    oddities = [
        f"text {record.text!a}" if record.text else "",
        _padded(record) if record.body_bytes else "",
        f"sequence {record.sequence}" if record.sequence is not None else "",
        f"event id {record.event_id!a}" if record.event_id is not None else "",
        "empty body" if record.empty_body else "",
        f"awkward {record.awkward}" if record.awkward else "",
        "as {} of {}".format(*record.batch) if record.batch is not None else "",
    ]
    told = ", ".join(oddity for oddity in oddities if oddity)
    return f"{record.event} ({told})" if told else str(record.event)


def _padded(what: RecordSpec | SaveSnapshot) -> str:
    return f"{what.body_bytes} bytes" + (f" of {what.padding!a}" if what.padding != "x" else "")


def _under(operation: Append, noun: Noun) -> str:
    grant = f" under grant {operation.grant}{_ahead(operation.ahead)}" if operation.grant is not None else ""
    return grant + _on(operation.handle, noun)


def _ahead(epochs: int) -> str:
    return f", {epochs} epochs ahead" if epochs else ""


def _on(handle: int, noun: Noun) -> str:
    where = "in process" if noun == "process" else "on handle"
    return f" {where} {handle}" if handle else ""
