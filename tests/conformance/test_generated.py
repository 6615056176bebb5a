"""Generated histories: of every version and mix, damaged in one place, the same for one seed, and none is kept."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations, islice
from typing import Any

import pytest
from typer.testing import CliRunner

from perdure.kernel.events import EVENTS
from perdure_conformance.cli import command_line
from perdure_conformance.golden import coverage
from perdure_conformance.golden.collection import all_vectors
from perdure_conformance.golden.coverage import OUT_OF_REACH
from perdure_conformance.reducer.dispatch import KERNELS
from perdure_conformance.reducer.generated import DAMAGES, Generated, generate
from perdure_conformance.reducer.judge import judge
from perdure_conformance.reducer.mutants.faults import PassesOver
from perdure_conformance.reducer.questions import Query, truth_about
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.suite import Judgement, Options

COUNT = 1_000


@pytest.fixture(scope="module")
def histories() -> list[Generated]:
    return list(generate(COUNT, 1))


def test_they_are_the_same_for_one_seed_and_made_one_by_one(histories: list[Generated]) -> None:
    assert list(islice(generate(10**9, 1), 20)) == histories[:20]
    assert list(islice(generate(10**9, 2), 20)) != histories[:20]


def test_what_was_played_is_right_and_whole(histories: list[Generated]) -> None:
    for each in histories[::2]:
        truth = truth_about(Query(each.history))
        assert (each.damage, truth.error, truth.owed) == ("none", None, None), each


def test_they_have_every_event_of_every_version_and_every_mix_of_two(histories: list[Generated]) -> None:
    seen = {(entry.version, entry.event["type"]) for each in histories[::2] for entry in each.history}
    assert seen == {(version, kind.__name__) for version, kinds in EVENTS.items() for kind in kinds}
    versions = [{entry.version for entry in each.history} for each in histories[::2]]
    assert all(any({*pair} <= mix for mix in versions) for pair in combinations(EVENTS, 2))


def test_each_damage_is_done_in_one_place(histories: list[Generated]) -> None:
    for before, after in zip(histories[::2], histories[1::2], strict=True):
        old, new = before.history, after.history
        assert old[: after.at - 1] == new[: after.at - 1] or after.damage == "moved", after
        assert abs(len(old) - len(new)) <= 1 or after.damage == "cut", after
        if len(old) == len(new) and after.damage not in {"moved", "swapped"}:
            assert sum(one != other for one, other in zip(old, new, strict=True)) == 1, after


def test_each_kind_of_damage_is_refused_at_times(histories: list[Generated]) -> None:
    refused = Counter(each.damage for each in histories if truth_about(Query(each.history)).error is not None)
    assert set(refused) == set(DAMAGES) - {"cut"}
    unfinished = [each for each in histories if each.damage == "cut" and truth_about(Query(each.history)).owed]
    assert unfinished


def test_what_is_said_to_be_out_of_reach_is_reached_by_none(histories: list[Generated]) -> None:
    errors = [truth_about(Query(each.history)).error for each in histories]
    reached = {("refusal", str(error.code)) for error in errors if error is not None}
    assert len(reached) > 15
    assert not reached & set(OUT_OF_REACH)
    assert reached <= coverage.reached(all_vectors())


# Judged


class SkipsUnknownTypes(PassesOver):
    """Skips what it does not know."""

    passed_over = frozenset({"unknown_type"})


@pytest.fixture
def _generated_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for what in ("all_scenarios", "golden_questions"):
        monkeypatch.setattr(f"perdure_conformance.reducer.judge.{what}", tuple)
    monkeypatch.setattr("perdure_conformance.reducer.judge.draw_questions", lambda runs, seed: ())  # noqa: ARG005


def judged(kernel: type[ReferenceKernel], count: int) -> Judgement:
    return judge(KERNELS.of(kernel), Options("quick", generated=count))


@pytest.mark.usefixtures("_generated_alone")
def test_a_good_kernel_agrees() -> None:
    judgement = judged(ReferenceKernel, 300)
    assert judgement.findings == {}
    assert (judgement.counts["generated histories"], judgement.counts["disagreements"]) == (300, 0)


@pytest.mark.usefixtures("_generated_alone")
def test_a_disagreement_is_kept_shrunk_and_fails_again_and_the_rest_is_compared() -> None:
    judgement = judged(SkipsUnknownTypes, 300)
    finding = judgement.findings["VER-001"]
    assert finding.found_by.startswith("generated history ")
    assert "type_unknown at" in finding.found_by
    assert finding.reproduced
    assert finding.case.size <= 15
    assert judgement.counts["generated histories"] == 300
    assert judgement.counts["disagreements"] > 5


def test_what_has_no_generated_histories_is_not_asked_for_them() -> None:
    done = CliRunner().invoke(command_line(), ["check", "spec", "--generated", "5"])
    assert done.exit_code == 2
    assert "leave --generated out" in done.stderr


def test_they_are_printed_one_a_line_each_with_its_answer() -> None:
    done = CliRunner().invoke(command_line(), ["vectors", "generate", "--count", "6", "--seed", "3"])
    assert done.exit_code == 0
    lines: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["number"] for line in lines] == list(range(6))
    for line, each in zip(lines, generate(6, 3), strict=True):
        error = truth_about(Query(each.history)).error
        assert (line["damage"], line["at"], len(line["history"])) == (each.damage, each.at, len(each.history))
        assert line["expected"]["accepted"] == (error is None)
