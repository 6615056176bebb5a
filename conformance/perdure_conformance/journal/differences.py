"""What had to come and what came at a step, as JSON in which long text is cut: enough to see the difference."""

from __future__ import annotations

from typing import assert_never

import msgspec

from perdure.kernel.values import JsonValue
from perdure_conformance.journal.client import Invalid
from perdure_conformance.journal.world import (
    AcquireStep,
    AppendStep,
    DescriptionStep,
    FileStep,
    HurtAppendStep,
    HurtLoadStep,
    HurtSnapshotStep,
    LoadSnapshotStep,
    LoadStep,
    ReleaseStep,
    RenewStep,
    SaveSnapshotStep,
    SingleStep,
    UnansweredStep,
    UnclaimedStep,
)


def expected(step: SingleStep) -> JsonValue:
    """Return what had to come."""
    match step:
        case AppendStep(expected=expected) | RenewStep(expected=expected) | ReleaseStep(expected=expected):
            return _shown(expected)
        case AcquireStep(expected=expected, lease=lease):
            return _shown(expected) if expected is not None else f"an epoch above {lease.epoch}, or held"
        case LoadStep(rest=rest, limit=limit, due=due):
            return {"records": _shown(rest[:limit]), "end": due <= limit}
        case LoadSnapshotStep(saved=saved):
            return _shown(saved[-1:]) if saved else "no snapshot"
        case SaveSnapshotStep(is_too_large=is_too_large):
            return "too_large" if is_too_large else "it is saved"
        case FileStep() | HurtAppendStep() | HurtLoadStep() | HurtSnapshotStep():
            return _expected_of_files(step)
        case UnclaimedStep(method=method):
            return f"{method} is not supported: JSON-RPC error -32601, or a Python journal without the method"
        case UnansweredStep():
            return "an acknowledgement, sooner or later"
        case DescriptionStep():
            return "limits of at least 1,000 records, 1 MiB a batch, 1 MiB a snapshot"
        case _:
            assert_never(step)


def _expected_of_files(step: FileStep | HurtAppendStep | HurtLoadStep | HurtSnapshotStep) -> JsonValue:
    match step:
        case FileStep(due=due):
            return _shown_bytes(due)
        case HurtAppendStep():
            return "anything but an acknowledgement: the file of the run is damaged or cannot be read"
        case HurtLoadStep(hurt=hurt):
            return "unavailable" if hurt.damaged_at is None else f"records before {hurt.damaged_at}, then corrupt there"
        case HurtSnapshotStep():
            return "no snapshot: its file is damaged"


def actual(step: SingleStep) -> JsonValue:
    """Return what came."""
    match step:
        case DescriptionStep(limits=limits):
            return _shown(limits)
        case FileStep(found=found):
            return "no file" if found is None else _shown_bytes(found)
        case UnclaimedStep(answer=Invalid(invalid=sentence)):
            return sentence
        case _:
            return _shown(step.answer)


def _shown_bytes(content: bytes) -> JsonValue:
    """Return bytes as text: how many, and the first and last of them."""
    ends = content if len(content) <= 200 else content[:100] + b" ... " + content[-95:]
    return f"{len(content)} bytes: {ascii(ends)[2:-1]}"


def _shown(value: object) -> JsonValue:
    """Return a value as JSON in which long text is cut: enough to see the first difference."""
    return cut(msgspec.to_builtins(value))


def cut(value: JsonValue) -> JsonValue:
    """Return a JSON value in which long text and long lists are cut."""
    match value:
        case str() if len(value) > 120:
            return f"{value[:60]}... ({len(value)} characters)"
        case dict():
            return {key: cut(member) for key, member in value.items()}
        case list() if len(value) > 4:
            return [*(cut(item) for item in value[:4]), f"... ({len(value)} in all)"]
        case list() | tuple():
            return [cut(item) for item in value]
        case _:
            return value
