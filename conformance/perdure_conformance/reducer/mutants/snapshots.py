"""Faults of who loads snapshots, SNP-010 to SNP-022: each believes what it should discard, or loses a run over it."""

from __future__ import annotations

import contextlib
import json
from typing import Any, ClassVar

import msgspec
from immutables import Map

from perdure.journal.client import Recovered
from perdure.journal.contract import Snapshot
from perdure.kernel.caches import SnapshotDocument, SnapshotError, read_snapshot, restored
from perdure.kernel.errors import Corruption, HistoryError
from perdure.kernel.events import RunCreated
from perdure.kernel.histories import Standing, followed_from
from perdure.kernel.records import decoded
from perdure.kernel.snapshots import state_from
from perdure.kernel.state import State
from perdure.kernel.values import canonical_json, digest, read_json
from perdure_conformance.reducer.contract import Shown
from perdure_conformance.reducer.histories import Fact
from perdure_conformance.reducer.kept import opened
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import mutant

_MEMBERS = frozenset(SnapshotDocument.__struct_fields__)


def _records(shown: Shown, sequence: int) -> tuple[Fact, Fact]:
    """Return the first record, and that at a sequence. Raises `LookupError`, `ValueError`."""
    return opened(shown.records[0]), opened(shown.records[sequence - 1])


class _MendsSnapshots(ReferenceKernel):
    """It takes a snapshot for another one."""

    def mended(self, found: Fact, shown: Shown) -> Fact:
        """Return what it takes a snapshot for that is canonical JSON. Raises `LookupError`, `ValueError`."""
        raise NotImplementedError

    def text(self, body: str, shown: Shown) -> str:
        """Return what it takes the text of a snapshot for. Raises `LookupError`, `ValueError`, `TypeError`."""
        found: Any = read_json(body)
        return body if canonical_json(found) != body.encode() else canonical_json(self.mended(found, shown)).decode()

    def taken(self, shown: Shown) -> Shown:
        with contextlib.suppress(LookupError, ValueError, TypeError):
            if shown.snapshot is not None:
                body = self.text(shown.snapshot.body, shown)
                return msgspec.structs.replace(shown, snapshot=Snapshot(shown.snapshot.sequence, body))
        return shown


# What follows


class _ResumesOtherwise(ReferenceKernel):
    """It makes something else of a snapshot that it uses."""

    def resumed(self, state: State) -> State:
        """Return the state that it tells."""
        raise NotImplementedError

    def recovered(self, shown: Shown) -> Recovered:
        found = super().recovered(shown)
        if found.snapshot != "used" or found.standing is None:
            return found
        return msgspec.structs.replace(
            found, standing=Standing(found.standing.last, self.resumed(found.standing.state))
        )


@mutant("SNP-010")
class LeavesTheTailOut(ReferenceKernel):
    """Takes the snapshot for the run, and reads nothing that follows."""

    def recovered(self, shown: Shown) -> Recovered:
        found = super().recovered(shown)
        if found.snapshot != "used" or shown.snapshot is None:
            return found
        return super().recovered(msgspec.structs.replace(shown, records=shown.records[: shown.snapshot.sequence]))


@mutant("SNP-010", report="RayforceDB/rayforce#420")
class CountsWhatTheSnapshotIncludes(_ResumesOtherwise):
    """Charges the transitions of a run again that its snapshot includes."""

    def resumed(self, state: State) -> State:
        return msgspec.structs.replace(state, transitions_used=2 * state.transitions_used)


@mutant("SNP-010", report="temporalio/temporal#4028")
class ForgetsConsumedSignals(_ResumesOtherwise):
    """Does not keep in snapshots which signals were consumed."""

    def resumed(self, state: State) -> State:
        return msgspec.structs.replace(state, signals=Map())


# The document


@mutant("SNP-011")
class ReadsSnapshotsOfAnyVersion(_MendsSnapshots):
    """Never looks at the version of a snapshot."""

    def mended(self, found: Fact, shown: Shown) -> Fact:
        del shown
        return {**found, "snapshot_schema_version": 1}


