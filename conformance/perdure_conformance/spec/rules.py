"""What the tool decides about a validator, in one frozen value."""

from __future__ import annotations

from typing import Final

from perdure_conformance.rules import Rules
from perdure_conformance.spec.claims import is_claimed
from perdure_conformance.spec.contract import Capabilities

RULES: Final[Rules[Capabilities]] = Rules(is_claimed=is_claimed)
