"""What a disk may hold after a power cut, level by level; who is to blame; the words that say it again."""

from __future__ import annotations

import pytest

from perdure_conformance.crash.blame import blame
from perdure_conformance.crash.bundle import BundleError, packed, unpacked
from perdure_conformance.crash.deviations import cut_of, deviations
from perdure_conformance.crash.disk import Cut, Disk, Fate, Image, Torn
from perdure_conformance.crash.judge import Rule
from perdure_conformance.crash.replay import Level, Power, ReplayError
from perdure_conformance.crash.states import cuts
from perdure_conformance.crash.trace import (
    STATE_DIRECTORY,
    Answer,
    Call,
    Create,
    File,
    Held,
    Link,
    Operation,
    Rename,
    Sync,
    Trace,
    Truncate,
    Unlink,
    Write,
)

OLD, NEW, FOLDER = File(1), File(2), File(3)
KEPT = Held(OLD, STATE_DIRECTORY, "data", "file", b"old")
PUT = (Create(STATE_DIRECTORY, "data.tmp", NEW), Write(NEW, 0, b"new"))
RENAMED = Rename(STATE_DIRECTORY, "data.tmp", STATE_DIRECTORY, "data")
OF_NEW, OF_DIRECTORY = Sync(NEW, "fsync"), Sync(STATE_DIRECTORY, "fsync")


def disk(*operations: Operation, before: tuple[Held, ...] = (KEPT,)) -> Disk:
    return Disk(Trace(before, [Call(f"call {index}", each) for index, each in enumerate(operations, 1)]))


def found(of: Disk, level: Level, calls: int | None = None) -> list[dict[str, bytes]]:
    """Return what the disk may hold at a level, or those beneath it, when the power goes after so many calls."""
    levels: list[Level] = ["process-crash", "ordered", "sector", "posix-weak"]
    images: list[dict[str, bytes]] = []
    for each in levels[: levels.index(level) + 1]:
        for cut in cuts(of, each, draws=50, seed=1):
            image = dict(of.image(cut).files)
            if cut.calls == (len(of.operations) if calls is None else calls) and image not in images:
                images.append(image)
    return images


def test_a_kill_leaves_all_that_was_done() -> None:
    assert found(disk(*PUT, RENAMED), "process-crash") == [{"data": b"new"}]


def test_in_order_a_disk_holds_a_beginning_of_the_calls_from_the_last_sync_on() -> None:
    whole = disk(*PUT, OF_NEW, RENAMED)
    assert found(whole, "ordered") == [{"data": b"new"}, {"data": b"old", "data.tmp": b"new"}]
    assert len({of_one for calls in range(4) for of_one in map(str, found(disk(*PUT, RENAMED), "ordered", calls))}) == 4


def test_a_rename_may_be_there_before_what_was_written_and_not_if_the_file_was_synced() -> None:
    assert {"data": b""} in found(disk(*PUT, RENAMED), "posix-weak")
    assert {"data": b""} not in found(disk(*PUT, OF_NEW, RENAMED), "posix-weak")
    assert {"data": b""} not in found(disk(*PUT, RENAMED), "sector")


def test_a_sync_of_a_file_brings_no_name_and_a_sync_of_a_directory_no_content() -> None:
    synced = disk(*PUT, OF_NEW, before=())
    contents = {image.get("data.tmp") for image in found(synced, "posix-weak", calls=2)}
    assert contents == {b"new", b"", None, b"\0\0\0"}
    assert [synced.operations[index] for index in synced.pending(3)] == [PUT[0]]
    named = disk(*PUT, OF_DIRECTORY, before=())
    assert [named.operations[index] for index in named.pending(3)] == [PUT[1]]


def test_a_write_that_syncs_by_itself_brings_no_other_one_but_what_it_lies_upon() -> None:
    far, near, own = Write(OLD, 4_096, b"far"), Write(OLD, 0, b"near"), Write(OLD, 2, b"own")
    synced = disk(Truncate(OLD, 9_000), far, near, own, Sync(OLD, "O_DSYNC"))
    assert [synced.operations[index] for index in synced.pending(5)] == [far]
    assert synced.image(Cut(5, (Fate(1),))).files["data"][:6] == b"neown\0"
    cut = disk(far, Write(OLD, 0, b"near"), Truncate(OLD, 4), Write(OLD, 3, b"own"), Sync(OLD, "RWF_DSYNC"))
    assert [cut.operations[index] for index in cut.pending(5)] == []
    assert cut.image(Cut(5)).files["data"] == b"neaown"


