"""Identities from a seed: the same seed gives the same ones, in the same order."""

from __future__ import annotations

import hashlib
import uuid


class SeededIds:
    """A source of identities that can be repeated."""

    def __init__(self, seed: int, use: str = "") -> None:
        self._seed = f"{use} {seed}"
        self._count = 0

    def next_uuid(self) -> uuid.UUID:
        """Return the next identity: a UUID of version 8, from a digest of the seed and its number."""
        self._count += 1
        found = hashlib.sha256(f"perdure simulate {self._seed} {self._count}".encode()).digest()[:16]
        return uuid.UUID(
            bytes=bytes([*found[:6], found[6] & 0x0F | 0x80, found[7], found[8] & 0x3F | 0x80, *found[9:]])
        )

    def next_text(self) -> str:
        """Return the next identity as canonical text."""
        return str(self.next_uuid())
