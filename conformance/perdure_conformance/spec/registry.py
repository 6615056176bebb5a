"""Where broken validators and odd good ones are registered."""

from __future__ import annotations

from typing import Final

from perdure_conformance.registry import Registry
from perdure_conformance.spec.dispatch import VALIDATORS

_REGISTRY: Final = Registry(VALIDATORS)
MUTANTS, TWINS = _REGISTRY.mutants, _REGISTRY.twins
mutant, twin = _REGISTRY.mutant, _REGISTRY.twin
