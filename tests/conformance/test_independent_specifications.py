"""Pairs of specifications whose author saw only the specification's text: the model judges them as their author did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from perdure.kernel.problems import Problems
from perdure.kernel.validation.handlers import Handlers, read_handlers
from perdure.kernel.validation.validator import Validation, validate_text
from perdure_conformance.requirements import codes, requirements

PAIRS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "independent_specifications.json").read_text("utf-8"))


def judged(pair: dict[str, Any], which: str) -> Validation:
    handlers: Handlers | None = None
    if pair.get("handlers") is not None:
        handlers = read_handlers({"handlers": pair["handlers"]}, Problems())
    return validate_text(pair[which], handlers)


@pytest.mark.parametrize("requirement", sorted({pair["requirement"] for pair in PAIRS}))
def test_each_is_judged_as_its_author_meant(requirement: str) -> None:
    for pair in PAIRS:
        if pair["requirement"] != requirement:
            continue
        assert judged(pair, "accepted").valid, pair["name"]
        refused = judged(pair, "rejected")
        assert not refused.valid, pair["name"]
        found = {problem.code for problem in refused.problems if problem.severity == "error"}
        if pair["code"] is not None:
            assert pair["code"] in found, (pair["name"], found)
        if pair["pointer"] is not None:
            assert pair["pointer"] in {problem.pointer for problem in refused.problems}, pair["name"]


def test_they_are_many_and_about_every_rule_that_refuses() -> None:
    assert len(PAIRS) > 300
    refusing = {key for key, value in requirements().items() if value.codes and value.claim in {"core", "handlers"}}
    assert refusing - {"SPC-031"} <= {pair["requirement"] for pair in PAIRS}


def test_their_codes_are_known() -> None:
    assert [pair["code"] for pair in PAIRS if pair["code"] and pair["code"] not in codes()] == []
