"""Vectors for other languages: the folder as it is, and beside it each state in full.

In the folder a state is a digest, which says that two states differ, and not where.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterable, Mapping
from typing import Final

from perdure.kernel.snapshots import document_of_state
from perdure_conformance.reducer.histories import read_history
from perdure_conformance.reducer.questions import Query, truth_about
from perdure_conformance.reducer.shown import read_shown
from perdure_conformance.vectors.folder import FORMAT_PAGE, VectorsRefused, contents_of
from perdure_conformance.vectors.vector import Vector

STATES = "states"
"""The folder of states."""
_REMEDY: Final = "perdure vectors check --folder says what else is wrong there."


def exported(vectors: Iterable[Vector], page: bytes) -> dict[str, bytes]:
    """Return the content of every file that is exported, by its path: `page` is the page of the format.

    Raises `VectorsRefused` for a vector whose state nobody can tell.
    """
    every = tuple(vectors)
    states = {f"{STATES}/{vector.id}.json": _state(vector) for vector in every if "state_digest" in vector.expected}
    return {FORMAT_PAGE: page, **contents_of(every), **states}


def _state(vector: Vector) -> bytes:
    """Return the state that a history amounts to, or a run is restored to, for people and for programs."""
    try:
        state = truth_about(_question(vector)).state
    except ValueError as error:
        raise VectorsRefused(f"The vector {vector.id} cannot be read: {error}. {_REMEDY}") from error
    if state is None:
        raise VectorsRefused(f"The vector {vector.id} has the digest of a state, and amounts to none. {_REMEDY}")
    return (json.dumps(document_of_state(state), indent=1, ensure_ascii=True) + "\n").encode()


def _question(vector: Vector) -> Query:
    """Return what a vector asks. Raises `ValueError`."""
    if vector.kind == "restore":
        return Query((), shown=read_shown(vector.question))
    return Query(read_history(vector.question)[0])


def archived(contents: Mapping[str, bytes]) -> bytes:
    """Return files as a tar archive, with the same bytes each time."""
    found = io.BytesIO()
    with tarfile.open(fileobj=found, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(contents):
            entry = tarfile.TarInfo(f"perdure-vectors/{path}")
            entry.size = len(contents[path])
            archive.addfile(entry, io.BytesIO(contents[path]))
    return found.getvalue()
