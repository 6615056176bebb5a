"""The tables of `kernel.md` say what the code says: the node table, the events with their members, the commands.

Each is read from the page and from the code in one form, and the two are equal. That a row less on either side is seen
is tested too, row by row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec
import pytest

from perdure.kernel.commands import COMMANDS, Command
from perdure.kernel.events import EVENTS, RUN_FACTS, Event, NodeBlocked, NodeFailed, NodeOutcomeCommitted, NodeSucceeded
from perdure.kernel.identity import AttemptId, NodeId
from perdure.kernel.rules import DIAGRAM, NODE_TABLE, STATUS_AFTER, Move
from perdure.kernel.structure import places
from perdure.kernel.upcast import upcast
from perdure_conformance import data

Item = TypeVar("Item")

PAGE: Final = (data.specification() / "kernel.md").read_text("utf-8")
AMENDMENTS: Final = (data.specification() / "README.md").read_text("utf-8")

NODE_HEAD: Final = "| from | to | by | source |"
EVENT_HEAD: Final = "| event | since | members |"
COMMAND_HEAD: Final = "| command | members | events, in this order |"

NODE, ATTEMPT = NodeId("A"), AttemptId("")
VERSION_ONE: Final = (
    NodeSucceeded(node=NODE, attempt_id=ATTEMPT, output=1),
    NodeFailed(node=NODE, attempt_id=ATTEMPT, reason=""),
    NodeBlocked(node=NODE, attempt_id=ATTEMPT, reason=""),
)
ALL_EVENTS: Final = tuple(sorted(frozenset().union(*EVENTS.values()), key=lambda event: event.__name__))


def rows_of(head: str, page: str = PAGE) -> list[str]:
    """The rows of the table with this head."""
    assert page.count(f"\n{head}\n") == 1
    rows = page.partition(f"\n{head}\n")[2].partition("\n\n")[0].split("\n")
    return rows[1:]


def cells_of(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split(" | ")]


def without_brackets(text: str) -> str:
    return re.sub(r" ?\([^()]*\)", "", text)


# The node table

NodeRow = tuple[str, str, str, str]
"""From, to, by one event, and the amendment or `diagram`."""


def node_rows_of_the_page(rows: Iterable[str]) -> list[NodeRow]:
    found = []
    for row in rows:
        sources, target, events, origin = cells_of(row)
        named = re.split("[,;] ", without_brackets(events))
        amendment = origin.replace("amendment *", "").strip("*")
        found += [(source, target, event, amendment) for source in sources.split(", ") for event in named]
    return sorted(found)


def node_rows_of_the_code(moves: Iterable[Move]) -> list[NodeRow]:
    found = []
    for move in moves:
        origin = "diagram" if move.origin == DIAGRAM else move.origin.removeprefix("amendment: ")
        source, target = move.source.replace("_", " "), move.target.replace("_", " ")
        found += [(source, target, event, origin) for event in (*move.events, *facts_of_version_one(move))]
    return sorted(found)


def facts_of_version_one(move: Move) -> list[str]:
    """What says the same in version 1: the facts that are upcast to an outcome which leads there."""
    if move.source != "running":
        return []
    return [type(fact).__name__ for fact in VERSION_ONE if status_after(upcast(fact)) == move.target]


def status_after(event: Event) -> str:
    assert isinstance(event, NodeOutcomeCommitted)
    return STATUS_AFTER[event.outcome.kind]


def test_the_node_table_of_the_page_is_that_of_the_code() -> None:
    rows = node_rows_of_the_page(rows_of(NODE_HEAD))
    assert rows == node_rows_of_the_code(NODE_TABLE)
    assert len(set(rows)) == len(rows) > len(NODE_TABLE)


def test_each_row_of_the_node_table_is_needed_on_both_sides() -> None:
    rows, expected = rows_of(NODE_HEAD), node_rows_of_the_code(NODE_TABLE)
    assert all(node_rows_of_the_page(less) != expected for less in each_left_out(rows))
    assert all(node_rows_of_the_code(less) != node_rows_of_the_page(rows) for less in each_left_out(NODE_TABLE))


def test_amendments_of_the_node_table_are_the_first_that_are_listed_of_runs() -> None:
    listed = [cells_of(row)[0] for row in rows_of("| amendment | what is decided here | why |", of_runs())]
    named = {move.origin.removeprefix("amendment: ") for move in NODE_TABLE} - {DIAGRAM}
    assert set(listed[: len(named)]) == named
    assert "The first five are rows of the node table" in of_runs()
    assert len(named) == 5


def of_runs() -> str:
    return AMENDMENTS[AMENDMENTS.index("Of runs, likewise.") :]


# Events and their members


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an event, as far as the table tells of it."""

    name: str
    since: int
    is_required: bool
    words: tuple[str, ...]
    """What it may be, if these are the only words."""


@dataclass(frozen=True, slots=True)
class Row:
    """An event of the table."""

    since: int
    until: int
    members: tuple[Member, ...]


