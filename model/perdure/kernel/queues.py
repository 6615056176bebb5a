"""Persistent priority queues: what is due first, what comes first in specification order.

A queue is a leftist heap, or None if it is empty. Nothing is changed in place: an older queue stays what it was, and
shares what it can. Adding and taking cost a logarithm of the size.

Source: Okasaki, "Purely Functional Data Structures" (1998), section 3.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, NamedTuple, Protocol, Self, TypeVar


class Ordered(Protocol):
    """Something that comes before or after others of its type."""

    def __lt__(self, other: Self, /) -> bool: ...


Item = TypeVar("Item", bound=Ordered)


class Queue(NamedTuple, Generic[Item]):
    """A queue that is not empty. No item beneath comes before `first`."""

    first: Item
    rank: int
    """The length of the way down to the right."""
    left: Queue[Item] | None
    right: Queue[Item] | None


def merged(one: Queue[Item] | None, other: Queue[Item] | None) -> Queue[Item] | None:
    """Return the queue of the items of both."""
    if one is None:
        return other
    if other is None:
        return one
    if other.first < one.first:
        one, other = other, one
    left, right = one.left, merged(one.right, other)
    if rank_of(left) < rank_of(right):
        left, right = right, left
    return Queue(one.first, rank_of(right) + 1, left, right)


def rank_of(queue: Queue[Item] | None) -> int:
    """Return the rank of a queue; an empty one has 0."""
    return 0 if queue is None else queue.rank


def added(queue: Queue[Item] | None, item: Item) -> Queue[Item] | None:
    """Return the queue with one more item."""
    return merged(queue, Queue(item, 1, None, None))


def rest(queue: Queue[Item]) -> Queue[Item] | None:
    """Return the queue without its first item."""
    return merged(queue.left, queue.right)


def in_order(queue: Queue[Item] | None) -> Iterator[Item]:
    """Yield the items, first ones first."""
    while queue is not None:
        yield queue.first
        queue = rest(queue)
