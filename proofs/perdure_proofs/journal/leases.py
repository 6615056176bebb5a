"""No append of an older epoch is stored after a newer grant, epochs only grow, and nobody is granted what is held.

By induction over all that is done to the lease of a run: it is acquired, renewed, released, and records are appended
under any epoch, in any order and by anybody. The state is the latest lease, any that may be reached: of a run that was
never granted the epoch is 0 and nothing is held. The steps are those of the journal that every other one is compared
with, which runs here as it is.

So let a grant have an epoch. From then on the highest epoch is at least that, whatever is done, and an append under a
lower one is refused: who lost a lease and does not know it can no longer write. Two hold a run at once never: it is
granted only after the last instant of the lease before, or after its release.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from perdure.journal.contract import (
    Acknowledged,
    AcquireAnswer,
    AppendAnswer,
    Done,
    Envelope,
    Granted,
    Held,
    ReleaseAnswer,
    RenewAnswer,
    Renewed,
    StaleEpoch,
)
from perdure.journal.reference import Lease, ReferenceJournal
from perdure.kernel.identity import EventId, OwnerId, RunId
from perdure.kernel.values import MAX_SAFE_INTEGER
from perdure_proofs.symbols import identity_text
from perdure_proofs.theorems import Any, Theorem, assume

RUN: Final = RunId(identity_text(1))
OWNER: Final = OwnerId(identity_text(2))
BATCH: Final = (Envelope(1, EventId(identity_text(3)), "{}"),)


class Answered(NamedTuple):
    """What an operation on a run answers, and the lease after it."""

    answer: AcquireAnswer | RenewAnswer | ReleaseAnswer | AppendAnswer
    after: Lease


def acquire(lease: Lease, ttl_ms: int, now_ms: int, journal: type[ReferenceJournal] = ReferenceJournal) -> Answered:
    """Acquire a run whose latest lease is this one."""
    kept = kept_in(journal, lease)
    return Answered(kept.acquire(RUN, OWNER, ttl_ms, now_ms), kept.lease(RUN))


def renew(
    lease: Lease, epoch: int, ttl_ms: int, now_ms: int, journal: type[ReferenceJournal] = ReferenceJournal
) -> Answered:
    """Renew the lease of a run under an epoch."""
    kept = kept_in(journal, lease)
    return Answered(kept.renew(RUN, epoch, ttl_ms, now_ms), kept.lease(RUN))


def release(lease: Lease, epoch: int, journal: type[ReferenceJournal] = ReferenceJournal) -> Answered:
    """Release the lease of a run under an epoch."""
    kept = kept_in(journal, lease)
    return Answered(kept.release(RUN, epoch), kept.lease(RUN))


def append(lease: Lease, epoch: int | None, journal: type[ReferenceJournal] = ReferenceJournal) -> Answered:
    """Append to a run under an epoch, or none, what would else be stored."""
    kept = kept_in(journal, lease)
    return Answered(kept.append(RUN, 1, BATCH, epoch), kept.lease(RUN))


def kept_in(journal: type[ReferenceJournal], lease: Lease) -> ReferenceJournal:
    """Return a journal that keeps a run with this lease."""
    kept = journal()
    kept.put_lease(RUN, lease)
    return kept


@dataclass(frozen=True, slots=True)
class Leases:
    """All that is done to the lease of a run."""

    acquire: Callable[[Lease, int, int], Answered] = acquire
    renew: Callable[[Lease, int, int, int], Answered] = renew
    release: Callable[[Lease, int], Answered] = release
    append: Callable[[Lease, int | None], Answered] = append


def by(journal: type[ReferenceJournal]) -> Leases:
    """Return what a journal with a fault does."""
    return Leases(
        partial(acquire, journal=journal),
        partial(renew, journal=journal),
        partial(release, journal=journal),
        partial(append, journal=journal),
    )


class CountsAnewAfterARelease(ReferenceJournal):
    """Deletes the lease on release, and its epoch with it."""

    def release(self, run_id: RunId, epoch: int) -> ReleaseAnswer:
        """Forget the epoch."""
        answer = super().release(run_id, epoch)
        if isinstance(answer, Done):
            self.put_lease(run_id, Lease())
        return answer


class ExpiresAnInstantEarly(ReferenceJournal):
    """Takes a lease as expired at `until_ms` itself: >= where it should be >."""

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:
        """Be one off."""
        lease = self.lease(run_id)
        if lease.until_ms == now_ms:
            self.put_lease(run_id, Lease(lease.epoch))
        return super().acquire(run_id, owner, ttl_ms, now_ms)


class NeverExpires(ReferenceJournal):
    """Frees a lease on release alone, however long ago it ran out."""

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:
        """Ignore the time."""
        return Held() if self.lease(run_id).until_ms >= 0 else super().acquire(run_id, owner, ttl_ms, now_ms)


class RenewsForAnybody(ReferenceJournal):
    """Renews whatever lease there is, whoever asks."""

    def renew(self, run_id: RunId, epoch: int, ttl_ms: int, now_ms: int) -> RenewAnswer:  # noqa: ARG002
        """Ignore the epoch."""
        return super().renew(run_id, self.lease(run_id).epoch, ttl_ms, now_ms)


class RenewsInTimeOnly(ReferenceJournal):
    """Refuses to renew a lease that has expired, although nobody else has it."""

    def renew(self, run_id: RunId, epoch: int, ttl_ms: int, now_ms: int) -> RenewAnswer:
        """Look at the time."""
        is_over = now_ms > self.lease(run_id).until_ms
        return StaleEpoch() if is_over else super().renew(run_id, epoch, ttl_ms, now_ms)


class AppendsEndTheLease(ReferenceJournal):
    """Keeps a run's lease and its end in one row, and writes the row anew at each append."""

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Write the epoch, and forget the rest."""
        answer = super().append(run_id, expected_next, records, epoch)
        if isinstance(answer, Acknowledged):
            self.put_lease(run_id, Lease(self.lease(run_id).epoch))
        return answer


class IgnoresEpochs(ReferenceJournal):
    """Takes an append under any epoch."""

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Append under the highest epoch, always."""
        return super().append(run_id, expected_next, records, max(epoch or 0, self.lease(run_id).epoch))