def test_a_rename_between_directories_is_one_step_and_brought_by_a_sync_of_either() -> None:
    moved = Rename(STATE_DIRECTORY, "data", FOLDER, "data")
    made = (Create(STATE_DIRECTORY, "runs", FOLDER, "directory"), OF_DIRECTORY)
    assert found(disk(*made, moved), "posix-weak") == [{"runs/data": b"old"}, {"data": b"old"}]
    for either in (OF_DIRECTORY, Sync(FOLDER, "fsync")):
        assert disk(*made, moved, either).pending(4) == ()


def test_a_chain_of_names_may_stop_anywhere() -> None:
    chain = disk(
        *PUT,
        OF_NEW,
        Rename(STATE_DIRECTORY, "data", STATE_DIRECTORY, "data.bak"),
        RENAMED,
        Unlink(STATE_DIRECTORY, "data.bak"),
    )
    images = found(chain, "posix-weak")
    for image in (
        {"data": b"new"},
        {"data": b"new", "data.bak": b"old"},
        {"data.bak": b"old", "data.tmp": b"new"},
        {"data.tmp": b"new"},
        {"data": b"old"},
    ):
        assert image in images


def test_a_name_that_is_taken_away_and_made_again_may_be_of_either_file_or_none() -> None:
    again = disk(Unlink(STATE_DIRECTORY, "data"), Create(STATE_DIRECTORY, "data", NEW), Write(NEW, 0, b"new"))
    assert {image.get("data") for image in found(again, "posix-weak")} == {b"new", b"old", b"", b"\0\0\0", None}


def test_a_second_name_is_of_the_same_file() -> None:
    linked = disk(Link(OLD, STATE_DIRECTORY, "same"), Write(OLD, 0, b"new"))
    image = linked.image(Cut(2))
    assert (image.files, image.links) == ({"data": b"new"}, {"same": "data"})
    assert linked.image(Cut(2, (Fate(0),))).links == {}


def test_a_torn_write_is_there_by_sectors() -> None:
    torn = disk(Write(OLD, 3, b"x" * 1_200))
    assert torn.sectors(0) == 3
    half = torn.image(Cut(1, (Fate(0, Torn((1,), is_long=True)),))).files["data"]
    assert half == b"old" + bytes(509) + b"x" * 512 + bytes(1_203 - 1_024)
    short = torn.image(Cut(1, (Fate(0, Torn((0,), is_long=False)),))).files["data"]
    assert short == b"old" + b"x" * 509
    assert b"old" + bytes(1_200) in [image["data"] for image in found(torn, "sector")]


def test_a_write_within_which_its_process_was_killed_is_there_up_to_a_page() -> None:
    long = disk(Write(OLD, 3, b"x" * 9_000))
    sizes = [len(image["data"]) for image in found(long, "process-crash")]
    assert sizes == [9_003, 4_096, 8_192]
    assert [len(image["data"]) for image in found(long, "ordered")] == [*sizes, 3]


def test_a_length_that_is_not_synced_may_be_the_old_one() -> None:
    cut = disk(Truncate(OLD, 1), Truncate(OLD, 2))
    assert {image["data"] for image in found(cut, "posix-weak")} == {b"o\0", b"o", b"old", b"ol"}


def test_what_was_said_counts_from_then_on() -> None:
    said = disk(Answer(1), *PUT, Answer(2))
    assert [said.answered(calls) for calls in range(5)] == [0, 1, 1, 1, 2]


