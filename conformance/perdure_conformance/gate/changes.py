"""One change from a released version to a later one: which kind, where it is, and in words."""

from __future__ import annotations

from dataclasses import dataclass, field

from perdure.kernel.values import JsonObject
from perdure_conformance.gate.policy import POLICY, Code, Rule


@dataclass(frozen=True, slots=True)
class Change:
    """One change."""

    code: Code
    file: str
    """In the folder of the side that has it: the later one, unless it is gone there."""
    pointer: str
    """A JSON Pointer into the file; of a vector, its identity."""
    sentence: str
    """What changed, in words."""
    histories: tuple[str, ...] = field(default=())
    """What stored histories refer to of it: each a file and a record, in words."""

    @property
    def rule(self) -> Rule:
        """What the policy says of it."""
        return POLICY[self.code]

    @property
    def is_breaking(self) -> bool:
        """Whether it may not be released like this."""
        return self.rule.verdict == "breaking"

    @property
    def document(self) -> JsonObject:
        """It as `schemas/gate-1.json` says."""
        return {
            "verdict": self.rule.verdict,
            "code": self.code,
            "file": self.file,
            "pointer": self.pointer,
            "sentence": self.sentence,
            "reason": self.rule.reason,
            "source": f'ADR-0032 "Version and compatibility policy", {self.rule.source}',
            "histories": list(self.histories),
        }
