"""`perdure simulate`: the examples of the specification, scripts, bounds, pictures, and whatever people may write."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.helpers import ROOT, perdure
from tests.conformance.histories import REVIEW_LOOP, events, run, simulate, simulated, statuses
from tests.model.playing import document, edge, node

LOOP = document(["A"], [edge("A>A")], initial_nodes=["A"])


def test_example_1_a_node_that_nothing_corrects_any_more_fails(tmp_path: Path) -> None:
    found = simulated(tmp_path, document("AB", [edge("A>B", "changes_requested")]), "--outcome", "A=changes_requested")
    assert events(found) == [
        *("RunCreated", "NodeReady A initial", "NodeStarted A", "NodeOutcomeCommitted A changes_requested"),
        *(
            "TransitionActivated A",
            "NodeTerminated A",
            "NodeStarted B",
            "NodeOutcomeCommitted B succeeded",
            "RunFailed",
        ),
    ]
    assert [len(batch["events"]) for batch in found["batches"]] == [2, 1, 3, 1, 2]
    assert statuses(found) == {"A": "failed", "B": "succeeded"}


def test_example_1_with_a_way_back_the_node_waits_and_runs_again(tmp_path: Path) -> None:
    graph = document("AB", [edge("A>B", "changes_requested"), edge("B>A", "succeeded")], initial_nodes=["A"])
    found = simulated(tmp_path, graph, "--outcome", "A=changes_requested")
    assert found["status"] == "completed"
    assert [each["activations"] for each in found["state"]["nodes"]] == [2, 1]


def test_example_2_a_node_is_activated_by_each_edge_in_turn(tmp_path: Path) -> None:
    found = simulated(tmp_path, document("ABM", [edge("A>B"), edge("A>M"), edge("B>M")]))
    assert events(found).count("NodeStarted M") == 2
    assert found["fired"] == {"0": 1, "1": 1, "2": 1}


def test_example_3_nothing_fires_into_a_closed_node(tmp_path: Path) -> None:
    graph = document(["X", "Y", node("M", dependencies=["X"])], [edge("Y>M")])
    found = simulated(tmp_path, graph, "--outcome", "X=permanent_failure")
    assert statuses(found) == {"X": "failed", "Y": "succeeded", "M": "skipped"}
    assert found["fired"] == {}
    assert found["state"]["usage"]["transitions"]["used"] == 2


def test_example_4_a_branch_that_was_not_taken_releases_who_waits_for_any_end(tmp_path: Path) -> None:
    waits = node("D", dependencies=["Y"], dependency_policy="all_completed")
    graph = document(["I", "X", "Y", waits, "Z"], [edge("I>X", "succeeded"), edge("I>Y", "blocked"), edge("D>Z")])
    found = simulated(tmp_path, graph)
    assert statuses(found) == {"I": "succeeded", "X": "succeeded", "Y": "skipped", "D": "succeeded", "Z": "succeeded"}


def test_example_5_a_loop_that_is_not_entered_is_skipped(tmp_path: Path) -> None:
    graph = document(["I", "L1", "L2"], [edge("I>L1", "blocked"), edge("L1>L2"), edge("L2>L1")], initial_nodes=["I"])
    found = simulated(tmp_path, graph)
    assert statuses(found) == {"I": "succeeded", "L1": "skipped", "L2": "skipped"}
    assert found["status"] == "completed"


def test_example_6_a_failure_that_is_made_good_counts_for_nothing(tmp_path: Path) -> None:
    edges = [edge("P>F", "permanent_failure"), edge("F>P")]
    graph = document(["P", "F", node("D", dependencies=["P"])], edges, initial_nodes=["P"])
    found = simulated(tmp_path, graph, "--outcome", "P=permanent_failure")
    assert set(statuses(found).values()) == {"succeeded"}
    assert [each for each in events(found) if each.startswith("NodeStarted")] == [
        f"NodeStarted {name}" for name in "PFPD"
    ]


@pytest.mark.parametrize(
    ("graph", "status", "ends"),
    [
        (document("A", budgets={"max_attempts": 1}), "completed", "RunCompleted"),
        (document("AB", [edge("A>B")], budgets={"max_attempts": 1}), "failed", "RunFailed"),
    ],
)
def test_example_7_a_budget_may_be_used_up_and_no_more(
    tmp_path: Path, graph: dict[str, Any], status: str, ends: str
) -> None:
    found = simulated(tmp_path, graph)
    assert found["status"] == status
    assert events(found)[-1] == ends
    assert ("BudgetExhausted attempts" in events(found)) == (status == "failed")


DUE = {"max_attempts": 2, "backoff": {"kind": "fixed", "delay_ms": 3}, "attempt_deadline_ms": 5}


def test_example_8_an_expired_attempt_is_tried_again_from_now_on(tmp_path: Path) -> None:
    script = [{"start": "A"}, {"advance_to_ms": 20}]
    found = simulated(tmp_path, document([node("A", retry=DUE)]), "--stop", script=script)
    assert found["end"] == "script"
    assert found["state"]["nodes"][0]["retry_ms"] == 23
    assert found["state"]["due"] == {"kind": "retry", "node": "A", "deadline_ms": 23}
    limited = document([node("A", retry=DUE)], budgets={"max_elapsed_ms": 10})
    found = simulated(tmp_path, limited, script=script)
    assert events(found)[-6:] == [
        *("VirtualTimeAdvanced", "AttemptDeadlineExpired A", "NodeOutcomeCommitted A retryable_failure"),
        *("RetryScheduled A", "BudgetExhausted elapsed", "RunFailed"),
    ]
    assert statuses(found) == {"A": "retry_pending"}


def test_an_attempt_that_hangs_expires_when_time_comes_to_it(tmp_path: Path) -> None:
    found = simulated(tmp_path, document([node("A", retry=DUE)]), "--outcome", "A=hangs")
    assert found["status"] == "completed"
    assert found["state"]["now_ms"] == 8


def test_example_9_a_loop_of_corrections_uses_budgets_and_no_attempts_of_its_nodes(tmp_path: Path) -> None:
    three = {"max_attempts": 3}
    edges = [edge("W>R", "succeeded"), edge("R>W", "changes_requested")]
    graph = document([node("W", retry=three), node("R", retry=three)], edges, initial_nodes=["W"])
    found = simulated(tmp_path, graph, "--outcome", "R=changes_requested*5")
    assert found["status"] == "completed"
    assert found["state"]["usage"]["attempts"]["used"] == 12
    assert found["state"]["usage"]["transitions"]["used"] == 12


def test_example_11_what_waits_for_itself_is_skipped(tmp_path: Path) -> None:
    graph = document(["I", node("M", dependencies=["X"]), "X"], [edge("I>M"), edge("M>X")], initial_nodes=["I"])
    found = simulated(tmp_path, graph)
    assert events(found)[-3:] == ["NodeOutcomeCommitted X skipped", "NodeOutcomeCommitted M skipped", "RunCompleted"]


def test_example_12_the_first_end_releases(tmp_path: Path) -> None:
    waits = node("D", dependencies=["P"], dependency_policy="all_completed")
    graph = document([node("P", max_activations=2), waits], [edge("P>P", "succeeded")], initial_nodes=["P"])
    found = events(simulated(tmp_path, graph))
    assert found.index("NodeReady D dependencies") < found.index("NodeStarted P", found.index("NodeStarted P") + 1)


def test_example_13_a_cancelled_prerequisite_cancels(tmp_path: Path) -> None:
    edges = [edge("C>A", "blocked"), edge("A>B", {"field": "go", "equals": 0})]
    graph = document([node("A", outputs=["go"]), "B", node("C", dependencies=["B", "A"])], edges, initial_nodes=["A"])
    found = simulated(tmp_path, graph, "--outcome", "A=cancelled")
    assert statuses(found) == {"A": "cancelled", "B": "skipped", "C": "cancelled"}
    took = simulated(tmp_path, graph, "--outcome", 'A=succeeded:{"go":0}')
    assert statuses(took)["B"] == "succeeded"
    other = simulated(tmp_path, graph, "--outcome", 'A=succeeded:{"go":1}')
    assert statuses(other)["B"] == "skipped"


def test_example_14_the_earlier_activation_goes_first(tmp_path: Path) -> None:
    graph = document(
        [node("A", max_activations=3), "B"], [edge("B>A"), edge("A>A", "succeeded")], initial_nodes=["A", "B"]
    )
    script = [{"start": "A"}, {"start": "B"}, {"complete": "B"}, {"complete": "A"}]
    found = simulated(tmp_path, graph, "--stop", script=script)
    assert events(found)[-2:] == ["TransitionActivated A", "NodeReady A queued"]
    assert found["state"]["nodes"][0]["queued"] == 1


def test_example_15_a_node_is_blocked_while_another_still_runs(tmp_path: Path) -> None:
    either = node("P", dependencies=["K", "L"], dependency_policy="any_succeeded")
    graph = document(["K", "L", either, node("D", dependencies=["P"])])
    script = [{"start": "K"}, {"start": "L"}, {"complete": "K"}, {"run": "P", "outcome": "blocked"}]
    found = simulated(tmp_path, graph, "--stop", script=script)
    assert statuses(found) == {"K": "succeeded", "L": "running", "P": "blocked", "D": "blocked"}
    assert len(found["batches"][-1]["events"]) == 2


def test_example_16_an_attempt_has_its_whole_time_from_its_start_on(tmp_path: Path) -> None:
    script = [{"advance_to_ms": 3_600_000}, {"start": "A"}]
    found = simulated(tmp_path, document([node("A", retry=DUE)]), "--stop", script=script)
    assert found["state"]["nodes"][0]["deadline_ms"] == 3_600_005


def test_a_script_does_all_that_a_run_may_be_asked(tmp_path: Path) -> None:
    child = {"workflow": "inner@1", "policy": "propagate", "outputs": {"v": "v"}}
    inner = {"nodes": [node("I", outputs=["v"])], "outputs": {"v": {"node": "I", "output": "v"}}}
    graph = document([node("A", signals=["go"]), node("C", child=child)], children={"inner@1": inner})
    script = [
        {"complete": "A", "refused": "not_active"},
        {"start": "A"},
        {"start": "A", "refused": "not_ready"},
        {"wait": "A", "signal": "stop", "refused": "undeclared_signal"},
        {"wait": "A", "signal": "go", "token": "one", "until_ms": 9},
        {"deliver": "go", "to": "A", "token": "two", "delivery": "first"},
        {"deliver": "go", "to": "A", "token": "one", "delivery": "first", "refused": "already_consumed"},
        {"deliver": "go", "to": "A", "token": "one", "payload": [1]},
        {"wait": "A", "until_ms": 7},
        {"advance_to_ms": 7},
        {"advance_to_ms": 6, "refused": "time_went_back"},
        {"complete": "A", "outcome": "blocked", "reason": "no way"},
        {"complete": "A", "outcome": "blocked", "reason": "no way", "refused": "already_committed"},
        {"start": "nobody", "refused": "unknown_node"},
        {"complete": "nobody", "refused": "unknown_node"},
        {"child": "nobody", "refused": "unknown_node"},
        {"start": "C"},
        {"child": "C", "result": "completed", "output": {}},
        {"cancel": "late", "refused": "run_terminal"},
    ]
    found = simulated(tmp_path, graph, script=script)
    assert found["exit_code"] == 0
    assert found["status"] == "failed"
    assert len(found["refused"]) == 10
    assert simulated(tmp_path, graph, script=[{"reach": "C"}, {"cancel": "enough"}])["status"] == "cancelled"


def test_a_wait_that_a_script_leaves_open_is_satisfied(tmp_path: Path) -> None:
    graph = document([node("A", signals=["go"])])
    found = simulated(tmp_path, graph, script=[{"start": "A"}, {"wait": "A", "signal": "go", "token": "mine"}])
    assert events(found)[-3:] == ["SignalAccepted A", "NodeOutcomeCommitted A succeeded", "RunCompleted"]


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ([{"start": "A"}, {"start": "A"}], "Step 2 was refused with not_ready: A is running, not ready."),
        ([{"start": "A", "refused": "not_ready"}], "Step 1 was to be refused with not_ready, and was not."),
        ([{"start": "B", "refused": "not_ready"}], "Step 1 was refused with unknown_node, and not with not_ready: "),
        ([{"reach": "B"}], "Step 1: there is no node B."),
        ([{"run": "A"}, {"reach": "A"}], "Step 2: A was not reached; it is succeeded."),
    ],
)
def test_a_script_that_goes_otherwise_is_told(tmp_path: Path, script: list[Any], told: str) -> None:
    found = simulated(tmp_path, document("A"), script=script)
    assert found["exit_code"] == 1
    assert found["sentence"].startswith(told)


def test_the_children_and_inputs_of_the_example_are_made_up() -> None:
    done = run("simulate", REVIEW_LOOP)
    assert done.exit_code == 0
    assert "RUN COMPLETED" in done.stdout
    assert "nobody gave the input topic" in done.stdout
    given = run("simulate", REVIEW_LOOP, "--input", "topic=3", "--outcome", "check=failed:{}")
    assert "nobody gave" not in given.stdout
    assert "give-up" in given.stdout
    assert all(line == line.rstrip() for line in (done.stdout + given.stdout).splitlines())


def test_a_loop_that_never_ends_is_stopped_and_named(tmp_path: Path) -> None:
    done = simulate(tmp_path, LOOP, "--max-events", "50")
    assert done.exit_code == 3
    assert "--max-events 50 says" in done.stdout
    assert "most activations are A (" in done.stdout


def test_a_run_that_stands_still_says_who_hangs(tmp_path: Path) -> None:
    found = simulated(tmp_path, document("AB"), "--outcome", "B=hangs")
    assert (found["exit_code"], found["end"]) == (3, "stands_still")
    assert "not ended: B hangs" in found["sentence"]


def test_time_goes_no_further_than_it_may(tmp_path: Path) -> None:
    graph = document([node("A", retry={"backoff": {"kind": "fixed", "delay_ms": 100}})])
    found = simulated(tmp_path, graph, "--outcome", "A=retryable_failure", "--until", "60")
    assert (found["exit_code"], found["end"], found["state"]["now_ms"]) == (0, "until", 60)


def test_the_same_words_give_the_same_run_and_another_seed_other_identities(tmp_path: Path) -> None:
    one, again, other = (simulated(tmp_path, LOOP, "--max-events", "9", "--seed", seed) for seed in ("1", "1", "2"))
    assert one == again
    assert events(one) == events(other)
    assert one["run_id"] != other["run_id"]


def test_outcomes_that_were_not_needed_are_told(tmp_path: Path) -> None:
    found = simulated(tmp_path, document("A"), "--outcome", "A=blocked,succeeded*3")
    assert found["notes"] == ["3 outcomes of A were said and not used"]


def test_edges_that_a_limit_of_activations_stopped_are_told(tmp_path: Path) -> None:
    flaky = node("A", max_activations=2, retry={"max_attempts": 2})
    graph = document([flaky, "B", "C"], [edge("A>A"), edge("A>B", "blocked"), edge("A>C")], initial_nodes=["A"])
    found = simulated(tmp_path, graph, "--outcome", "A=retryable_failure,succeeded*2")
    note = "edge 0, A → A, was stopped 1 time: A has no more than 2 activations (`max_activations`)"
    assert found["notes"] == [note]
    assert found["fired"] == {"0": 1, "2": 2}
    budget = document([node("A", max_activations=2)], [edge("A>A")], initial_nodes=["A"], budgets={"max_attempts": 1})
    assert simulated(tmp_path, budget)["notes"] == []
    assert simulated(tmp_path, graph, "--stop", script=[{"start": "A"}, {"cancel": "enough"}])["notes"] == []


def test_pictures_show_how_it_ended(tmp_path: Path) -> None:
    drawn = run(
        "simulate", REVIEW_LOOP, "--outcome", "review=changes_requested", "--picture", "svg", str(tmp_path / "x")
    )
    assert "RUN COMPLETED" in drawn.stdout
    text = (tmp_path / "x").read_text("utf-8")
    ET.fromstring(text)  # noqa: S314
    assert 'class="box initial is-succeeded"' in text
    assert "succeeded, 2 activations" in text
    assert 'class="arrow exclusive fired"' in text
    assert "succeeded ✓×2" in text
    flow = run("simulate", REVIEW_LOOP, "--picture", "mermaid", "-").stdout
    assert flow.startswith("flowchart TD")
    assert "  class n4 skipped\n" in flow
    assert "  linkStyle 0,1,4 stroke-width:3px\n" in flow


HOSTILE = "\x1b[31m\u202e\x00"


def test_hostile_strings_are_inert(tmp_path: Path) -> None:
    graph = document([node("A", outputs=["x"], signals=["go"])], [], outputs={"x": {"node": "A", "output": "x"}})
    script = [{"start": "A"}, {"complete": "A", "output": {"x": HOSTILE + "\n" + "y" * 5_000}}]
    done = simulate(tmp_path, graph, script=script)
    cancelled = simulate(tmp_path, graph, script=[{"cancel": HOSTILE, "requester": HOSTILE}])
    refused = run("simulate", REVIEW_LOOP, "--outcome", f"{HOSTILE}=x", "--input", f"topic={HOSTILE}")
    told = done.stdout + cancelled.stdout + refused.stderr
    assert not any(character in told for character in HOSTILE if character not in "[31m")
    assert max(map(len, told.splitlines())) < 1_300


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--outcome", "review"], "is not NODE=OUTCOME"),
        (["--outcome", "reviw=blocked"], "did you mean review?"),
        (["--outcome", "review=splendid"], "splendid is no way in which an attempt ends: say one of succeeded"),
        (["--outcome", "review="], "nothing is no way"),
        (["--outcome", "review=skipped"], "skipped is no way"),
        (["--outcome", "check=succeeded"], "is no way in which a child run ends: say one of completed"),
        (["--outcome", "review=succeeded:{"], "is no JSON"),
        (["--outcome", "review=succeeded:" + "[" * 5_000], "is no JSON"),
        (["--outcome", 'review=succeeded:{"a":1,"a":2}'], "is no JSON"),
        (["--outcome", "review=blocked:{}"], "blocked has no output"),
        (["--outcome", "check=completed:1"], "is an object"),
        (["--outcome", f'review=succeeded:"{"x" * 65_536}"'], "at most 65,536 bytes"),
        (["--outcome", "review=blocked;failed"], "comes a comma"),
        (["--input", "topic"], "is not NAME=VALUE"),
        (["--input", "tpoic=1"], "it declares: topic"),
        (["--input", "topic=1", "--input", "topic=2"], "given twice"),
        (["--input", "topic={"], "is no JSON"),
        (["--script", "nowhere.yaml"], "nowhere.yaml cannot be read"),
        (["--script", "-"], "takes a file"),
        (["--script", "steps.txt"], "steps.txt cannot be read"),
        (["--script", str(ROOT / "LICENSE"), "--syntax", "yaml"], "tell the syntax: end it with .json, .yaml or .yml."),
        (["--picture", "png", "x"], "no kind of picture"),
        (["--picture", "svg", "no/where"], "no/where cannot be written"),
        (["--output", "run.txt"], "does not end with .jsonl"),
        (["--output", "no/where.jsonl"], "no/where.jsonl cannot be written"),
        (["--output", "-", "--json"], "takes one thing"),
        (["--until", "-1"], "--until"),
        (["--max-events", "0"], "--max-events"),
    ],
)
def test_wrong_usage_is_told_in_one_sentence(words: list[str], told: str) -> None:
    done = run("simulate", REVIEW_LOOP, *words)
    assert done.exit_code == 2
    assert told in " ".join(done.stderr.split())
    assert not done.stdout


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[{", "script.json:1:"),
        ("{}", "script.json:1:1: "),
        ('[{"jump": "A"}]', "A step begins with one of start, complete, child, run, wait, deliver"),
        ('[{"start": 1}]', "script.json:1:12: "),
        ('[{"start": "A", "delay": 1}]', "script.json:1:"),
        ('[{"run": "A", "outcome": "well"}]', "script.json:1:26: "),
    ],
)
def test_a_script_that_says_nothing_is_refused_where_it_is_wrong(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(text, "utf-8")
    done = run("simulate", REVIEW_LOOP, "--script", str(path))
    assert done.exit_code == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_specification_that_is_not_valid_is_no_run() -> None:
    done = run("simulate", str(ROOT / "docs/examples/broken.yaml"))
    assert done.exit_code == 1
    assert "dependency_cycle" in done.stderr
    assert not done.stdout


def test_a_program_can_pipe_a_run_from_one_command_to_the_next(tmp_path: Path) -> None:
    done = perdure("simulate", REVIEW_LOOP, "--output", "-", cwd=tmp_path)
    assert done.returncode == 0
    assert len([json.loads(line) for line in done.stdout.splitlines()]) == 16
    assert not done.stderr


def test_the_script_of_the_documentation_plays(tmp_path: Path) -> None:
    page = (ROOT / "docs/histories.md").read_text("utf-8")
    (tmp_path / "script.yaml").write_text(page.partition("```yaml\n")[2].partition("```")[0], "utf-8")
    done = run("simulate", REVIEW_LOOP, "--script", str(tmp_path / "script.yaml"))
    assert done.exit_code == 0
    assert "RUN COMPLETED" in done.stdout


def test_records_that_do_not_arrive_are_told() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full here")
    with full.open("wb") as nowhere:
        done = subprocess.run(
            [sys.executable, "-m", "perdure_conformance", "simulate", str(REVIEW_LOOP), "--output", "-"],
            stdout=nowhere,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "standard output cannot be written" in done.stderr
