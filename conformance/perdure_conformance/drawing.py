"""How Hypothesis draws, whatever is drawn: the same for each seed, without a clock, and nothing is left behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Final

from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis.configuration import set_hypothesis_home_dir
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


_OF_NO_MODULE: Final = {"_get_local_constants": _NoConstants, "CONSTANTS_CACHE": {}}
"""Hypothesis reads the source of every module that is not installed, and draws the constants that it finds there: what
a seed stands for would depend on where perdure lies and who imports it, and to read it takes a second."""


@contextmanager
def nothing_left_behind() -> Iterator[None]:
    """Draw by the seed alone, and without a trace: else Hypothesis leaves a folder where the user stands."""
    of_hypothesis = vars(providers)
    former = {name: of_hypothesis[name] for name in _OF_NO_MODULE if name in of_hypothesis}
    with TemporaryDirectory(prefix="perdure-") as home:
        set_hypothesis_home_dir(home)
        of_hypothesis.update(_OF_NO_MODULE)
        try:
            yield
        finally:
            of_hypothesis.update(former)
