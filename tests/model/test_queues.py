"""Persistent priority queues against sorted lists."""

from __future__ import annotations

from random import Random

from perdure.kernel.queues import Queue, added, in_order, merged, rank_of, rest


def is_leftist(queue: Queue[int] | None) -> bool:
    """Tell whether no item beneath comes before the first, and the way down to the right is the shortest."""
    if queue is None:
        return True
    beneath = [part for part in (queue.left, queue.right) if part is not None]
    is_right = rank_of(queue.left) >= rank_of(queue.right) == queue.rank - 1
    return is_right and all(part.first >= queue.first and is_leftist(part) for part in beneath)


def queue_of(items: list[int]) -> Queue[int] | None:
    queue: Queue[int] | None = None
    for item in items:
        queue = added(queue, item)
    return queue


def test_items_come_out_in_order_and_older_queues_stay() -> None:
    random = Random(7)  # noqa: S311 - it draws examples
    for size in range(60):
        items = [random.randrange(20) for _ in range(size)]
        queue = queue_of(items)
        assert is_leftist(queue)
        assert list(in_order(queue)) == list(in_order(queue)) == sorted(items)


def test_two_queues_become_one() -> None:
    random = Random(8)  # noqa: S311 - it draws examples
    for size in range(40):
        one, other = ([random.randrange(30) for _ in range(random.randrange(size + 1))] for _ in range(2))
        both = merged(queue_of(one), queue_of(other))
        assert is_leftist(both)
        assert list(in_order(both)) == sorted(one + other)


def test_the_way_down_is_short() -> None:
    queue = queue_of(list(range(1_000)))
    assert rank_of(queue) <= 10
    assert rank_of(None) == 0
    assert queue is not None
    assert next(in_order(rest(queue))) == 1
