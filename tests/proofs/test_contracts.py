"""Contracts: each is confirmed over all paths, its mutants are refuted, and nothing less counts."""

from __future__ import annotations

import time
from typing import Any

import pytest

from perdure_conformance.requirements import requirements
from perdure_proofs import confirming
from perdure_proofs.confirming import checked
from perdure_proofs.contracts import Contract, contract, contracts
from perdure_proofs.theorems import assume


def still() -> float:
    return 0.0


@pytest.mark.parametrize("each", contracts(), ids=lambda each: each.name)
def test_a_contract_is_confirmed_over_all_paths_and_refutes_its_mutants(each: Contract[Any]) -> None:
    found = checked(each, now=still)
    assert found.outcome == "confirmed", [*found.faults, *found.doubts]
    assert found.refuted.keys() == each.mutants.keys()
    assert each.mutants
    assert set(each.requirements) <= set(requirements())
    assert each.sentence


def test_there_are_contracts_and_each_has_a_name_of_its_own() -> None:
    names = [each.name for each in contracts()]
    assert len(names) == len(set(names)) >= 20


def doubled(number: int) -> int:
    return 2 * number


@contract("TIM-011", leaf=doubled, mutants={"Same": doubled, "AddsOne": lambda number: doubled(number) + 1})
def is_even(doubled: Any, number: int) -> bool:
    """What is doubled is even."""
    return bool(doubled(number) % 2 == 0)


@contract("TIM-011", leaf=doubled, mutants={})
def is_larger(doubled: Any, number: int) -> bool:
    """What is doubled is larger."""
    return bool(doubled(number) > number)


@contract("TIM-011", leaf=doubled, mutants={})
def is_told(doubled: Any, number: int) -> bool:
    """What is told in digits has too many paths."""
    return f"{doubled(number)}" != "1"


@contract("TIM-011", leaf=doubled, mutants={})
def is_never(doubled: Any, number: int) -> bool:
    """It applies to nothing."""
    assume(number > doubled(number) > 0)
    return True


@contract("TIM-011", leaf=doubled, mutants={})
def breaks(doubled: Any, number: int) -> bool:
    """It raises at one number."""
    return bool(1 // (doubled(number) - 10) < 2)


def test_a_mutant_that_keeps_a_contract_is_a_fault() -> None:
    found = checked(is_even, now=still)
    assert found.outcome == "refuted"
    assert found.faults == ["the mutant Same is not refuted: Confirmed over all paths."]
    assert found.refuted.keys() == {"AddsOne"}


@pytest.mark.parametrize("wrong", [is_larger, breaks], ids=lambda each: each.name)
def test_what_does_not_hold_is_refuted_with_values_that_python_confirms(wrong: Contract[Any]) -> None:
    found = checked(wrong, now=still)
    assert found.outcome == "refuted"
    assert "it does not hold" in found.faults[0]
    assert "number" in found.faults[0]


@pytest.mark.parametrize("open_", [is_told, is_never], ids=lambda each: each.name)
def test_what_is_not_confirmed_over_all_paths_is_not_known(
    open_: Contract[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirming, "LIMIT_S", 0.3)
    found = checked(open_, now=still)
    assert (found.outcome, found.faults) == ("unknown", [])
    assert found.doubts == ["Not confirmed."]


def test_its_seconds_are_those_of_the_clock_that_is_given() -> None:
    assert checked(is_even, now=iter([1.0, 3.5]).__next__).seconds == 2.5
    assert checked(is_even, now=time.process_time).seconds > 0
