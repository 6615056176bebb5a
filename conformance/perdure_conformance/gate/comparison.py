"""Both sides compared as a whole: what is there on both, and what is there on one alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from perdure.kernel.values import JsonObject
from perdure_conformance.gate.answers import compared_vectors
from perdure_conformance.gate.changes import Change
from perdure_conformance.gate.referring import Reference, histories_in, references
from perdure_conformance.gate.sources import Side, read_sides
from perdure_conformance.gate.specifications import compared_specifications, is_compared
from perdure_conformance.gate.versions import compared_schemas
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT


@dataclass(frozen=True, slots=True)
class Compared:
    """What was compared, and what changed."""

    changes: tuple[Change, ...]
    schemas: int
    """How many of the earlier side were compared."""
    vectors: int
    specifications: int
    histories: int | None
    """How many were looked at; None if none were given."""
    left_out: tuple[str, ...]
    """What lies in either and was not compared."""
    skipped: tuple[str, ...]
    """What lies in either and was not even looked at, each with why."""

    @property
    def exit_code(self) -> int:
        """0 compatible, 1 breaking, 3 nothing was there to compare."""
        if any(change.is_breaking for change in self.changes):
            return NOT_CONFORMANT
        return CONFORMANT if self.schemas or self.vectors or self.specifications else NO_VERDICT

    @property
    def document(self) -> JsonObject:
        """It as `schemas/gate-1.json` says."""
        return {
            "gate_version": 1,
            "verdict": {CONFORMANT: "compatible", NOT_CONFORMANT: "breaking"}.get(self.exit_code, "nothing_compared"),
            "exit_code": self.exit_code,
            "compared": {
                "schemas": self.schemas,
                "vectors": self.vectors,
                "specifications": self.specifications,
                "histories": self.histories,
            },
            "changes": [change.document for change in self.changes],
            "left_out": [*self.skipped, *self.left_out],
        }


def compare(old: str, new: str, journals: str | None = None) -> Compared:
    """Compare two files or folders. Raises `GateRefused` for what cannot be read."""
    told = None if journals is None else references(histories_in(journals))
    return _compared(*read_sides(old, new), told)


def gated(old: Path, new: Path, journals: Path | None) -> JsonObject:
    """Compare, and say what `perdure gate --json` says. Raises `GateRefused`."""
    return compare(str(old), str(new), None if journals is None else str(journals)).document


def _compared(old: Side, new: Side, told: Sequence[Reference] | None) -> Compared:
    invalid = [each.file for each in old.specifications if not is_compared(each)]
    return Compared(
        changes=tuple(sorted(_changes(old, new, told), key=_order)),
        schemas=len(old.schemas),
        vectors=sum(len(folder.listed) for folder in old.vectors),
        specifications=len(old.specifications) - len(invalid),
        histories=None if told is None else len(told),
        left_out=tuple(dict.fromkeys((*old.left_out, *invalid, *new.left_out))),
        skipped=tuple(dict.fromkeys((*old.skipped, *new.skipped))),
    )


def _order(change: Change) -> tuple[bool, str, str, str, str]:
    """Return the place of a change among all: what is breaking comes first."""
    return (not change.is_breaking, change.file, change.pointer, change.code, change.sentence)


def _changes(old: Side, new: Side, told: Sequence[Reference] | None) -> Iterator[Change]:
    yield from compared_schemas(old, new)
    yield from _of_vectors(old, new)
    yield from compared_specifications(old.specifications, new.specifications, told)


def _of_vectors(old: Side, new: Side) -> Iterator[Change]:
    """Compare folders of vectors, each with the one at its place, or the only one with the only one."""
    before = {each.file: each for each in old.vectors}
    after = {each.file: each for each in new.vectors}
    if len(before) == len(after) == 1:
        (one,), (other,) = before.values(), after.values()
        yield from compared_vectors(one, other)
        return
    for file, one in before.items():
        if file in after:
            yield from compared_vectors(one, after[file])
        else:
            yield Change("vector_removed", file, "", f"the vectors of {file} are gone, all {len(one.listed)}")
    for file in after.keys() - before.keys():
        yield Change("vector_added", file, "", f"the vectors of {file} are new, all {len(after[file].listed)}")
