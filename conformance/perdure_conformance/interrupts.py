"""Ctrl-C and termination as one exception, and what is left to tidy up, so that nothing stays behind on the way out."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final
from weakref import ReferenceType, ref

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interrupted(BaseException):
    """The user, or the system, asks to stop. Not a `KeyboardInterrupt`, which the command line would swallow."""


class _State:
    depth = 0
    """How many things that must not be broken off are under way on the main thread."""
    is_pending = False
    raised: ReferenceType[Interrupted] | None = None
    """What was raised; nothing any more once that was dropped, or caught and done with."""


_LOOKS_AGAIN_S: Final = 0.25
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
    raise _interrupted()


def _interrupted() -> Interrupted:
    """Return what is to be raised, and see to it that it is raised again if it is dropped.

    Python drops what is raised while it collects garbage, finalises an object or compiles a module.
    """
    interrupted = Interrupted()
    _State.raised = ref(interrupted)
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _raise_again_what_was_dropped)
        signal.setitimer(signal.ITIMER_REAL, _LOOKS_AGAIN_S, _LOOKS_AGAIN_S)
    return interrupted


def _raise_again_what_was_dropped(_signal: int, _frame: FrameType | None) -> None:
    if _State.raised is None or _State.raised() is not None:
        return
    if _State.depth:
        _State.is_pending = True
        return
    raise _interrupted()


def heeded() -> None:
    """Note that `Interrupted` was caught by whoever ends what is under way: it is not raised again."""
    _State.raised = None
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


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
            raise _interrupted()


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
