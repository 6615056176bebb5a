"""The line that plays a finding again, and what is asked of a journal that is to be crashed."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.journal.contract import Acknowledged, Done, Granted
from perdure_conformance.crash.replay import (
    Failure,
    Kill,
    Network,
    Power,
    Replay,
    ReplayError,
    Schedule,
    ServerKill,
    Short,
    Undisturbed,
    Workload,
    parse,
)
from perdure_conformance.crash.workload import WORKLOADS, requests
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.journal.client import JournalClient
from perdure_conformance.journal.dispatch import JOURNALS

WORKLOAD = Workload("append", 3, 7)


@pytest.mark.parametrize(
    ("line", "faults"),
    [
        ("kill/after:17", [Kill("after", 17)]),
        ("kill/before:17", [Kill("before", 17)]),
        ("err/fsync#5=EIO", [Failure("fsync", 5, "EIO")]),
        ("err/pwrite64#1=ENOSPC", [Failure("pwrite64", 1, "ENOSPC")]),
        ("short/write#2=7", [Short("write", 2, 7)]),
        ("power/posix-weak:t4:-1", [Power("posix-weak", 4, "-1")]),
        ("power/sector:t0:", [Power("sector", 0, "")]),
        ("net/s2c#1=drop", [Network("s2c", 1, "drop")]),
        ("net/c2s#2=cut-17-reset", [Network("c2s", 2, "cut-17-reset")]),
        ("server/kill#3+server/kill#1", [ServerKill(3), ServerKill(1)]),
        ("sched/1,1:crash10", [Schedule((1, 1), "crash10")]),
        ("none+err/read#2=EIO", [Undisturbed(), Failure("read", 2, "EIO")]),
        ("kill/after:17+kill/before:2", [Kill("after", 17), Kill("before", 2)]),
    ],
)
def test_a_line_is_read_as_it_is_written(line: str, faults: list[object]) -> None:
    whole = f"v1:w=append,n=3,seed=7:{line}"
    replay = parse(whole)
    assert replay.workload == WORKLOAD
    assert list(replay.faults) == faults
    assert f"{replay}" == whole
    assert parse(f" {replay}\n") == Replay(WORKLOAD, replay.faults)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("", "'' is no replay that is known here: it does not begin with v1:."),
        ("v2:w=append,n=3,seed=7:none", "'v2:w=append,n=3,seed=7:none' is no replay that is known here"),
        ("v1:append:none", "'append' in 'v1:append:none' does not say what is asked"),
        ("v1:w=append,n=0,seed=7:none", "does not say what is asked"),
        ("v1:w=append,n=3,seed=7", "'' is no fault"),
        ("v1:w=append,n=3,seed=7:kill/during:1", "'kill/during:1' is no fault"),
        ("v1:w=append,n=3,seed=7:kill/after:0", "'kill/after:0' is no fault"),
        ("v1:w=append,n=3,seed=7:kill/after:\u0661", "is no fault"),
        ("v1:w=append,n=3,seed=7:err/fsync#1=EWRONG", "EWRONG in 'err/fsync#1=EWRONG' is no error of this system"),
        ("v1:w=append,n=3,seed=7:none+", "'' is no fault"),
        ("v1:w=append,n=3,seed=7:power/weak:t4:-1", "'power/weak:t4:-1' is no fault"),
    ],
)
def test_another_line_is_refused_in_a_sentence(line: str, sentence: str) -> None:
    with pytest.raises(ReplayError) as error:
        parse(line)
    assert sentence in str(error.value)


@pytest.mark.parametrize("name", sorted(WORKLOADS))
def test_the_same_words_ask_the_same_and_a_right_journal_acknowledges_all_of_it(name: str, tmp_path: Path) -> None:
    workload = Workload(name, 5, 7)
    sent = requests(workload)
    assert sent == requests(Workload(name, 5, 7))
    assert sent != requests(Workload(name, 5, 8))
    client = JournalClient(JOURNALS.find("memory").open(10, Transcript()))
    client.initialize(tmp_path)
    answers = [client.ask(each.method, each.params) for each in sent]
    assert {type(answer) for answer in answers} <= {Acknowledged, Done, Granted}
    client.connection.close()


def test_there_is_no_other_workload() -> None:
    with pytest.raises(ReplayError, match=r"There is no workload 'other'; write one of append, caches, large, runs\."):
        requests(Workload("other", 1, 1))