@mutant("SNP-012", report="mepuka/foldlab#49")
class ReadsSnapshotsLeniently(_MendsSnapshots):
    """Reads snapshots with another parser than records."""

    def text(self, body: str, shown: Shown) -> str:
        del shown
        return canonical_json(json.loads(body)).decode()


@mutant("SNP-012")
class PassesOverMembersOfSnapshots(_MendsSnapshots):
    """Passes over members of a snapshot that it does not know."""

    def mended(self, found: Fact, shown: Shown) -> Fact:
        del shown
        return {name: found[name] for name in found if name in _MEMBERS}


@mutant("SNP-013", report="proteanhq/protean#1518")
class BelievesStates(_MendsSnapshots):
    """Never works out the checksum of a state."""

    def mended(self, found: Fact, shown: Shown) -> Fact:
        del shown
        return {**found, "state_checksum": digest(found["state"])}


# The record that it is tied to


@mutant("SNP-014")
class TakesSnapshotsOfAnyRun(_MendsSnapshots):
    """Never looks at the run of a snapshot."""

    def mended(self, found: Fact, shown: Shown) -> Fact:
        return {**found, "run_id": shown.run_id}


@mutant("SNP-015")
class BelievesTheDocumentAlone(ReferenceKernel):
    """Never compares the sequence under which a snapshot is kept."""

    def taken(self, shown: Shown) -> Shown:
        with contextlib.suppress(SnapshotError):
            if shown.snapshot is not None:
                body = shown.snapshot.body
                return msgspec.structs.replace(shown, snapshot=Snapshot(read_snapshot(body.encode()).sequence, body))
        return shown


@mutant("SNP-015", report="RayforceDB/rayforce#420")
class GoesOnFromWhatIsLost(ReferenceKernel):
    """Uses a snapshot of records that are not there any more."""

    def recovered(self, shown: Shown) -> Recovered:
        with contextlib.suppress(SnapshotError, HistoryError):
            if shown.snapshot is not None and shown.snapshot.sequence > len(shown.records):
                found, first = read_snapshot(shown.snapshot.body.encode()), decoded(shown.records[0].body.encode())
                assert isinstance(first.event, RunCreated)
                return Recovered(Standing(first, state_from(found.state, first.event.specification)), "used")
        return super().recovered(shown)


class _NeverCompares(_MendsSnapshots):
    """It takes what a snapshot says of a record for what the record says."""

    member: ClassVar[str]

    def right(self, first: Fact, last: Fact) -> str:
        """Return what the records say, the first one and that of the snapshot."""
        raise NotImplementedError

    def mended(self, found: Fact, shown: Shown) -> Fact:
        right = self.right(*_records(shown, found["sequence"]))
        return {**found, self.member: right} if self.member in found else found


@mutant("SNP-016")
class NeverComparesEvents(_NeverCompares):
    """Never compares the event of a snapshot with that of its record."""

    member = "event_id"

    def right(self, first: Fact, last: Fact) -> str:
        del first
        return str(last["event_id"])


@mutant("SNP-017")
class NeverComparesRecords(_NeverCompares):
    """Ties a snapshot to a position and an event, and never compares the record itself."""

    member = "record_checksum"

    def right(self, first: Fact, last: Fact) -> str:
        del first
        return str(last["checksum"])


@mutant("SNP-018")
class NeverComparesSpecifications(_NeverCompares):
    """Never compares the specification of a snapshot with that of its run."""

    member = "content_hash"

    def right(self, first: Fact, last: Fact) -> str:
        del last
        return str(first["event"]["content_hash"])


