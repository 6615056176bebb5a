"""Journals that do to their files what others seldom do; what is wrong with one, if anything is, its docstring says."""

from __future__ import annotations

import os

from perdure_conformance.crash.journals import Appends


class EmptiesAFileUnseen(Appends):
    """Nothing; but it empties a file by a path that does not lead through the state directory."""

    def _start(self) -> None:
        super()._start()
        rest = os.open(self._folder / "rest", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        os.write(rest, b"rest")
        os.close(os.open(f"/proc/self/fd/{rest}", os.O_WRONLY | os.O_TRUNC))
        os.close(rest)
