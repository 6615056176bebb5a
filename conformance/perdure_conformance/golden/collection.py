"""All vectors, as the model writes them."""

from __future__ import annotations

from functools import cache

from perdure_conformance.golden.documents import all_of_documents
from perdure_conformance.golden.files import all_of_files
from perdure_conformance.golden.kernels import all_of_kernels
from perdure_conformance.golden.values import all_of_values
from perdure_conformance.vectors.vector import Vector


@cache
def all_vectors() -> tuple[Vector, ...]:
    """Return all vectors, ordered by their ids: worked out when they are first asked for, since that takes seconds."""
    found = [*all_of_kernels(), *all_of_documents(), *all_of_values(), *all_of_files()]
    assert len({vector.id for vector in found}) == len(found)
    return tuple(sorted(found, key=lambda vector: vector.id))
