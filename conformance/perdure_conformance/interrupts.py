"""Ctrl-C and termination as one exception, so that everything is tidied up on the way out."""

from __future__ import annotations

import signal
from types import FrameType
from typing import NoReturn

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interrupted(BaseException):
    """The user, or the system, asks to stop. Not a `KeyboardInterrupt`, which the command line would swallow."""


def interrupt_on_signals() -> None:
    """Turn the first signal into `Interrupted`; those after it do not disturb the tidying up."""
    for number in _SIGNALS:
        signal.signal(number, _interrupt)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise Interrupted
