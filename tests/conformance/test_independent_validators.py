"""The suite is tried on validators whose author saw only the specification: good ones, and broken ones of all kinds.

By default good validators are asked about a tenth of the requirements each, and a tenth of the broken ones about what
they break. With PERDURE_FULL=1 every validator is asked about all pairs, which takes a quarter of an hour.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.helpers import compiled

from perdure_conformance.harness.targets import CommandTarget
from perdure_conformance.spec.judge import judge
from perdure_conformance.spec.profile import SPEC
from perdure_conformance.suite import Judgement, Options

PROGRAM = Path(__file__).parent / "independent_validators.py"
FULL = bool(os.environ.get("PERDURE_FULL"))
LISTED = subprocess.run([sys.executable, PROGRAM, "--list"], check=True, capture_output=True, text=True).stdout
VARIANTS: dict[str, dict[str, Any]] = {
    variant["name"]: variant for variant in map(json.loads, LISTED.splitlines()) if variant["name"] != "slow-start"
}
ALL_REQUIREMENTS = [requirement.id for requirement in SPEC.requirements()]
GOOD = [name for name, variant in VARIANTS.items() if variant["kind"] == "good"]
EVERY_BROKEN = [name for name, variant in VARIANTS.items() if variant["kind"] == "broken"]
BROKEN = EVERY_BROKEN if FULL else EVERY_BROKEN[::10]


def judged(program: Path, name: str) -> Judgement:
    only = frozenset(() if FULL else VARIANTS[name]["breaks"] or ALL_REQUIREMENTS[GOOD.index(name) % 10 :: 10])
    is_broken = bool(VARIANTS[name]["breaks"])
    options = Options(
        "quick",
        timeout_s=60,
        only=only,
        parts=frozenset({"written"}),
        smaller=False,
        first_alone=is_broken and not FULL,
    )
    return judge(CommandTarget((sys.executable, str(program), name)), options)


@pytest.fixture(scope="module")
def judgements(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Judgement]]]:
    program = compiled(PROGRAM, tmp_path_factory.mktemp("independent"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield {name: pool.submit(judged, program, name) for name in (*GOOD, *BROKEN)}


@pytest.mark.parametrize("name", GOOD)
def test_what_is_good_passes(name: str, judgements: dict[str, Future[Judgement]]) -> None:
    judgement = judgements[name].result()
    assert judgement.fault is None
    assert {key: finding.found_by for key, finding in judgement.findings.items()} == {}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_blamed_for_what_it_breaks(name: str, judgements: dict[str, Future[Judgement]]) -> None:
    judgement = judgements[name].result()
    assert judgement.fault is None
    assert set(VARIANTS[name]["breaks"]) & set(judgement.findings), VARIANTS[name]


def test_there_are_many_for_every_requirement() -> None:
    broken = {requirement for name in EVERY_BROKEN for requirement in VARIANTS[name]["breaks"]}
    assert len(EVERY_BROKEN) > 300
    assert len(GOOD) > 20
    assert {f"SPC-0{number:02}" for number in range(1, 32)} <= broken
