"""Validators that are wrong on purpose, each with one fault that somebody really had or easily has.

Each is named after its fault and kept so small that the fault is all one sees. They prove that the checks can fail.
"""

from __future__ import annotations

import msgspec

from perdure.kernel.problems import Problem
from perdure.kernel.validation import Handlers, Validation
from perdure_conformance.spec.reference import ReferenceValidator
from perdure_conformance.spec.registry import MUTANTS, mutant

__all__ = ["MUTANTS"]


class _Overlooks(ReferenceValidator):
    """What most mutants change: it overlooks some of the problems that there are."""

    def overlooks(self, problem: Problem) -> bool:
        """Tell whether a problem is overlooked."""
        raise NotImplementedError

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        """Leave out what is overlooked."""
        found = super().find(text, handlers)
        left = tuple(problem for problem in found.problems if not self.overlooks(problem))
        return msgspec.structs.replace(found, problems=left)


@mutant("SPC-017", report="galaxyproject/galaxy#3236")
class MissesSelfLoops(_Overlooks):
    """Looks for cycles of two nodes and more."""

    def overlooks(self, problem: Problem) -> bool:
        """Overlook a node that waits for itself."""
        return problem.code == "dependency_cycle" and "waits for itself" in problem.sentence
