"""Ctrl-C and termination as one exception, and what is left to tidy up, so that nothing stays behind on the way out."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interrupted(BaseException):
    """The user, or the system, asks to stop. Not a `KeyboardInterrupt`, which the command line would swallow."""


class _State:
    depth = 0
    """How many things that must not be broken off are under way on the main thread."""
    is_pending = False


_owed: dict[object, Callable[[], object]] = {}


def interrupt_on_signals() -> None:
    """Turn the first signal into `Interrupted`; those after it do not disturb the tidying up."""
    for number in _SIGNALS:
        signal.signal(number, _interrupt)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if _State.depth:
        _State.is_pending = True
        return
    raise Interrupted


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Make something, and note that it is there, in one step: `Interrupted` comes before or behind it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # No signal is handled here.
        return
    _State.depth += 1
    try:
        yield
    finally:
        _State.depth -= 1
        if _State.is_pending and not _State.depth:
            _State.is_pending = False
            raise Interrupted


def owe(what: object, tidy: Callable[[], object]) -> None:
    """Note what has to be done about something that was made, whatever happens."""
    _owed[what] = tidy


def settle(what: object) -> None:
    """Note that it is done."""
    _owed.pop(what, None)


def tidy_up() -> None:
    """Do what is still owed, the latest first."""
    while _owed:
        _, tidy = _owed.popitem()
        with suppress(OSError):
            tidy()
