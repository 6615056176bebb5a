"""`perdure explore`: what is found with and without reductions, scripts that are played, bounds, pictures."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.drawn_specifications import drawn
from tests.conformance.helpers import ROOT
from tests.conformance.histories import REVIEW_LOOP, run
from tests.model.playing import document, edge, node

from perdure.kernel.rules import RULES, Rules
from perdure.kernel.validation.validator import validate
from perdure_conformance.exploration import results
from perdure_conformance.exploration.exploring import Exploration, creation_of, explored
from perdure_conformance.exploration.search import (
    Bounds,
    Closed,
    Ended,
    Exhausted,
    Fired,
    Search,
    Started,
    Stuck,
)
from perdure_conformance.exploration.usage import Trip
from perdure_conformance.exploration.witnesses import MAX_PLAYED, leads_to, witness
from perdure_conformance.interrupts import Interrupted

SEEDS = [8, 30, 52, 61, 65, 86, 90, 119, 126, 135, 144, 148]
"""Some that show it when too much is left out."""


def exploration(
    value: dict[str, Any], *, reduced: bool = True, bounds: Bounds | None = None, rules: Rules = RULES
) -> Exploration:
    specification = validate(value).specification
    assert specification is not None
    return explored(value, specification, bounds or Bounds(20_000), is_reduced=reduced, rules=rules)


@pytest.mark.parametrize("seed", SEEDS)
def test_with_and_without_reductions_the_same_is_found_by_ways_as_short(seed: int) -> None:
    value, _ = drawn(seed)
    whole = exploration(value, reduced=False, bounds=Bounds(1_000))
    reduced = exploration(value)
    assert (whole.stopped_by, reduced.stopped_by) == (None, None)
    assert not whole.found.refusals + reduced.found.refusals
    goals = {*whole.found.reached, *reduced.found.reached, Exhausted("attempts"), Exhausted("transitions"), Stuck()}
    assert {goal: whole.verdict(goal) for goal in goals} == {goal: reduced.verdict(goal) for goal in goals}
    assert Stuck() not in whole.found.reached
    for goal, way in whole.found.reached.items():
        if not isinstance(goal, Closed | Fired):
            shown = witness(reduced, goal)
            assert shown is not None
            assert shown.is_shortest
            assert len(shown.steps) == way.cost, goal


def found_by(folder: Path, value: dict[str, Any], *words: str) -> dict[str, Any]:
    (folder / "spec.json").write_text(json.dumps(value), "utf-8")
    done = run("explore", str(folder / "spec.json"), *words, "--json")
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["exit_code"] == done.exit_code
    return found


def test_each_script_of_the_example_is_played_by_simulate(tmp_path: Path) -> None:
    done = run("explore", REVIEW_LOOP, "--scripts", str(tmp_path), "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["complete"], found["stopped_by"]) == (0, True, None)
    assert {each["result"]: each["way"]["commands"] for each in found["results"]} == {
        "completed": 4,
        "failed": 2,
        "blocked": 2,
        "cancelled": 2,
    }
    for each in found["results"]:
        played = run("simulate", REVIEW_LOOP, "--script", str(tmp_path / f"{each['result']}.json"), "--stop", "--json")
        assert json.loads(played.stdout)["status"] == each["result"]
        assert json.loads((tmp_path / f"{each['result']}.json").read_text("utf-8")) == each["way"]["script"]
    for each in found["budgets"]:
        assert (each["verdict"] == "reached") == (each["budget"] != "attempts")
    played = run("simulate", REVIEW_LOOP, "--script", str(tmp_path / "budget-transitions.json"), "--stop", "--json")
    assert json.loads(played.stdout)["batches"][-1]["events"][-2]["event"]["budget"] == "transitions"
    for name in ("skipped-publish", "start-give-up", "blocked-review", "budget-elapsed"):
        assert run("simulate", REVIEW_LOOP, "--script", str(tmp_path / f"{name}.json"), "--stop").exit_code == 0


def test_people_are_told_the_same() -> None:
    shown = run("explore", REVIEW_LOOP).stdout
    assert "completed     yes         4  start write; write succeeded" in shown
    assert "attempts, 10,000         never" in shown
    assert "EXPLORED  365 states" in shown
    assert "Every state was seen." in shown


NEVER = document(
    ["A", "B", node("M", dependencies=["A"])],
    [edge("A>B", {"field": "go", "equals": 1}), edge("B>M")],
    budgets={"max_attempts": 2},
)


def test_a_node_that_no_run_starts_and_an_edge_that_never_fires_are_told(tmp_path: Path) -> None:
    found = found_by(tmp_path, NEVER)
    assert found["exit_code"] == 1
    assert found["sentence"] == "No run ever starts M. Every state was seen."
    assert [each["started"]["verdict"] for each in found["nodes"]] == ["reached", "reached", "unreachable"]
    assert [each["verdict"] for each in found["edges"]] == ["reached", "reached"]
    assert found["budgets"][0]["way"]["commands"] == 5
    limited = document("AB", [edge("A>B"), edge("B>A", "blocked")], budgets={"max_attempts": 1}, initial_nodes=["A"])
    found = found_by(tmp_path, limited)
    assert [each["verdict"] for each in found["edges"]] == ["reached", "unreachable"]
    (tmp_path / "limited.json").write_text(json.dumps(limited), "utf-8")
    shown = run("explore", str(tmp_path / "limited.json")).stdout
    assert "edge 1, B → A (blocked), never fires" in shown


def test_a_picture_marks_what_is_never_reached(tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text(json.dumps(NEVER), "utf-8")
    done = run("explore", str(tmp_path / "spec.json"), "--picture", "svg", str(tmp_path / "x.svg"))
    drawn = (tmp_path / "x.svg").read_text("utf-8")
    ET.fromstring(drawn)  # noqa: S314 - it is our own
    assert done.exit_code == 1
    assert "never starts" in drawn
    assert "is-unreachable" in drawn
    assert "Explored: A can start" in drawn
    flow = run("explore", str(tmp_path / "spec.json"), "--picture", "mermaid", "-")
    assert "classDef unreachable" in flow.stdout
    assert flow.stderr == "perdure: No run ever starts M. Every state was seen.\n"
    limited = {**NEVER, "budgets": {"max_attempts": 1}}
    (tmp_path / "spec.json").write_text(json.dumps(limited), "utf-8")
    assert "#10007;" in run("explore", str(tmp_path / "spec.json"), "--picture", "mermaid", "-").stdout


def test_a_bound_makes_unreachable_into_not_found_so_far(tmp_path: Path) -> None:
    found = found_by(tmp_path, NEVER, "--max-states", "3")
    assert (found["exit_code"], found["complete"], found["stopped_by"]) == (3, False, "states")
    assert [each["started"]["verdict"] for each in found["nodes"]] == ["reached", "not_found", "not_found"]
    assert "not found so far" in found["sentence"]
    assert '"unreachable"' not in json.dumps(found)
    shown = run("explore", str(tmp_path / "spec.json"), "--max-states", "3").stdout
    assert "NOT ALL EXPLORED" in shown
    assert "Stopped by --max-states" in shown
    assert found_by(tmp_path, NEVER, "--time-limit", "0")["stopped_by"] == "time"
    assert found_by(tmp_path, NEVER, "--memory", "1")["stopped_by"] == "memory"


def test_time_and_memory_are_looked_at_however_many_ways_end_at_a_state() -> None:
    names = [f"N{number}" for number in range(40)]
    nodes = [node(name, retry={"max_attempts": 2}) for name in names]
    chain = document(nodes, [edge(f"{one}>{other}", "succeeded") for one, other in pairwise(names)])
    looks: list[int] = []
    found = exploration(chain, bounds=Bounds(10_000, tell=lambda states, _: looks.append(states)))
    assert found.is_complete
    assert len(looks) >= 3


def test_an_interruption_gives_what_was_found_so_far() -> None:
    looks: list[int] = []

    def tell(states: int, _: int) -> None:
        looks.append(states)
        if len(looks) == 2:
            raise Interrupted

    many = document("ABCD", [edge(f"{one}>{one}") for one in "ABCD"], initial_nodes=list("ABCD"))
    found = exploration(many, bounds=Bounds(10_000, tell=tell))
    assert found.stopped_by == "interrupted"
    result = results.result_of("x.json", "0" * 64, found)
    assert result.exit_code == 130
    assert found.found.states > 1


def test_a_kernel_that_is_stuck_or_refuses_is_found_out() -> None:
    rules = replace(RULES, satisfied=lambda *_: False, propagated=lambda _: "skipped", closing=lambda *_: None)
    stuck = exploration(document(["A", node("B", dependencies=["A"])]), rules=rules)
    assert stuck.verdict(Stuck()) == "reached"
    limited = document([node("A", retry={"max_attempts": 1, "attempt_deadline_ms": 5})])
    refused = exploration(limited, rules=replace(RULES, is_due=lambda *_: True))
    told = results.result_of("x.json", "0" * 64, refused)
    assert any("refuses what it should accept" in finding for finding in told.findings)
    assert told.exit_code == 1


def test_a_budget_is_used_up_by_a_loop_without_a_look_at_every_usage() -> None:
    loop = document("AB", [edge("A>B", "changes_requested"), edge("B>A")], initial_nodes=["A"])
    found = exploration(loop)
    assert found.found.states < 100
    assert (found.usage["attempts"], found.usage["transitions"]) == ("far", "never")
    small = exploration({**loop, "budgets": {"max_attempts": 30}})
    trip = small.usage["attempts"]
    assert isinstance(trip, Trip)
    whole = exploration({**loop, "budgets": {"max_attempts": 30}}, reduced=False)
    assert len(trip.steps) == whole.found.reached[Exhausted("attempts")].cost == 61
    assert whole.found.states > 10 * small.found.states


def test_a_budget_that_another_one_hides_is_not_told_to_be_used_up() -> None:
    loop = document("AB", [edge("A>B", "changes_requested"), edge("B>A")], initial_nodes=["A"])
    for budgets in ({"max_attempts": 9, "max_transitions": 500}, {"max_attempts": 500, "max_transitions": 9}):
        found = exploration({**loop, "budgets": budgets})
        whole = exploration({**loop, "budgets": budgets}, reduced=False)
        for each in (Exhausted("attempts"), Exhausted("transitions")):
            assert found.verdict(each) == whole.verdict(each)
    close = {"max_attempts": 40, "max_transitions": 41}
    assert {
        each if isinstance(each, str) else "trip" for each in exploration({**loop, "budgets": close}).usage.values()
    } <= {*("trip", "unknown", "never")}


TIMED = {
    "max_attempts": 2,
    "backoff": {"kind": "fixed", "delay_ms": 10},
}


def test_what_takes_time_decides_and_what_nothing_excludes_is_not_called_unreachable(tmp_path: Path) -> None:
    value = document(
        [node("A", retry=TIMED), node("B", retry={"max_attempts": 1, "attempt_deadline_ms": 5}), "C"],
        [edge("A>C", "succeeded")],
    )
    found = exploration(value)
    assert not found.is_exact
    assert found.verdict(Started(2)) == "reached"
    never = exploration(document([node("A", retry=TIMED)], budgets={"max_elapsed_ms": 5}))
    assert never.verdict(Exhausted("elapsed")) == "reached"
    assert never.verdict(Ended("completed")) == "reached"
    late = document(
        [node("A", retry={**TIMED, "classes": ["retryable_failure", "permanent_failure"]}), "B"],
        [edge("A>B", "permanent_failure")],
        budgets={"max_elapsed_ms": 5},
    )
    assert exploration(late).verdict(Started(1)) == "not_found"
    assert found_by(tmp_path, late)["notes"][1].startswith("How long things take")
    assert exploration({**late, "budgets": {"max_elapsed_ms": 50}}).verdict(Started(1)) == "reached"
    skipped = exploration({**late, "budgets": {"max_elapsed_ms": 5, "max_attempts": 1}})
    assert skipped.verdict(Started(1)) == "unreachable"


@pytest.mark.parametrize("seed", [*range(20), 27, 41])
def test_endings_that_are_taken_first_put_nothing_off_for_ever(seed: int) -> None:
    creation = creation_of(*drawn(seed, is_limited=False))
    found = []
    for takes_endings_first in (True, False):
        search = Search(
            creation,
            Bounds(250),
            counted=frozenset(),
            is_reduced=True,
            takes_endings_first=takes_endings_first,
        )
        found.append(search.run())
    if found[1].stopped_by is None:
        assert set(found[0].reached) == set(found[1].reached)


def test_a_loop_beside_others_does_not_put_them_off() -> None:
    loops = document("ABC", [edge("A>A"), edge("B>C", "blocked")], initial_nodes=["A", "B"])
    assert exploration(loops).verdict(Started(2)) == "reached"


def test_waits_and_signals_are_looked_at_without_reductions() -> None:
    value = document([node("A", signals=["go"])])
    one, other = exploration(value), exploration(value, reduced=False)
    assert one.found.states < other.found.states
    assert {goal: one.verdict(goal) for goal in other.found.reached} == dict.fromkeys(other.found.reached, "reached")


def test_where_there_is_too_much_to_play_again_ways_are_told_as_they_were_found() -> None:
    found = exploration(document("AB"))
    shortest = witness(found, Ended("failed"))
    assert shortest is not None
    assert found.played > len(shortest.steps)
    found.played = MAX_PLAYED
    other = witness(found, Ended("failed"))
    assert other is not None
    assert not other.is_shortest
    assert leads_to(found, other.steps, Ended("failed"))


def test_child_runs_give_what_their_nodes_take() -> None:
    child = {"workflow": "child@1", "policy": "propagate", "outputs": {"go": "good", "too": "good"}}
    children = {
        "child@1": {"nodes": [node("K", outputs=["good"])], "outputs": {"good": {"node": "K", "output": "good"}}}
    }
    value = document(
        [node("A", child=child), "B", "C"],
        [edge("A>B", {"field": "go", "equals": True}), edge("A>C", {"field": "too", "equals": 1})],
        children=children,
    )
    found = exploration(value)
    assert [found.verdict(goal) for goal in (Started(1), Started(2), Closed(1, "skipped"))] == ["reached"] * 3


def test_more_outputs_than_are_told_apart_are_no_verdict(tmp_path: Path) -> None:
    fields = [f"f{number}" for number in range(9)]
    value = document([node("A", outputs=fields), "B"], [edge("A>B", {"field": each, "equals": 1}) for each in fields])
    found = found_by(tmp_path, value)
    assert (found["exit_code"], found["complete"]) == (3, False)
    assert found["sentence"].startswith("A may give more outputs")


def test_creation_alone_can_use_up_a_budget(tmp_path: Path) -> None:
    found = found_by(tmp_path, document("AB", budgets={"max_transitions": 1}))
    assert {each["budget"]: each["way"] for each in found["budgets"]}["transitions"]["script"] == []
    assert found["exit_code"] == 1


def test_a_document_that_is_not_valid_and_wrong_words_are_refused(tmp_path: Path) -> None:
    done = run("explore", str(ROOT / "docs/examples/broken.yaml"))
    assert (done.exit_code, done.stdout) == (1, "")
    assert "dependency_cycle" in done.stderr
    assert run("explore", "nowhere.json").exit_code == 2
    assert run("explore", REVIEW_LOOP, "--picture", "svg", "-", "--json").exit_code == 2
    (tmp_path / "file").write_text("", "utf-8")
    done = run("explore", REVIEW_LOOP, "--scripts", str(tmp_path / "file"))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Name another folder with --scripts" in done.stderr
