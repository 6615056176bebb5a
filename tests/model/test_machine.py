"""Random runs, each step of which the dumb kernel agrees with; and the smallest of those that it once did not."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from msgspec.structs import replace
from tests.model.documents import ARTIFACT
from tests.model.playing import Player, document, edge, node
from tests.model.random_commands import Asker
from tests.model.random_documents import random_document
from tests.model.random_runs import Checked, main, play, play_older

from perdure.kernel.errors import Corruption
from perdure.kernel.events import NodeOutcomeCommitted
from perdure.kernel.outcomes import ArtifactReference, Unsuccessful
from perdure.kernel.reduce import reduce

CHOICES = st.randoms(use_true_random=False)


class Machine(RuleBasedStateMachine):
    """A run of a random specification that is asked random things; each step is checked as it is taken."""

    run: Checked
    asker: Asker

    @initialize(random=CHOICES)
    def create(self, random: Random) -> None:
        self.run = Checked(random)
        self.asker = Asker(random)
        self.run.create(random_document(random))

    def ask(self, random: Random, kind: str) -> None:
        self.run.random = self.asker.random = random
        command: Any = getattr(self.asker, kind)(self.run.dumb, 5)
        if command is not None:
            self.asker.asked.append(command)
            self.run.ask(command)

    @rule(random=CHOICES)
    def work(self, random: Random) -> None:
        self.ask(random, "work")

    @rule(random=CHOICES)
    def finish(self, random: Random) -> None:
        self.ask(random, "work")

    @rule(random=CHOICES)
    def other(self, random: Random) -> None:
        self.ask(random, "other")

    @rule(random=CHOICES)
    def wild(self, random: Random) -> None:
        self.ask(random, "wild")

    def teardown(self) -> None:
        if hasattr(self, "run"):
            self.run.replay()


def test_a_run_that_is_asked_anything() -> None:
    chosen = settings(
        derandomize=True,
        max_examples=60,
        stateful_step_count=40,
        deadline=None,
        database=None,
        phases=[Phase.generate],  # What a run is made of is drawn by hundreds, and does not become small in a minute.
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Machine, settings=chosen)


@pytest.mark.parametrize("seed", range(8))
def test_runs_of_the_newest_version(seed: int) -> None:
    counts: Counter[str] = Counter()
    for number in range(60):
        play(Random(f"new/{seed}/{number}"), counts)  # noqa: S311 - it draws examples
    assert counts["batches"] > 300


@pytest.mark.parametrize("seed", range(8))
def test_runs_that_began_in_an_older_version(seed: int) -> None:
    counts: Counter[str] = Counter()
    for number in range(40):
        play_older(Random(f"old/{seed}/{number}"), counts)  # noqa: S311 - it draws examples
    assert counts["batches"] > 200


def test_the_campaign_tells_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--runs", "8", "--seed", "3"]) == 0
    said = capsys.readouterr().out
    assert "8  runs" in said
    assert "0  violations" in said


def test_a_round_of_closing_is_written_whole_before_what_it_releases() -> None:
    nodes = [
        node("E"),
        node("A", dependencies=["E"]),
        "C",
        node("D", dependencies=["A"], dependency_policy="all_completed"),
    ]
    run = Player(document(nodes, [edge("C>A"), edge("D>C")], initial_nodes=["E"]))
    assert run.run("E") == [
        "NodeOutcomeCommitted E succeeded",
        "NodeOutcomeCommitted A skipped",
        "NodeOutcomeCommitted C skipped",
        "NodeReady D dependencies",
    ]
    assert run.run("D") == ["NodeOutcomeCommitted D succeeded", "RunCompleted"]


def test_an_outcome_of_the_kernel_brings_no_evidence() -> None:
    run = Player(document(["X", node("M", dependencies=["X"])]))
    run.start("X")
    state = run.now
    run.end("X", "permanent_failure")
    ended, closed, _ = run.batches[-1]
    assert isinstance(closed, NodeOutcomeCommitted)
    state = reduce(state, ended)
    evidence = (msgspec.convert(ARTIFACT, ArtifactReference),)
    reworded = Unsuccessful(kind="skipped", reason="in other words")
    assert reduce(state, replace(closed, outcome=reworded)).sequence == state.sequence + 1
    with pytest.raises(Corruption):
        reduce(state, replace(closed, outcome=replace(reworded, evidence=evidence)))
