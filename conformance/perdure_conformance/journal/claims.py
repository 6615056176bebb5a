"""What a journal may claim, what is judged under a claim, what claims and verdicts add up to, and the words for it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from perdure.journal import contract
from perdure.journal.contract import Capabilities
from perdure_conformance.journal.client import Claims
from perdure_conformance.requirements import Requirement, requirements, requirements_of
from perdure_conformance.verdict import Verdict

PAGES: Final = ("journal.md", "formats.md")
"""The pages whose requirements are judged."""

_WORKFLOW_JOURNAL: Final = ("core", "exact_replay", "event_id_dedup", "atomic_batch", "durable")

_NOT_IN_THIS_RELEASE: Final = (
    "cut connections, which `perdure crash` with `--server` and `--connect` judges",
    "crashes within an append, power loss, disk errors, which `--crash` adds",
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


@dataclass(frozen=True, slots=True)
class Claim:
    """What it takes to claim something."""

    value: str
    """What stands in `capabilities`, as JSON."""
    duty: str
    """What an implementation has to do."""
    step: str
    """The smallest next step."""


CLAIMS: Final[Mapping[str, Claim]] = {
    "exact_replay": Claim(
        "true",
        "Before you look for conflicts, compare the batch with what is stored at its positions: if each record is "
        "there, with the same event id and bytes, acknowledge it again and store nothing.",
        "Keep event id and body of each record, and compare a whole batch with them.",
    ),
    "event_id_dedup": Claim(
        "true",
        "Look up each event id of a batch among those of its run, also after a restart: one that is known, in a batch "
        "that is no exact replay, is refused with event_id_conflict, whatever its position.",
        "A unique index on run and event id, or a set that is made when a run is read.",
    ),
    "atomic_batch": Claim(
        "true",
        "Store a batch in one transaction, one line or one file that is renamed, after all of it was validated: nobody "
        "ever sees a part of it.",
        "Refuse a batch for its last record, and load: nothing of it may be there.",
    ),
    "durable": Claim(
        '"process-crash"',
        "What was acknowledged is there after kill -9: it has left the process, and no restart trips over what was "
        'half written. Above "process-crash" it survives a power cut too: sync the file, and the folder of a new or '
        "renamed one, before you acknowledge.",
        "Acknowledge only when the store has committed, or the file is written; read state back when you are started.",
    ),
    "multi_handle": Claim(
        "true",
        "All handles that are open in one process compare with what any of them has appended. It is judged of Python "
        "journals that are named as module:factory: a program is one handle.",
        "Keep what is stored in one place for all handles, and hold one lock while you compare and store.",
    ),
    "multi_process": Claim(
        "true",
        "Each append compares with what any process has appended: under a lock that the others respect, read what is "
        "new, compare, store, and only then let go.",
        "Hold an exclusive lock on a file in state_dir, or a transaction that writes, from the read to the "
        "acknowledgement; keep nothing in memory between calls that another may outdate.",
    ),
    "snapshots": Claim(
        "true",
        "Offer save_snapshot and load_snapshot: keep the body byte for byte with its run and sequence, and return the "
        "last one saved or the furthest, or none: true. One of more than max_snapshot_bytes is refused with too_large, "
        "and the one before it stays.",
        "A map from run to sequence and body: a snapshot may be forgotten at a restart.",
    ),
    "leases": Claim(
        "true",
        "Offer acquire, renew and release. acquire grants an epoch above every one before it, until now_ms + ttl_ms, "
        "or is refused with held while now_ms is not past that; renew and release of an epoch that is not the highest "
        "are refused with stale_epoch. A lease is as durable as a record.",
        "One stored row a run: the highest epoch, and until when it is held; release lets go, and keeps the epoch.",
    ),
    "fencing": Claim(
        "true",
        "With leases: an append whose epoch, 0 if it is null, is below the highest that was granted for its run is "
        "refused with stale_epoch, right after too_large. Whether the lease has expired does not matter.",
        "Compare the epoch of an append with the row of the lease, under the lock or in the transaction that stores.",
    ),
    "read": Claim(
        '"linearizable"',
        "Each load shows what anybody was acknowledged before it began. It is judged with multi_process, and in Python "
        'with multi_handle. "own_writes" is what every journal has.',
        "Load from the store itself, and keep nothing in memory between calls that another may outdate.",
    ),
    "lease_clock": Claim(
        '"store"',
        "The clock of the store judges leases, and not now_ms: what now_ms would show is then not judged. "
        '"caller" is the default.',
        'Claim leases with "caller" first: that is judged.',
    ),
    "format": Claim(
        '"mwj1" or "jsonl"',
        "Keep runs in files as docs/spec/formats.md says, byte for byte. They are read, cut short, damaged and made "
        "unreadable.",
        'Begin with "jsonl": a file a run, a line a record, and what follows the last LF is cut off.',
    ),
}
"""What may be claimed, by name: all members of `Capabilities`."""

_ALL_CLAIMS: Final = Claims(
    exact_replay=True,
    event_id_dedup=True,
    atomic_batch=True,
    multi_handle=True,
    multi_process=True,
    durable="process-crash",
    snapshots=True,
    leases=True,
    fencing=True,
    read="linearizable",
    tight_limits=True,
)
_UNCLAIMED: Final = {"lease_clock": "store"}


def woken_by(name: str) -> list[str]:
    """Return the requirements that are judged with a claim, and not without it, where all else is claimed.

    Of `lease_clock` they are those of the default.
    """
    formats = ("mwj1", "jsonl") if name == "format" else (None,)
    return [
        each.id
        for each in requirements_of(PAGES)
        if any(
            is_claimed(each, msgspec.structs.replace(_ALL_CLAIMS, format=kind), in_process=in_process)
            and not is_claimed(each, _without(name), in_process=in_process)
            for kind in formats
            for in_process in (False, True)
        )
    ]


def _without(name: str) -> Capabilities:
    return msgspec.structs.replace(_ALL_CLAIMS, **{name: _UNCLAIMED.get(name, getattr(Capabilities(), name))})


def made(claims: Capabilities) -> Mapping[str, str]:
    """Return what is claimed beyond the core, by name, in words."""
    found = ((name, getattr(claims, name)) for name in CLAIMS)
    return {
        name: name if value is True else f"{name}={value}"
        for name, value in found
        if value != getattr(Capabilities(), name)
    }


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
    lines = not_judged(claims, verdicts)
    if claims.durable not in {None, "process-crash"}:
        claimed = f"durable={claims.durable}: claimed, and judged here at process-crash"
        lines.append(f"{claimed}: add --crash to be judged at it")
    return [*lines, *_NOT_IN_THIS_RELEASE]


def not_judged(claims: Capabilities, verdicts: Mapping[str, Verdict]) -> list[str]:
    """Return, in words, which claims are not judged, and why."""
    judged, left = _words_of(verdicts, judged=True), _words_of(verdicts, judged=False)
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
    for word in sorted(left - judged - {"unclaimed", "format=mwj1", "format=jsonl"}):
        claimed, reason = reasons.get(word, (False, ""))
        if claimed or word != "lease_clock=caller":
            lines.append(f"{word}: {reason if claimed else 'not claimed'}")
    return lines


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
    "process-crash": "The lowest level of `durable`: what is acknowledged survives kill -9 of the process.\n"
    "It takes writing before answering, and never in place.",
    "ordered": "A level of `durable`, above process-crash: what is acknowledged survives a power cut on a disk that "
    "keeps the order of writes.\nIt takes a sync before answering.",
    "sector": "A level of `durable`, above ordered: what is acknowledged survives a power cut that keeps whole sectors "
    "of the last write, in any order.\nIt takes recognising half a record, by a checksum.",
    "posix-weak": "The highest level of `durable`: what is acknowledged survives a power cut that keeps only what was "
    "synced.\nIt takes a sync of the directory of each new or renamed file, too.",
    "own_writes": "A load shows what its own handle appended.",
    "linearizable": "A load shows what anybody appended before it began.",
}
