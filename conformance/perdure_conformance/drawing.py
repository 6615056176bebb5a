"""How Hypothesis draws, whatever is drawn: the same for each seed, without a clock, and nothing is left behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis.configuration import set_hypothesis_home_dir


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


@contextmanager
def nothing_left_behind() -> Iterator[None]:
    """Draw without a trace: else Hypothesis leaves a folder where the user stands."""
    with TemporaryDirectory(prefix="perdure-") as home:
        set_hypothesis_home_dir(home)
        yield
