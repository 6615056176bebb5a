"""The model's validator, as a validator that can be judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

from perdure.kernel.problems import Problem
from perdure.kernel.specification import HandlerDeclaration
from perdure.kernel.validation.handlers import Handlers, handlers_of
from perdure.kernel.validation.validator import Validation, validate_text
from perdure_conformance.spec.contract import FLOOR, Answer, Capabilities, Description, Told

EVERYTHING: Final = Capabilities(
    codes=True,
    pointers=True,
    all_problems=True,
    content_hash=True,
    initial_nodes=True,
    witnesses=True,
    handlers=True,
)


class ReferenceValidator:
    """The model's validator. It claims everything."""

    claims: ClassVar[Capabilities] = EVERYTHING

    def __init__(self, state_dir: Path, namespace: str) -> None:
        del state_dir, namespace
        self.description = Description(name="perdure", version="1", capabilities=self.claims, limits=FLOOR)

    def validate(self, document: str, handlers: Sequence[HandlerDeclaration] | None) -> Answer:
        """Ask the model, and tell what it found."""
        return answer_of(self.find(document, catalogue(handlers)))

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        """Ask the model."""
        return validate_text(text, handlers)

    def close(self) -> None:
        """There is nothing to end."""


def catalogue(handlers: Sequence[HandlerDeclaration] | None) -> Handlers | None:
    """Return handlers as the model looks them up."""
    return None if handlers is None else handlers_of(handlers)


def answer_of(validation: Validation) -> Answer:
    """Return what the model found as an answer."""
    errors = tuple(told(problem) for problem in validation.problems if problem.severity == "error")
    warnings = tuple(told(problem) for problem in validation.problems if problem.severity == "warning")
    if errors:
        return Answer(valid=False, problems=errors, warnings=warnings)
    return Answer(
        valid=True, warnings=warnings, content_hash=validation.content_hash, initial_nodes=validation.initial_nodes
    )


def told(problem: Problem) -> Told:
    """Return a problem as it is told."""
    return Told(code=problem.code, pointer=problem.pointer, witness=problem.witness, sentence=problem.sentence[:4096])
