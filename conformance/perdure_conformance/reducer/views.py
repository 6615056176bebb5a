"""A state as it is told: the published document of it, and the output of the run.

Source: `docs/spec/kernel.md`, "What a kernel answers"; `schemas/state-2.json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from perdure.kernel.mapping import run_output
from perdure.kernel.snapshots import document_of_state
from perdure.kernel.state import State
from perdure.kernel.values import JsonObject, JsonValue

OUTPUT = "output"
_DATA: Final = frozenset({"input", "output", "payload", "outcomes"})
"""Members that hold data, in which null, 0 and what is empty are values like any other."""
_BY_NAME: Final = frozenset({"nodes", "attempts", "child_runs", "signals", "released"})
"""Members that are maps: their keys are nobody's members."""


def view_of(state: State) -> JsonObject:
    """Return a state between two batches as its document, with the output of the run as one more member."""
    return told(document_of_state(state), run_output(state))


def told(state: JsonObject | None, output: JsonObject | None) -> JsonObject:
    """Return what is told of a state, as one value."""
    whole: dict[str, JsonValue] = {**bare(state or {}), OUTPUT: output}
    return whole


def bare(part: JsonObject) -> JsonObject:
    """Return a part of the document of a state without the members that say nothing, within arrays too; data stays."""
    found: dict[str, JsonValue] = {}
    for name, member in part.items():
        if name in _DATA:
            if member is not None:
                found[name] = member
        elif name in _BY_NAME and isinstance(member, Mapping):
            found[name] = {key: _bare(each) for key, each in member.items()}
        elif member or (member is not False and isinstance(member, int)):  # A number 0 may be required: it stays.
            found[name] = _bare(member)
    return found


def _bare(value: JsonValue) -> JsonValue:
    if isinstance(value, Mapping):
        return bare(value)
    return [_bare(each) for each in value] if isinstance(value, Sequence) and not isinstance(value, str) else value
