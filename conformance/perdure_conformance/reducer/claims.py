"""What a kernel may claim, what is judged under a claim, what all of it adds up to, and the words for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from perdure_conformance.reducer.contract import Capabilities
from perdure_conformance.reducer.words import words_of_the_kernel
from perdure_conformance.requirements import Requirement, requirements
from perdure_conformance.verdict import Verdict

PAGES: Final = ("kernel.md", "client.md")
"""The pages whose requirements are judged."""

_NOT_IN_THIS_RELEASE: Final = (
    "what a client sends to a journal, and how it takes what a journal answers",
    "time and memory, but for the time-out",
)
_NEEDS: Final = {"codes": "decide", "jitter": "decide", "snapshots": "records"}
"""Claims that mean nothing without another one."""


def is_claimed(requirement: Requirement, claims: Capabilities, *, in_process: bool) -> bool:
    """Tell whether a requirement is judged under these claims (TOL-009)."""
    del in_process
    return requirement.claim == "core" or claims_it(claims, requirement.claim)


def claims_it(claims: Capabilities, claim: str) -> bool:
    """Tell whether something is claimed, and means anything."""
    return bool(getattr(claims, claim)) and (claim not in _NEEDS or claims_it(claims, _NEEDS[claim]))


def level(claims: Capabilities, verdicts: Mapping[str, Verdict]) -> str:
    """Return the highest level that holds if all is well."""
    del verdicts
    kernel = "Kernel" if claims.decide else "Reducer"
    told = [name for name in ("state", "codes", "jitter", "records", "snapshots") if claims_it(claims, name)]
    return kernel + (f" with {', '.join(told)}" if told else "")


def not_covered(claims: Capabilities, verdicts: Mapping[str, Verdict]) -> list[str]:
    """Return, in words, what this report says nothing about."""
    del claims
    known = requirements()
    not_judged = sorted({known[key].claim for key, verdict in verdicts.items() if verdict == "not_claimed"})
    return [f"{claim}: not claimed" for claim in not_judged] + list(_NOT_IN_THIS_RELEASE)


MEANINGS: Final[Mapping[str, str]] = {
    **words_of_the_kernel(),
    "core": "What every kernel is judged by; nothing waives it.",
    "state": "The state that a history amounts to is told.",
    "decide": "Commands are decided.",
    "codes": "The code of each rejection is told.",
    "jitter": "Exactly the jitter of the specification is added to delays.",
    "records": "A run is restored from the records that a journal shows.",
    "snapshots": "A run is restored with the snapshot that a journal shows, too.",
    "batch": "The events that a command gives, written together or not at all.",
    "owed": "An event that must come next, before any command.",
    "whole": "Of a history: nothing is owed after its last event.",
}
