from __future__ import annotations

import gc
import json
from collections import deque
from typing import Any

import pytest
from typer.testing import CliRunner

from perdure.kernel.histories import states
from perdure.kernel.invariants import violations
from perdure.kernel.records import verified
from perdure_conformance.bench import crashes, exploring, growth, journals, loading, runs
from perdure_conformance.cli import bench, command_line

RESULTS = {"deadlines": "failed", "cancelled": "cancelled"}


@pytest.mark.parametrize("shape", runs.SHAPES)
def test_each_shape_is_a_run_that_ends(shape: str) -> None:
    lines = loading.lines_of(runs.SHAPES[shape](20))
    last = deque(states(map(verified, lines)), maxlen=1).pop()
    assert last.status == RESULTS.get(shape, "completed")
    assert violations(last) == []


def test_a_loop_goes_round_until_there_are_so_many_events() -> None:
    assert 200 <= runs.turns(200).events() <= 210


@pytest.mark.parametrize("name", ["validate", "run", "load", "journals", "explore"])
def test_figures_are_printed_and_told_to_machines(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "NODES", (10, 20))
    monkeypatch.setattr(bench, "EVENTS", (10, 20))
    monkeypatch.setattr(bench, "RECORDS", 50)
    monkeypatch.setattr(growth, "ROUNDS", 1)
    monkeypatch.setattr(loading, "ROUNDS", 1)
    for setting, value in (("SIZES", (20, 40)), ("ROUNDS", 1), ("BATCHES", (1, 3)), ("APPENDS", 2)):
        monkeypatch.setattr(journals, setting, value)
    monkeypatch.setattr(journals, "APPEND_ROUNDS", 1)
    for setting, value in (("ROUNDS", 1), ("WIDTH", 1), ("REPEATS", 1)):
        monkeypatch.setattr(exploring, setting, value)
    monkeypatch.setattr(gc, "collect", lambda: 0)  # Slow beside so many other tests.
    shown = CliRunner().invoke(command_line(), ["bench", name])
    assert shown.exit_code == 0
    found: Any = json.loads(CliRunner().invoke(command_line(), ["bench", name, "--json"]).stdout)
    if name == "load":
        assert list(found["seconds"]) == list(loading.STEPS)
        assert all(step in shown.stdout for step in loading.STEPS)
    elif name == "explore":
        assert [each["system"] for each in found] == ["diamond", "loop"]
        assert found[1]["states"] >= 102
        assert "bare, states/s" in shown.stdout
    elif name == "journals":
        assert [each["shape"] for each in found["growth"]] == ["load", "verify"]
        assert list(found["peak_bytes"]) == ["load", "verify", "verify, same state"]
        assert [each["records"] for each in found["appends"]] == [1, 3]
        assert "by hand" in shown.stdout
    else:
        assert {each["shape"] for each in found} >= {"chain", "loops"}
        assert all(each["shape"] in shown.stdout for each in found)


def test_what_is_stored_for_a_benchmark_is_a_sound_run() -> None:
    with journals.stored((600,)) as paths:
        assert journals.load(paths[600]) == journals.verified(paths[600]) >= 600
        assert journals.verified(paths[600].with_stem("clock")) == 600


def test_an_unknown_benchmark_is_wrong_usage() -> None:
    shown = CliRunner().invoke(command_line(), ["bench", "swim"])
    assert shown.exit_code == 2


def test_the_pace_of_crashes_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crashes, "APPENDS", 1)
    monkeypatch.setattr(crashes, "MEASURED", dict([*crashes.MEASURED.items()][:1]))
    done = CliRunner().invoke(command_line(), ["bench", "crash", "--json"])
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert all(pace["crashes"] > 0 and pace["wanted"] == 3_000 for pace in found["paces"])
    assert len(found["paces"]) + len(found["not_measured"]) == 1
