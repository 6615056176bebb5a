"""Faults of clients that read records: JRN-040 to JRN-051. Each mends what it should refuse."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from perdure.journal.client import Recovered
from perdure.journal.contract import Envelope
from perdure.kernel.errors import Corruption, HistoryError
from perdure.kernel.values import JsonError, canonical_json, digest, read_json
from perdure_conformance.reducer.contract import Entry, Restored, Shown
from perdure_conformance.reducer.histories import Fact
from perdure_conformance.reducer.kept import envelope_of, event_id
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import mutant
from perdure_conformance.reducer.shorter import batches_of

RECORD = ("run_id", "sequence", "event_id", "batch_index", "batch_size", "schema_version", "event", "checksum")


def members_of(envelope: Envelope) -> Fact | None:
    """Return the members of a record that is strict, canonical and has its checksum; nothing of any other."""
    try:
        found: Any = read_json(envelope.body)
    except JsonError:
        return None
    if not isinstance(found, dict) or canonical_json(found) != envelope.body.encode():
        return None
    unsealed = {name: value for name, value in found.items() if name != "checksum"}
    return found if found.get("checksum") == digest(unsealed) else None


class MendsTexts(ReferenceKernel):
    """It reads the text of records in its own way."""

    def text(self, body: str) -> str:
        """Return what it takes a text for. Raises `ValueError` to leave it as it is."""
        raise NotImplementedError

    def taken(self, shown: Shown) -> Shown:
        return msgspec.structs.replace(shown, records=tuple(self._mended(each) for each in shown.records))

    def _mended(self, envelope: Envelope) -> Envelope:
        try:
            return msgspec.structs.replace(envelope, body=self.text(envelope.body))
        except ValueError:
            return envelope


class MendsRecords(ReferenceKernel):
    """It takes records that are right one by one for others, with the checksums that these have."""

    def record(self, record: Fact, envelope: Envelope, shown: Shown) -> Fact:
        """Return what it takes a record for."""
        raise NotImplementedError

    def taken(self, shown: Shown) -> Shown:
        return msgspec.structs.replace(shown, records=tuple(self._mended(each, shown) for each in shown.records))

    def _mended(self, envelope: Envelope, shown: Shown) -> Envelope:
        members = members_of(envelope)
        if members is None:
            return envelope
        found = self.record(members, envelope, shown)
        return envelope if found == members else msgspec.structs.replace(envelope, body=envelope_of(found).body)


class MendsRuns(ReferenceKernel):
    """It takes the records of a run, right one by one, for others, more or less of them."""

    def run(self, records: list[Fact]) -> list[Fact]:
        """Return what it takes them for."""
        raise NotImplementedError

    def taken(self, shown: Shown) -> Shown:
        found = [members_of(envelope) for envelope in shown.records]
        records = [members for members in found if members is not None]
        places = [(members["sequence"], members["event_id"]) for members in records]
        if len(records) < len(found) or places != [(each.sequence, each.event_id) for each in shown.records]:
            return shown
        return msgspec.structs.replace(shown, records=tuple(map(envelope_of, self.run(records))))


# Texts


@mutant("JRN-040", report="mepuka/foldlab#49")
class ReadsTheLastOfTwoKeys(MendsTexts):
    """Reads records with a parser that keeps the last of two equal keys."""

    def text(self, body: str) -> str:
        value = json.loads(body)
        return body if _is_strict(body) else canonical_json(value).decode()


@mutant("JRN-040", report="elsa-workflows/elsa-core#6639")
class TakesNaNForNothing(MendsTexts):
    """Keeps what is no number, and reads it as null."""

    def text(self, body: str) -> str:
        if _is_strict(body):
            return body
        value = json.loads(body, parse_constant=lambda _: None)
        unsealed = {name: member for name, member in value.items() if name != "checksum"}
        return canonical_json({**unsealed, "checksum": digest(unsealed)}).decode()


@mutant("JRN-040")
class ReadsUpToTheEndOfTheValue(MendsTexts):
    """Leaves unread what comes after the value."""

    def text(self, body: str) -> str:
        end = json.JSONDecoder().raw_decode(body)[1]
        return body[:end] if body[end:].strip() else body


@mutant("JRN-040", overlaps=("SNP-010",), report="everruns/everruns#1031")
class HasNoNul(ReferenceKernel):
    """Cannot read a text with a NUL."""

    def recovered(self, shown: Shown) -> Recovered:
        for number, envelope in enumerate(shown.records, 1):
            if "\\u0000" in envelope.body:
                raise Corruption("not_json", "a string with a NUL", number)
        return super().recovered(shown)


def _is_strict(body: str) -> bool:
    try:
        read_json(body)
    except JsonError:
        return False
    return True


@mutant("JRN-041")
class ComparesValues(MendsTexts):
    """Works a checksum out over the value that it read, and never looks at the bytes."""

    def text(self, body: str) -> str:
        return canonical_json(read_json(body)).decode()


@mutant("JRN-042", overlaps=("SNP-022",))
class BelievesChecksums(MendsTexts):
    """Never works out the checksum of a record."""

    def text(self, body: str) -> str:
        found: Any = read_json(body)
        sealed = {**found, "checksum": digest({name: found[name] for name in found if name != "checksum"})}
        return canonical_json(sealed).decode() if canonical_json(found) == body.encode() else body


@mutant("JRN-042")
class CoversTheEventAlone(MendsTexts):
    """Takes the digest of the event for a checksum too."""

    def text(self, body: str) -> str:
        found: Any = read_json(body)
        return envelope_of(found).body if found.get("checksum") == digest(found["event"]) else body


# Records


def _is(kind: str, record: Fact) -> bool:
    return isinstance(record["event"], dict) and record["event"].get("type") == kind


@mutant("JRN-043")
class PassesOverMembers(MendsRecords):
    """Passes over members of a record that it does not know."""

    def record(self, record: Fact, envelope: Envelope, shown: Shown) -> Fact:
        del envelope, shown
        return {name: record[name] for name in record if name in RECORD}


@mutant("JRN-043", overlaps=("JRN-051",))
class ReadsNewerRecords(MendsRecords):
    """Reads a record of a newer version as one of the newest that it knows."""

    def record(self, record: Fact, envelope: Envelope, shown: Shown) -> Fact:
        del envelope, shown
        return {**record, "schema_version": min(record["schema_version"], 5)}


@mutant("JRN-043")
class ReadsIdsInLowerCase(MendsRecords):
    """Takes an id in capitals for the same one."""

    def record(self, record: Fact, envelope: Envelope, shown: Shown) -> Fact:
        del envelope, shown
        return {**record, "run_id": record["run_id"].lower(), "event_id": record["event_id"].lower()}


@mutant("JRN-044")
class NeverLooksAtEnvelopes(ReferenceKernel):
    """Takes the position and the event id from the record alone."""

    def taken(self, shown: Shown) -> Shown:
        records = (self._relabelled(each) for each in shown.records)
        return msgspec.structs.replace(shown, records=tuple(records))

    def _relabelled(self, envelope: Envelope) -> Envelope:
        members = members_of(envelope)
        return envelope if members is None else Envelope(members["sequence"], members["event_id"], envelope.body)


@mutant("JRN-045", overlaps=("JRN-051",))
class ClosesGaps(MendsRuns):
    """Counts records as they come, whatever they say."""

    def run(self, records: list[Fact]) -> list[Fact]:
        return [{**record, "sequence": number} for number, record in enumerate(records, 1)]


@mutant("JRN-045")
class SortsRecords(MendsRuns):
    """Puts records in the order of their sequences."""

    def run(self, records: list[Fact]) -> list[Fact]:
        return sorted(records, key=lambda record: int(record["sequence"]))


@mutant("JRN-045", report="RayforceDB/rayforce#420")
class DropsRepetitions(MendsRuns):
    """Passes over a record that it has read before."""

    def run(self, records: list[Fact]) -> list[Fact]:
        return [record for number, record in enumerate(records) if record not in records[:number]]


@mutant("JRN-046", overlaps=("JRN-043", "JRN-051"))
class ReadsRecordsOfAnyRun(MendsRecords):
    """Never compares the run of a record."""

    def record(self, record: Fact, envelope: Envelope, shown: Shown) -> Fact:
        del envelope
        if record["run_id"] == shown.run_id:
            return record
        event = {**record["event"], "run_id": shown.run_id} if _is("RunCreated", record) else record["event"]
        return {**record, "run_id": shown.run_id, "event": event}


@mutant("JRN-046")
class CreatesWhicheverRun(MendsRecords):
    """Compares the run of each record, and not the one that is created."""

    def record(self, record: Fact, envelope: Envelope, shown: Shown) -> Fact:
        del envelope, shown
        event = record["event"]
        return {**record, "event": {**event, "run_id": record["run_id"]}} if _is("RunCreated", record) else record


class _RenamesEvents(MendsRuns):
    """It takes an event id that it does not know again for a new one."""

    def is_forgotten(self, before: list[Fact], record: Fact) -> bool:
        """Tell whether it does not know an event id again."""
        raise NotImplementedError

    def run(self, records: list[Fact]) -> list[Fact]:
        def renamed(number: int, record: Fact) -> Fact:
            is_forgotten = self.is_forgotten(records[:number], record)
            return {**record, "event_id": event_id(1_000 + number)} if is_forgotten else record

        return [renamed(number, record) for number, record in enumerate(records)]


@mutant("JRN-047", report="kurrent-io/KurrentDB#1898")
class NeverLooksAtEventIds(_RenamesEvents):
    """Takes an event id for a remark."""

    def is_forgotten(self, before: list[Fact], record: Fact) -> bool:
        return record["event_id"] in {each["event_id"] for each in before}


@mutant("JRN-047")
class RemembersTheLastEventId(_RenamesEvents):
    """Compares an event id with that of the record before it alone."""

    def is_forgotten(self, before: list[Fact], record: Fact) -> bool:
        return record["event_id"] in {each["event_id"] for each in before[:-1]}


@mutant("JRN-048", overlaps=("JRN-043",))
class WorksBatchesOut(MendsRuns):
    """Finds batches by what is owed, and never looks at what records say of them."""

    def run(self, records: list[Fact]) -> list[Fact]:
        whole, rest = batches_of([Entry(record["schema_version"], record["event"]) for record in records])
        places = [(index, len(batch)) for batch in whole for index in range(len(batch))]
        places += [(record["batch_index"], record["batch_size"]) for record in records[len(records) - len(rest) :]]
        return [
            {**record, "batch_index": index, "batch_size": size}
            for record, (index, size) in zip(records, places, strict=True)
        ]


@mutant("JRN-048")
class BelievesTheFirstOfABatch(MendsRuns):
    """Reads the size of a batch in its first record, and never looks at it in the others."""

    def run(self, records: list[Fact]) -> list[Fact]:
        sizes: Fact = {}
        found = []
        for record in records:
            if record["batch_index"] == 0:
                sizes = {"batch_size": record["batch_size"]} if "batch_size" in record else {}
            found.append({**record, **sizes})
        return found


@mutant("JRN-049")
class DropsAnIncompleteBatch(MendsRuns):
    """Takes a history that is cut inside a batch for the one before it."""

    def run(self, records: list[Fact]) -> list[Fact]:
        last = records[-1]
        begun = last["batch_index"] + 1
        return records if begun == last["batch_size"] else records[: len(records) - begun] or records


@mutant("JRN-050", overlaps=("JRN-051",))
class RestoresUpToWhatItCannotReduce(ReferenceKernel):
    """Stops at an event that cannot be, and calls the run restored."""

    def recovered(self, shown: Shown) -> Recovered:
        try:
            return super().recovered(shown)
        except HistoryError as error:
            if error.code not in {"run_terminal", "not_ready"} or error.sequence is None:
                raise
            return super().recovered(msgspec.structs.replace(shown, records=shown.records[: error.sequence - 1]))


@mutant("JRN-050", report="dbos-inc/dbos-transact-py#703")
class KeepsTheLastRunFact(MendsRuns):
    """Lets a second run fact take the place of the first."""

    def run(self, records: list[Fact]) -> list[Fact]:
        ends = ("RunCompleted", "RunFailed", "RunBlocked", "RunCancelled")
        facts = [number for number, record in enumerate(records) if any(_is(end, record) for end in ends)]
        return records if len(facts) < 2 else records[: facts[1]]


class _TellsItOtherwise(ReferenceKernel):
    """It tells another place or kind than it found."""

    def refusal(self, answer: Restored) -> Restored:
        """Return what it tells of a refusal."""
        raise NotImplementedError

    def retold(self, answer: Restored) -> Restored:
        return answer if answer.restored else self.refusal(answer)


@mutant("JRN-051")
class TellsTheRecordBefore(_TellsItOtherwise):
    """Tells the last record that is right, where the first that is wrong is asked for."""

    def refusal(self, answer: Restored) -> Restored:
        return msgspec.structs.replace(answer, sequence=max(1, (answer.sequence or 1) - 1))


@mutant("JRN-051")
class CallsUnknownVersionsDamage(_TellsItOtherwise):
    """Calls a record corrupt because it does not know its version."""

    def refusal(self, answer: Restored) -> Restored:
        return msgspec.structs.replace(answer, kind="corrupt")
