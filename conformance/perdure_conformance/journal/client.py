"""The journal contract over a connection: messages out, typed answers in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from perdure.journal import contract
from perdure.journal.contract import FLOOR, Description, Limits
from perdure.kernel.values import JsonObject
from perdure_conformance.harness import messages
from perdure_conformance.harness.connection import Connection, Unsupported

NAMESPACE: Final = "perdure"

HARNESS_LIMITS: Final = FLOOR
"""What the harness sends at most, and therefore all that it has to receive."""


def limits_in_force(declared: Limits) -> Limits:
    """Return the smaller of what the implementation declares and what the harness sends."""
    return Limits(
        max_batch_records=min(declared.max_batch_records, HARNESS_LIMITS.max_batch_records),
        max_batch_bytes=min(declared.max_batch_bytes, HARNESS_LIMITS.max_batch_bytes),
        max_snapshot_bytes=min(declared.max_snapshot_bytes, HARNESS_LIMITS.max_snapshot_bytes),
    )


TIGHT_LIMITS: Final = Limits(max_batch_records=1_500, max_batch_bytes=3 * 2**19, max_snapshot_bytes=3 * 2**19)
"""What is larger than a limit up to here still fits in a line."""


def is_tight(declared: Limits) -> bool:
    """Tell whether the limits are so near to the least ones that the harness can exceed them."""
    return (
        declared.max_batch_records <= TIGHT_LIMITS.max_batch_records
        and declared.max_batch_bytes <= TIGHT_LIMITS.max_batch_bytes
        and declared.max_snapshot_bytes <= TIGHT_LIMITS.max_snapshot_bytes
    )


def may_be_sent(declared: Limits, exceeds: Callable[[Limits], bool]) -> bool:
    """Tell whether something is within the limits in force, or is there to exceed what is declared."""
    return not exceeds(limits_in_force(declared)) or (is_tight(declared) and exceeds(declared))


class Claims(contract.Capabilities, frozen=True, kw_only=True, omit_defaults=True):
    """What a journal claims, and what follows from its limits."""

    tight_limits: bool = False
    """Its limits are near to the least ones, so that it can be seen that it keeps them."""


class NotSupported(msgspec.Struct, frozen=True):
    """The answer of an implementation that does not offer the operation."""

    not_supported: str


class Invalid(msgspec.Struct, frozen=True):
    """What came instead of an answer that the protocol knows, in words."""

    invalid: str


Result = (
    contract.Acknowledged
    | contract.Page
    | contract.Done
    | contract.Snapshot
    | contract.NoSnapshot
    | contract.Granted
    | contract.Renewed
)
Refusal = contract.DefiniteRefusal | contract.Unavailable | contract.Corrupt | contract.Held
Answer = Result | Refusal | NotSupported | Invalid

_RESULTS: Final[dict[str, Any]] = {
    "append": contract.Acknowledged,
    "load": contract.Page,
    "save_snapshot": contract.Done,
    "load_snapshot": contract.Snapshot,
    "acquire": contract.Granted,
    "renew": contract.Renewed,
    "release": contract.Done,
    "recover": contract.Done,
}


class JournalClient:
    """One handle on the journal under judgement."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def initialize(self, state_dir: Path) -> Description:
        """Open the state and learn what is claimed."""
        params: JsonObject = {
            "protocol": messages.PROTOCOL,
            "profile": "journal",
            "state_dir": str(state_dir),
            "namespace": NAMESPACE,
            "limits": msgspec.to_builtins(HARNESS_LIMITS),
        }
        description = msgspec.convert(self.connection.call("initialize", params), Description)
        claims = Claims(**msgspec.structs.asdict(description.capabilities), tight_limits=is_tight(description.limits))
        return msgspec.structs.replace(description, capabilities=claims)

    def ask(self, method: str, params: JsonObject) -> Answer:
        """Send one request. The result was held against its schema, so it has one of the method's types."""
        try:
            return answer_of(method, self.connection.call(method, params))
        except Unsupported:
            return NotSupported(method)


def answer_of(method: str, result: JsonObject) -> Result | Refusal:
    """Return the answer that a result is. Raises `msgspec.ValidationError` if it has no type of the method's."""
    if "refused" in result:
        refusal: Refusal = msgspec.convert(result, Refusal)
        return refusal
    answer: Result = msgspec.convert(result, contract.NoSnapshot if "none" in result else _RESULTS[method])
    return answer
