"""What of Hypothesis is another while perdure draws is as it was afterwards, whoever else draws in the process."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from types import ModuleType

import hypothesis
import pytest
from hypothesis import configuration, given, seed, strategies
from hypothesis.internal.conjecture import providers

from perdure_conformance.drawing import CACHE, CONSTANTS, HOME, drawing, nothing_left_behind

VANISHED = (
    f"Hypothesis {hypothesis.__version__} has another inside: {{}}. So a seed may draw something else wherever perdure "
    "lies, or a folder may be left behind. Find what has taken its place, and put that into "
    "perdure_conformance/drawing.py; until then, keep Hypothesis below this version in pyproject.toml."
)


def _of_hypothesis() -> tuple[object, ...]:
    names = vars(providers)
    return names[CONSTANTS], id(names[CACHE]), vars(configuration)[HOME]


@pytest.mark.parametrize(("module", "name"), [(configuration, HOME), (providers, CONSTANTS), (providers, CACHE)])
def test_hypothesis_has_the_names_that_are_replaced_while_it_draws(module: ModuleType, name: str) -> None:
    assert name in vars(module), VANISHED.format(f"{module.__name__} has no {name}")


def test_hypothesis_asks_what_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    @seed(1)
    @drawing(10)
    @given(strategies.lists(strategies.integers(), min_size=50))
    def draw(numbers: list[int]) -> None:
        del numbers

    with nothing_left_behind(), monkeypatch.context() as patch:
        replaced = vars(providers)[CONSTANTS]

        def noted() -> object:
            asked.append(True)
            return replaced()

        patch.setattr(providers, CONSTANTS, noted)
        draw()
        kept = len(vars(providers)[CACHE].cache)
    assert asked, VANISHED.format(f"nothing calls {CONSTANTS} while integers are drawn")
    assert kept, VANISHED.format(f"nothing is kept in {CACHE} while integers are drawn")


def test_everything_is_put_back_after_uses_within_others_and_after_exceptions() -> None:
    before = _of_hypothesis()
    homes: list[Path] = []
    with suppress(ValueError), nothing_left_behind():
        within = _of_hypothesis()
        assert not set(before[:2]) & set(within)
        with nothing_left_behind():
            pass
        assert _of_hypothesis() == within
        homes.append(Path(str(within[2])))
        assert homes[0].is_dir()
        raise ValueError
    assert _of_hypothesis() == before
    assert not homes[0].exists()


def test_of_two_uses_at_once_the_last_puts_it_back() -> None:
    before = _of_hypothesis()
    began, goes = Event(), Event()

    def draw() -> None:
        with nothing_left_behind():
            began.set()
            goes.wait(60)

    other = Thread(target=draw)
    with nothing_left_behind():
        other.start()
        began.wait(60)
        within = _of_hypothesis()
    assert _of_hypothesis() == within
    goes.set()
    other.join()
    assert _of_hypothesis() == before
