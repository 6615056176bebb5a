"""For each rule, documents that break it, each with its accepted twin one edit away.

A pair is asked one document after the other. What is right is the model's business; that a document is refused or
accepted as its pair says, and for the reason that it is there for, is a test of the suite.
"""

from __future__ import annotations

from typing import Final

from perdure_conformance.spec.pairs import children, data, edges, everything, limits, nodes, several, structure, text
from perdure_conformance.spec.pairs.pair import Pair

__all__ = ["ALL_PAIRS", "Pair"]

ALL_PAIRS: Final[tuple[Pair, ...]] = tuple(
    each
    for module in (text, structure, everything, limits, nodes, data, edges, children, several)
    for pairs in module.PAIRS
    for each in pairs()
)
