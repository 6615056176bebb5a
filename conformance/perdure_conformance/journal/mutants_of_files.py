"""Journals on files that are wrong on purpose: what they make of their formats, of torn tails and of damage.

Each is named after its fault and kept so small that the fault is all one sees. They prove that the checks can fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from perdure.journal.contract import AppendAnswer, Envelope, LoadSnapshotAnswer, Snapshot, Unavailable, acknowledge
from perdure.journal.files import WrittenFilesJournal
from perdure.journal.folder import Damaged, Folder, Stored, head_of
from perdure.journal.frames import FrameError, frames
from perdure.journal.lines import LinesJournal
from perdure.journal.records import RecordError, opened
from perdure.kernel.identity import RunId
from perdure_conformance.journal.registry import mutant

Answer = TypeVar("Answer")
Records = Sequence[Envelope]

_HEADER = b"RUNS0001"
_OF_A_HEADER = 12


# Whole files


@mutant("JRN-030", overlaps=("JRN-037",))
class BeginsWithAHeader(WrittenFilesJournal):
    """Puts a header of its own before the first frame."""

    def _parsed(self, run_id: RunId, content: bytes) -> Stored:
        return super()._parsed(run_id, content.removeprefix(_HEADER))

    def _replace(self, name: str, content: bytes, answer: Answer) -> Answer | Unavailable:
        return super()._replace(name, _HEADER + content if name.endswith(self.suffix) else content, answer)


@mutant("JRN-030", overlaps=("JRN-031", "JRN-037"))
class LeavesRoomToGrow(WrittenFilesJournal):
    """Fills its file up with zeros to a whole block, and stops at the first frame of zeros when it reads."""

    def _parsed(self, run_id: RunId, content: bytes) -> Stored:
        return super()._parsed(run_id, content.rstrip(b"\0"))

    def _replace(self, name: str, content: bytes, answer: Answer) -> Answer | Unavailable:
        room = bytes(-len(content) % 512) if name.endswith(self.suffix) else b""
        return super()._replace(name, content + room, answer)


class _ReadsOn(WrittenFilesJournal):
    """Makes something of a damaged file."""

    def _made_of(self, content: bytes, sound: Stored, error: FrameError) -> Stored:
        raise NotImplementedError

    def _parsed(self, run_id: RunId, content: bytes) -> Stored:
        try:
            return super()._parsed(run_id, content)
        except Damaged as damage:
            if not isinstance(damage.__cause__, FrameError):
                raise
            offset = damage.__cause__.offset
            sound = super()._parsed(run_id, content[:offset]) if offset else Stored((), b"")
            return self._made_of(content, sound, damage.__cause__)


@mutant("JRN-031", report="etcd-io/etcd#11488")
class TakesZerosForTheEnd(_ReadsOn):
    """Takes a frame of zeros for the end of the file: the CRC of nothing is 0."""

    def _made_of(self, content: bytes, sound: Stored, error: FrameError) -> Stored:
        if any(content[error.offset :]):
            raise Damaged(len(sound.records) + 1, f"{error}")
        return sound


@mutant("JRN-031")
class TakesWholeFilesForTorn(_ReadsOn):
    """Drops an incomplete last frame, as if the file had been appended in place."""

    def _made_of(self, content: bytes, sound: Stored, error: FrameError) -> Stored:
        del content
        if error.code != "truncated":
            raise Damaged(len(sound.records) + 1, f"{error}")
        return sound


@mutant("JRN-031")
class EndsAtTheFirstBadFrame(_ReadsOn):
    """Reads as far as it can, and takes whatever is wrong for the end."""

    def _made_of(self, content: bytes, sound: Stored, error: FrameError) -> Stored:
        del content, error
        return sound


@mutant("JRN-031")
class SkipsBadFrames(_ReadsOn):
    """Looks for the next frame behind a damaged one, and goes on there."""

    def _made_of(self, content: bytes, sound: Stored, error: FrameError) -> Stored:
        records = list(sound.records)
        following = content.find(b"MWJ1", error.offset + 4)
        if following >= 0:
            try:
                heads = [(head_of(found.payload), found.payload) for found in frames("MWJ1", content[following:])]
            except ValueError as bad:
                raise Damaged(len(records) + 1, f"{bad}") from bad
            records += [Envelope(head.sequence, head.event_id, payload.decode()) for head, payload in heads]
        return Stored(records, content)


@mutant("JRN-031")
class ServesAPartOfABatch(WrittenFilesJournal):
    """Looks at frames alone, and never at the batches that they make up."""

    def _parsed(self, run_id: RunId, content: bytes) -> Stored:
        try:
            return super()._parsed(run_id, content)
        except Damaged as damage:
            if damage.__cause__ is not None or not content:
                raise
            payloads = [found.payload.decode() for found in frames("MWJ1", content)]
            return Stored(
                [Envelope(at, head_of(body.encode()).event_id, body) for at, body in enumerate(payloads, 1)], content
            )


@mutant("JRN-031")
class NeverComparesTheChecksum(WrittenFilesJournal):
    """Writes the CRC of each frame, and reads over it."""

    def _parsed(self, run_id: RunId, content: bytes) -> Stored:
        del run_id
        records: list[Envelope] = []
        start = 0
        while start < len(content):
            length = int.from_bytes(content[start + 4 : start + 8], "big")
            payload = content[start + _OF_A_HEADER : start + _OF_A_HEADER + length]
            if content[start : start + 4] != b"MWJ1" or not payload or len(payload) < length:
                raise Damaged(len(records) + 1, "no frame")
            try:
                head = head_of(payload)
                records.append(Envelope(head.sequence, head.event_id, payload.decode()))
            except ValueError as error:
                raise Damaged(len(records) + 1, f"{error}") from error
            start += _OF_A_HEADER + length
        if not records:
            raise Damaged(1, "no frame")
        return Stored(records, content)


class _TemporaryFirst(Folder):
    """Reads what was written last, whatever its name is."""

    def read(self, name: str) -> bytes | None:
        """Prefer the temporary file of a run."""
        run_id = name.partition(".")[0]
        for path in sorted(self.path.glob(f"{run_id}*.tmp")):
            return path.read_bytes() or None
        return super().read(name)

    def tidy(self) -> None:
        """Keep everything: it may be needed."""


@mutant("JRN-032")
class ReadsWhatKilledWritersLeft(WrittenFilesJournal):
    """Takes a temporary file for the newest state of its run."""

    folder = _TemporaryFirst


class _KeepsEverything(Folder):
    def tidy(self) -> None:
        """Keep everything."""


@mutant("JRN-032", overlaps=("JRN-001",))
class WaitsForAWriterThatIsGone(WrittenFilesJournal):
    """Takes a temporary file for a writer that is at work, and appends nothing until it is gone."""

    folder = _KeepsEverything

    def _store(self, run_id: RunId, stored: Stored, records: Records) -> AppendAnswer:
        if any(self._folder.path.glob(f"{run_id}*.tmp")):
            raise BlockingIOError(0, "somebody else writes")
        return super()._store(run_id, stored, records)


@mutant("SNP-003")
class ServesADamagedSnapshot(WrittenFilesJournal):
    """Reads the payload of a snapshot without a look at its checksum."""

    def load_snapshot(self, run_id: RunId) -> LoadSnapshotAnswer:
        """Read over the frame."""
        answer = super().load_snapshot(run_id)
        content = self._folder.read(f"{run_id}.mws1")
        if content is None or isinstance(answer, Snapshot):
            return answer
        body = content[_OF_A_HEADER:].decode(errors="replace")
        return Snapshot(1, body or "{}")


# Lines


@mutant("JRN-033", overlaps=("JRN-035", "JRN-037"))
class EndsLinesAsWindowsDoes(LinesJournal):
    """Ends its lines with CR and LF."""

    def _parsed(self, run_id: RunId, content: bytes) -> Stored:
        stored = super()._parsed(run_id, content.replace(b"\r\n", b"\n"))
        return Stored(stored.records, stored.content.replace(b"\n", b"\r\n"), stored.torn_bytes)

    def _line(self, record: Envelope) -> bytes:
        return record.body.encode() + b"\r\n"


@mutant("JRN-034", report="fedimint/fedimint#8614")
class TornTailIsFatal(LinesJournal):
    """Refuses to read a file that does not end where a line ends."""

    def _parsed(self, run_id: RunId, content: bytes) -> Stored:
        stored = super()._parsed(run_id, content)
        if stored.torn_bytes:
            raise Damaged(len(stored.records) + 1, "the file does not end where a line ends")
        return stored


@mutant("JRN-034", report="etcd-io/etcd#11488")
class ZerosAreFatal(LinesJournal):
    """Drops a half line, and cannot read a file that ends in zeros."""

    def _parsed(self, run_id: RunId, content: bytes) -> Stored:
        stored = super()._parsed(run_id, content)
        if content.endswith(b"\0"):
            raise Damaged(len(stored.records) + 1, "zeros are no line")
        return stored


@mutant("JRN-034", overlaps=("JRN-035",))
class KeepsALineWithoutItsEnd(LinesJournal):
    """Takes a last line without LF for a record if it is all there, though nobody was told that it is stored."""

    def _parsed(self, run_id: RunId, content: bytes) -> Stored:
        stored = super()._parsed(run_id, content)
        line = content[len(stored.content) :].rstrip(b"\0")
        try:
            record = opened(line.decode())
        except (RecordError, ValueError):
            return stored
        if record.batch_size > 1:
            return stored
        envelope = Envelope(record.sequence, record.event_id, line.decode())
        return Stored((*stored.records, envelope), stored.content + line + b"\n")


@mutant("JRN-034", overlaps=("JRN-035",))
class SwallowsANumber(LinesJournal):
    """Counts a torn line as a record that was there: the next one gets the number after it."""

    def _next(self, stored: Stored) -> int:
        return super()._next(stored) + (stored.torn_bytes > 0)


@mutant("JRN-034", overlaps=("JRN-035",))
class ServesHalfABatch(LinesJournal):
    """Serves the whole lines of a batch that was cut short."""

    def _parsed(self, run_id: RunId, content: bytes) -> Stored:
        stored = super()._parsed(run_id, content)
        lines = content[len(stored.content) :].split(b"\n")[:-1]
        found = [(opened(line.decode()), line.decode()) for line in lines]
        records = [Envelope(record.sequence, record.event_id, body) for record, body in found]
        kept = stored.content + b"".join(line + b"\n" for line in lines)
        return Stored((*stored.records, *records), kept, len(content) - len(kept))


@mutant("JRN-035", overlaps=("JRN-034", "JRN-036"), report="elizaOS/eliza#30878")
class GluesOntoATornTail(LinesJournal):
    """Appends behind whatever stands at the end of the file, and skips what it cannot read when it loads."""

    def _parsed(self, run_id: RunId, content: bytes) -> Stored:
        try:
            return super()._parsed(run_id, content)
        except Damaged:
            lines = [line for line in content.split(b"\n")[:-1] if _is_sound(line)]
            return super()._parsed(run_id, b"".join(line + b"\n" for line in lines))

    def _store(self, run_id: RunId, stored: Stored, records: Records) -> AppendAnswer:
        del stored
        with self._folder.path.joinpath(self._name(run_id)).open("ab") as file:
            file.write(b"".join(record.body.encode() + b"\n" for record in records))
        return acknowledge(records)


@mutant("JRN-035")
class OverwritesATornTail(LinesJournal):
    """Writes over a torn tail without cutting it off, so that the end of a longer one stays behind the new lines."""

    def _store(self, run_id: RunId, stored: Stored, records: Records) -> AppendAnswer:
        return super()._store(run_id, Stored(stored.records, stored.content), records)


@mutant("JRN-036")
class DropsADamagedLastLine(LinesJournal):
    """Takes a whole last line that it cannot read for a torn one."""

    def _parsed(self, run_id: RunId, content: bytes) -> Stored:
        try:
            return super()._parsed(run_id, content)
        except Damaged:
            start = content.rstrip(b"\n").rfind(b"\n") + 1
            stored = super()._parsed(run_id, content[:start])
            return Stored(stored.records, stored.content, len(content) - len(stored.content))


@mutant("JRN-036")
class SkipsWhatItCannotRead(LinesJournal):
    """Skips lines that it cannot read, wherever they stand."""

    def _parsed(self, run_id: RunId, content: bytes) -> Stored:
        try:
            return super()._parsed(run_id, content)
        except Damaged:
            found = [(line.decode(), opened(line.decode())) for line in content.split(b"\n") if _is_sound(line)]
            return Stored([Envelope(record.sequence, record.event_id, body) for body, record in found], content)


@mutant("JRN-036")
class TrustsEveryLine(LinesJournal):
    """Reads lines as JSON, and never compares a checksum."""

    def _parsed(self, run_id: RunId, content: bytes) -> Stored:
        try:
            return super()._parsed(run_id, content)
        except Damaged as damage:
            try:
                found = [(head_of(line), line.decode()) for line in content.split(b"\n") if line]
            except ValueError:
                raise damage from None
            return Stored([Envelope(head.sequence, head.event_id, body) for head, body in found], content)


# Both


class _ErrorsAreTheEnd(Folder):
    def read(self, name: str) -> bytes | None:
        """Read nothing where nothing can be read."""
        try:
            return super().read(name)
        except OSError:
            return None


@mutant("JRN-037", report="facebook/rocksdb#6288")
class TakesAnErrorForTheEnd(WrittenFilesJournal):
    """Takes an error of reading for the end of the file."""

    folder = _ErrorsAreTheEnd


class _ErrorsAreDamage(Folder):
    def read(self, name: str) -> bytes | None:
        """Call it damage where nothing can be read."""
        try:
            return super().read(name)
        except OSError as error:
            raise Damaged(1, f"{error.strerror}") from error


@mutant("JRN-037")
class TakesAnErrorForDamage(LinesJournal):
    """Takes an error of reading for damage, which somebody will mend by cutting the file."""

    folder = _ErrorsAreDamage


def _is_sound(line: bytes) -> bool:
    try:
        opened(line.decode())
    except (RecordError, ValueError):
        return False
    return True
