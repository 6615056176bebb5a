"""How far long work is, told on standard error: on a bar where somebody watches, in a few lines where nobody does."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from perdure_conformance.cli.common import QUIET
from perdure_conformance.suite import Progress, say_nothing

Item = TypeVar("Item")


@contextmanager
def progress() -> Iterator[Progress]:
    """Give what tells how far work is."""
    if _is_quiet():
        yield say_nothing
        return
    with progress_bar() as bar:
        yield _in_lines() if bar.disable else _on(bar)


def _is_quiet() -> bool:
    return bool(os.environ.get(QUIET))


def tracked(items: Collection[Item], label: str) -> Iterator[Item]:
    """Give the items, and tell how many are done."""
    return tracked_of(items, label, len(items))


def tracked_of(items: Iterable[Item], label: str, total: int) -> Iterator[Item]:
    """Give the items, of which there are so many, and tell how many are done."""
    with progress() as tell:
        tell(label, 0, total)
        for done, item in enumerate(items, 1):
            yield item
            tell(label, done, total)


def progress_bar() -> Bar:
    """Return a progress bar on standard error; it is disabled when nobody watches."""
    where = Console(stderr=True, highlight=False)
    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
        console=where,
        disable=not where.is_terminal or _is_quiet(),
        transient=True,
    )


def _on(bar: Bar) -> Progress:
    """Return what tells on a bar how far it is, where somebody watches."""
    tasks: dict[str, TaskID] = {}

    def tell(label: str, done: int, total: int) -> None:
        if label not in tasks:
            tasks[label] = bar.add_task(label, total=total)
        bar.update(tasks[label], completed=done, total=total)

    return tell


_LINES_OF_A_PART: Final = 4


def _in_lines() -> Progress:
    """Return what tells on standard error how far it is, for a log: a line as a part begins, and at each quarter."""
    told: dict[str, int] = {}

    def tell(label: str, done: int, total: int) -> None:
        quarter = done * _LINES_OF_A_PART // total if total else _LINES_OF_A_PART
        if told.get(label, -1) < quarter < _LINES_OF_A_PART:
            told[label] = quarter
            with contextlib.suppress(OSError, ValueError):  # The verdict stands, whoever reads this.
                counted = f", {done} of {total}" if total > 1 else ""
                sys.stderr.write(f"perdure: {label}{counted}\n")

    return tell
