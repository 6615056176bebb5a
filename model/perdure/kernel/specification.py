"""The workflow specification: the document that a run is made from and pinned to.

Source: ADR-0032, "Serializable workflow specification", "Typed outcomes and dependency policies";
`docs/spec/specification.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, field

from perdure.kernel.identity import (
    NAME_GRAMMAR,
    REFERENCE_GRAMMAR,
    NodeId,
    WorkflowId,
    WorkflowReference,
)
from perdure.kernel.outcomes import MAX_INLINE_BYTES, ArtifactReference, DigestText, OutcomeKind
from perdure.kernel.predicates import FieldName, Predicate
from perdure.kernel.structure import UNIQUE, AtLeastOne, AtLeastZero, Members, about, whole
from perdure.kernel.values import JsonObject, JsonValue  # noqa: F401 - annotations are read at run time

VERSIONS: Final = (1, 2, 3, 4, 5)
MAX_DOCUMENT_BYTES: Final = 15 * 2**20
"""In canonical form, inclusive: the record that carries a document has room for 16 MiB."""
MAX_DOCUMENT_DEPTH: Final = 90
MAX_CHILD_LEVELS: Final = 8

Version = Annotated[int, Meta(ge=1, le=VERSIONS[-1], extra={"code": "unsupported_version"})]
WorkflowName = Annotated[WorkflowId, whole(NAME_GRAMMAR)]
NodeName = Annotated[NodeId, whole(NAME_GRAMMAR)]
Reference = Annotated[WorkflowReference, whole(REFERENCE_GRAMMAR)]
CatalogKey = Annotated[WorkflowReference, whole(REFERENCE_GRAMMAR, code="wrong_reference")]
Seed = Annotated[str, Meta(max_length=128)]

DependencyPolicy = Literal["all_succeeded", "all_completed", "any_succeeded"]
ChildPolicy = Literal["propagate", "require_success"]
EdgeMode = Literal["parallel", "exclusive"]
CancellationPolicy = Literal["cascade"]


class HandlerContract(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The handler that does the work, by the contract that it must keep. It is registered, never named by a path."""

    name: Annotated[FieldName, about("The stable name under which an application registers it.")]
    version: Annotated[AtLeastOne, about("The version of its contract.")]


