"""What verdicts add up to."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure_conformance.verdict import Depth, Evidence, Verdict, exit_code, verdict_on

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
DEPTHS: tuple[Depth, ...] = get_args(Depth)


@pytest.mark.parametrize(
    ("verdicts", "depth", "faulty", "code"),
    [
        (["pass"], "normal", False, 0),
        (["pass", "not_claimed"], "deep", False, 0),
        (["pass", "not_reached"], "quick", False, 0),
        (["pass", "not_reached"], "normal", False, 3),
        (["pass", "not_reached"], "deep", False, 3),
        (["not_reached"], "quick", False, 3),
        (["pass", "fail"], "normal", False, 1),
        (["fail", "inconclusive", "not_reached"], "normal", True, 1),
        (["pass", "inconclusive"], "normal", False, 3),
        (["pass"], "normal", True, 3),
        ([], "normal", False, 3),
        (["not_claimed", "not_claimed"], "normal", False, 3),
    ],
)
def test_exit_codes_are_those_of_the_interface(verdicts: list[Verdict], depth: Depth, faulty: bool, code: int) -> None:
    assert exit_code(verdicts, depth, faulty=faulty) == code


@given(st.lists(st.sampled_from(VERDICTS)), st.sampled_from(DEPTHS), st.booleans())
def test_zero_needs_a_pass_and_nothing_that_is_open(verdicts: list[Verdict], depth: Depth, faulty: bool) -> None:
    if exit_code(verdicts, depth, faulty=faulty) == 0:
        assert not faulty
        assert "pass" in verdicts
        assert not {"fail", "inconclusive"} & set(verdicts)


@given(st.booleans(), st.booleans(), st.booleans(), st.integers(0, 3))
def test_a_pass_was_claimed_reached_and_never_interrupted(
    claimed: bool, broken: bool, interrupted: bool, reached: int
) -> None:
    verdict = verdict_on(Evidence(claimed=claimed, broken=broken, interrupted=interrupted, reached=reached))
    assert (verdict == "pass") == (claimed and not broken and not interrupted and reached > 0)
    assert (verdict == "not_claimed") == (not claimed)
    assert (verdict == "fail") == (claimed and broken)
