"""What stored histories refer to: which workflow and version each pins, whether it has ended, and which nodes it names.

A history is read record by record. That each is as it was sealed is looked at, and no more: `perdure verify` does it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from perdure.kernel.errors import Corruption
from perdure.kernel.events import RUN_FACTS
from perdure.kernel.values import JsonError, JsonObject, digest, read_json
from perdure_conformance.gate.sources import GateRefused, files_below, unreadable
from perdure_conformance.histories.databases import runs_in
from perdure_conformance.histories.files import opened
from perdure_conformance.histories.stored import Damage, HistoryRefused
from perdure_conformance.reducer.contract import Entry

_SUFFIXES: Final = (".jsonl", ".mwj1", ".sqlite3")
_ENDS: Final = frozenset(fact.__name__ for fact in RUN_FACTS)


@dataclass(frozen=True, slots=True)
class StoredHistory:
    """One stored history."""

    file: str
    """In its folder, with slashes."""
    run_id: str | None
    """Where a file has several: which."""
    path: Path

    @property
    def name(self) -> str:
        """It in words."""
        return self.file if self.run_id is None else f"{self.file}, run {self.run_id}"

    def entries(self) -> Iterator[Entry]:
        """Yield its events, as they are stored. Raises `GateRefused` where it cannot be read."""
        number = 0
        try:
            with opened(str(self.path), self.run_id) as history:
                for stored in history.records:
                    entry = _entry(stored.content, number + 1)
                    number += 1
                    yield entry
        except HistoryRefused as error:
            raise GateRefused(str(error)) from error
        except (Damage, Corruption, JsonError, _NoRecordError) as error:
            told = f"{self.path} cannot be read behind record {number}: {error}"
            raise GateRefused(f"{told}. `perdure verify` says more.") from error


class _NoRecordError(Exception):
    pass


def _entry(content: bytes, number: int) -> Entry:
    """Return the event of a record that is as it was sealed, and where it belongs."""
    value = read_json(content)
    version = value.get("schema_version") if isinstance(value, Mapping) else None
    event = value.get("event") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(version, int) or not isinstance(event, Mapping):
        raise _NoRecordError("this is no record, which has a schema_version and an event")
    if value.get("checksum") != digest({name: member for name, member in value.items() if name != "checksum"}):
        raise _NoRecordError("its checksum does not fit its content")
    if value.get("sequence") != number:
        raise _NoRecordError(f"the sequence {number} is missing")
    return Entry(version, event)


def histories_in(folder: str) -> list[StoredHistory]:
    """Return the histories in a folder, in the order of their names. Raises `GateRefused`."""
    found: list[StoredHistory] = []
    try:
        if not Path(folder).is_dir():
            Path(folder).stat()
            raise GateRefused(f"{folder} is no folder: --journals takes one with histories in it.")
        for file in files_below(Path(folder), _SUFFIXES):
            path = Path(folder, file)
            if not path.is_file():
                raise GateRefused(f"{path} is a pipe or a device: leave it out.")
            found += [StoredHistory(file, run_id, path) for run_id in _runs(path)]
    except (OSError, ValueError) as error:
        raise unreadable(folder, error) from error
    return found


def _runs(path: Path) -> Sequence[str | None]:
    """Return the runs in a file; of one that has none, or cannot be read, that it is there: reading it says why."""
    if path.suffix != ".sqlite3":
        return [None]
    try:
        return runs_in(str(path)) or [None]
    except (HistoryRefused, Damage):
        return [None]


@dataclass(frozen=True, slots=True)
class Reference:
    """What one history refers to."""

    name: str
    workflow_id: str
    version: int
    has_ended: bool
    nodes: Mapping[str, int]
    """Each node, with the first record that names it: the one that pins the specification, if no later one does."""


def references(histories: Sequence[StoredHistory]) -> list[Reference]:
    """Return what histories refer to. Raises `GateRefused`."""
    return [found for each in histories if (found := _reference(each)) is not None]


def _reference(history: StoredHistory) -> Reference | None:
    pinned: tuple[str, int] | None = None
    nodes: dict[str, int] = {}
    listed: list[str] = []
    has_ended = False
    for number, entry in enumerate(history.entries(), 1):
        event = entry.event
        if number == 1:
            document = event.get("specification")
            if not isinstance(document, Mapping):
                return None
            pinned, listed = _pinned(document), _listed(document)
        for name in ("node", "source", "target"):
            told = event.get(name)
            if isinstance(told, str):
                nodes.setdefault(told, number)
        has_ended = has_ended or event.get("type") in _ENDS
    if pinned is None:
        return None
    return Reference(history.name, *pinned, has_ended, {**dict.fromkeys(listed, 1), **nodes})


def _pinned(document: JsonObject) -> tuple[str, int] | None:
    name, version = document.get("workflow_id"), document.get("workflow_version")
    return (name, version) if isinstance(name, str) and isinstance(version, int) else None


def _listed(document: JsonObject) -> list[str]:
    nodes = document.get("nodes")
    listed = nodes if isinstance(nodes, Sequence) and not isinstance(nodes, str) else ()
    return [str(node.get("id")) for node in listed if isinstance(node, Mapping)]