class ChildCall(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A run of another workflow, as the work of one node."""

    workflow: Annotated[Reference, about("A key of `children`: `workflow_id@workflow_version`.")]
    policy: Annotated[
        ChildPolicy,
        about(
            "What a child run that did not complete means. `propagate`: this node ends as the run did. "
            "`require_success`: this node fails permanently."
        ),
    ]
    outputs: Annotated[
        Mapping[FieldName, FieldName], about("This node's output fields, each with the child's output that it copies.")
    ] = field(default_factory=dict)


class OutputReference(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A field of another node's output."""

    node: Annotated[NodeName, about("The node.")]
    output: Annotated[FieldName, about("One of its declared outputs.")]


class RunInputReference(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A field of the run's input."""

    run_input: Annotated[FieldName, about("One of the declared `inputs`.")]


class Immediate(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The next attempt comes at once."""

    kind: Annotated[Literal["immediate"], about("That there is no delay.")]


class Fixed(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The next attempt comes after the same delay each time."""

    kind: Annotated[Literal["fixed"], about("That the delay is always the same.")]
    delay_ms: Annotated[AtLeastZero, about("The delay.")]


class Exponential(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The next attempt comes after a delay that grows: min(initial × multiplier^(next attempt − 2), maximum)."""

    kind: Annotated[Literal["exponential"], about("That the delay grows.")]
    initial_ms: Annotated[AtLeastZero, about("The delay before the second attempt.")]
    multiplier: Annotated[AtLeastOne, about("How many times longer each delay is than the one before.")]
    maximum_ms: Annotated[AtLeastZero, about("The longest delay.")]


Backoff = Immediate | Fixed | Exponential


class Jitter(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A part of the delay that differs from run to run, and is the same each time it is computed."""

    seed: Annotated[Seed, about("What it is computed from, with run, node and attempt.")]
    maximum_ms: Annotated[AtLeastZero, about("The most that is added to a delay.")]


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """When a node is tried again within one activation."""

    max_attempts: Annotated[AtLeastOne, about("How many attempts there are at most, the first one included.")] = 3
    classes: Annotated[
        tuple[OutcomeKind, ...],
        about("The outcomes that are tried again: `retryable_failure` always, `permanent_failure` if named."),
    ] = ("retryable_failure",)
    backoff: Annotated[Backoff, about("How long the next attempt waits.")] = Immediate(kind="immediate")
    jitter: Annotated[Jitter, about("What is added to each delay.")] | None = None
    attempt_deadline_ms: Annotated[AtLeastOne, about("How long one attempt may take, waits included.")] | None = None


class Budgets(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """What a run may use up. One more than a limit fails the run."""

    max_attempts: Annotated[AtLeastOne, about("Handler and child starts.")] = 10_000
    max_transitions: Annotated[AtLeastOne, about("Initial and released nodes, edges followed, retries.")] = 100_000
    max_elapsed_ms: Annotated[AtLeastOne, about("Time since the run was created.")] | None = None


class Node(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One step of a workflow."""

    id: Annotated[NodeName, about("Its name, which histories and edges refer to.")]
    handler: Annotated[HandlerContract, about("What does the work, if no child does.")] | None = None
    child: Annotated[ChildCall, about("The child run that does the work, if no handler does.", since=3)] | None = None
    input: Annotated[Members, about(f"Input known now. At most {MAX_INLINE_BYTES:,} bytes in canonical form.")] = field(
        default_factory=dict
    )
    artifacts: Annotated[
        Mapping[FieldName, ArtifactReference], about("Input that is kept elsewhere, by field.", since=2)
    ] = field(default_factory=dict)
    input_mapping: Annotated[
        Mapping[FieldName, OutputReference | RunInputReference],
        about("Input that a run brings, by field.", since=3),
    ] = field(default_factory=dict)
    outputs: Annotated[tuple[FieldName, ...], about("The output fields that others may use.")] = ()
    dependencies: Annotated[tuple[NodeName, ...], about("The nodes that it waits for.")] = ()
    dependency_policy: Annotated[DependencyPolicy, about("What it waits for in them.", since=2)] = "all_succeeded"
    max_activations: Annotated[AtLeastOne, about("How often it may be activated in a run.", since=3)] | None = None
    retry: Annotated[RetryPolicy, about("When it is tried again.", since=4)] | None = None
    signals: Annotated[tuple[FieldName, ...], about("The signals that its handler may wait for.", since=5)] = ()


class Edge(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Where an outcome may lead. Its position among the edges is its identity."""

    source: Annotated[NodeName, about("The node whose outcome it follows.")] = field(name="from")
    target: Annotated[NodeName, about("The node that it activates.")] = field(name="to")
    when: Annotated[Predicate, about("The outcomes that it follows.")] = "any"
    mode: Annotated[
        EdgeMode, about("`exclusive`: no other exclusive edge of its source follows an outcome that this one follows.")
    ] = "parallel"


class Definition(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A workflow: nodes, and what leads from one to another."""

    nodes: Annotated[tuple[Node, ...], Meta(min_length=1), about("The nodes. Their order is the specification order.")]
    edges: Annotated[tuple[Edge, ...], about("The edges, in the order in which they fire.", since=3)] = ()
    initial_nodes: Annotated[tuple[NodeName, ...], about("Where a run begins.", since=3)] | None = None
    inputs: Annotated[tuple[FieldName, ...], about("The fields of the run's input, all required.", since=3)] = ()
    outputs: Annotated[
        Mapping[FieldName, OutputReference], about("The fields of the run's output, and where they come from.", since=3)
    ] = field(default_factory=dict)
    budgets: Annotated[Budgets, about("What a run may use up.", since=4)] = Budgets()
    cancellation: Annotated[
        CancellationPolicy,
        about("What a request to cancel does: it cancels every node not at its end.", since=5),
    ] = "cascade"


class Specification(Definition, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A workflow specification."""

    schema_version: Annotated[Version, about("The version of this format that the document is written in.")]
    workflow_id: Annotated[WorkflowName, about("The name of the workflow.")]
    workflow_version: Annotated[AtLeastOne, about("The version of the workflow.")]
    content_hash: (
        Annotated[
            DigestText,
            about("SHA-256 of the canonical form of the document without this member, in lowercase hexadecimal."),
        ]
        | None
    ) = None
    schema: Annotated[str, about("The JSON Schema, for editors.")] | None = field(name="$schema", default=None)
    children: Annotated[
        Mapping[CatalogKey, Definition],
        about("The workflows that child nodes run, each as `workflow_id@workflow_version`: a closed catalog.", since=3),
    ] = field(default_factory=dict)


class HandlerDeclaration(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A handler that an application registers."""

    name: Annotated[FieldName, about("Its stable name.")]
    version: Annotated[AtLeastOne, about("The version of its contract.")]
    inputs: Annotated[tuple[FieldName, ...], UNIQUE, about("The input fields that it needs.")] = ()


class HandlerCatalogue(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The handlers of an application: what `perdure lint --handlers` reads."""

    handlers: Annotated[tuple[HandlerDeclaration, ...], about("The handlers.")]
    schema: Annotated[str, about("The JSON Schema, for editors.")] | None = field(name="$schema", default=None)


def covered_by_hash(document: JsonObject) -> JsonObject:
    """Return the part of a document that its content hash covers."""
    return {key: value for key, value in document.items() if key != "content_hash"}
