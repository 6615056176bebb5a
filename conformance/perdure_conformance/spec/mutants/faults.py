"""What broken validators are made of: ways to have a fault, each in one method."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice
from typing import ClassVar, Final

import msgspec

from perdure.kernel.predicates import can_match, witness
from perdure.kernel.problems import MAX_PROBLEMS, Problem, Problems, pointer_token
from perdure.kernel.specification import Edge, Specification
from perdure.kernel.structure import Reading, read
from perdure.kernel.validation.handlers import Handlers
from perdure.kernel.validation.scopes import Scope, scopes_of
from perdure.kernel.validation.validator import Validation, validate, validate_text
from perdure.kernel.values import JsonError, JsonErrorCode, JsonValue, read_json
from perdure_conformance.spec.documents import Value
from perdure_conformance.spec.places import at, steps_of
from perdure_conformance.spec.reference import ReferenceValidator

IN_DEFINITIONS: Final = (
    "SPC-010",
    "SPC-013",
    "SPC-014",
    "SPC-015",
    "SPC-016",
    "SPC-017",
    "SPC-018",
    "SPC-019",
    "SPC-020",
    "SPC-022",
    "SPC-023",
    "SPC-026",
    "SPC-027",
    "EDG-002",
    "CHD-002",
    "CHD-003",
    "CHD-007",
    "CHD-008",
)
"""Requirements of which some pairs are broken in a definition, or have one that nothing runs."""

_REMEMBERED_CHARACTERS: Final = 100_000

Complaint = tuple[str, str]
"""The code and the place of a problem that a broken validator makes up."""


@dataclass(frozen=True, slots=True)
class Look:
    """A document, as a rule sees it."""

    text: str
    handlers: Handlers | None

    @property
    def document(self) -> Value:
        """The document as JSON; None if it is none."""
        return _document_of(self.text)

    @property
    def scopes(self) -> list[Scope]:
        """The document's own workflow and each of its catalog, decoded as far as that goes."""
        return _scopes_of(self.text)


@dataclass(frozen=True, slots=True)
class Seen:
    """A problem that there is, and what it is about."""

    problem: Problem
    look: Look

    @property
    def code(self) -> str:
        """Its code."""
        return self.problem.code

    @property
    def path(self) -> list[str]:
        """The steps of its pointer."""
        return steps_of(self.problem.pointer)

    @property
    def key(self) -> str:
        """The last step of its pointer."""
        return self.path[-1] if self.path else ""

    @property
    def array(self) -> str:
        """The last step but one of its pointer: the array of an item."""
        return self.path[-2] if len(self.path) > 1 else ""

    @property
    def value(self) -> Value:
        """The value that it points to."""
        return self.above(0)

    @property
    def string(self) -> str:
        """The string that it is about, a key or a value."""
        return self.key if self.problem.at_key else str(self.value)

    @property
    def is_in_definition(self) -> bool:
        """Whether it is about a definition of the catalog, or inside one."""
        return self.path[:1] == ["children"]

    @property
    def workflow(self) -> Value:
        """The workflow that it is in: the document, or a definition."""
        document = self.look.document
        return document["children"][self.path[1]] if self.is_in_definition else document

    @property
    def scope(self) -> Scope:
        """The same, decoded."""
        place = f"/children/{pointer_token(self.path[1])}" if self.is_in_definition else ""
        return next(scope for scope in self.look.scopes if scope.place == place)

    def above(self, levels: int) -> Value:
        """Return the value so many levels above the place."""
        return at(self.look.document, self.path[: len(self.path) - levels])


@lru_cache(maxsize=16)
def _document_of(text: str) -> Value:
    try:
        return read_json(text)
    except JsonError:
        return None


@lru_cache(maxsize=16)
def _scopes_of(text: str) -> list[Scope]:
    reading = Reading(Problems())
    decoded = read(Specification, _document_of(text), reading)
    if not isinstance(decoded, Specification):
        return []
    return scopes_of(decoded, reading)


