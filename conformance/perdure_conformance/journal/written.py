"""All that was thought of: every script, whatever it is about; those that take long come last."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from perdure_conformance.journal.describe import numbered
from perdure_conformance.journal.operations import Append, one_by_one
from perdure_conformance.journal.scripts import SCRIPTS, SNAPSHOT_AND_LEASE_SCRIPTS, Script
from perdure_conformance.journal.scripts_of_races import RACE_SCRIPTS
from perdure_conformance.journal.scripts_on_files import FILE_SCRIPTS, LIMIT_SCRIPTS
from perdure_conformance.suite import WrittenCheck

_A_PROCESS: Final = 200
"""To start one takes as long as to send so many records."""


def _weight(script: Script) -> int:
    """Return about how long a script takes: in records, and in hundreds at that, so that the order stays by subject."""
    appends = [operation for operation in one_by_one(script.operations) if isinstance(operation, Append)]
    records = [record for append in appends for record in append.records]
    size = len(records) + sum(record.body_bytes for record in records) // 1_000
    return (size + (_A_PROCESS if script.alone else 0)) // 100


ALL_SCRIPTS: Final[tuple[Script, ...]] = tuple(
    sorted(SCRIPTS + SNAPSHOT_AND_LEASE_SCRIPTS + LIMIT_SCRIPTS + FILE_SCRIPTS + RACE_SCRIPTS, key=_weight)
)


def checks() -> Mapping[str, WrittenCheck]:
    """Return every script by its name."""
    return {
        script.name: WrittenCheck(
            script.reaches,
            partial(numbered, script.operations, (), "process" if script.alone else "handle"),
            "each answer is judged by every requirement",
        )
        for script in ALL_SCRIPTS
    }
