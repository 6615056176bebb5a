"""A document that breaks a rule, and its accepted twin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from perdure.kernel.specification import HandlerDeclaration
from perdure_conformance.spec.documents import Document, Value, written

Handlers = tuple[HandlerDeclaration, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A document that must be refused, and its twin that must be accepted; or one of the two alone."""

    requirement: str
    name: str
    rejected: Document | None
    accepted: Document | None
    handlers: Handlers | None = None


AsText = Mapping[str, Value] | str | Document | None


def pair(requirement: str, name: str, rejected: AsText, accepted: AsText, handlers: Handlers | None = None) -> Pair:
    """Return a pair, of values or texts."""
    return Pair(requirement, name, _document(rejected), _document(accepted), handlers)


def _document(text: AsText) -> Document | None:
    if text is None or isinstance(text, tuple):
        return text
    return (text,) if isinstance(text, str) else written(text)