class TakesNoEpochAsAny(ReferenceJournal):
    """Compares an epoch only if there is one: without, everything is let through."""

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Skip the comparison."""
        highest = self.lease(run_id).epoch
        return super().append(run_id, expected_next, records, highest if epoch is None else epoch)


class RefusesTheCurrentEpoch(ReferenceJournal):
    """Refuses an epoch that is not higher than the highest: <= where it should be <."""

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Be one off."""
        is_current = self.lease(run_id).epoch == (epoch or 0) > 0
        return StaleEpoch() if is_current else super().append(run_id, expected_next, records, epoch)


class LastsForSeconds(ReferenceJournal):
    """Takes milliseconds for seconds."""

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:
        """Multiply by a thousand."""
        return super().acquire(run_id, owner, ttl_ms * 1_000, now_ms)


THEOREM: Final = Theorem(
    ("JRN-024", "JRN-025", "LSE-001", "LSE-002", "LSE-003", "LSE-004", "LSE-005", "LSE-006", "LSE-007"),
    Leases(),
    mutants={
        each.__name__: by(each)
        for each in (
            CountsAnewAfterARelease,
            ExpiresAnInstantEarly,
            NeverExpires,
            RenewsForAnybody,
            RenewsInTimeOnly,
            AppendsEndTheLease,
            IgnoresEpochs,
            TakesNoEpochAsAny,
            RefusesTheCurrentEpoch,
            LastsForSeconds,
        )
    },
    assumptions=(
        "A store judges and changes a lease as one step for every handle: LSE-007 is judged by races.",
        "Whoever holds a lease and whoever wants it tell one time: the journal compares no clocks.",
        "No epoch comes near 2^53: each grant is one more than the highest.",
    ),
)

OPERATIONS: Final = ("acquire", "renew", "release", "append")


def any_instant(values: Any, name: str) -> int:
    """Return any instant, or any length of time."""
    return values.whole(name, 0, MAX_SAFE_INTEGER)


def may_be(lease: Lease) -> bool:
    """Tell whether a lease may be the latest of a run: one that was never granted is not held."""
    is_held_by_whom = lease.until_ms == -1 or lease.epoch > 0
    return lease.epoch >= 0 and -1 <= lease.until_ms <= MAX_SAFE_INTEGER and is_held_by_whom


def any_lease(values: Any) -> Lease:
    """Return any lease that may be the latest of a run."""
    granted = values.whole("granted", 0, MAX_SAFE_INTEGER)
    lease = Lease(granted, values.whole("until", -1, MAX_SAFE_INTEGER))
    assume(may_be(lease))
    return lease


def any_epoch(values: Any) -> int | None:
    """Return any epoch that may be sent with an append, or none."""
    is_sent = values.among("an epoch is sent", (False, True))
    return values.whole("epoch", 0, MAX_SAFE_INTEGER) if is_sent else None


