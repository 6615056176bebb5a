"""What was said over a connection: kept for a failure, bounded in memory."""

from __future__ import annotations

from collections import deque

_MESSAGES_KEPT = 400
_BYTES_OF_A_MESSAGE_KEPT = 4096


class Transcript:
    """The last messages of all connections of one check, in order."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_MESSAGES_KEPT)
        self.last_sent: bytes | None = None
        """The last line to the implementation, whole."""
        self.last_received: bytes | None = None
        """The line that came for it, whole; None if none did."""

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
        self._lines.append(f"{arrow} {text}{cut}")
