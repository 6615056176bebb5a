"""Tools whose exploration is wrong, each in one way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from perdure.kernel.state import State
from perdure.kernel.validation.validator import validate
from perdure.kernel.values import JsonObject
from perdure_conformance.exploration import exploring, results
from perdure_conformance.exploration.search import Bounds, Search
from perdure_conformance.tool.explorations import Document
from perdure_conformance.tool.trial import Tool, ToolMutant

Change = Callable[[dict[str, Any]], Mapping[str, Any]]


def _changed(name: str, change: Change) -> Tool:
    """Return a tool that says something else of each row of a part of what it found."""

    def explore(value: JsonObject, max_states: int) -> Document:
        found = results.told(value, max_states)
        rows = found[name]
        assert isinstance(rows, list)
        return {**found, name: [change(row) for row in rows]}

    return Tool(explore=explore)


def _cut_short(row: dict[str, Any]) -> Mapping[str, Any]:
    way = row["way"]
    return row if way is None else {**row, "way": {**way, "script": way["script"][:-1]}}


def _excluded(row: dict[str, Any]) -> Mapping[str, Any]:
    return {**row, "verdict": "unreachable"} if row["verdict"] == "not_found" else row


def _started_by_arrows(row: dict[str, Any]) -> Mapping[str, Any]:
    return {**row, "started": {**row["started"], "verdict": "reached"}}


class _Hasty(Search):
    """Takes the endings of one node first, and puts off all others, for ever if it goes round in a loop."""

    def ending(self, state: State) -> int | None:
        """Return the first node that runs."""
        return next((position for position in sorted(state.nodes) if state.nodes[position].status == "running"), None)


def _hastily(value: JsonObject, max_states: int) -> Document:
    found = validate(value)
    assert found.specification is not None
    exploration = exploring.explored(value, found.specification, Bounds(max_states), kind=_Hasty)
    return results.document(results.result_of("-", found.content_hash or "", exploration))


def _as_if_whole(value: JsonObject, max_states: int) -> Document:
    found = results.told(value, max_states)
    return {**found, "complete": True, "stopped_by": None}


def _always_well(value: JsonObject, max_states: int) -> Document:
    return {**results.told(value, max_states), "exit_code": 0}


MUTANTS: Final = (
    ToolMutant("CutsScriptsShort", "TOL-031", "gives scripts without their last step", _changed("results", _cut_short)),
    ToolMutant(
        "BelievesTheArrows",
        "TOL-031",
        "takes every node to be started to which arrows lead",
        _changed("nodes", _started_by_arrows),
    ),
    ToolMutant("PutsOthersOff", "TOL-031", "looks at no order but one", Tool(explore=_hastily)),
    ToolMutant(
        "ExcludesTheUnseen",
        "TOL-032",
        "calls unreachable what it has not found so far",
        _changed("results", _excluded),
    ),
    ToolMutant("CallsAPartTheWhole", "TOL-032", "does not tell that a bound was hit", Tool(explore=_as_if_whole)),
    ToolMutant("PassesWhatItDidNotSee", "TOL-032", "passes what it did not explore whole", Tool(explore=_always_well)),
)
