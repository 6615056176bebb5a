"""Tools whose compatibility gate is wrong, each in one way."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.gate import comparison, replaying
from perdure_conformance.gate.policy import Code
from perdure_conformance.gate.sources import GateRefused
from perdure_conformance.harness.targets import Target
from perdure_conformance.tool.trial import Tool, ToolMutant
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT

Change = Mapping[str, JsonValue]


def _judging(judge: Callable[[Change], str | None]) -> Tool:
    """Return a tool that gives each change another verdict, or does not tell it."""

    def gate(old: Path, new: Path, journals: Path | None) -> JsonObject:
        found = comparison.gated(old, new, journals)
        told = [{**each, "verdict": verdict} for each in _rows(found, "changes") if (verdict := judge(each))]
        is_breaking = any(each["verdict"] == "breaking" for each in told)
        code = NO_VERDICT if found["exit_code"] == NO_VERDICT else NOT_CONFORMANT if is_breaking else CONFORMANT
        words = {NOT_CONFORMANT: "breaking", CONFORMANT: "compatible"}
        return {**found, "changes": told, "exit_code": code, "verdict": words.get(code, "nothing_compared")}

    return Tool(gate=gate)


def _allowing(code: Code) -> Tool:
    return _judging(lambda each: "compatible" if each["code"] == code else str(each["verdict"]))


def _refusing(code: Code) -> Tool:
    return _judging(lambda each: "breaking" if each["code"] == code else str(each["verdict"]))


def _without(code: Code) -> Tool:
    return _judging(lambda each: None if each["code"] == code else str(each["verdict"]))


def _rows(found: JsonObject, name: str) -> Sequence[Change]:
    rows = found[name]
    assert isinstance(rows, Sequence)
    return [each for each in rows if isinstance(each, Mapping)]


def _without_histories(old: Path, new: Path, journals: Path | None) -> JsonObject:
    del journals
    return comparison.gated(old, new, None)


def _taking_every_run_for_ended(old: Path, new: Path, journals: Path | None) -> JsonObject:
    with TemporaryDirectory(prefix="perdure-") as empty:
        return comparison.gated(old, new, None if journals is None else Path(empty))


def _passing_nothing(old: Path, new: Path, journals: Path | None) -> JsonObject:
    found = comparison.gated(old, new, journals)
    return {**found, "exit_code": CONFORMANT} if found["exit_code"] == NO_VERDICT else found


def _skipping_what_is_refused(old: Path, new: Path, journals: Path | None) -> JsonObject:
    with suppress(GateRefused):
        return comparison.gated(old, new, journals)
    return {"gate_version": 1, "verdict": "compatible", "exit_code": CONFORMANT, "changes": []}


def _through_links(old: Path, new: Path, journals: Path | None) -> JsonObject:
    if not new.is_dir():
        return comparison.gated(old, new, journals)
    with TemporaryDirectory(prefix="perdure-") as place:
        shutil.copytree(new, Path(place, "copy"))  # This copies what a link leads to.
        return comparison.gated(old, Path(place, "copy"), journals)


def _telling(change: Callable[[Change], Change | None]) -> Tool:
    """Return a tool that says something else of histories, or nothing."""

    def replay(folder: Path, target: Target) -> JsonObject:
        found = replaying.replayed(folder, target)
        told = [each for row in _rows(found, "histories") if (each := change(row)) is not None]
        verdicts = {each["verdict"] for each in told}
        code = NOT_CONFORMANT if "differs" in verdicts else CONFORMANT if verdicts == {"same"} else NO_VERDICT
        return {**found, "histories": told, "exit_code": code}

    return Tool(replay=replay)


MUTANTS: Final[tuple[ToolMutant, ...]] = (
    ToolMutant(
        "AddsWithoutDefaults", "TOL-025", "takes any addition for harmless", _allowing("optional_without_default")
    ),
    ToolMutant(
        "DemandsInPlace", "TOL-025", "lets a member be required that could be missing", _allowing("member_required")
    ),
    ToolMutant("ComparesNamesAlone", "TOL-025", "compares which members there are", _without("limit_tightened")),
    ToolMutant("TakesDefaultsForText", "TOL-025", "takes another default for words", _allowing("default_changed")),
    ToolMutant(
        "GuessesPatterns", "TOL-025", "takes a pattern for looser that it cannot read", _allowing("condition_changed")
    ),
    ToolMutant(
        "ForbidsAdditions", "TOL-025", "calls what is new and has a default breaking", _refusing("member_added")
    ),
    ToolMutant("ForbidsWords", "TOL-025", "calls another description breaking", _refusing("text_changed")),
    ToolMutant(
        "ExtendsReleasedVersions", "TOL-026", "lets a released version have more", _allowing("event_type_added")
    ),
    ToolMutant("NeedsNoUpcaster", "TOL-026", "asks for no upcaster", _allowing("version_without_upcaster")),
    ToolMutant(
        "NeedsNoHistory", "TOL-026", "asks for no history of a new version", _allowing("version_without_vectors")
    ),
    ToolMutant("ForbidsVersions", "TOL-026", "calls every new version breaking", _refusing("version_added")),
    ToolMutant("CountsVectors", "TOL-027", "compares which vectors there are", _without("answer_changed")),
    ToolMutant("ForgetsQuestions", "TOL-027", "lets a question be another one", _allowing("question_changed")),
    ToolMutant("FreezesWords", "TOL-027", "calls what is said for people breaking", _refusing("answer_for_people")),
    ToolMutant("TrustsTheVersion", "TOL-028", "looks at nothing under one version", _without("changed_in_place")),
    ToolMutant("RenamesFreely", "TOL-028", "lets a node have another name", _allowing("node_renamed")),
    ToolMutant("ForbidsNewVersions", "TOL-028", "freezes workflows", _refusing("workflow_version_added")),
    ToolMutant(
        "ReadsNoHistory", "TOL-028", "looks at no history, though some are given", Tool(gate=_without_histories)
    ),
    ToolMutant("TakesRunsForEnded", "TOL-028", "takes every run for ended", Tool(gate=_taking_every_run_for_ended)),
    ToolMutant("PassesWhereNothingIs", "TOL-029", "passes what has nothing to compare", Tool(gate=_passing_nothing)),
    ToolMutant("SkipsWhatItCannotRead", "TOL-029", "passes what it cannot read", Tool(gate=_skipping_what_is_refused)),
    ToolMutant("ComparesThroughLinks", "TOL-029", "reads what a link leads to", Tool(gate=_through_links)),
    ToolMutant(
        "BelievesTheKernel",
        "TOL-030",
        "takes whatever a kernel says for what was said",
        _telling(lambda row: {**row, "verdict": "same"}),
    ),
    ToolMutant(
        "CountsTheReadableAlone",
        "TOL-030",
        "leaves out histories that it cannot read",
        _telling(lambda row: None if row["verdict"] == "unreadable" else row),
    ),
    ToolMutant(
        "SaysNotWhere",
        "TOL-030",
        "says that a history differs, and not from where on",
        _telling(lambda row: {**row, "sequence": None}),
    ),
)
