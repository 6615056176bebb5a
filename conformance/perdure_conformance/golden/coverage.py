"""What has to have a vector: what the model's types, tables and pages list, held against what the vectors reach.

Nothing of it is listed by hand but what no vector can reach, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, Final, get_args

from perdure.journal.client import JournalFaultCode
from perdure.kernel.caches import SnapshotFault
from perdure.kernel.commands import COMMANDS, REJECTION_CODES
from perdure.kernel.errors import EventFault, IncompatibleCode, RecordFault
from perdure.kernel.events import EVENTS
from perdure.kernel.values import JsonErrorCode
from perdure_conformance.histories.stored import FramingFault
from perdure_conformance.reducer.claims import PAGES as KERNEL_PAGES
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.histories import read_history
from perdure_conformance.reducer.kept import opened
from perdure_conformance.reducer.shown import read_shown
from perdure_conformance.requirements import codes, requirements_of
from perdure_conformance.spec.claims import PAGES as SPECIFICATION_PAGES
from perdure_conformance.vectors.vector import KINDS, Vector

Goal = tuple[str, ...]
"""A thing that has to be reached: what it is, and which one."""

_ONLY_IN_PLACE: Final = "no event says it: the question that is answered so never came to an event"
_BY_FORM: Final = "an identity that is none is told by its form before anything is asked of it"
_LARGE: Final = "the smallest input that reaches it has megabytes"

OUT_OF_REACH: Final[Mapping[Goal, str]] = {
    ("refusal", "illegal_transition"): "every event that would break the node table is refused before, by another code",
    ("refusal", "already_created"): _ONLY_IN_PLACE,
    ("refusal", "already_committed"): _ONLY_IN_PLACE,
    ("refusal", "conflicting_outcome"): _ONLY_IN_PLACE,
    ("refusal", "invalid_id"): _BY_FORM,
    ("rejection", "invalid_id"): _BY_FORM,
    ("problem", "document_too_large"): _LARGE,
    ("problem", "too_large"): _LARGE,
    ("requirement", "EDG-007"): "a witness is any outcome that both edges match, and no one answer",
    ("damage", "over_limit"): _LARGE,
    ("snapshot", "unknown_version"): "a verifier says of another version only what it did not check",
    ("damage", "unknown_format"): "no format is claimed by what has none: it is a matter of the command line",
    ("damage", "damaged_database"): "a database is no format of the specification",
    ("damage", "wrong_row"): "a database is no format of the specification",
    **{
        ("record", code): "a journal that shows all that it keeps, and stores nothing, gives no such answer"
        for code in get_args(JournalFaultCode)
        if code not in {"repeated", "wrong_envelope"}
    },
}
"""What no vector reaches, and why."""


def goals() -> frozenset[Goal]:
    """Return everything that has to be reached."""
    return frozenset(_goals()) - frozenset(OUT_OF_REACH)


def _goals() -> Iterator[Goal]:
    for version, kinds in EVENTS.items():
        for event in kinds:
            yield ("event", event.__name__, f"version {version}")
            yield ("upcast", event.__name__, f"version {version}")
        yield ("command after", f"version {version}")
        yield ("restored", f"version {version}", "from its records")
        yield ("restored", f"version {version}", "with a snapshot")
    for older, newer in combinations(EVENTS, 2):
        yield ("versions", f"{older} then {newer}")
        yield ("versions refused", f"{newer} then {older}")
        yield ("versions refused", f"{newer} inside a batch of {older}")
        yield ("document", f"of version {older} in version {newer}")
        yield ("document refused", f"of version {newer} in version {older}")
    for many in range(2, len(EVENTS) + 1):
        yield from (_mix(versions) for versions in combinations(EVENTS, many))
    for sort, names in _LISTS.items():
        yield from ((sort, name) for name in names)
    for requirement in requirements_of((*KERNEL_PAGES, *SPECIFICATION_PAGES)):
        yield ("requirement", requirement.id)


def _mix(versions: Iterable[int]) -> Goal:
    return ("versions in one history", ", ".join(map(str, sorted(versions))))


_LISTS: Final[Mapping[str, Sequence[str]]] = {
    "kind": tuple(KINDS),
    "refusal": (*get_args(EventFault), *get_args(IncompatibleCode), "wrong_structure", *REJECTION_CODES),
    "rejection": REJECTION_CODES,
    "command": tuple(command.__name__ for command in COMMANDS),
    "problem": codes(),
    "text": get_args(JsonErrorCode),
    "damage": (*get_args(RecordFault), *get_args(IncompatibleCode), *get_args(FramingFault)),
    "snapshot": get_args(SnapshotFault),
    "record": (*get_args(RecordFault), *get_args(IncompatibleCode), *get_args(JournalFaultCode)),
}


def gaps(vectors: Iterable[Vector]) -> list[str]:
    """Return what no vector reaches, in words."""
    left = goals() - reached(vectors)
    return [" ".join(goal) for goal in sorted(left)]


def reached(vectors: Iterable[Vector]) -> frozenset[Goal]:
    """Return everything that vectors reach."""
    return frozenset(goal for vector in vectors for goal in _reached(vector))


def _reached(vector: Vector) -> Iterator[Goal]:
    yield ("kind", vector.kind)
    for requirement in vector.requirements:
        yield ("requirement", requirement)
    find = _BY_KIND.get(vector.kind)
    if find is not None:
        ending, content = next(iter(vector.files.items()))
        answer = json.loads(json.dumps(vector.expected))
        yield from find(content, answer)
        if ending == ".mws1" and answer["fault"] is not None:
            yield ("snapshot", answer["fault"]["code"])


Answer = Mapping[str, Any]


def _of_history(content: bytes, answer: Answer) -> Iterator[Goal]:
    history, _ = read_history(content)
    if answer["accepted"]:
        for entry in history:
            yield ("event", str(entry.event["type"]), f"version {entry.version}")
        yield from _of_versions([entry.version for entry in history])
        yield ("document", _document_in(history[0]))
        return
    yield ("refusal", answer["code"])
    if answer["sequence"] == 1:
        yield ("document refused", _document_in(history[0]))
        return
    before, after = (entry.version for entry in history[answer["sequence"] - 2 : answer["sequence"]])
    if answer["code"] == "version_went_down":
        yield ("versions refused", f"{before} then {after}")
    elif answer["code"] == "something_else_owed" and before < after:
        yield ("versions refused", f"{after} inside a batch of {before}")


def _of_versions(versions: Sequence[int]) -> Iterator[Goal]:
    yield _mix({*versions})
    for older, newer in pairwise(versions):
        yield ("versions", f"{older} then {newer}")


def _document_in(entry: Entry) -> str:
    document = entry.event.get("specification")
    found = document.get("schema_version") if isinstance(document, Mapping) else None
    return f"of version {found} in version {entry.version}"


def _of_command(content: bytes, answer: Answer) -> Iterator[Goal]:
    history, command = read_history(content)
    if answer["allowed"]:
        yield ("command", str((command or {})["type"]))
        yield from (("command after", f"version {entry.version}") for entry in history[-1:])
    else:
        yield ("rejection", answer["codes"][0])


def _of_journal(content: bytes, answer: Answer) -> Iterator[Goal]:
    if not answer["restored"]:
        yield ("record", answer["code"])
        return
    shown = read_shown(content)
    how = "from its records" if shown.snapshot is None else "with a snapshot"
    for version in {opened(envelope)["schema_version"] for envelope in shown.records}:
        yield ("restored", f"version {version}", how)


def _of_upcast(content: bytes, answer: Answer) -> Iterator[Goal]:
    del answer
    for entry in read_history(content)[0]:
        yield ("upcast", str(entry.event["type"]), f"version {entry.version}")


def _of_document(content: bytes, answer: Answer) -> Iterator[Goal]:
    del content
    for problem in (*answer.get("problems", ()), *answer.get("warnings", ())):
        yield ("problem", problem["code"])


def _of_text(content: bytes, answer: Answer) -> Iterator[Goal]:
    del content
    if not answer["read"]:
        yield ("text", answer["code"])
        yield ("problem", answer["code"])


def _of_file(content: bytes, answer: Answer) -> Iterator[Goal]:
    del content
    if answer["fault"] is not None:
        yield ("damage", answer["fault"]["code"])


_BY_KIND: Final[Mapping[str, Callable[[bytes, Answer], Iterator[Goal]]]] = {
    "reduce": _of_history,
    "decide": _of_command,
    "restore": _of_journal,
    "upcast": _of_upcast,
    "validate": _of_document,
    "read": _of_text,
    "read_yaml": _of_text,
    "verify": _of_file,
}
