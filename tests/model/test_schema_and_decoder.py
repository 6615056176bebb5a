"""The published schema and the decoder's structural pass accept exactly the same values: two readers, one language."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator
from tests.model.drawn_values import Judge, Values, near_miss, schema_of

from perdure.kernel.commands import AnyCommand, Rejection
from perdure.kernel.outcomes import Outcome
from perdure.kernel.problems import Problems
from perdure.kernel.records import VERSIONS, StoredRecord
from perdure.kernel.snapshots import StateDocument
from perdure.kernel.specification import HandlerCatalogue, Specification
from perdure.kernel.structure import Reading, read
from perdure.kernel.values import canonical_json, read_json

pytestmark = pytest.mark.many

KINDS: Final[Mapping[str, tuple[object, int | None]]] = {
    "specification-1": (Specification, None),
    "outcome-1": (Outcome, None),
    "handlers-1": (HandlerCatalogue, None),
    **{f"event-{version}": (kind, version) for version, kind in VERSIONS.items()},
    "record-1": (StoredRecord, None),
    "command-1": (AnyCommand, None),
    "rejection-1": (Rejection, None),
    "state-2": (StateDocument, None),
}
"""The type of each schema, and the version whose members a value may have."""


def is_decoded(name: str, value: Any) -> bool:
    kind, version = KINDS[name]
    problems = Problems()
    read(kind, value, Reading(problems, version))
    return problems.errors == 0


def parsed(value: Any) -> Any:
    """Return the value as a reader of durable JSON has it: one number type."""
    return read_json(json.dumps(value))


@pytest.mark.parametrize(
    ("name", "examples"), [(name, 5_000 if name == "specification-1" else 1_000) for name in KINDS]
)
def test_schema_and_decoder_accept_the_same_values(name: str, examples: int) -> None:
    judge = Judge(name)
    allowed_and_refused: Counter[bool] = Counter()
    for number in range(examples):
        chance = Random(number)  # noqa: S311 - it draws examples
        drawn = Values(judge.schema, chance).of(judge.schema)
        value = parsed(drawn)
        assert judge.allows(value), f"{number}: drawn against the schema"
        assert is_decoded(name, value), (number, canonical_json(value))
        edited = parsed(near_miss(drawn, chance))
        allowed = judge.allows(edited)
        allowed_and_refused[allowed] += 1
        assert is_decoded(name, edited) == allowed, (number, canonical_json(edited))
    assert min(allowed_and_refused.values()) > examples // 10, allowed_and_refused


@pytest.mark.parametrize("name", KINDS)
def test_to_select_by_type_and_to_inline_changes_no_verdict(name: str) -> None:
    judge, published = Judge(name), Draft202012Validator(schema_of(name))
    for number in range(50):
        chance = Random(number)  # noqa: S311 - it draws examples
        value = Values(judge.schema, chance).of(judge.schema)
        for one in (value, near_miss(value, chance)):
            assert judge.allows(one) == published.is_valid(one), one
