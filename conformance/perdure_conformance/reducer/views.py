"""A state as it is told: the published document of it, and the output of the run.

Source: `docs/spec/kernel.md`, "What a kernel answers"; `schemas/state-2.json`.
"""

from __future__ import annotations

from perdure.kernel.mapping import run_output
from perdure.kernel.snapshots import document_of_state
from perdure.kernel.state import State
from perdure.kernel.values import JsonObject, JsonValue

OUTPUT = "output"


def view_of(state: State) -> JsonObject:
    """Return a state between two batches as its document, with the output of the run as one more member."""
    return told(document_of_state(state), run_output(state))


def told(state: JsonObject | None, output: JsonObject | None) -> JsonObject:
    """Return what is told of a state, as one value."""
    whole: dict[str, JsonValue] = {**(state or {}), OUTPUT: output}
    return whole
