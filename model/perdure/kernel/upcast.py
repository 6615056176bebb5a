"""Upcasters: an event of an older version in the words of the newest.

The version in which it was recorded is kept beside it, since its rules are those of that version.

Source: ADR-0032, "Version and compatibility policy"; VER requirements of `docs/spec/kernel.md`.
"""

from __future__ import annotations

from typing import Literal

from perdure.kernel.events import (
    EVENTS,
    AnyEvent,
    EventV5,
    NodeBlocked,
    NodeFailed,
    NodeOutcomeCommitted,
    NodeSucceeded,
)
from perdure.kernel.outcomes import Succeeded, Unsuccessful

Failure = Literal["permanent_failure", "blocked"]


def is_of_version(event: AnyEvent, version: int) -> bool:
    """Tell whether a version has an event, in its own words or in the newest ones."""
    if version == 1 and isinstance(event, NodeOutcomeCommitted):
        is_whole = event.attempt_id is not None and not event.outcome.evidence
        return is_whole and event.outcome.kind in {"succeeded", "permanent_failure", "blocked"}
    return type(event) in EVENTS[version]


def upcast(event: AnyEvent) -> EventV5:
    """Return the event in the newest words: the three facts of version 1 about an attempt are one (VER-007)."""
    match event:
        case NodeSucceeded(node=node, attempt_id=attempt_id, output=output):
            outcome = Succeeded(kind="succeeded", output=output)
            return NodeOutcomeCommitted(node=node, attempt_id=attempt_id, outcome=outcome)
        case NodeFailed():
            return _failure(event, "permanent_failure")
        case NodeBlocked():
            return _failure(event, "blocked")
        case _:
            return event


def _failure(event: NodeFailed | NodeBlocked, kind: Failure) -> NodeOutcomeCommitted:
    outcome = Unsuccessful(kind=kind, reason=event.reason)
    return NodeOutcomeCommitted(node=event.node, attempt_id=event.attempt_id, outcome=outcome)
