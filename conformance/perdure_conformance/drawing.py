"""How Hypothesis draws, whatever is drawn: the same for each seed, without a clock, and nothing is left behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Final

from hypothesis import HealthCheck, Phase, Verbosity, configuration, settings
from hypothesis.internal.cache import LRUCache
from hypothesis.internal.conjecture import providers


def drawing(examples: int, *, steps: int = 1, shrinks: bool = False) -> settings:
    """Return how so many examples are drawn, of so many steps each; and whether what fails is made smaller."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        phases=[Phase.generate, Phase.shrink] if shrinks else [Phase.generate],
        database=None,
        deadline=None,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )


class _NoConstants:
    """What is drawn from the source of whatever modules are imported: nothing."""

    def set_for_type(self, _: str) -> tuple[()]:
        """Return the constants of a type."""
        return ()


_LOCK: Final = Lock()
_USES: Final[list[ExitStack]] = []
"""What puts everything back, once for each use: the first use changes it, and the last one puts it back."""


@contextmanager
def nothing_left_behind() -> Iterator[None]:
    """Draw by the seed alone, and without a trace: else Hypothesis leaves a folder where the user stands.

    What of Hypothesis is another for that is as it was afterwards, also for tests of the user's in the same process.
    """
    with _LOCK:
        _USES.append(_changed() if not _USES else _USES[0])
    try:
        yield
    finally:
        with _LOCK:
            last = _USES.pop()
            if not _USES:
                last.close()


def _changed() -> ExitStack:
    """Change what Hypothesis draws from, and where it keeps things; return what puts it back.

    Hypothesis reads the source of every module that is not installed, and draws the constants that it finds there: what
    a seed stands for would depend on where perdure lies and who imports it, and to read it takes a second.
    """
    with ExitStack() as changes:
        home = changes.enter_context(TemporaryDirectory(prefix="perdure-"))
        changes.enter_context(_instead(vars(configuration), {HOME: Path(home)}))
        changes.enter_context(_instead(vars(providers), {CONSTANTS: _NoConstants, CACHE: LRUCache(1024)}))
        return changes.pop_all()


HOME: Final = "__hypothesis_home_directory"
"""Of `hypothesis.configuration`: where it keeps things. Like the other two it is not public: a test looks for them."""
CONSTANTS: Final = "_get_local_constants"
"""Of its `providers`: returns the constants in the source of what is imported."""
CACHE: Final = "CONSTANTS_CACHE"
"""Of its `providers`: which of these may be drawn, by what else is asked."""


@contextmanager
def _instead(names: dict[str, object], others: Mapping[str, object]) -> Iterator[None]:
    """Give names other values, those that are there."""
    former = {name: names[name] for name in others if name in names}
    names.update({name: others[name] for name in former})
    try:
        yield
    finally:
        names.update(former)
