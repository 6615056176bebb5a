"""The scenarios that kernels are asked about: each answer that was written by hand is what the model says."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from perdure.kernel.commands import REJECTION_CODES, Rejection
from perdure.kernel.errors import Incompatible
from perdure.kernel.snapshots import document_of_state
from perdure_conformance.reducer.mutants import MUTANTS
from perdure_conformance.reducer.playing import all_short
from perdure_conformance.reducer.profile import REDUCER
from perdure_conformance.reducer.questions import Query, at, same, truth_about
from perdure_conformance.reducer.scenarios import Scenario, all_scenarios
from perdure_conformance.reducer.scenarios.scenario import (
    Accepted,
    Gives,
    Refused,
    RefusesToRestore,
    Rejected,
    Restores,
    Side,
)
from perdure_conformance.reducer.views import view_of


def said(side: Side) -> object:
    """Return what the model says, as it would be written by hand."""
    truth, expected = side.truth, side.expected
    if truth.restored is not None:
        return restored(side)
    if isinstance(truth.decided, Rejection):
        return Rejected((truth.decided.code, *side.question.codes), truth.decided.disposition)
    if truth.decided is not None:
        return Gives(all_short(truth.decided))
    if truth.error is not None:
        return Refused(truth.sequence, "incompatible" if isinstance(truth.error, Incompatible) else "corrupt")
    assert truth.state is not None
    pointers: dict[str, Any] = dict(expected.state) if isinstance(expected, Accepted) else {}
    view = view_of(truth.state) if pointers else {}
    told = {
        pointer: wanted if same(wanted, at(view, pointer)) else at(view, pointer)
        for pointer, wanted in pointers.items()
    }
    return Accepted(truth.owed is None, told)


def restored(side: Side) -> object:
    truth = side.truth
    if truth.state is None:
        return RefusesToRestore(
            truth.sequence, "incompatible" if isinstance(truth.restored, Incompatible) else "corrupt"
        )
    replayed = truth_about(Query(side.question.history)).state
    assert replayed is not None
    assert document_of_state(truth.state) == document_of_state(replayed)
    return Restores(len(side.question.history))


@pytest.mark.parametrize("scenario", all_scenarios(), ids=lambda scenario: f"{scenario.requirement} {scenario.name}")
def test_what_is_written_is_what_the_model_says(scenario: Scenario) -> None:
    for number, side in enumerate(scenario.sides, 1):
        assert said(side) == side.expected, (number, side.truth.error)


def test_commands_are_decided_after_whole_histories_alone() -> None:
    asked = [side for scenario in all_scenarios() for side in scenario.sides if side.question.command is not None]
    assert all(side.truth.error is None and side.truth.owed is None for side in asked)


def test_names_are_unique_and_codes_are_codes() -> None:
    assert [name for name, count in Counter(scenario.name for scenario in all_scenarios()).items() if count > 1] == []
    codes = {code for scenario in all_scenarios() for side in scenario.sides for code in side.question.codes}
    assert codes <= set(REJECTION_CODES)


def test_every_requirement_has_a_scenario_with_a_twin_and_a_mutant() -> None:
    judged = {scenario.requirement for scenario in all_scenarios() if len(scenario.sides) > 1}
    broken = {mutant.breaks for mutant in MUTANTS.values()}
    known = {requirement.id for requirement in REDUCER.requirements()}
    assert {scenario.requirement for scenario in all_scenarios()} == known
    assert judged & broken == known


def test_each_report_that_a_requirement_cites_is_the_fault_of_one_of_its_mutants() -> None:
    for requirement in REDUCER.requirements():
        named = {mutant.report for mutant in MUTANTS.values() if mutant.breaks == requirement.id}
        assert set(filter(None, requirement.report.split("; "))) <= named, requirement.id