@pytest.mark.parametrize(
    ("cut", "levels"),
    [
        (Cut(3), ["process-crash", "ordered", "sector", "posix-weak"]),
        (Cut(3, (Fate(2),)), ["ordered", "sector", "posix-weak"]),
        (Cut(3, (Fate(1, Torn((), is_long=True)), Fate(2))), ["sector", "posix-weak"]),
        (Cut(3, (Fate(1),)), ["posix-weak"]),
        (Cut(3, (Fate(1, Torn((), is_long=True)),)), ["posix-weak"]),
    ],
)
def test_each_level_allows_its_own_cuts_and_those_beneath(cut: Cut, levels: list[Level]) -> None:
    every: list[Level] = ["process-crash", "ordered", "sector", "posix-weak"]
    assert [level for level in every if disk(*PUT, RENAMED).allows(cut, level)] == levels


def test_every_cut_that_is_tried_is_allowed_and_comes_back_from_its_words() -> None:
    whole = disk(*PUT, RENAMED, Answer(1), OF_DIRECTORY, Write(NEW, 3, b"x" * 2_000), Answer(2))
    every: list[Level] = ["process-crash", "ordered", "sector", "posix-weak"]
    for level in every:
        for cut in cuts(whole, level, draws=50, seed=3):
            assert whole.allows(cut, level)
            assert cut_of(Power(level, cut.calls, deviations(cut, whole.trace)), whole) == cut


@pytest.mark.parametrize(
    ("calls", "words", "sentence"),
    [
        (9, "", "The trace diverged"),
        (3, "-3@000000000000", "The trace diverged"),
        (3, "-2", "is no crash that ordered allows"),
        (3, "-9", "is no crash that ordered allows"),
        (3, "~9s", "names a sector that call 9 did not write"),
        (3, "~2s4", "names a sector that call 2 did not write"),
        (3, "?", "says nothing of a call"),
    ],
)
def test_words_that_name_no_cut_are_refused_in_a_sentence(calls: int, words: str, sentence: str) -> None:
    with pytest.raises(ReplayError, match=sentence):
        cut_of(Power("ordered", calls, words), disk(*PUT, RENAMED))


def test_a_state_is_packed_and_unpacked_as_it_was() -> None:
    image = Image({"a/data": b"\0one", "b": b""}, frozenset({"a", "c"}), {"same": "b"})
    assert unpacked(packed(image)) == image
    assert packed(image) == packed(image)
    with pytest.raises(BundleError, match="no path within a state directory"):
        unpacked(packed(Image({"../data": b""}, frozenset(), {})))


LONG = Write(OLD, 3, b"x" * 9_000)
NOT_YET = "it was not acknowledged yet, and the recovery must stand what is there of it"
NOT_COVERED = "acknowledgement 1 is not covered"
PAGES = Torn(tuple(range(8)), is_long=False)


@pytest.mark.parametrize(
    ("operations", "cut", "rule", "sentence"),
    [
        (
            [LONG],
            Cut(1, (Fate(0, PAGES),)),
            "refused",
            "a kill within call 1, 4093 bytes of which are there, is enough: the recovery does not stand it",
        ),
        (
            [LONG],
            Cut(1, (Fate(0, PAGES),)),
            "lost",
            "a kill within call 1, 4093 bytes of which are there, takes away what was acknowledged before it",
        ),
        (
            [LONG],
            Cut(1, (Fate(0, Torn((), is_long=True)),)),
            "mixed",
            f"call 1 (of which only the length is there) is enough: {NOT_YET}",
        ),
        (
            [LONG, Answer(2)],
            Cut(2, (Fate(0, Torn((1,), is_long=True)),)),
            "refused",
            "call 1 (of which 1 of 18 sectors are there) is enough: no fsync covers it yet",
        ),
        (
            [LONG, Answer(2)],
            Cut(2, (Fate(0),)),
            "lost",
            "acknowledgement 1 is not covered: call 1 has no fsync before it",
        ),
        (
            [*PUT, RENAMED],
            Cut(3, (Fate(1),)),
            "refused",
            "call 3 may be on the disk before call 2: there is no fsync between",
        ),
        (
            [Answer(2), *PUT, RENAMED, Unlink(STATE_DIRECTORY, "older")],
            Cut(5, (Fate(3),)),
            "lost",
            "call 5 may be on the disk before call 4: there is no fsync of its directory between",
        ),
    ],
)
def test_a_sync_is_blamed_only_where_one_is_missing(
    operations: list[Operation], cut: Cut, rule: Rule, sentence: str
) -> None:
    assert blame(disk(*operations), cut, rule) == sentence
