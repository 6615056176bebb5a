"""A journal whose recovery is its weakness: if its log ends in half a frame, it writes all of it anew, in place."""

from __future__ import annotations

from perdure_conformance.crash.journals import Appends


class WritesItsLogAnew(Appends):
    """Empties its log before it writes again what was sound of it."""

    def _take(self, content: bytes) -> int:
        end = super()._take(content)
        if end < len(content):
            self.system.ftruncate(self._descriptor, 0)
            self.system.pwrite(self._descriptor, content[:end], 0)
            self.system.fsync(self._descriptor)
        return end
