"""What a validator of specifications is, for Python: who it is, what it claims, and what it answers.

Source: `docs/spec/specification.md`, "What a validator answers"; `docs/spec/protocol.md`, "Profile `spec`".
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

import msgspec

from perdure.kernel.specification import HandlerDeclaration


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one call may carry: UTF-8 bytes of the document's text, inclusive."""

    max_document_bytes: int


FLOOR: Final = Limits(max_document_bytes=16 * 2**20)
"""Every validator takes at least this much."""


class Capabilities(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a validator tells beyond accepting and refusing. What is not claimed is not judged."""

    codes: bool = False
    """The code of each problem."""
    pointers: bool = False
    """The place of each problem."""
    all_problems: bool = False
    """Every problem at once."""
    content_hash: bool = False
    """The content hash of an accepted document."""
    initial_nodes: bool = False
    """The initial nodes of an accepted document."""
    witnesses: bool = False
    """An outcome that both of two overlapping edges match."""
    handlers: bool = False
    """It takes a catalogue of handlers."""


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """Who a validator is and what it claims."""

    name: str
    version: str
    capabilities: Capabilities
    limits: Limits


class Told(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One problem or warning, as far as it is told."""

    code: str | None = None
    pointer: str | None = None
    witness: object = None
    sentence: str | None = None
    """For people; at most 4,096 characters. Never judged."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a validator says of one document."""

    valid: bool
    problems: tuple[Told, ...] | None = None
    warnings: tuple[Told, ...] | None = None
    content_hash: str | None = None
    initial_nodes: tuple[str, ...] | None = None


class Validator(Protocol):
    """A validator of specifications."""

    @property
    def description(self) -> Description:
        """Who it is and what it claims."""
        ...

    def validate(self, document: str, handlers: Sequence[HandlerDeclaration] | None) -> Answer:
        """Answer whether a run may be created from the document. `handlers` is given only if it is claimed."""
        ...

    def close(self) -> None:
        """End in good order."""
        ...


class ValidatorFactory(Protocol):
    """How a Python validator is opened: `module:factory` names one of these."""

    def __call__(self, state_dir: Path, namespace: str) -> Validator:
        """Open a validator. It keeps no state, and is given a place for it all the same."""
        ...