def any_step(leases: Leases, values: Any, lease: Lease) -> Answered:
    """Do anything to the lease of a run, whoever does it and whenever."""
    match values.among("operation", OPERATIONS):
        case "acquire":
            return leases.acquire(lease, any_instant(values, "ttl"), any_instant(values, "now"))
        case "renew":
            epoch = any_instant(values, "epoch")
            return leases.renew(lease, epoch, any_instant(values, "ttl"), any_instant(values, "now"))
        case "release":
            return leases.release(lease, any_instant(values, "epoch"))
        case _:
            return leases.append(lease, any_epoch(values))


@THEOREM.claim
def at_the_beginning_nothing_is_held(leases: Leases, values: Any) -> bool:
    """A run that nobody ever acquired has a lease that is of no epoch and over: it may be granted at any instant."""
    answer, _ = leases.acquire(Lease(), any_instant(values, "ttl"), any_instant(values, "now"))
    return may_be(Lease()) and isinstance(answer, Granted) and answer.epoch == 1


@THEOREM.claim
def epochs_never_fall(leases: Leases, values: Any) -> bool:
    """Whatever is done, the highest epoch is no lower after it, and a grant is of a higher one than any before."""
    lease = any_lease(values)
    answer, after = any_step(leases, values, lease)
    is_kept = after.epoch == (answer.epoch if isinstance(answer, Granted) else lease.epoch)
    return is_kept and may_be(after) and (after.epoch > lease.epoch or not isinstance(answer, Granted))


@THEOREM.claim
def an_older_epoch_stores_nothing(leases: Leases, values: Any) -> bool:
    """An append is stale if its epoch, or 0 without one, is below the highest that was granted, and else never."""
    lease, epoch = any_lease(values), any_epoch(values)
    answer, _ = leases.append(lease, epoch)
    is_older = (0 if epoch is None else epoch) < lease.epoch
    return isinstance(answer, StaleEpoch if is_older else Acknowledged)


@THEOREM.claim
def nobody_is_granted_what_is_held(leases: Leases, values: Any) -> bool:
    """A run is granted at an instant if its lease is over by then, later than its last instant, and else to nobody."""
    lease, now_ms = any_lease(values), any_instant(values, "now")
    answer, after = leases.acquire(lease, any_instant(values, "ttl"), now_ms)
    return isinstance(answer, Granted) if now_ms > lease.until_ms else isinstance(answer, Held) and after == lease


@THEOREM.claim
def others_change_nothing_of_what_is_held(leases: Leases, values: Any) -> bool:
    """While a lease is held, whatever is done is without effect on it, unless it is renewed or released as its own."""
    lease = any_lease(values)
    now_ms, ttl_ms, epoch = (any_instant(values, name) for name in ("now", "ttl", "epoch"))
    assume(now_ms <= lease.until_ms)
    match values.among("operation", OPERATIONS):
        case "acquire":
            return leases.acquire(lease, ttl_ms, now_ms).after == lease
        case "append":
            return leases.append(lease, epoch).after == lease
        case "renew":
            assume(epoch != lease.epoch)
            return leases.renew(lease, epoch, ttl_ms, now_ms).after == lease
        case _:
            assume(epoch != lease.epoch)
            return leases.release(lease, epoch).after == lease


@THEOREM.claim
def its_own_epoch_renews_a_lease(leases: Leases, values: Any) -> bool:
    """The highest epoch renews a lease, even one that is over, until now and the time that was asked for, at most."""
    lease, ttl_ms, now_ms = any_lease(values), any_instant(values, "ttl"), any_instant(values, "now")
    assume(lease.epoch > 0)
    answer, after = leases.renew(lease, lease.epoch, ttl_ms, now_ms)
    return isinstance(answer, Renewed) and lasts(after.until_ms, ttl_ms, now_ms) and after.until_ms == answer.until_ms


@THEOREM.claim
def its_own_epoch_releases_a_lease(leases: Leases, values: Any) -> bool:
    """The highest epoch releases a lease: it may be granted at any instant from then on, under the next epoch."""
    lease, ttl_ms, now_ms = any_lease(values), any_instant(values, "ttl"), any_instant(values, "now")
    assume(lease.epoch > 0)
    released, after = leases.release(lease, lease.epoch)
    answer, later = leases.acquire(after, ttl_ms, now_ms)
    is_granted = isinstance(released, Done) and isinstance(answer, Granted) and answer.until_ms == later.until_ms
    return is_granted and later.epoch == lease.epoch + 1 and lasts(later.until_ms, ttl_ms, now_ms)


def lasts(until_ms: int, ttl_ms: int, now_ms: int) -> bool:
    """Tell whether a lease lasts as long as was asked for, or as long as there are instants."""
    is_cut = until_ms == MAX_SAFE_INTEGER and until_ms < now_ms + ttl_ms
    return is_cut or until_ms == now_ms + ttl_ms
