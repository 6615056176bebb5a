"""What is due has one order: by deadlines, then by kinds as the page has them, then in specification order.

Two runs of one history must not differ in what came first, so of two things that are due one is always first, and which
one it is does not depend on when they were noted. The order is that of their deadlines; of one deadline that of the
kinds, the sentence of TIM-003 in `docs/spec/kernel.md` read as it stands; of one kind that of the nodes. It is total:
of two items one is first or they are the same, and what comes before the second of two comes before whatever comes
after it. The queue gives its items in this order, in whatever order they were put in: this is shown of any three, and
that a queue only ever compares two is why it should be so of more.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import permutations
from typing import Final

import msgspec

from perdure.kernel.consequences import scheduled
from perdure.kernel.queues import added, in_order
from perdure.kernel.rules import DUE_ORDER, RULES, DueKind, Rules
from perdure.kernel.state import Due, State
from perdure_conformance import data
from perdure_proofs.places import places
from perdure_proofs.runs import MOST
from perdure_proofs.theorems import UNNOTED, Any, Theorem, assume

Schedule = Callable[[State, DueKind, int, int, Rules], State]

_WORDS: Final = {
    "elapsed": "elapsed limit",
    "attempt": "attempt",
    "signal_wait": "signal wait",
    "timer": "timer wait",
    "retry": "retry",
}
"""Each kind in the words of the page."""
_NODES: Final = 2**20


@dataclass(frozen=True, slots=True)
class Ordering:
    """What puts in order what happens at a time."""

    rules: Rules = RULES
    scheduled: Schedule = field(default=scheduled, metadata=UNNOTED)


def _last_node_first(state: State, kind: DueKind, deadline_ms: int, position: int, rules: Rules) -> State:
    return scheduled(state, kind, deadline_ms, -position, rules)


def _kinds_before_deadlines(state: State, kind: DueKind, deadline_ms: int, position: int, rules: Rules) -> State:
    return scheduled(state, "elapsed", rules.due_order.index(kind), deadline_ms + position, rules)


def _ordered(*kinds: DueKind) -> Ordering:
    return Ordering(replace(RULES, due_order=kinds))


THEOREM: Final = Theorem(
    ("TIM-003",),
    Ordering(),
    {
        "TheLimitComesLast": _ordered("attempt", "signal_wait", "timer", "retry", "elapsed"),
        "WaitsComeFirst": _ordered("elapsed", "signal_wait", "attempt", "timer", "retry"),
        "TimersBeforeSignals": _ordered("elapsed", "attempt", "timer", "signal_wait", "retry"),
        "RetriesComeFirst": _ordered("elapsed", "attempt", "signal_wait", "retry", "timer"),
        "LastNodeFirst": Ordering(scheduled=_last_node_first),
        "KindsBeforeDeadlines": Ordering(scheduled=_kinds_before_deadlines),
    },
)


@lru_cache(maxsize=1)
def order_of_the_page() -> tuple[str, ...]:
    """Return the kinds of what is due at one time, as TIM-003 orders them, in its words."""
    page = (data.specification() / "kernel.md").read_text("utf-8")
    told = re.search(r"\*\*TIM-003\*\* .* of one deadline in the order ([^;]+);", page)
    assert told is not None
    return tuple(told[1].split(", "))


def any_item(values: Any, which: str) -> Due:
    """Return any item of the queue."""
    return Due(
        values.whole(f"deadline_ms of {which}", 0, MOST),
        values.whole(f"kind of {which}", 0, len(DUE_ORDER) - 1),
        values.whole(f"node of {which}", -1, _NODES),
    )


@THEOREM.claim
def the_kinds_are_those_of_the_page(kernel: Ordering, values: Any) -> bool:
    """The page names each kind once."""
    del kernel, values
    return sorted(_WORDS.values()) == sorted(order_of_the_page())


@THEOREM.claim
def the_first_of_two_is_first(kernel: Ordering, values: Any) -> bool:
    """Of two things that happen at a time, the first is by deadline, by kind and by node, whichever was noted first."""
    one, other = values.among("kind of one", DUE_ORDER), values.among("kind of the other", DUE_ORDER)
    one_ms, other_ms = values.whole("deadline_ms of one", 0, MOST), values.whole("deadline_ms of the other", 0, MOST)
    node, other_node = values.whole("node of one", 0, _NODES), values.whole("node of the other", 0, _NODES)
    places_of = [order_of_the_page().index(_WORDS[kind]) for kind in (one, other)]
    assume((one_ms, places_of[0], node) < (other_ms, places_of[1], other_node))
    empty = msgspec.structs.replace(places()[0].before, due=None)
    first = kernel.scheduled(empty, one, one_ms, node, kernel.rules)
    both = kernel.scheduled(first, other, other_ms, other_node, kernel.rules)
    second = kernel.scheduled(empty, other, other_ms, other_node, kernel.rules)
    swapped = kernel.scheduled(second, one, one_ms, node, kernel.rules)
    assert first.due is not None
    assert both.due is not None
    assert swapped.due is not None
    return both.due.first == first.due.first == swapped.due.first


@THEOREM.claim
def of_two_items_one_is_first(kernel: Ordering, values: Any) -> bool:
    """Of two items either the one comes first, or the other, or they are the same: exactly one of these."""
    del kernel
    one, other = any_item(values, "one"), any_item(values, "the other")
    return [one < other, other < one, one == other].count(True) == 1


@THEOREM.claim
def what_comes_before_comes_before_what_follows(kernel: Ordering, values: Any) -> bool:
    """What comes before a second item comes before each third that the second comes before."""
    del kernel
    first, second, third = (any_item(values, which) for which in ("the first", "the second", "the third"))
    assume(first < second)
    assume(second < third)
    return first < third


@THEOREM.claim
def the_queue_gives_them_in_order(kernel: Ordering, values: Any) -> bool:
    """Any three items come out of the queue first ones first, in whatever order they were put in."""
    del kernel
    items = [any_item(values, which) for which in ("the first", "the second", "the third")]
    assume(items[0] < items[1])
    assume(items[1] < items[2])
    queue = None
    for number in values.among("put in", tuple(permutations(range(3)))):
        queue = added(queue, items[number])
    return list(in_order(queue)) == items
