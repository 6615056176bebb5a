"""Validators that are wrong on purpose, each with one fault that somebody really had or easily has.

Each is named after its fault and kept so small that the fault is all one sees. They prove that the checks can fail.
They were written without knowledge of the documents that are asked about, so that a kill proves something.
"""

from __future__ import annotations

from perdure_conformance.spec.mutants import answers, children, data, edges, graphs, structure, text
from perdure_conformance.spec.registry import MUTANTS

__all__ = ["MUTANTS", "answers", "children", "data", "edges", "graphs", "structure", "text"]
