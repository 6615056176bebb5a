"""What the tool decides about a kernel, in one frozen value."""

from __future__ import annotations

from typing import Final

from perdure_conformance.reducer.claims import is_claimed
from perdure_conformance.reducer.contract import Capabilities
from perdure_conformance.rules import Rules

RULES: Final[Rules[Capabilities]] = Rules(is_claimed=is_claimed)
