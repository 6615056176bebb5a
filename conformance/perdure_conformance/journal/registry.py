"""Where broken journals and odd good ones are registered."""

from __future__ import annotations

from typing import Final

from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.registry import Registry

_REGISTRY: Final = Registry(JOURNALS)
MUTANTS, TWINS = _REGISTRY.mutants, _REGISTRY.twins
mutant, twin = _REGISTRY.mutant, _REGISTRY.twin
