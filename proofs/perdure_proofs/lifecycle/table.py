"""The node table is the diagram with its amendments, every row of it happens, and nothing else does.

The table of `docs/spec/kernel.md` is the diagram of the ADR and the amendments that are listed there. It is read from
the page, and compared with the table that the kernel obeys: neither has a row that the other has not. The kernel
refuses every change of status that is no row, whatever the node, and each row happens in some history, by each event
that it names. What has ended stays as it is until an activation begins: no row leads from a terminal status to anywhere
but ready, and there the attempts of the node begin anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import msgspec

from perdure.kernel.changes import applied
from perdure.kernel.errors import Corruption
from perdure.kernel.liveness import changed
from perdure.kernel.outcomes import OUTCOME_KINDS
from perdure.kernel.rules import DIAGRAM, NODE_TABLE, RULES, STATUS_AFTER, Move, Rules
from perdure.kernel.state import STATUSES, TERMINAL
from perdure_conformance import data
from perdure_proofs.places import places
from perdure_proofs.theorems import Any, about_rules

Row = tuple[str, str, str, str]
"""From, to, by one event, and where that is said: the diagram, or the amendment."""

_HEAD: Final = "\n| from | to | by | source |\n| --- | --- | --- | --- |\n"
_OF_VERSION_1: Final = ("NodeSucceeded", "NodeFailed", "NodeBlocked")
_BEGINS: Final = ("NodeReady", "TransitionActivated")

_SHORT: Final = tuple(move for move in NODE_TABLE if (move.source, move.target) != ("retry_pending", "cancelled"))
_REVIVED: Final = Move("succeeded", "running", ("NodeStarted",), DIAGRAM)
_REOPENED: Final = Move("failed", "retry_pending", ("NodeOutcomeCommitted",), DIAGRAM)

THEOREM: Final = about_rules(
    "RUN-020",
    "RUN-021",
    mutants={
        "SparesWhatWillBeTriedAgain": replace(RULES, node_table=_SHORT),
        "StartsWhatHasSucceeded": replace(RULES, node_table=(*NODE_TABLE, _REVIVED)),
        "TriesAgainWhatHasFailed": replace(RULES, node_table=(*NODE_TABLE, _REOPENED)),
        "TakesChangesForSuccess": replace(RULES, status_after={**STATUS_AFTER, "changes_requested": "succeeded"}),
    },
)


def rows_of_the_page() -> set[Row]:
    """Return the rows of the node table of `kernel.md`, one for each event; without the words of version 1."""
    page = (data.specification() / "kernel.md").read_text("utf-8")
    table = page.partition(_HEAD)[2].partition("\n\n")[0]
    found = set()
    for row in table.split("\n"):
        sources, target, events, origin = (cell.strip() for cell in row.strip("|").split(" | "))
        names = re.split("[,;] ", re.sub(r" ?\([^()]*\)", "", events))
        found |= {(source, target, name, origin) for source in sources.split(", ") for name in names}
    return {row for row in found if row[2] not in _OF_VERSION_1}


def rows_of(table: Iterable[Move]) -> set[Row]:
    """Return the rows of a table of the kernel, as the page would write them."""
    return {
        (move.source.replace("_", " "), move.target.replace("_", " "), event, _origin(move))
        for move in table
        for event in move.events
    }


def _origin(move: Move) -> str:
    name = move.origin.removeprefix("amendment: ")
    return "diagram" if move.origin == DIAGRAM else f"amendment *{name}*"


@THEOREM.claim
def what_has_ended_leaves_by_an_activation_alone(rules: Rules, values: Any) -> bool:
    """A row that leads from a terminal status leads to ready, by what begins an activation."""
    move = values.among("row", rules.node_table)
    if move.source not in TERMINAL:
        return True
    return move.target == "ready" and set(move.events) <= set(_BEGINS)


@THEOREM.claim
def only_a_success_has_succeeded(rules: Rules, values: Any) -> bool:
    """After an outcome that is not retried a node has succeeded if that was a success, and no other outcome is one.

    It has ended with every outcome but a request for changes, after which a correction may come.
    """
    kind = values.among("kind", OUTCOME_KINDS)
    status = rules.status_after[kind]
    return (status == "succeeded") == (kind == "succeeded") and (status in TERMINAL) == (kind != "changes_requested")


@THEOREM.claim
def the_table_is_that_of_the_page(rules: Rules, values: Any) -> bool:
    """The table of the kernel has the rows of the page, with their events and where they are said, and no others."""
    row = values.among("row", sorted(rows_of_the_page() | rows_of(rules.node_table)))
    return row in rows_of_the_page() and row in rows_of(rules.node_table)


@THEOREM.claim
def the_kernel_refuses_what_is_no_row(rules: Rules, values: Any) -> bool:
    """A node goes from one status to another where a row of the page leads there, and is refused elsewhere."""
    before, after = values.among("before", STATUSES), values.among("after", STATUSES)
    state = places()[0].before
    node = msgspec.structs.replace(state.nodes[0], status=before)
    state = msgspec.structs.replace(state, nodes=state.nodes.set(0, node), statuses=state.statuses.set(before, 1))
    leads = {(source.replace(" ", "_"), target.replace(" ", "_")) for source, target, _, _ in rows_of_the_page()}
    try:
        changed(state, 0, msgspec.structs.replace(node, status=after), rules)
    except Corruption:
        return before != after and (before, after) not in leads
    return before == after or (before, after) in leads


@THEOREM.claim
def every_row_happens(rules: Rules, values: Any) -> bool:
    """Each row of the table is a change that happens in some history, by each event that it names."""
    move = values.among("row", rules.node_table)
    event = values.among("event", move.events)
    return any((move.source, move.target) in place.moves and type(place.event).__name__ == event for place in places())


@THEOREM.claim
def what_happens_is_a_row(rules: Rules, values: Any) -> bool:
    """Whatever event comes, a status changes as a row says, by an event of that row."""
    place = values.among("place", places())
    after = applied(place.before, place.event, place.version, rules)
    pairs = {(place.before.nodes[at].status, after.nodes[at].status) for at in after.nodes}
    name = type(place.event).__name__
    rows = {(move.source, move.target) for move in rules.node_table if name in move.events}
    return {(before, now) for before, now in pairs if before != now} <= rows


@THEOREM.claim
def an_activation_begins_at_its_first_attempt(rules: Rules, values: Any) -> bool:
    """What leaves a terminal status is ready, in an activation that it had not begun, without an attempt."""
    place = values.among("place", places())
    after = applied(place.before, place.event, place.version, rules)
    return all(
        now.status == "ready" and now.attempts == 0 and now.attempt_id is None and now.activation != node.activation
        for at, node in place.before.nodes.items()
        if node.status in TERMINAL and (now := after.nodes[at]).status != node.status
    )
