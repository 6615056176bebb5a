"""Outcomes: how an attempt can end, and what it may carry.

Source: ADR-0032, "Typed outcomes and dependency policies"; `docs/spec/specification.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from perdure.kernel.identity import UUID_GRAMMAR, ArtifactId
from perdure.kernel.problems import Problems
from perdure.kernel.structure import AtLeastZero, Json, Reading, about, read, whole
from perdure.kernel.values import Digest, JsonObject, JsonValue, canonical_json

OutcomeKind = Literal[
    "succeeded",
    "changes_requested",
    "retryable_failure",
    "permanent_failure",
    "blocked",
    "cancelled",
    "skipped",
]

OUTCOME_KINDS: Final[tuple[OutcomeKind, ...]] = get_args(OutcomeKind)
KINDS_WITH_OUTPUT: Final[frozenset[OutcomeKind]] = frozenset({"succeeded", "changes_requested"})
RETRY_CLASSES: Final[frozenset[OutcomeKind]] = frozenset({"retryable_failure", "permanent_failure"})

MAX_INLINE_BYTES: Final = 64 * 1024
"""Inline output, and inline input, in canonical form; inclusive."""
MAX_REASON_BYTES: Final = 4 * 1024
MAX_EVIDENCE: Final = 32

ArtifactIdText = Annotated[ArtifactId, whole(UUID_GRAMMAR)]
DigestText = Annotated[Digest, whole("[0-9a-f]{64}")]
MediaType = Annotated[str, Meta(min_length=1, max_length=255)]


class ArtifactReference(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Content that is kept elsewhere, and the digest that it must have."""

    artifact_id: Annotated[ArtifactIdText, about("The identity of the artifact: canonical lowercase UUID text.")]
    byte_length: Annotated[AtLeastZero, about("How many bytes it has.")]
    sha256: Annotated[DigestText, about("SHA-256 of its bytes, in lowercase hexadecimal.")]
    media_type: Annotated[MediaType, about("Its media type, if that is known.")] | None = None


Evidence = Annotated[tuple[ArtifactReference, ...], Meta(max_length=MAX_EVIDENCE)]
_WHY = about(f"Why, for people. At most {MAX_REASON_BYTES:,} bytes in UTF-8.")
_EVIDENCE = about("What supports it.")
_OUTPUT = about(f"What it gives, as JSON. At most {MAX_INLINE_BYTES:,} bytes in canonical form.")
_ARTIFACT = about("What it gives, kept elsewhere; in place of `output`.")


class Succeeded(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The work is done."""

    kind: Annotated[Literal["succeeded"], about("That the work is done.")]
    output: Annotated[Json, _OUTPUT] | UnsetType = UNSET
    artifact: Annotated[ArtifactReference, _ARTIFACT] | None = None
    evidence: Annotated[Evidence, _EVIDENCE] = ()


class ChangesRequested(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The work is done and found wanting: an edge may lead to a correction."""

    kind: Annotated[Literal["changes_requested"], about("That a correction is asked for.")]
    reason: Annotated[str, _WHY]
    output: Annotated[Json, _OUTPUT] | UnsetType = UNSET
    artifact: Annotated[ArtifactReference, _ARTIFACT] | None = None
    evidence: Annotated[Evidence, _EVIDENCE] = ()


class Unsuccessful(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The work is not done, and there is nothing to show for it."""

    kind: Annotated[
        Literal["retryable_failure", "permanent_failure", "blocked", "cancelled", "skipped"],
        about("In which way it is not done."),
    ]
    reason: Annotated[str, _WHY]
    evidence: Annotated[Evidence, _EVIDENCE] = ()


Outcome = Succeeded | ChangesRequested | Unsuccessful


def read_outcome(value: JsonValue, problems: Problems) -> Outcome | None:
    """Decode an outcome and hold it against its limits; every difference goes to `problems`."""
    outcome = read(Outcome, value, Reading(problems))
    if not isinstance(outcome, Outcome):
        return None
    if not isinstance(outcome, Succeeded) and len(outcome.reason.encode("utf-8", "surrogatepass")) > MAX_REASON_BYTES:
        problems.error("reason_too_long", "/reason", f"Shorten the reason to {MAX_REASON_BYTES} bytes of UTF-8.")
    if not isinstance(outcome, Unsuccessful):
        _check_output(outcome, problems)
    return outcome


def _check_output(outcome: Succeeded | ChangesRequested, problems: Problems) -> None:
    if outcome.output is UNSET:
        return
    if outcome.artifact is not None:
        problems.error("output_given_twice", "/artifact", "Give `output` or `artifact`, not both.")
    if len(canonical_json(outcome.output)) > MAX_INLINE_BYTES:
        told = f"Keep output of more than {MAX_INLINE_BYTES} bytes elsewhere, and give its `artifact`."
        problems.error("output_too_large", "/output", told)


def output_fields(outcome: Outcome) -> JsonObject:
    """Return the fields that a predicate can ask about: those of inline output that is an object."""
    if isinstance(outcome, Unsuccessful) or not isinstance(outcome.output, Mapping):
        return {}
    return outcome.output