@lru_cache(maxsize=4096)
def _found_in(text: str, handlers: tuple[tuple[tuple[str, int], tuple[str, ...]], ...] | None) -> Validation:
    return validate_text(text, None if handlers is None else dict(handlers))


class Knows(ReferenceValidator):
    """It knows the model, and remembers what it found: all mutants are asked about the same documents."""

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        """Ask the model, or remember."""
        if len(text) > _REMEMBERED_CHARACTERS:
            return super().find(text, handlers)
        return _found_in(text, None if handlers is None else tuple((key, tuple(it)) for key, it in handlers.items()))


class Overlooks(Knows):
    """It overlooks some of the problems that there are."""

    def overlooks(self, seen: Seen) -> bool:
        """Tell whether a problem is overlooked."""
        raise NotImplementedError

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        """Leave out what is overlooked."""
        found = super().find(text, handlers)
        look = Look(text, handlers)
        left = tuple(problem for problem in found.problems if not self.overlooks(Seen(problem, look)))
        return msgspec.structs.replace(found, problems=left)


class Complains(Knows):
    """It finds problems that are none."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        """Yield what it makes up."""
        raise NotImplementedError

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        """Add what is made up."""
        found = super().find(text, handlers)
        look = Look(text, handlers)
        if not look.scopes:
            return found
        told = islice(self.complaints(look), MAX_PROBLEMS)  # An answer has room for so many, and some more.
        added = tuple(made_up(code, place) for code, place in told)
        return msgspec.structs.replace(found, problems=found.problems + added)


class Forgives(Knows):
    """It reads what is no I-JSON as something else."""

    forgives: ClassVar[JsonErrorCode]

    def read(self, text: str) -> JsonValue:
        """Return what it reads, or raise `ValueError`."""
        raise NotImplementedError

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        """Read leniently what is refused for this reason."""
        found = super().find(text, handlers)
        if [problem.code for problem in found.problems] != [self.forgives]:
            return found
        try:
            return validate(self.read(text), handlers)
        except ValueError:
            return found


class ComparesEdges(Overlooks):
    """It compares edges in its own way."""

    def overlooks(self, seen: Seen) -> bool:
        """Forget what the model says of overlaps."""
        return seen.code == "overlapping_edges"

    def pairs(self, edges: Sequence[Edge]) -> Iterator[tuple[Edge, Edge]]:
        """Yield the edges of a workflow that are compared."""
        for one, other in combinations(edges, 2):
            if one.source == other.source and one.mode == other.mode == "exclusive":
                yield one, other

    def overlap(self, one: Edge, other: Edge) -> bool:
        """Tell whether two edges overlap."""
        return witness(one.when, other.when) is not None

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        """Find the overlaps anew."""
        found = super().find(text, handlers)
        added: list[Problem] = []
        for scope in Look(text, handlers).scopes:
            for one, other in self.pairs([edge for edge in scope.definition.edges if can_match(edge.when)]):
                if self.overlap(one, other):
                    shown = msgspec.to_builtins(witness(one.when, other.when))
                    added.append(made_up("overlapping_edges", scope.at(other), shown))
        return msgspec.structs.replace(found, problems=(*found.problems, *added[:MAX_PROBLEMS]))


class RefusesText(Knows):
    """It refuses texts that are I-JSON."""

    def refuses(self, text: str) -> bool:
        """Tell whether a text is refused."""
        raise NotImplementedError

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        """Refuse it though nothing is wrong with it."""
        found = super().find(text, handlers)
        if found.valid and self.refuses(text):
            return Validation(specification=None, problems=(made_up("not_json", ""),))
        return found


def made_up(code: str, place: str, shown: JsonValue = None) -> Problem:
    """Return a problem that a broken validator found by itself."""
    return Problem(code=code, pointer=place, sentence="I do not like this.", witness=shown)


def values(value: Value) -> Iterator[tuple[str, Value]]:
    """Yield each value inside a value, with the key of the object that it is in."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield key, item
            yield from values(item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield "", item
            yield from values(item)


def compact(value: JsonValue) -> str:
    """Return a value as JSON without white space, its members as they come."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