@mutant("SNP-019", report="camunda/camunda#7597")
class TakesSnapshotsInsideABatch(ReferenceKernel):
    """Takes a snapshot inside a batch for one of the whole batch."""

    def taken(self, shown: Shown) -> Shown:
        with contextlib.suppress(LookupError, ValueError, TypeError):
            if shown.snapshot is not None:
                return msgspec.structs.replace(shown, snapshot=self._of_the_batch(shown, shown.snapshot))
        return shown

    def _of_the_batch(self, shown: Shown, snapshot: Snapshot) -> Snapshot:
        found: Any = read_json(snapshot.body)
        inside = _records(shown, found["sequence"])[1]
        more = inside["batch_size"] - 1 - inside["batch_index"]
        if not more or found["record_checksum"] != inside["checksum"]:
            return snapshot
        last = _records(shown, found["sequence"] + more)[1]
        state = {**found["state"], "sequence": last["sequence"]}
        tie = {"sequence": last["sequence"], "event_id": last["event_id"], "record_checksum": last["checksum"]}
        body = canonical_json({**found, **tie, "state": state, "state_checksum": digest(state)}).decode()
        return Snapshot(last["sequence"], body)


# The state


class _MendsStates(_MendsSnapshots):
    """It takes the state of a snapshot for another one."""

    def state(self, state: Fact, shown: Shown) -> Fact:
        """Return what it takes a state for."""
        raise NotImplementedError

    def mended(self, found: Fact, shown: Shown) -> Fact:
        if found["state_checksum"] != digest(found["state"]):
            return found
        state = self.state(found["state"], shown)
        return {**found, "state": state, "state_checksum": digest(state)}


@mutant("SNP-020", report="proteanhq/protean#1518")
class ReadsStatesOfAnyVersion(_MendsStates):
    """Reads a state of another version as one that it knows."""

    def state(self, state: Fact, shown: Shown) -> Fact:
        del shown
        return {**state, "state_schema_version": 2}


@mutant("SNP-020")
class TakesTheInputFromTheSnapshot(_MendsStates):
    """Believes what a snapshot says of the input of its run."""

    def __init__(self, *opening: Any) -> None:
        super().__init__(*opening)
        self._input: Any = None

    def state(self, state: Fact, shown: Shown) -> Fact:
        self._input = state.get("input", {})
        return {**state, "input": _records(shown, 1)[0]["event"].get("input", {})}

    def recovered(self, shown: Shown) -> Recovered:
        found = super().recovered(shown)
        if found.snapshot != "used" or found.standing is None:
            return found
        state = msgspec.structs.replace(found.standing.state, input=self._input)
        return msgspec.structs.replace(found, standing=Standing(found.standing.last, state))


# What a snapshot costs


class _FailsOn(ReferenceKernel):
    """It loses a run over a snapshot."""

    codes: ClassVar[frozenset[str]] = frozenset()
    """What it fails on; everything, if it is empty."""

    def recovered(self, shown: Shown) -> Recovered:
        found = super().recovered(shown)
        if found.snapshot == "discarded" and (not self.codes or found.diagnostic.partition(":")[0] in self.codes):
            raise Corruption("wrong_content", "the snapshot cannot be used", 1)
        return found


@mutant("SNP-021", report="proteanhq/protean#1518")
class LosesARunOverItsSnapshot(_FailsOn):
    """Has no way to go on without a snapshot that cannot be used."""


@mutant("SNP-021")
class FallsBackBeforeTheTailAlone(_FailsOn):
    """Replays everything if a snapshot cannot be read, and not if what follows does not fit it."""

    codes: ClassVar[frozenset[str]] = frozenset({"wrong_content"})


@mutant("SNP-022")
class ReadsFromTheSnapshotOn(ReferenceKernel):
    """Reads the first record, that of the snapshot and what follows, and none between."""

    def recovered(self, shown: Shown) -> Recovered:
        if shown.snapshot is not None and shown.snapshot.sequence <= len(shown.records):
            with contextlib.suppress(SnapshotError, HistoryError):
                return Recovered(self._resumed(shown, shown.snapshot), "used")
        return super().recovered(shown)

    def _resumed(self, shown: Shown, snapshot: Snapshot) -> Standing:
        found = read_snapshot(snapshot.body.encode())
        first, last, *tail = (
            decoded(envelope.body.encode()) for envelope in (shown.records[0], *shown.records[snapshot.sequence - 1 :])
        )
        if found.sequence != snapshot.sequence:
            raise SnapshotError("wrong_position", "the snapshot is kept under another sequence")
        standing = restored(found, first, last, self.rules)
        return [standing, *followed_from(standing, tail, self.rules)][-1]
