"""A mapped input sees the outcome that brought the activation, else the pinned one, else the last: never a newer one.

A node may run again while another still works with what it gave before. What an activation is given must not depend on
who was faster. So an activation that an edge of the source began sees the outcome that fired it, and a dependency the
one that was there when it was satisfied, whatever the source has done since. Only a node that is neither brought by the
source nor depends on it sees its last outcome, when it starts.

It is `_outcome_seen` of the kernel that is asked, of runs in which the reader depends on the source or not, and was
activated by it, by another node, or by no edge; sequences are any.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

import msgspec

from perdure.kernel.identity import NodeId
from perdure.kernel.mapping import _outcome_seen
from perdure.kernel.rules import RULES, Rules, outcome_seen
from perdure.kernel.specification import Edge, Node
from perdure.kernel.state import NodeState, Queued, State
from perdure_proofs.runs import MOST, run_of
from perdure_proofs.theorems import Any, about_rules, assume

_SOURCE, _READER = 0, 2


def _reads_the_newest(*seen: int | None) -> int | None:
    return max((each for each in seen if each), default=None)


THEOREM: Final = about_rules(
    "RUN-017",
    "DEP-008",
    mutants={
        "ReadsTheLastOutcome": replace(RULES, outcome_seen=lambda *seen: seen[-1]),
        "ReadsWhatIsPinnedFirst": replace(RULES, outcome_seen=lambda _, *seen: outcome_seen(None, *seen)),
        "ReadsTheNewest": replace(RULES, outcome_seen=_reads_the_newest),
        "ReadsTheLastWhereNothingIsPinned": replace(
            RULES, outcome_seen=lambda brought, pinned, last: brought or pinned or last
        ),
    },
)


@cache
def _run(*, depends: bool) -> State:
    source, other = NodeId("source"), NodeId("other")
    reader = Node(id=NodeId("reader"), dependencies=(source,) if depends else ())
    edges = [Edge(source=source, target=reader.id), Edge(source=other, target=reader.id)]
    return run_of([Node(id=source), Node(id=other), reader], edges)


def _seen(rules: Rules, last: int | None, *, activation: Queued | None, pinned: int | None) -> int | None:
    """Return the outcome of the source that the reader sees; it depends on it if something is pinned."""
    state = _run(depends=pinned is not None)
    reader = NodeState(activation=activation, released=None if pinned is None else (pinned,))
    nodes = state.nodes.set(_SOURCE, NodeState(outcome=last)).set(_READER, reader)
    return _outcome_seen(msgspec.structs.replace(state, nodes=nodes), _READER, _SOURCE, rules)


def _any_pin(values: Any) -> int | None:
    """Return what is pinned of the source: any outcome, 0 for none; or None if the reader does not depend on it."""
    return values.whole("pinned", 0, MOST) if values.among("depends", (False, True)) else None


def _no_edge_of_the_source(values: Any) -> Queued | None:
    is_brought = values.among("brought by another", (False, True))
    return Queued(values.whole("of another", 2, MOST), 1) if is_brought else None


@THEOREM.claim
def what_brought_the_activation_is_seen(rules: Rules, values: Any) -> bool:
    """An activation by an edge of the source sees the outcome that fired it, whatever is pinned or came since."""
    brought, last = values.whole("brought", 2, MOST), values.whole("last", 2, MOST)
    assume(brought <= last)
    return _seen(rules, last, activation=Queued(brought, 0), pinned=_any_pin(values)) == brought


@THEOREM.claim
def nothing_newer_than_the_latch_is_seen(rules: Rules, values: Any) -> bool:
    """A dependent that the source did not activate sees what was pinned of it, or nothing if it had no outcome then."""
    pinned, last = values.whole("pinned", 0, MOST), values.whole("last", 2, MOST)
    assume(pinned <= last)
    found = _seen(rules, last, activation=_no_edge_of_the_source(values), pinned=pinned)
    return found is None if pinned == 0 else found == pinned


@THEOREM.claim
def what_comes_since_changes_nothing(rules: Rules, values: Any) -> bool:
    """However often the source runs again, the activation that it brought, and its dependents, see what they saw."""
    pinned = _any_pin(values)
    activation = _no_edge_of_the_source(values)
    if pinned is None or values.among("brought by the source", (False, True)):
        activation = Queued(values.whole("brought", 2, MOST), 0)
    one, other = values.whole("last", 2, MOST), values.whole("later", 2, MOST)
    before = _seen(rules, one, activation=activation, pinned=pinned)
    return before == _seen(rules, other, activation=activation, pinned=pinned)


@THEOREM.claim
def elsewhere_the_last_outcome_is_seen(rules: Rules, values: Any) -> bool:
    """Where the source neither brought the activation nor is depended on, its last outcome is seen, if it had one."""
    last = values.whole("last", 2, MOST) if values.among("has ended", (True, False)) else None
    return _seen(rules, last, activation=_no_edge_of_the_source(values), pinned=None) == last
