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
from perdure.kernel.values import Digest, JsonObject, JsonValue, canonical_json, nesting

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
KINDS: Final[Mapping[OutcomeKind, str]] = {
    "succeeded": "The work is done, and what waits for a success has one.",
    "changes_requested": "The work is done and found wanting: it is not retried, an edge may lead to a correction, and "
    "the node fails when none can come any more.",
    "retryable_failure": "The attempt failed and may be tried again; when `retry` allows no more, the node fails.",
    "permanent_failure": "The work failed for good, and is tried again only if `retry.classes` names this kind.",
    "blocked": "The work cannot go on before something outside it changes, and the node ends.",
    "cancelled": "The work was given up at a request, and the node ends.",
    "skipped": "The node did not run, for nothing can lead to it any more; it fires no edge.",
}
"""What each kind means."""

KINDS_WITH_OUTPUT: Final[frozenset[OutcomeKind]] = frozenset({"succeeded", "changes_requested"})
RETRY_CLASSES: Final[frozenset[OutcomeKind]] = frozenset({"retryable_failure", "permanent_failure"})

MAX_INLINE_BYTES: Final = 64 * 1024
"""Inline output, and inline input, in canonical form; inclusive."""
MAX_INLINE_DEPTH: Final = 90
"""Arrays and objects of inline values nest at most this deep: the records and states around them nest deeper."""
MAX_REASON_BYTES: Final = 4 * 1024
MAX_EVIDENCE: Final = 32

ArtifactIdText = Annotated[ArtifactId, whole(UUID_GRAMMAR)]
DigestText = Annotated[Digest, whole("[0-9a-f]{64}")]
MediaType = Annotated[str, Meta(min_length=1, max_length=255)]


class ArtifactReference(
    msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, forbid_unknown_fields=True
):
    """Content that is kept elsewhere, and the digest that it must have."""

    artifact_id: Annotated[ArtifactIdText, about("Says which artifact it is, by canonical lowercase UUID text.")]
    byte_length: Annotated[AtLeastZero, about("Says how many bytes its content has.")]
    sha256: Annotated[DigestText, about("Pins its content by the SHA-256 of its bytes, in lowercase hexadecimal.")]
    media_type: Annotated[MediaType, about("Says what kind of content it is, if that is known.")] | None = None


Evidence = Annotated[tuple[ArtifactReference, ...], Meta(max_length=MAX_EVIDENCE)]
_WITHOUT_OUTPUT = {kind: meaning for kind, meaning in KINDS.items() if kind not in KINDS_WITH_OUTPUT}
_WHY = about(f"Says why, for people, in at most {MAX_REASON_BYTES:,} bytes of UTF-8.")
_EVIDENCE = about("Refers to what supports the outcome.")
_OUTPUT = about(
    f"Gives the result as JSON, of at most {MAX_INLINE_BYTES:,} bytes in canonical form; what the node declares of its "
    "top-level fields can be used elsewhere."
)
_ARTIFACT = about("Refers to a result that is kept elsewhere, in place of `output`.")


class Succeeded(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """The work is done."""

    kind: Annotated[Literal["succeeded"], about("Says that the work is done.", words={"succeeded": KINDS["succeeded"]})]
    output: Annotated[Json, _OUTPUT] | UnsetType = UNSET
    artifact: Annotated[ArtifactReference, _ARTIFACT] | None = None
    evidence: Annotated[Evidence, _EVIDENCE] = ()


class ChangesRequested(
    msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, forbid_unknown_fields=True
):
    """The work is done and found wanting: an edge may lead to a correction."""

    kind: Annotated[
        Literal["changes_requested"],
        about("Says that a correction is asked for.", words={"changes_requested": KINDS["changes_requested"]}),
    ]
    reason: Annotated[str, _WHY]
    output: Annotated[Json, _OUTPUT] | UnsetType = UNSET
    artifact: Annotated[ArtifactReference, _ARTIFACT] | None = None
    evidence: Annotated[Evidence, _EVIDENCE] = ()


class Unsuccessful(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """The work is not done, and there is nothing to show for it."""

    kind: Annotated[
        Literal["retryable_failure", "permanent_failure", "blocked", "cancelled", "skipped"],
        about("Says in which way the work is not done.", words=_WITHOUT_OUTPUT),
    ]
    reason: Annotated[str, _WHY]
    evidence: Annotated[Evidence, _EVIDENCE] = ()


Outcome = Succeeded | ChangesRequested | Unsuccessful


def read_outcome(value: JsonValue, problems: Problems) -> Outcome | None:
    """Decode an outcome and hold it against its limits; every difference goes to `problems`."""
    outcome = read(Outcome, value, Reading(problems))
    if not isinstance(outcome, Outcome):
        return None
    check_limits(outcome, problems)
    return outcome


def check_limits(outcome: Outcome, problems: Problems) -> None:
    """Hold an outcome against what no schema can say; every difference goes to `problems`."""
    if not isinstance(outcome, Succeeded) and len(outcome.reason.encode("utf-8", "surrogatepass")) > MAX_REASON_BYTES:
        problems.error("reason_too_long", "/reason", f"Shorten the reason to {MAX_REASON_BYTES} bytes of UTF-8.")
    if not isinstance(outcome, Unsuccessful):
        _check_output(outcome, problems)


def _check_output(outcome: Succeeded | ChangesRequested, problems: Problems) -> None:
    if outcome.output is UNSET:
        return
    if outcome.artifact is not None:
        problems.error("output_given_twice", "/artifact", "Give `output` or `artifact`, not both.")
    if nesting(outcome.output) > MAX_INLINE_DEPTH:
        problems.error("output_too_deep", "/output", f"Flatten the output: it may nest {MAX_INLINE_DEPTH} deep.")
    elif len(canonical_json(outcome.output)) > MAX_INLINE_BYTES:
        told = f"Keep output of more than {MAX_INLINE_BYTES} bytes elsewhere, and give its `artifact`."
        problems.error("output_too_large", "/output", told)


def output_fields(outcome: Outcome) -> JsonObject:
    """Return the fields that a predicate can ask about: those of inline output that is an object."""
    if isinstance(outcome, Unsuccessful) or not isinstance(outcome.output, Mapping):
        return {}
    return outcome.output
