"""Appends: what the epoch and the sequence decide, of records that are new; and what a page holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from perdure.journal.contract import (
    Acknowledged,
    Envelope,
    EventIdConflict,
    Page,
    SequenceConflict,
    StaleEpoch,
    acknowledge,
)
from perdure.journal.reference import RunView, decide_append, page
from perdure.kernel.identity import EventId
from perdure_proofs.contracts import contract
from perdure_proofs.symbols import identity_text
from perdure_proofs.theorems import assume

Decided = Acknowledged | StaleEpoch | EventIdConflict | SequenceConflict | None
Records = Sequence[Envelope]

MOST_STORED: Final = 3
RECORDS: Final = [Envelope(1 + place, EventId(identity_text(place)), "{}") for place in range(MOST_STORED)]
RECORD: Final = Envelope(1, EventId(identity_text(1)), "{}")


def refuses_the_current_epoch(run: RunView, expected_next: int, records: Records, epoch: int | None) -> Decided:
    """Refuse an epoch that is not higher than the highest: <= where it should be <."""
    return decide_append(run, expected_next, records, -1 if epoch == run.highest_epoch else epoch)


@contract("JRN-025", leaf=decide_append, mutants={"RefusesTheCurrentEpoch": refuses_the_current_epoch})
def the_highest_epoch_is_never_stale(
    append: Callable[[RunView, int, Records, int | None], Decided], highest: int, epoch: int | None
) -> bool:
    """A new record is stored under the highest epoch that was granted, and under a higher one; none counts as 0."""
    assume(0 <= highest <= (0 if epoch is None else epoch))
    return append(RunView(1, highest, {}), 1, [RECORD], epoch) is None


def leaves_gaps(run: RunView, expected_next: int, records: Records, epoch: int | None) -> Decided:
    """Compare with < where it should be ==: take a position that is still to come."""
    return decide_append(run, min(expected_next, run.next_sequence), records, epoch)


@contract("JRN-004", "JRN-005", leaf=decide_append, mutants={"LeavesGaps": leaves_gaps})
def a_new_record_is_stored_next(
    append: Callable[[RunView, int, Records, int | None], Decided], next_sequence: int, expected_next: int
) -> bool:
    """A new record is stored if it is expected next, and else in conflict with the next sequence, which is told."""
    answer = append(RunView(next_sequence, 0, {}), expected_next, [RECORD], None)
    if expected_next == next_sequence:
        return answer is None
    return isinstance(answer, SequenceConflict) and answer.actual_next == next_sequence


@contract(
    "JRN-008",
    leaf=decide_append,
    mutants={
        "RefusesReplays": lambda run, expected, records, epoch: decide_append(
            RunView(run.next_sequence, run.highest_epoch, {}), expected, records, epoch
        )
    },
)
def a_replay_is_acknowledged(
    append: Callable[[RunView, int, Records, int | None], Decided], next_sequence: int, epoch: int
) -> bool:
    """A record that is stored exactly so is acknowledged again, however far the run has gone on since."""
    assume(epoch >= 0 and next_sequence > 1)
    answer = append(RunView(next_sequence, 0, {RECORD.event_id: RECORD}), 1, [RECORD], epoch)
    return answer == acknowledge([RECORD])


@contract(
    "JRN-021",
    leaf=page,
    mutants={
        "IgnoresTheLimit": lambda records, start, _limit: page(records, start, len(records)),
        "EndsAtAFullPage": lambda records, start, limit: Page(
            page(records, start, limit).records, end=start - 1 + limit > len(records)
        ),
    },
)
def a_page_is_the_next_part(page: Callable[[Records, int, int], Page], stored: int, start: int, limit: int) -> bool:
    """Of up to three records, a page holds those from a position on that fit, and is the end if none follows."""
    assume(0 <= stored <= MOST_STORED and 1 <= start <= MOST_STORED + 1 and 1 <= limit <= MOST_STORED)
    found = page(RECORDS[:stored], start, limit)
    following = max(stored - start + 1, 0)
    return len(found.records) == min(following, limit) and found.end == (following <= limit)