def events_of_the_page(rows: Iterable[str]) -> dict[str, Row]:
    found = {}
    for row in rows:
        names, versions, members = cells_of(row)
        since = int(versions.removesuffix(" only"))
        until = since if versions.endswith(" only") else max(EVENTS)
        for name in names.split(", "):
            assert name not in found
            found[name] = Row(since, until, tuple(members_of_the_page(members, since)))
    return found


def members_of_the_page(text: str, since: int) -> Iterable[Member]:
    """Read members: `since 4: ` if it came later, a name or two, `: ` and words or what it is, and in brackets more."""
    for part in re.split(r"; (?![^(]*\))", text) if text != "none" else ():
        later = re.match(r"since (\d): ", part)
        told = part[later.end() :] if later else part
        names = re.match(r"`(\w+)`(?: and `(\w+)`)?", told)
        assert names is not None, part
        words = without_brackets(told[names.end() :])
        for name in filter(None, names.groups()):
            yield Member(
                name=name,
                since=int(later[1]) if later else since,
                is_required=not re.search(r"\([^)]*\b(?:default|absent)\b", told),
                words=tuple(re.findall(r"`(\w+)`", words)) if words.startswith(": ") else (),
            )


def events_of_the_code(events: Iterable[type[Event]]) -> dict[str, Row]:
    found = {}
    for event in events:
        versions = [version for version, known in EVENTS.items() if event in known]
        assert versions == list(range(versions[0], versions[-1] + 1))
        found[event.__name__] = Row(versions[0], versions[-1], tuple(members_of_the_code(event, versions[0])))
    return found


def members_of_the_code(event: type[Event], since: int) -> Iterable[Member]:
    for place in places(event):
        if place.path.isidentifier() and place.path != "type":
            words = place.schema.get("enum", [])
            assert isinstance(words, Sequence)
            told = tuple(str(word) for word in words)
            yield Member(place.path, max(since, place.since), place.required, told)


def test_the_table_of_events_is_what_the_code_says() -> None:
    assert events_of_the_page(rows_of(EVENT_HEAD)) == events_of_the_code(ALL_EVENTS)


def test_each_row_of_the_table_of_events_is_needed_on_both_sides() -> None:
    rows, expected = rows_of(EVENT_HEAD), events_of_the_code(ALL_EVENTS)
    assert all(events_of_the_page(less) != expected for less in each_left_out(rows))
    assert all(events_of_the_code(less) != events_of_the_page(rows) for less in each_left_out(ALL_EVENTS))


@pytest.mark.parametrize(("old", "new"), [
    ("since 4: `deadline_ms`", "`deadline_ms`"), ("`attempt_id`; `attempt`, its", "`attempt`; `attempt_id`, its"),
    ("`wrong_name` or `wrong_token`", "`wrong_name`"), ("(any JSON, default null)", "(any JSON)"),
    ("| SignalExpired | 5", "| SignalExpired | 4"), ("| NodeSucceeded | 1 only", "| NodeSucceeded | 1"),
    ("; `usage`;", ";"),
])  # fmt: skip
def test_what_is_said_of_an_event_is_held_against_the_code(old: str, new: str) -> None:
    page = PAGE.replace(old, new)
    assert page != PAGE
    assert events_of_the_page(rows_of(EVENT_HEAD, page)) != events_of_the_code(ALL_EVENTS)


# Commands and the events that they give


def commands_of_the_page(rows: Iterable[str]) -> dict[str, tuple[str, ...]]:
    found = {}
    for row in rows:
        names, members, _ = cells_of(row)
        for name in names.split(", "):
            found[name] = tuple(re.findall(r"`(\w+)`", members))
    return found


def commands_of_the_code(commands: Iterable[type[Command]]) -> dict[str, tuple[str, ...]]:
    return {command.__name__: tuple(each.name for each in msgspec.structs.fields(command)) for command in commands}


def test_the_table_of_commands_is_what_the_code_says() -> None:
    rows, expected = rows_of(COMMAND_HEAD), commands_of_the_code(COMMANDS)
    assert commands_of_the_page(rows) == expected
    assert all(commands_of_the_page(less) != expected for less in each_left_out(rows))
    assert all(commands_of_the_code(less) != commands_of_the_page(rows) for less in each_left_out(COMMANDS))


def test_every_event_of_the_newest_version_comes_of_a_command_and_no_other_does() -> None:
    batches = PAGE.partition("\n## Commands and their batches\n")[2].partition("\n**RUN-006**")[0]
    known, facts = {event.__name__ for event in EVENTS[max(EVENTS)]}, {event.__name__ for event in RUN_FACTS}
    consequences = batches.partition("The order of consequences:")[2].partition("| command |")[0]
    named = set(re.findall(r"[A-Z][a-z]+[A-Z]\w+", consequences))
    for row in rows_of(COMMAND_HEAD):
        named |= set(re.findall(r"[A-Z][a-z]+[A-Z]\w+", cells_of(row)[2]))
    assert "the run fact" in consequences
    assert named | facts == known


def each_left_out(rows: Sequence[Item]) -> list[list[Item]]:
    return [[*rows[:number], *rows[number + 1 :]] for number in range(len(rows))]
