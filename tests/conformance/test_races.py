"""What happens at the same time: whether an order explains it, what is wrong with it, and how it is played again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from tests.conformance.helpers import perdure

from perdure.journal.contract import (
    Acknowledged,
    AppendAnswer,
    Envelope,
    Granted,
    Held,
    NotStored,
    Page,
    SequenceConflict,
    StaleEpoch,
    Unavailable,
    acknowledge,
)
from perdure.journal.memory import MemoryJournal
from perdure.kernel.identity import EventId, RunId
from perdure_conformance.journal.calls import AcquireCall, AppendCall, LoadCall, Names
from perdure_conformance.journal.cases import JournalCase, PlayOf, replay, shrink
from perdure_conformance.journal.client import Answer
from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.journal.linearizability import Interval, is_linearizable
from perdure_conformance.journal.mutants import MUTANTS
from perdure_conformance.journal.operations import (
    Acquire,
    Append,
    Follow,
    Identities,
    Load,
    Operation,
    Race,
    Renew,
    Reopen,
)
from perdure_conformance.journal.play import Play, Site, Tally
from perdure_conformance.journal.profile import JOURNAL
from perdure_conformance.journal.races import COMPLAINTS, LeaseRaceStep, RaceStep, complaint, in_words
from perdure_conformance.journal.rules import RULES
from perdure_conformance.journal.scripts import append, event, load
from perdure_conformance.journal.timeline import timeline
from perdure_conformance.journal.twins import TWINS
from perdure_conformance.registry import Twin
from perdure_conformance.selftest import check_good, find, good_ones
from perdure_conformance.suite import Options
from perdure_conformance.timeline import Moment

OF_RACES = ("JRN-027", "JRN-028", "JRN-029", "LSE-007")
MUTANTS_OF_RACES = sorted(name for name, mutant in MUTANTS.items() if "mutants_of_races" in str(mutant.target))

# Linearizability, on a register that is written and read


def register(state: int, operation: tuple[str, int]) -> int | None:
    """Return the state after a write, or after a read that reads right."""
    kind, value = operation
    if kind == "write":
        return value
    return state if value == state else None


def call(kind: str, value: int, began: int, ended: int | None) -> Interval[tuple[str, int]]:
    return Interval((kind, value), began, ended)


@pytest.mark.parametrize(
    ("history", "explained"),
    [
        pytest.param([], True, id="nothing"),
        pytest.param([call("write", 1, 1, 2), call("read", 1, 3, 4)], True, id="one after the other"),
        pytest.param([call("write", 1, 1, 2), call("read", 0, 3, 4)], False, id="a stale read"),
        pytest.param([call("write", 1, 1, 4), call("read", 0, 2, 3)], True, id="a read before a write that runs"),
        pytest.param([call("write", 1, 1, 4), call("read", 1, 2, 3)], True, id="a read after a write that runs"),
        pytest.param(
            [call("write", 1, 1, 6), call("read", 1, 2, 3), call("read", 0, 4, 5)], False, id="new, and then old again"
        ),
        pytest.param(
            [call("write", 1, 1, 6), call("read", 0, 2, 3), call("read", 1, 4, 5)], True, id="old, and then new"
        ),
        pytest.param(
            [call("write", 1, 1, 3), call("write", 2, 2, 4), call("read", 1, 5, 6)], True, id="two writes, either last"
        ),
        pytest.param([call("write", 1, 1, 2), call("write", 2, 3, 4), call("read", 1, 5, 6)], False, id="a lost write"),
        pytest.param([call("write", 1, 1, None), call("read", 0, 3, 4)], True, id="unanswered, and never happened"),
        pytest.param([call("write", 1, 1, None), call("read", 1, 3, 4)], True, id="unanswered, and happened"),
        pytest.param(
            [call("write", 1, 1, None), call("read", 0, 3, 4), call("read", 1, 5, 6)], True, id="unanswered, and late"
        ),
        pytest.param(
            [call("write", 1, 1, None), call("read", 1, 3, 4), call("read", 0, 5, 6)],
            False,
            id="unanswered, undone",
        ),
        pytest.param([call("read", 1, 1, 2), call("write", 1, 3, None)], False, id="read before it was sent"),
    ],
)
def test_an_order_explains_a_history_or_none_does(
    history: Sequence[Interval[tuple[str, int]]], *, explained: bool
) -> None:
    assert is_linearizable(history, 0, register) is explained
    assert is_linearizable(history[::-1], 0, register) is explained


def test_the_search_gives_up_when_it_takes_too_long() -> None:
    writes = [call("write", number, number, 100) for number in range(1, 9)]
    never = [*writes, call("read", 99, 200, 201)]
    assert is_linearizable(never, 0, register) is False
    assert is_linearizable(never, 0, register, most=20) is None


# What is wrong with a race


def record(sequence: int, event_number: int, body: str = "{}") -> Envelope:
    return Envelope(sequence, EventId(f"event {event_number}"), body)


def appending(
    handle: int, began: int, ended: int, *records: Envelope, answer: Answer | str | None = "acknowledged"
) -> AppendCall:
    told = acknowledge(records) if isinstance(answer, str) else answer
    at = records[0].sequence
    return AppendCall(handle=handle, began=began, ended=ended, answer=told, expected_next=at, records=records)


def loading(
    handle: int, began: int, ended: int, position: int, *shown: Envelope, answer: Answer | None = None
) -> LoadCall:
    return LoadCall(handle=handle, began=began, ended=ended, answer=answer or Page(shown, end=True), position=position)


def of_race(*calls: AppendCall | LoadCall, after: Sequence[Envelope] = (), others: Mapping[int, int] = {}) -> RaceStep:
    """Return a race on an empty run after which handle 0 shows `after`, and others the first so many of it."""
    finals = {0: tuple(after)} | {handle: tuple(after)[:count] for handle, count in others.items()}
    return RaceStep((), calls, finals, batches_are_whole=True)


ONE, OTHER, TWO = record(1, 1), record(1, 2), record(2, 2)
REFUSED = SequenceConflict(actual_next=2)


@pytest.mark.parametrize(
    "step",
    [
        of_race(appending(0, 1, 3, ONE), appending(1, 2, 4, OTHER, answer=REFUSED), after=[ONE]),
        of_race(
            appending(0, 1, 3, ONE),
            appending(1, 2, 4, OTHER, answer=REFUSED),
            appending(1, 5, 6, TWO),
            loading(2, 2, 7, 1, ONE),
            after=[ONE, TWO],
        ),
        of_race(appending(0, 1, 3, ONE), appending(1, 2, 4, OTHER, answer=NotStored()), after=[ONE]),
        of_race(appending(0, 1, 3, ONE), appending(1, 2, 4, TWO, answer=Unavailable()), after=[ONE]),
        of_race(appending(0, 1, 3, ONE), appending(1, 2, 4, TWO, answer=Unavailable()), after=[ONE, TWO]),
        of_race(appending(0, 1, 3, ONE), appending(1, 2, 4, TWO, answer=None), after=[ONE, TWO]),
        of_race(
            appending(0, 1, 2, ONE, answer=Unavailable()),
            appending(0, 3, 4, ONE),
            appending(1, 5, 6, TWO),
            after=[ONE, TWO],
        ),
        of_race(appending(0, 1, 3, ONE), loading(1, 2, 4, 1), loading(1, 5, 6, 1, ONE), after=[ONE]),
        of_race(appending(0, 1, 3, ONE), loading(1, 2, 4, 1, answer=Unavailable()), after=[ONE]),
        of_race(appending(0, 1, 4, ONE, TWO), loading(1, 2, 3, 1, ONE, TWO), after=[ONE, TWO]),
    ],
)
def test_nothing_is_wrong_with_a_good_race(step: RaceStep) -> None:
    assert {key: found for key in COMPLAINTS if (found := complaint(key, step))} == {}


@pytest.mark.parametrize(
    ("requirement", "step", "words"),
    [
        ("JRN-001", of_race(appending(0, 1, 2, ONE, answer=Acknowledged(())), after=[ONE]), "other records"),
        ("JRN-001", of_race(appending(0, 1, 2, ONE, answer=StaleEpoch())), "another reason"),
        (
            "JRN-002",
            of_race(appending(0, 1, 3, ONE), loading(1, 2, 4, 1, record(1, 1, "changed")), after=[ONE]),
            "another body",
        ),
        (
            "JRN-027",
            of_race(appending(0, 1, 3, ONE), appending(1, 2, 4, OTHER), after=[ONE]),
            "two appends were acknowledged",
        ),
        (
            "JRN-027",
            of_race(appending(0, 1, 3, ONE), appending(1, 2, 4, OTHER, answer=REFUSED), after=[ONE, TWO]),
            "never acknowledged",
        ),
        (
            "JRN-027",
            of_race(appending(0, 1, 3, ONE), appending(1, 4, 5, TWO), after=[ONE]),
            "does not stand",
        ),
        (
            "JRN-027",
            of_race(
                appending(0, 1, 3, ONE),
                appending(1, 2, 4, TWO, answer=Unavailable()),
                after=[ONE, TWO, record(3, 2)],
            ),
            "stands twice",
        ),
        (
            "JRN-027",
            replace(
                of_race(appending(0, 1, 3, ONE), appending(1, 2, 4, OTHER, answer=None)),
                finals={0: (ONE,), 1: (OTHER,)},
            ),
            "different records",
        ),
        ("JRN-015", of_race(appending(0, 1, 2, ONE, TWO, answer=None), after=[ONE]), "a part"),
        ("JRN-028", of_race(appending(0, 1, 5, ONE), loading(1, 2, 3, 1, TWO), after=[ONE]), "in order"),
        (
            "JRN-028",
            of_race(appending(0, 1, 9, ONE), loading(1, 2, 3, 1, ONE), loading(1, 4, 5, 1), after=[ONE]),
            "any more",
        ),
        (
            "JRN-028",
            of_race(appending(0, 1, 9, ONE), loading(1, 2, 3, 1, ONE), loading(1, 4, 5, 1, OTHER), after=[ONE]),
            "another record",
        ),
        ("JRN-028", of_race(appending(0, 1, 5, ONE), loading(1, 2, 3, 1, answer=StaleEpoch())), "refused"),
        ("JRN-003", of_race(appending(0, 1, 2, ONE), loading(0, 3, 4, 1), after=[ONE]), "does not show"),
        ("JRN-020", of_race(appending(0, 1, 2, ONE), loading(1, 3, 4, 1), after=[ONE]), "does not show"),
        (
            "JRN-018",
            of_race(appending(0, 1, 2, ONE), appending(1, 3, 4, OTHER), after=[ONE]),
            "below one",
        ),
        (
            "JRN-019",
            of_race(
                appending(0, 1, 2, ONE), appending(1, 3, 4, TWO, answer=SequenceConflict(actual_next=1)), after=[ONE]
            ),
            "next sequence",
        ),
        (
            "JRN-029",
            of_race(
                appending(0, 1, 9, ONE),
                appending(1, 2, 3, OTHER, answer=REFUSED),
                loading(2, 4, 5, 1),
                after=[ONE],
            ),
            "no order",
        ),
    ],
)
def test_what_is_wrong_with_a_race_is_told(requirement: str, step: RaceStep, words: str) -> None:
    found = complaint(requirement, step)
    assert found is not None
    assert words in found.words


def test_where_a_batch_may_come_in_parts_no_order_is_sought() -> None:
    step = of_race(appending(0, 1, 9, ONE, TWO), loading(1, 2, 3, 1, ONE), after=[ONE, TWO])
    assert complaint("JRN-029", step)
    assert complaint("JRN-029", replace(step, batches_are_whole=False)) is None


def asking(*answers: Answer | None) -> tuple[AcquireCall, ...]:
    return tuple(
        AcquireCall(handle=handle, began=handle + 1, ended=10 + handle, answer=answer)
        for handle, answer in enumerate(answers)
    )


@pytest.mark.parametrize(
    ("requirement", "step", "words"),
    [
        ("LSE-007", LeaseRaceStep(0, True, True, asking(Granted(1, 9), Granted(1, 9))), "twice"),
        ("LSE-007", LeaseRaceStep(0, True, True, asking(Granted(1, 9), Granted(2, 9))), "two requests"),
        ("LSE-001", LeaseRaceStep(4, None, True, asking(Granted(4, 9), Held())), "above"),
        ("LSE-002", LeaseRaceStep(4, False, True, asking(Granted(5, 9), Held())), "held was granted"),
        ("LSE-003", LeaseRaceStep(0, True, True, asking(Held(), Held())), "nobody"),
    ],
)
def test_what_is_wrong_with_requests_for_a_lease_is_told(requirement: str, step: LeaseRaceStep, words: str) -> None:
    found = complaint(requirement, step)
    assert found is not None
    assert words in found.words


@pytest.mark.parametrize(
    "step",
    [
        LeaseRaceStep(0, True, True, asking(Granted(1, 9), Held())),
        LeaseRaceStep(4, False, True, asking(Held(), Unavailable(), None)),
        LeaseRaceStep(0, True, False, asking(Granted(1, 9), Granted(2, 9))),
        LeaseRaceStep(0, True, True, asking(NotStored(), Held())),
    ],
)
def test_nothing_is_wrong_with_good_requests_for_a_lease(step: LeaseRaceStep) -> None:
    assert not any(complaint(key, step) for key in ("LSE-001", "LSE-002", "LSE-003", "LSE-007"))


# Playing


def played(factory: Callable[..., object], *operations: Operation) -> Play:
    """Return a play after all of these operations."""
    site = Site(JOURNALS.of(factory), timeout_s=20)  # type: ignore[arg-type]
    try:
        play = Play(site, Identities(1, 1), Tally(), RULES)
        for operation in operations:
            assert play.do(operation)
    finally:
        site.remove()
    return play


TOGETHER = Race((append(1, 1), append(1, 2), append(1, 11, handle=1), append(1, 12, handle=1), Follow(run=0, handle=2)))


def test_after_a_race_the_play_goes_on_from_what_is_there() -> None:
    play = played(MemoryJournal, TOGETHER, load(handle=1), append(5, 3), load())
    sequences = [envelope.sequence for envelope in play.world.records(play.run_id(0))]
    assert sequences == [1, 2, 3, 4, 5]
    assert (
        "append event 1 to run 0 at 1 → acknowledged" in play.answers[0]
        or "event 11 to run 0 at 1 → acknowledged" in play.answers[0]
    )
    assert play.answers[1] == "4 records, the end"


def test_after_a_race_each_append_can_be_sent_again_where_it_stands() -> None:
    play = played(MemoryJournal, TOGETHER)
    appends = [operation for operation in TOGETHER.operations if isinstance(operation, Append)]
    places = [play.sequence_of(0, operation.records[0]) for operation in appends]
    assert sorted(place or 0 for place in places) == [1, 2, 3, 4]
    assert play.sequence_of(0, event(99)) is None


@pytest.mark.parametrize("seed", [1, 2])
def test_the_machine_draws_races(seed: int) -> None:
    judgement = JOURNAL.judge(JOURNALS.of(MemoryJournal), Options("quick", seed, parts=frozenset({"drawn"})))
    assert judgement.findings == {}
    assert judgement.reached["JRN-027"]


def test_after_a_race_for_a_lease_the_one_who_has_it_can_renew_it() -> None:
    asked = Race(tuple(Acquire(run=0, ttl_ms=600_000, now_ms=1, owner=handle, handle=handle) for handle in range(3)))
    play = played(MemoryJournal, asked, Renew(run=0, grant=0, ttl_ms=5, now_ms=2))
    assert play.world.grants(play.run_id(0)) == 1


@pytest.mark.parametrize(
    "race",
    [
        Race((append(1, 1), append(1, 1, handle=1))),
        Race((append(1, 1, grant=0), append(1, 2, handle=1))),
        Race((append(1, 1), Acquire(run=0, ttl_ms=1, now_ms=1, handle=1))),
        Race((Acquire(run=0, ttl_ms=1, now_ms=1), Acquire(run=0, ttl_ms=1, now_ms=9, handle=1))),
        Race((append(1), append(1, 2, handle=1))),
    ],
    ids=["one event twice", "under an epoch", "with a lease", "at two instants", "no records"],
)
def test_a_race_whose_answers_are_left_open_is_not_run(race: Race) -> None:
    site = Site(JOURNALS.of(MemoryJournal), timeout_s=20)
    try:
        play = Play(site, Identities(1, 1), Tally(), RULES)
        assert not play.do(race)
        assert not play.operations
    finally:
        site.remove()


class AnswersUnknownAtFirst(MemoryJournal):
    """Stores every append, and answers the first time that it cannot tell."""

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        before = len(self._state.records(run_id))
        answer = super().append(run_id, expected_next, records, epoch)
        return Unavailable() if len(self._state.records(run_id)) > before else answer


class NeverTells(MemoryJournal):
    """Cannot tell what came of an append, ever."""

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        del run_id, expected_next, records, epoch
        return Unavailable()


def test_what_is_unknown_in_a_race_is_sent_again() -> None:
    play = played(AnswersUnknownAtFirst, TOGETHER)
    assert len(play.world.records(play.run_id(0))) == 4


def test_a_race_that_leaves_the_truth_open_accuses_nobody() -> None:
    case = a_case("NeverTells", TOGETHER, load(), failure="JRN-027")
    again = replay(case, JOURNALS.of(NeverTells))
    assert again.failure is None
    assert not again.finished


# Cases


def a_case(name: str, *operations: Operation, failure: str) -> JournalCase:
    return JournalCase(
        target={"name": name},
        in_own_process=False,
        timeout_s=20,
        seed=1,
        failure=failure,
        plays=(PlayOf(1, operations),),
    )


LOST = Race(
    (
        *(append(3, event(number, "text"), number + 50) for number in range(1, 5)),
        *(append(3, number, handle=1) for number in range(21, 25)),
        Follow(run=0, times=4, handle=2),
        Load(run=1, handle=2),
    )
)


def test_a_case_with_a_race_is_played_until_it_fails_and_made_smaller() -> None:
    mutant = MUTANTS["DropsTheLoser"]
    case = a_case("DropsTheLoser", append(1, 71), append(2, 72), load(handle=1), LOST, load(), failure="JRN-027")
    assert case.tries > 1
    smaller = shrink(case, mutant.target, attempts=400)
    assert smaller.size <= 4
    assert replay(smaller, mutant.target).failure == "JRN-027"
    assert replay(smaller, JOURNALS.of(MemoryJournal)).failure is None


def test_a_case_with_a_race_is_the_same_after_it_was_kept() -> None:
    case = a_case("memory", LOST, failure="JRN-027")
    assert msgspec.json.decode(msgspec.json.encode(case), type=JournalCase) == case
    assert case.size == len(LOST.operations)


def test_a_race_in_words() -> None:
    two = Race((append(1, 1), load(), append(1, 11, handle=1), Follow(run=0, handle=2)))
    assert a_case("memory", two, failure="JRN-027").in_words((TOLD[0],), whole=False) == [
        "  1. at the same time:",
        "       handle 0: append event 1 to run 0, at 1 or where it is told, then load run 0 from 1 in pages of 1000",
        "       handle 1: append event 11 to run 0, at 1 or where it is told",
        "       handle 2: read on in run 0, once, in pages of 1000",
        "     what came, with the instants from request to answer:",
        f"       {TOLD[0]}",
    ]


def test_records_that_a_handle_appends_one_by_one_in_a_race_take_one_sentence() -> None:
    race = Race((*(append(1, event) for event in range(1, 9)), append(1, 9, 10), append(1, 11, run=1), load()))
    assert a_case("memory", race, failure="JRN-027").in_words((), whole=False)[1] == (
        "       handle 0: append events 1, 2, 3, 4, 5, 6 and 2 more, one by one, to run 0, at 1 or where it is told, "
        "then append events 9, 10 to run 0, at 1 or where it is told, "
        "then append event 11 to run 1, at 1 or where it is told, then load run 0 from 1 in pages of 1000"
    )


def test_of_a_program_each_handle_is_a_process_in_words() -> None:
    case = a_case("memory", append(1, 1), append(2, 2, handle=1), Reopen(), failure="JRN-019")
    of_a_program = msgspec.structs.replace(case, target={"command": ["./adapter"]})
    assert [case.in_words((), whole=False)[at] for at in (1, 2)] == [
        "  2. append event 2 to run 0 at 2 on handle 1",
        "  3. close every handle and open it again",
    ]
    assert [of_a_program.in_words((), whole=False)[at] for at in (1, 2)] == [
        "  2. append event 2 to run 0 at 2 in process 1",
        "  3. close every process and start it again",
    ]


TOLD = (
    "process 0: append event 1 to run 0 at 1 → acknowledged [1–3]",
    "process 1: append event 2 to run 0 at 1 → acknowledged [2–4]",
    "process 2: load run 0 from 1 → no records, the end [5–6], 3 times, the last [11–12]",
    "process 1: load run 0 from 1 → event 1, the end [13–14]",
)


def test_a_complaint_names_the_run_the_record_and_who_did_what() -> None:
    looks = [loading(2, at, at + 1, 1) for at in (5, 7, 11)]
    step = of_race(appending(0, 1, 3, ONE), appending(1, 2, 4, OTHER), *looks, loading(1, 13, 14, 1, ONE), after=[ONE])
    events = {record.event_id: number for number, record in enumerate((ONE, OTHER), 1)}
    names = Names("process", 0, events)
    found = complaint("JRN-027", step)
    assert found is not None
    assert (found.words, found.sequence) == ("two appends were acknowledged at one sequence", 1)
    step = replace(step, names=names)
    assert in_words(step).split("\n") == [*TOLD]
    marked = [f"{line} ✗" for line in TOLD[:2]]
    assert in_words(step, found).split("\n") == [*marked, *TOLD[2:], "✗ at sequence 1 of run 0"]


def test_each_call_of_a_race_stands_in_the_lane_of_its_process() -> None:
    answers = ("acknowledged", "\n".join([*TOLD, "what nobody says"]))
    drawn = timeline((append(1, 3, run=1), TOGETHER), answers, "process")
    assert drawn.lanes == ("process 0", "process 1", "process 2")
    assert [moment.lane for moment in drawn.moments] == [0, None, 0, 1, 2, 1, None]
    assert drawn.moments[2] == Moment(0, "append event 1 to run 0 at 1", "acknowledged [1–3]")
    assert not any(moment.fails for moment in drawn.moments)
    marked = timeline((TOGETHER,), (f"{TOLD[0]}\n{TOLD[1]} ✗\n✗ of run 0",), "process").moments
    assert [moment.fails for moment in marked] == [False, False, True]
    unmarked = timeline((TOGETHER,), (f"{TOLD[0]}\n✗ of run 0",), "process").moments
    assert [moment.fails for moment in unmarked] == [True, False]


def test_a_transcript_says_who_said_a_line() -> None:
    site = Site(JOURNALS.of(MemoryJournal), 10)
    try:
        play = Play(site, Identities(seed=1, play=0), Tally(), RULES)
        assert play.do(Race((append(1, 1), append(1, 2, handle=1))))
    finally:
        site.remove()
    said = [line for line in site.transcript.text().splitlines() if '"append"' in line]
    assert {line.partition(" → ")[0] for line in said} == {"handle 0", "handle 1"}


def test_rerun_tells_that_a_race_depends_on_timing(tmp_path: Path) -> None:
    two = Race((append(1, 1), append(1, 2, handle=1)))
    (tmp_path / "case.json").write_bytes(msgspec.json.encode(a_case("memory", two, failure="JRN-027")))
    done = perdure("rerun", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 0
    assert "It did not fail in 20 tries. It depends on who comes first" in done.stdout


# Those who are judged


@pytest.mark.parametrize("name", MUTANTS_OF_RACES)
def test_every_mutant_of_races_is_found_by_name(name: str) -> None:
    found = find(JOURNAL, MUTANTS[name], seed=3)
    assert found.problems == ()
    assert found.found_by


def test_races_have_mutants() -> None:
    assert set(OF_RACES) <= {MUTANTS[name].breaks for name in MUTANTS_OF_RACES}


@pytest.mark.parametrize(
    "name",
    [
        "memory",
        "sqlite",
        "files-write",
        "lines",
        "TakesOneAppendAtATime",
        "TakesItsTime",
        "LosesAnswersWhenBusy",
        "ReadsItsOwnWrites",
        "CutsTornTailsWhenItLoads",
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_whoever_is_good_is_good_at_the_same_time(name: str, seed: int) -> None:
    good = good_ones(JOURNAL)[name]
    judgement = JOURNAL.judge(
        good.target, Options("quick", seed, only=frozenset(OF_RACES), parts=frozenset({"written"}))
    )
    assert judgement.findings == {}
    assert judgement.reached["JRN-027"]
    assert judgement.reached["JRN-028"]


@pytest.mark.parametrize("name", ["TakesOneAppendAtATime", "TakesItsTime", "LosesAnswersWhenBusy"])
def test_the_twins_of_races_pass_whole(name: str) -> None:
    twin: Twin = TWINS[name]
    assert check_good(JOURNAL, twin, (1,), "quick").problems == ()


class WaitsForAll(MemoryJournal):
    """Answers an append at 1 once three have come."""

    _all = threading.Barrier(3)

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        if not self._state.records(run_id):
            self._all.wait(10)
        return super().append(run_id, expected_next, records, epoch)


def test_all_start_together() -> None:
    play = played(WaitsForAll, Race(tuple(append(1, handle + 1, handle=handle) for handle in range(3))))
    assert len(play.world.records(play.run_id(0))) == 3
