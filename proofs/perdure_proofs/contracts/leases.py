"""Leases: when a run is granted, under which epoch, and until when."""

from __future__ import annotations

from collections.abc import Callable

from perdure.journal.contract import Done, Granted, Held, Renewed, StaleEpoch
from perdure.journal.reference import Lease, decide_acquire, decide_release, decide_renew, expiry, is_held, is_latest
from perdure.kernel.values import MAX_SAFE_INTEGER
from perdure_proofs.contracts import contract
from perdure_proofs.theorems import assume


@contract(
    "LSE-006",
    leaf=expiry,
    mutants={
        "LastsForSeconds": lambda now_ms, ttl_ms: expiry(now_ms, ttl_ms * 1_000),
        "EndsEarly": lambda now_ms, ttl_ms: expiry(now_ms, ttl_ms) - 1,
    },
)
def a_lease_lasts_as_long_as_asked(expiry: Callable[[int, int], int], now_ms: int, ttl_ms: int) -> bool:
    """A lease ends after the time that was asked for, or at the last instant there is."""
    assume(0 <= now_ms <= MAX_SAFE_INTEGER and ttl_ms >= 0)
    until_ms = expiry(now_ms, ttl_ms)
    return until_ms == (min(now_ms + ttl_ms, MAX_SAFE_INTEGER))


@contract("LSE-002", "LSE-003", leaf=is_held, mutants={"ExpiresAnInstantEarly": lambda one, now: now < one.until_ms})
def a_lease_is_held_to_its_last_instant(is_held: Callable[[Lease, int], bool], lease: Lease, now_ms: int) -> bool:
    """A lease is held at each instant up to its last, that one too, and at none after it."""
    return is_held(lease, now_ms) == (now_ms - lease.until_ms < 1)


@contract(
    "LSE-001",
    "LSE-003",
    leaf=decide_acquire,
    mutants={
        "GrantsTheSameEpoch": lambda lease, ttl_ms, now_ms: Granted(lease.epoch, expiry(now_ms, ttl_ms)),
        "NeverExpires": lambda lease, ttl_ms, now_ms: decide_acquire(lease, ttl_ms, min(now_ms, lease.until_ms)),
    },
)
def what_is_over_is_granted_anew(
    acquire: Callable[[Lease, int, int], Granted | Held], lease: Lease, ttl_ms: int, now_ms: int
) -> bool:
    """A run whose lease is over is granted under the next epoch."""
    assume(lease.until_ms < now_ms)
    answer = acquire(lease, ttl_ms, now_ms)
    return isinstance(answer, Granted) and answer.epoch == lease.epoch + 1


@contract(
    "LSE-004",
    "LSE-005",
    leaf=is_latest,
    mutants={
        "TakesNothingForAnEpoch": lambda lease, epoch: epoch == lease.epoch,
        "TakesOlderOnes": lambda lease, epoch: 0 < epoch <= lease.epoch,
    },
)
def one_epoch_is_the_latest(is_latest: Callable[[Lease, int], bool], lease: Lease, epoch: int) -> bool:
    """An epoch is the latest if it is that of the lease, and was granted at all: 0 never was."""
    assume(lease.epoch >= 0)
    return is_latest(lease, epoch) == (epoch > 0 and lease.epoch - epoch == 0)


@contract(
    "LSE-004",
    leaf=decide_renew,
    mutants={
        "RenewsInTimeOnly": lambda lease, epoch, ttl_ms, now_ms: decide_renew(
            lease, epoch if is_held(lease, now_ms) else 0, ttl_ms, now_ms
        )
    },
)
def its_epoch_renews_a_lease(
    renew: Callable[[Lease, int, int, int], Renewed | StaleEpoch], lease: Lease, ttl_ms: int, now_ms: int
) -> bool:
    """A lease is renewed under its own epoch, also one that is over, until the time that was asked for."""
    assume(lease.epoch > 0)
    answer = renew(lease, lease.epoch, ttl_ms, now_ms)
    return isinstance(answer, Renewed) and answer.until_ms == expiry(now_ms, ttl_ms)


@contract("LSE-003", leaf=decide_release, mutants={"NeverReleases": lambda _lease, _epoch: StaleEpoch()})
def its_epoch_releases_a_lease(release: Callable[[Lease, int], Done | StaleEpoch], lease: Lease) -> bool:
    """A lease is released under its own epoch."""
    assume(lease.epoch > 0)
    return isinstance(release(lease, lease.epoch), Done)
