"""What a validator may claim, what is judged under a claim, what all of it adds up to, and the words for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from perdure_conformance.requirements import Requirement, requirements
from perdure_conformance.spec.contract import Capabilities
from perdure_conformance.verdict import Verdict

PAGES: Final = ("specification.md",)
"""The pages whose requirements are judged."""

_NOT_IN_THIS_RELEASE: Final = ("warnings, and the sentences of problems", "time and memory, but for the time-out")


def is_claimed(requirement: Requirement, claims: Capabilities, *, in_process: bool) -> bool:
    """Tell whether a requirement is judged under these claims (TOL-009)."""
    del in_process
    return requirement.claim == "core" or bool(getattr(claims, requirement.claim))


def level(claims: Capabilities, verdicts: Mapping[str, Verdict]) -> str:
    """Return the highest level that holds if all is well: "Validator", and what it tells beyond yes and no."""
    del verdicts
    told = [name for name in ("codes", "pointers", "all_problems") if getattr(claims, name)]
    return "Validator" + (f" that tells {', '.join(told).replace('_', ' ')}" if told else "")


def not_covered(claims: Capabilities, verdicts: Mapping[str, Verdict]) -> list[str]:
    """Return, in words, what this report says nothing about."""
    del claims
    known = requirements()
    not_judged = sorted({known[key].claim for key, verdict in verdicts.items() if verdict == "not_claimed"})
    return [f"{claim}: not claimed" for claim in not_judged] + list(_NOT_IN_THIS_RELEASE)


MEANINGS: Final[Mapping[str, str]] = {
    "core": "What every validator is judged by; nothing waives it.",
    "codes": "The code of each problem is told.",
    "pointers": "The place of each problem is told, as a JSON Pointer.",
    "all_problems": "Every problem of a document is told at once.",
    "content_hash": "The content hash of an accepted document is told.",
    "initial_nodes": "The initial nodes of an accepted document are told.",
    "witnesses": "An overlap of two edges is told with an outcome that both match.",
    "handlers": "The handlers of a document are looked up in a catalogue.",
    "union graph": "Dependencies and edges together.",
    "specification order": "The order of the nodes in the document.",
}
