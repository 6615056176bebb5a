"""What was said over a connection: kept for a failure, bounded in memory."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Iterator

_MESSAGES_KEPT = 400
_BYTES_OF_A_MESSAGE_KEPT = 4096


class Transcript:
    """The last messages of all connections of one check, in order."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_MESSAGES_KEPT)
        self._lock = threading.RLock()
        self._with = ""
        self.last_sent: bytes | None = None
        """The last line to the implementation, whole."""
        self.last_received: bytes | None = None
        """The line that came for it, whole; None if none did."""

    def of(self, who: str) -> Transcript:
        """Return this very transcript, for what is said with one of several: its lines begin with the name."""
        return _Part(self, who)

    @contextlib.contextmanager
    def spoken_with(self, who: str) -> Iterator[None]:
        """Let what is kept meanwhile begin with a name; whoever speaks with somebody else waits."""
        with self._lock:
            self._with = f"{who} "
            try:
                yield
            finally:
                self._with = ""

    def sent(self, line: bytes) -> None:
        """Keep a line to the implementation."""
        self.last_sent, self.last_received = line, None
        self._keep("→", line)

    def received(self, line: bytes) -> None:
        """Keep a line from the implementation."""
        self.last_received = line
        self._keep("←", line)

    def event(self, text: str) -> None:
        """Keep what happened to the process."""
        self._lines.append(f"* {text}")

    def text(self) -> str:
        """Return the transcript, one message a line."""
        return "".join(f"{line}\n" for line in self._lines)

    def _keep(self, arrow: str, line: bytes) -> None:
        text = line[:_BYTES_OF_A_MESSAGE_KEPT].decode("utf-8", "backslashreplace").rstrip("\n")
        cut = f" … ({len(line)} bytes)" if len(line) > _BYTES_OF_A_MESSAGE_KEPT else ""
        self._lines.append(f"{self._with}{arrow} {text}{cut}")


class _Part(Transcript):
    """What is said with one of several, in the transcript of all."""

    def __init__(self, whole: Transcript, who: str) -> None:
        super().__init__()
        self._whole, self._who = whole, who

    def sent(self, line: bytes) -> None:
        with self._whole.spoken_with(self._who):
            self._whole.sent(line)

    def received(self, line: bytes) -> None:
        with self._whole.spoken_with(self._who):
            self._whole.received(line)
