"""Where broken kernels and odd good ones are registered."""

from __future__ import annotations

from typing import Final

from perdure_conformance.reducer.dispatch import KERNELS
from perdure_conformance.registry import Registry

_REGISTRY: Final = Registry(KERNELS)
MUTANTS, TWINS = _REGISTRY.mutants, _REGISTRY.twins
mutant, twin = _REGISTRY.mutant, _REGISTRY.twin
