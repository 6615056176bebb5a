"""The validator: whether a run may be created from a document, and if not, every reason at once.

It reads the structure first, then asks one function for each rule that goes beyond it. A rule about the inside of a
workflow is asked of the document and of each definition in its catalog.

Source: `docs/spec/specification.md`, whose requirement each rule names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

import msgspec

from perdure.kernel.identity import NodeId
from perdure.kernel.problems import Correction, Problem, Problems
from perdure.kernel.specification import (
    MAX_DOCUMENT_BYTES,
    MAX_DOCUMENT_DEPTH,
    VERSIONS,
    Specification,
    covered_by_hash,
)
from perdure.kernel.structure import Reading, read
from perdure.kernel.validation import advice, children, data, edges, nodes
from perdure.kernel.validation.handlers import Handlers, check_handlers
from perdure.kernel.validation.scopes import scopes_of
from perdure.kernel.values import Digest, JsonError, JsonValue, canonical_json, nesting, read_json

_CHARACTERS_OF_AN_ERROR: Final = 300
_HASH_PLACE: Final = "/content_hash"


class Validation(msgspec.Struct, frozen=True, kw_only=True):
    """What a validator answers."""

    specification: Specification | None
    """The document, decoded; None if it is refused."""
    problems: tuple[Problem, ...]
    """What is wrong with it, and what is only odd, in the order of the rules."""
    omitted: int = 0
    """How many more problems there are."""
    content_hash: Digest | None = None
    """The digest of the document without `content_hash`, if it is I-JSON."""
    initial_nodes: tuple[NodeId, ...] = ()
    """Where a run begins, if the document is accepted; in specification order."""

    @property
    def valid(self) -> bool:
        """Whether a run may be created from the document."""
        return self.specification is not None


def validate_text(text: str | bytes, handlers: Handlers | None = None) -> Validation:
    """Validate the text of a document."""
    try:
        document = read_json(text)
    except JsonError as error:
        return _unreadable("empty" if _is_blank(text) else error.code, str(error))
    return validate(document, handlers)


def validate(document: JsonValue, handlers: Handlers | None = None) -> Validation:
    """Validate a document. With a catalogue of handlers, its handlers are looked up there.

    The time is linear in the size of the document, and at most `MAX_PROBLEMS` problems are kept.
    """
    problems = Problems()
    try:
        content_hash = _measure(document, problems)
    except JsonError as error:
        return _unreadable(error.code, str(error))
    reading = Reading(problems, _version(document))
    specification = read(Specification, document, reading)
    initial_nodes: tuple[NodeId, ...] = ()
    if isinstance(specification, Specification):
        _check_hash(specification, content_hash, reading)
        scopes = scopes_of(specification, reading)
        for scope in scopes:
            for rule in (*nodes.RULES, *data.RULES, *edges.RULES, *children.RULES):
                rule(scope)
        children.check_catalog(scopes[0], scopes[1:], problems)
        if handlers is not None:
            check_handlers(scopes, handlers)
        advice.warn(scopes, problems)
        initial_nodes = tuple(scopes[0].definition.nodes[position].id for position in scopes[0].initial)
    valid = not problems.errors and isinstance(specification, Specification)
    return Validation(
        specification=specification if valid and isinstance(specification, Specification) else None,
        problems=tuple(problems.kept),
        omitted=problems.omitted,
        content_hash=content_hash,
        initial_nodes=initial_nodes if valid else (),
    )


def _is_blank(text: str | bytes) -> bool:
    """Tell whether there is nothing but JSON's own white space."""
    return not (text.strip(" \t\r\n") if isinstance(text, str) else text.strip(b" \t\r\n"))


def _unreadable(code: str, sentence: str) -> Validation:
    problems = Problems()
    problems.error(code, "", f"{sentence[:1].upper()}{sentence[1:_CHARACTERS_OF_AN_ERROR]}.")
    return Validation(specification=None, problems=tuple(problems.kept))


def _version(document: JsonValue) -> int | None:
    """Return the version whose members a document may have; none if it claims no version that there is."""
    version = document.get("schema_version") if isinstance(document, Mapping) else None
    if isinstance(version, bool) or not isinstance(version, int | float):
        return None
    return int(version) if version in VERSIONS else None


def _measure(document: JsonValue, problems: Problems) -> Digest:
    """Return the content hash, and hold the document against its limits (SPC-009). Raises `JsonError`."""
    covered = canonical_json(covered_by_hash(document) if isinstance(document, Mapping) else document)
    own_hash = document.get("content_hash") if isinstance(document, Mapping) else None
    size = len(covered)
    if own_hash is not None:  # A second canonical form would be dear: the member, a comma, and no braces.
        size += len(canonical_json({"content_hash": own_hash})) - 1
    _check_limits(size, nesting(document), problems)
    return Digest(hashlib.sha256(covered).hexdigest())


def _check_limits(size: int, depth: int, problems: Problems) -> None:
    if size > MAX_DOCUMENT_BYTES:
        told = f"Split the workflow, or keep input elsewhere: it has {size:,} bytes of {MAX_DOCUMENT_BYTES:,}."
        problems.error("document_too_large", "", told)
    if depth > MAX_DOCUMENT_DEPTH:
        told = f"Flatten the document: it nests {depth} deep, and {MAX_DOCUMENT_DEPTH} is the most."
        problems.error("document_too_deep", "", told)


def _check_hash(specification: Specification, content_hash: Digest, reading: Reading) -> None:
    """SPC-011."""
    if specification.content_hash not in (None, "", content_hash) and _HASH_PLACE not in reading.ill_formed:
        told = f"The document was changed after its hash was taken; its hash is {content_hash}."
        correction = Correction(pointer=_HASH_PLACE, value=content_hash)
        reading.problems.error("wrong_content_hash", _HASH_PLACE, told, correction=correction)
