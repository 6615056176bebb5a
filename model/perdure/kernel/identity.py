"""Durable identities: opaque, strongly typed in code, canonical text when stored.

Source: ADR-0032, "Public identity contract"; values of the graph design.
"""

from __future__ import annotations

import re
import uuid
from typing import Final, NewType, Protocol

RunId = NewType("RunId", str)
EventId = NewType("EventId", str)
OwnerId = NewType("OwnerId", str)
AttemptId = NewType("AttemptId", str)
SignalId = NewType("SignalId", str)
ArtifactId = NewType("ArtifactId", str)
WorkflowId = NewType("WorkflowId", str)
WorkflowReference = NewType("WorkflowReference", str)
"""`workflow_id@workflow_version`."""
NodeId = NewType("NodeId", str)
Name = NewType("Name", str)
"""Of a handler, a signal, or a field of input or output."""

UUID_GRAMMAR: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
NAME_GRAMMAR: Final = r"[A-Za-z_][A-Za-z0-9_.-]{0,127}"
REFERENCE_GRAMMAR: Final = NAME_GRAMMAR + r"@[1-9][0-9]{0,15}"

_UUID = re.compile(UUID_GRAMMAR)
_NAME = re.compile(NAME_GRAMMAR)


def is_canonical_uuid(text: str) -> bool:
    """Tell whether `text` is canonical UUID text: lowercase, hyphenated, and nothing around it."""
    return _UUID.fullmatch(text) is not None


def is_name(text: str) -> bool:
    """Tell whether `text` is a name: an ASCII letter or `_`, then at most 127 of `A-Za-z0-9_.-`."""
    return _NAME.fullmatch(text) is not None


class IdSource(Protocol):
    """Where new identities come from. Injected, so that a test can repeat them; nothing orders by them."""

    def next_uuid(self) -> uuid.UUID:
        """Return an identity that was never returned before."""
        ...
