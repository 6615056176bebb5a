"""For each rule, documents that break it, each with its accepted twin one edit away.

A pair is asked one document after the other. What is right is the model's business; that a document is refused or
accepted as its pair says, and for the reason that it is there for, is a test of the suite.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from perdure_conformance.spec.pairs import children, data, edges, everything, limits, nodes, several, structure, text
from perdure_conformance.spec.pairs.pair import Pair

__all__ = ["Pair", "all_pairs"]

_MODULES: Final = (text, structure, everything, limits, nodes, data, edges, children, several)


@cache
def all_pairs() -> tuple[Pair, ...]:
    """Return all pairs: made when they are first asked for, since that takes a second or two."""
    return tuple(each for module in _MODULES for pairs in module.PAIRS for each in pairs())
