"""The journal on lines of JSON: appended in place, and synced before anything is acknowledged.

What a killed writer or a power cut leaves behind the last batch was never acknowledged: a torn tail, which is dropped.
All else that is wrong is damage.

Source: `docs/spec/formats.md`, "JSON lines: appended in place".
"""

from __future__ import annotations

import codecs
import logging
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Literal

from perdure.journal.contract import (
    AppendAnswer,
    Capabilities,
    Description,
    Envelope,
    NotStored,
    Unavailable,
    acknowledge,
)
from perdure.journal.folder import LIMITS, Damaged, RunsInFiles, Stored, in_whole_batches, place_after, sync
from perdure.journal.records import Record, RecordError, opened
from perdure.kernel.identity import RunId

FORMAT_VERSION: Final = 1

_TOKENS: Final = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*"|[\[\]{}]|[^"\[\]{}\x00-\x1f]+')
_OPEN_STRING: Final = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*\\?')
_LOG: Final = logging.getLogger("perdure.journal")


class LinesJournal(RunsInFiles):
    """One handle on the folder `NAMESPACE` in `state_dir`."""

    suffix = ".jsonl"

    @property
    def description(self) -> Description:
        """What is claimed: all about records; no snapshots, no leases."""
        return Description(
            name="lines",
            version=f"{FORMAT_VERSION}",
            capabilities=Capabilities(
                exact_replay=True,
                event_id_dedup=True,
                atomic_batch=True,
                multi_handle=True,
                multi_process=True,
                durable="ordered",
                read="linearizable",
                format="jsonl",
            ),
            limits=LIMITS,
        )

    def _said(self, body: str) -> Record:
        return opened(body)

    def _parsed(self, run_id: RunId, content: bytes) -> Stored:
        *lines, rest = content.split(b"\n")
        records: list[Record] = []
        bodies: list[str] = []
        for sequence, line in enumerate(lines, 1):
            bodies.append(_text(sequence, line))
            records.append(_at_its_place(run_id, records, bodies[-1]))
        _require_torn(run_id, records, rest)
        whole = in_whole_batches(len(records), records[-1] if records else None)
        kept = sum(len(line) + 1 for line in lines[:whole])
        if kept < len(content):
            _LOG.warning("torn_tail: run %s: %d bytes from byte %d on are dropped", run_id, len(content) - kept, kept)
        envelopes = [
            Envelope(record.sequence, record.event_id, body)
            for record, body in zip(records[:whole], bodies, strict=False)
        ]
        return Stored(envelopes, content[:kept], len(content) - kept)

    def _store(self, run_id: RunId, stored: Stored, records: Sequence[Envelope]) -> AppendAnswer:
        name = self._name(run_id)
        self._folder.begin(name)
        descriptor = os.open(self._folder.path / name, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
        end = len(stored.content)
        try:
            if stored.torn_bytes:
                os.ftruncate(descriptor, end)
                os.fsync(descriptor)
            failure: NotStored | Unavailable | None = _write(descriptor, end, b"".join(map(self._line, records)))
            if failure is None and end == 0:
                sync(self._folder.path)
            self._folder.finish()
        except OSError as error:  # What is not cut off again is synced before anybody is told of it.
            failure = Unavailable(detail=f"{error.strerror}")
            with suppress(OSError):
                os.ftruncate(descriptor, end)
        finally:
            os.close(descriptor)
        return acknowledge(records) if failure is None else failure

    def _line(self, record: Envelope) -> bytes:
        return record.body.encode() + b"\n"

    def _highest_epoch(self, run_id: RunId) -> int:
        """Return 0: there are no leases."""
        del run_id
        return 0


def _write(descriptor: int, end: int, content: bytes) -> NotStored | None:
    """Write behind the last line and sync; if not all fits, take it back. Raises `OSError` if that cannot be known."""
    written = 0
    try:
        while written < len(content):
            written += os.pwrite(descriptor, content[written:], end + written)
    except OSError as error:
        os.ftruncate(descriptor, end)
        os.fsync(descriptor)
        return NotStored(detail=f"{error.strerror}")
    os.fsync(descriptor)
    return None


def _text(sequence: int, line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Damaged(sequence, f"its line is no UTF-8: {error.reason} at byte {error.start}") from error


def _at_its_place(run_id: RunId, before: Sequence[Record], body: str) -> Record:
    """Return the record in a whole line. Raises `Damaged` if there is none, or one that belongs elsewhere."""
    sequence = len(before) + 1
    try:
        record = opened(body)
    except RecordError as error:
        raise Damaged(sequence, f"its line holds no sound record: {error}") from error
    if (record.run_id, record.sequence) != (run_id, sequence):
        raise Damaged(sequence, f"its line holds record {record.sequence} of run {record.run_id}")
    expected = place_after(before[-1] if before else None, record)
    if (record.batch_index, record.batch_size) != expected:
        raise Damaged(sequence, f"its line is part {record.batch_index + 1} of a batch, in place of {expected[0] + 1}")
    return record


def _require_torn(run_id: RunId, before: Sequence[Record], rest: bytes) -> None:
    """Hold what follows the last LF to be a torn tail, or nothing. Raises `Damaged`."""
    begun = rest.rstrip(b"\0")
    part = part_of_an_object(begun) if begun else "beginning"
    if part is None:
        raise Damaged(len(before) + 1, "the last line has no end, and is not the beginning of a record")
    if part == "whole":
        _at_its_place(run_id, before, _text(len(before) + 1, begun))


def part_of_an_object(text: bytes) -> Literal["beginning", "whole"] | None:
    """Tell how much of a JSON object a text can be; None if it is no beginning of one, or longer than one."""
    if not text.startswith(b"{") or not _may_be_utf8(text):
        return None
    depth = position = 0
    while position < len(text):
        token = _TOKENS.match(text, position)
        if token is None:
            return "beginning" if _OPEN_STRING.fullmatch(text, position) is not None else None
        depth += (token[0] in {b"[", b"{"}) - (token[0] in {b"]", b"}"})
        position = token.end()
        if depth == 0:
            return "whole" if position == len(text) else None
    return "beginning"


def _may_be_utf8(text: bytes) -> bool:
    """Tell whether a text is UTF-8 as far as it goes; a last character may be cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(text)
    except UnicodeDecodeError:
        return False
    return True
