"""Validators that are unusual and right: whoever accuses one of them is wrong."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.kernel.specification import HandlerDeclaration
from perdure_conformance.spec.contract import Answer, Capabilities
from perdure_conformance.spec.reference import ReferenceValidator
from perdure_conformance.spec.registry import TWINS, twin

__all__ = ["TWINS"]


@twin
class SaysYesOrNo(ReferenceValidator):
    """Claims nothing, and tells nothing but whether a document is valid."""

    claims = Capabilities()

    def validate(self, document: str, handlers: Sequence[HandlerDeclaration] | None) -> Answer:
        """Leave out all but the verdict."""
        return Answer(valid=super().validate(document, handlers).valid)
