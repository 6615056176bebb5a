"""The rank of a run falls with each event that is owed, in runs that no place was taken from."""

from __future__ import annotations

from perdure.kernel.rules import BUDGETS_FROM
from perdure_proofs.budgets.quiescence import rank
from perdure_proofs.places import CAUSES, played


def test_the_rank_falls_with_each_event_that_is_owed() -> None:
    found = [place for place in played(600, seed=7) if place.is_owed and place.version >= BUDGETS_FROM]
    assert [place for place in found if rank(place.after) >= rank(place.before)] == []
    assert len({place.owed_by for place in found} & CAUSES) >= len(CAUSES) - 2
