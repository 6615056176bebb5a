"""What a journal may claim, what is judged under a claim, what claims and verdicts add up to, and the words for it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Final

import msgspec

from perdure.journal import contract
from perdure.journal.contract import Capabilities
from perdure_conformance.journal.client import Claims
from perdure_conformance.requirements import Requirement, requirements
from perdure_conformance.verdict import Verdict

PAGES: Final = ("journal.md", "formats.md")
"""The pages whose requirements are judged."""

_WORKFLOW_JOURNAL: Final = ("core", "exact_replay", "event_id_dedup", "atomic_batch", "durable")

_NOT_IN_THIS_RELEASE: Final = (
    "crashes within an append, power loss, disk errors, cut connections, which `perdure crash` judges",
)


def is_claimed(requirement: Requirement, claims: Capabilities, *, in_process: bool) -> bool:
    """Tell whether a requirement is judged under these claims (TOL-009): all words of its claim must hold."""
    return all(_holds(word, claims, in_process=in_process) for word in requirement.claim.split())


def _holds(word: str, claims: Capabilities, *, in_process: bool) -> bool:
    match word:
        case "core":
            return True
        case "unclaimed":
            return not (claims.snapshots and claims.leases)
        case "fencing":
            return claims.fencing and claims.leases
        case "concurrent":
            return claims.multi_handle if in_process else claims.multi_process
        case "read=linearizable":
            return claims.read == "linearizable" and _holds("concurrent", claims, in_process=in_process)
        case "lease_clock=caller":
            return claims.leases and claims.lease_clock == "caller"
        case "multi_handle":
            return claims.multi_handle and in_process
        case "format=mwj1" | "format=jsonl":
            return claims.format == word.removeprefix("format=")
        case "tight_limits":
            return isinstance(claims, Claims) and claims.tight_limits
        case flag:
            return bool(getattr(claims, flag))


def level(claims: Capabilities, verdicts: Mapping[str, Verdict]) -> str:
    """Return the highest level that holds if all is well: "Workflow journal" or "Core"."""
    judged = {requirements()[key].claim for key, verdict in verdicts.items() if verdict != "not_claimed"}
    if not judged.issuperset(_WORKFLOW_JOURNAL):
        return "Core"
    extras = ["snapshots"] if claims.snapshots else []
    extras += ["fenced leases"] if claims.leases and claims.fencing else []
    return "Workflow journal" + (f" with {' and '.join(extras)}" if extras else "")


def not_covered(claims: Capabilities, verdicts: Mapping[str, Verdict]) -> list[str]:
    """Return, in words, what this report says nothing about."""
    judged, not_judged = _words_of(verdicts, judged=True), _words_of(verdicts, judged=False)
    reasons = {
        "multi_handle": (claims.multi_handle, "claimed, and a program is one handle: claim multi_process to be judged"),
        "concurrent": (
            claims.multi_handle,
            "multi_handle is claimed, and a program is one handle: claim multi_process to be judged",
        ),
        "fencing": (claims.fencing, "claimed, and epochs come from acquire: claim leases to be judged"),
        "read=linearizable": (claims.read == "linearizable", "claimed, and there is no second handle to see it by"),
        "lease_clock=caller": (claims.leases, "judged by the store's own clock, which cannot be set"),
        "tight_limits": (True, "the declared limits are so large that nothing larger fits in a line"),
    }
    lines = []
    for word in sorted(not_judged - judged - {"unclaimed", "format=mwj1", "format=jsonl"}):
        claimed, reason = reasons.get(word, (False, ""))
        if claimed or word != "lease_clock=caller":
            lines.append(f"{word}: {reason if claimed else 'not claimed'}")
    if claims.durable not in {None, "process-crash"}:
        lines.append(f"durable={claims.durable}: claimed, and judged here at process-crash")
    return lines + list(_NOT_IN_THIS_RELEASE)


def _words_of(verdicts: Mapping[str, Verdict], *, judged: bool) -> set[str]:
    """Return the words of the claims under which something was judged, or was not."""
    known = requirements()
    return {
        word
        for key, verdict in verdicts.items()
        if (verdict != "not_claimed") is judged
        for word in known[key].claim.split()
    }


def _refusals() -> dict[str, str]:
    return {
        str(kind.__struct_config__.tag): inspect.cleandoc(kind.__doc__ or "")
        for _, kind in inspect.getmembers(contract, inspect.isclass)
        if issubclass(kind, msgspec.Struct) and kind.__struct_config__.tag is not None
    }


MEANINGS: Final[Mapping[str, str]] = {
    **_refusals(),
    "core": "What every journal is judged by; nothing waives it.",
    "unclaimed": "Judged for everybody who leaves an operation unclaimed.",
    "exact_replay": "Records sent again are acknowledged again and stored once.",
    "event_id_dedup": "An event id stands once in a run.",
    "atomic_batch": "A batch is stored whole or not at all.",
    "multi_handle": "Several open journals of one process share the state.",
    "multi_process": "Several processes share the state.",
    "concurrent": "Several handles at the same time: multi_handle in process, else multi_process.",
    "durable": "What an acknowledged record survives: process-crash, ordered, sector or posix-weak.",
    "snapshots": "One derived cache a run.",
    "leases": "Ownership of a run for a time, under an epoch that only grows.",
    "fencing": "An append with an epoch below the highest granted one is refused.",
    "read": "own_writes: a load shows what its own handle appended. linearizable: what anybody appended.",
    "format": "Runs are kept in files: mwj1, whole files of frames; jsonl, lines that are appended in place.",
    "mwj1": "Whole files of frames: see docs/spec/formats.md.",
    "jsonl": "Lines of JSON, appended in place: see docs/spec/formats.md.",
    "tight_limits": "The declared limits are near to the least ones, so that it can be seen that they are kept.",
    "lease_clock": "Whose time judges a lease: the caller's, or the store's.",
    "run": "One workflow's history: records at positions 1, 2, 3, ….",
    "handle": "One open journal: an object in Python, a process otherwise.",
    "reopen": "Closing a handle in good order, and opening it again.",
    "crash": "kill -9, and a fresh start on the same state.",
    "epoch": "The number under which a lease is granted. It only grows, and a lower one is stale.",
    "level": "What the verdicts add up to: Core, or Workflow journal; see docs/spec/journal.md, Levels.",
    "process-crash": "What is acknowledged survives kill -9 of the process.",
    "ordered": "What is acknowledged survives a power cut on a disk that keeps the order of writes.",
    "sector": "What is acknowledged survives a power cut that keeps whole sectors, in any order.",
    "posix-weak": "What is acknowledged survives a power cut that keeps only what was synced.",
    "own_writes": "A load shows what its own handle appended.",
    "linearizable": "A load shows what anybody appended before it began.",
}
