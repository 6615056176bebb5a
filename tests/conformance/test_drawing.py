"""What of Hypothesis is another while perdure draws is as it was afterwards, whoever else draws in the process."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

from hypothesis import configuration
from hypothesis.internal.conjecture import providers

from perdure_conformance.drawing import nothing_left_behind


def _of_hypothesis() -> tuple[object, ...]:
    names = vars(providers)
    return (
        names["_get_local_constants"],
        id(names["CONSTANTS_CACHE"]),
        vars(configuration)["__hypothesis_home_directory"],
    )


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
