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

    name: Annotated[
        FieldName,
        about(
            "Chooses the handler, by the name under which the application registers it; it is no path and no command."
        ),
    ]
    version: Annotated[
        AtLeastOne,
        about("Says which version of its contract is meant; unfinished work goes on only with a compatible handler."),
    ]


class ChildCall(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A run of another workflow, as the work of one node."""

    workflow: Annotated[
        Reference, about("Chooses the workflow, a key of `children`; each attempt of the node is a new run of it.")
    ]
    policy: Annotated[
        ChildPolicy,
        about(
            "Says what becomes of the node if the child run does not complete.",
            words={
                "propagate": "The node ends as the child run did: with `permanent_failure` if it failed, with "
                "`blocked` or `cancelled` if it was that.",
                "require_success": "The node ends with `permanent_failure`, however the child run ended.",
            },
        ),
    ]
    outputs: Annotated[
        Mapping[FieldName, FieldName],
        about(
            "Copies fields of the child run's output (the values) to fields of this node's output (the keys); one that "
            "is missing fails the node permanently."
        ),
    ] = field(default_factory=dict)


class OutputReference(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A field of another node's output."""

    node: Annotated[NodeName, about("Takes the value from this node's output.")]
    output: Annotated[FieldName, about("Takes this field of the output, one that the node declares.")]


class RunInputReference(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A field of the run's input."""

    run_input: Annotated[FieldName, about("Takes this field of the run's input, one that `inputs` declares.")]


class Immediate(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The next attempt comes at once."""

    kind: Annotated[Literal["immediate"], about("Says that there is no delay.")]


class Fixed(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The next attempt comes after the same delay each time."""

    kind: Annotated[Literal["fixed"], about("Says that the delay is always the same.")]
    delay_ms: Annotated[AtLeastZero, about("Sets the delay before each further attempt.")]


class Exponential(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The next attempt comes after a delay that grows: min(initial × multiplier^(next attempt − 2), maximum)."""

    kind: Annotated[Literal["exponential"], about("Says that the delay grows.")]
    initial_ms: Annotated[AtLeastZero, about("Sets the delay before the second attempt, if `maximum_ms` allows it.")]
    multiplier: Annotated[AtLeastOne, about("Makes each delay so many times longer than the one before.")]
    maximum_ms: Annotated[AtLeastZero, about("Limits each delay, before jitter is added.")]


Backoff = Immediate | Fixed | Exponential


class Jitter(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A part of the delay that differs from run to run, and is the same each time it is computed."""

    seed: Annotated[Seed, about("Decides, with run, node and attempt, how much is added to a delay.")]
    maximum_ms: Annotated[AtLeastZero, about("Limits what is added to a delay: from 0 to so much.")]


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """When a node is tried again within one activation."""

    max_attempts: Annotated[
        AtLeastOne,
        about("Limits the attempts of one activation, the first one included; when they are used up, the node fails."),
    ] = 3
    classes: Annotated[
        tuple[OutcomeKind, ...],
        about(
            "Names the outcomes that are tried again.",
            words={
                "retryable_failure": "It is tried again, named or not.",
                "permanent_failure": "It is tried again if it is named.",
            },
        ),
    ] = ("retryable_failure",)
    backoff: Annotated[Backoff, about("Sets how long the next attempt waits, counted from the failure.")] = Immediate(
        kind="immediate"
    )
    jitter: Annotated[Jitter, about("Adds to each delay a part that differs from run to run.")] | None = None
    attempt_deadline_ms: (
        Annotated[
            AtLeastOne,
            about("Limits the time of one attempt, waits included; then it ends with `retryable_failure`."),
        ]
        | None
    ) = None


class Budgets(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """What a run may use up. One more than a limit fails the run."""

    max_attempts: Annotated[
        AtLeastOne,
        about("Limits the attempts of all nodes together, of handlers and child runs; one more fails the run."),
    ] = 10_000
    max_transitions: Annotated[
        AtLeastOne,
        about(
            "Limits what moves a run on, and one more fails it: initial nodes, nodes released by dependencies, edges "
            "that fire, and two for each retry, when it is scheduled and when it is released."
        ),
    ] = 100_000
    max_elapsed_ms: (
        Annotated[AtLeastOne, about("Fails the run when so much time has passed since it was created.")] | None
    ) = None


class Node(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One step of a workflow."""

    id: Annotated[NodeName, about("Names the node, for dependencies, edges, references and histories.")]
    handler: (
        Annotated[HandlerContract, about("Does the node's work by code of the application, if `child` does not.")]
        | None
    ) = None
    child: (
        Annotated[
            ChildCall, about("Does the node's work by a run of another workflow, if `handler` does not.", since=3)
        ]
        | None
    ) = None
    input: Annotated[
        Members,
        about(f"Gives input whose value is known now, of at most {MAX_INLINE_BYTES:,} bytes in canonical form."),
    ] = field(default_factory=dict)
    artifacts: Annotated[
        Mapping[FieldName, ArtifactReference], about("Gives input that is kept elsewhere, field by field.", since=2)
    ] = field(default_factory=dict)
    input_mapping: Annotated[
        Mapping[FieldName, OutputReference | RunInputReference],
        about(
            "Gives input that comes with the run, field by field; an attempt that starts while a value is missing ends "
            "with `permanent_failure`.",
            since=3,
        ),
    ] = field(default_factory=dict)
    outputs: Annotated[
        tuple[FieldName, ...], about("Declares the top-level fields of its handler's output that others may use.")
    ] = ()
    dependencies: Annotated[
        tuple[NodeName, ...], about("Makes the node wait for these nodes, as `dependency_policy` says.")
    ] = ()
    dependency_policy: Annotated[
        DependencyPolicy,
        about(
            "Says what the node waits for in its dependencies; when that is impossible, it ends without having run, as "
            "`cancelled` if one of them is, else as `blocked` if one is, else as `skipped`.",
            since=2,
            words={
                "all_succeeded": "Every one of them has succeeded.",
                "all_completed": "Every one of them has ended, however; one that asked for changes has not, as long as "
                "a correction may come.",
                "any_succeeded": "One of them has succeeded; the others are not waited for.",
            },
        ),
    ] = "all_succeeded"
    max_activations: (
        Annotated[
            AtLeastOne,
            about(
                "Limits how often the node is activated in a run, at the start, by its dependencies and by edges, "
                "queued activations included; after that, no edge into it fires.",
                since=3,
            ),
        ]
        | None
    ) = None
    retry: (
        Annotated[RetryPolicy, about("Says when the node is tried again, and how long one attempt may take.", since=4)]
        | None
    ) = None
    signals: Annotated[
        tuple[FieldName, ...],
        about("Names the signals from outside the run that the node's handler may wait for.", since=5),
    ] = ()


class Edge(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Where an outcome may lead. Its position among the edges is its identity."""

    source: Annotated[
        NodeName, about("Chooses the node at whose outcome the edge may fire: once for each activation, when it ends.")
    ] = field(name="from")
    target: Annotated[
        NodeName,
        about("Chooses the node that the edge activates when it fires: at once, or in its turn if the node is busy."),
    ] = field(name="to")
    when: Annotated[
        Predicate,
        about(
            "Says at which outcomes the edge fires.",
            words={"any": "It fires at every outcome that an activation of its source ends with."},
        ),
    ] = "any"
    mode: Annotated[
        EdgeMode,
        about(
            "Says whether other edges of its source may fire with it.",
            words={
                "parallel": "It fires whenever its predicate matches, whatever other edges do.",
                "exclusive": "It fires when its predicate matches, which no other exclusive edge of its source may do "
                "at the same outcome.",
            },
        ),
    ] = "parallel"


class Definition(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A workflow: nodes, and what leads from one to another."""

    nodes: Annotated[
        tuple[Node, ...],
        Meta(min_length=1),
        about("Lists the steps, in specification order: that in which nodes have their turn when several could."),
    ]
    edges: Annotated[
        tuple[Edge, ...], about("Leads from outcomes to nodes that run next, in the order in which they fire.", since=3)
    ] = ()
    initial_nodes: (
        Annotated[
            tuple[NodeName, ...],
            about(
                "Names the nodes that are activated when the run is created; without it, all that have neither "
                "dependencies nor edges into them.",
                since=3,
            ),
        ]
        | None
    ) = None
    inputs: Annotated[
        tuple[FieldName, ...], about("Declares the fields of the run's input, all of them required.", since=3)
    ] = ()
    outputs: Annotated[
        Mapping[FieldName, OutputReference],
        about("Makes the run's output: each field with the output of a node that it is taken from.", since=3),
    ] = field(default_factory=dict)
    budgets: Annotated[
        Budgets,
        about("Limits what one run may use up; a child run has the limits of its own definition.", since=4),
    ] = Budgets()
    cancellation: Annotated[
        CancellationPolicy,
        about(
            "Says what a request to cancel the run does.",
            since=5,
            words={
                "cascade": "Every node that has not ended is cancelled, and the run with them; handlers and child runs "
                "that are under way are told to stop."
            },
        ),
    ] = "cascade"


class Specification(Definition, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A workflow specification."""

    schema_version: Annotated[
        Version, about("Says which members the document may have: those of this version and of earlier ones.")
    ]
    workflow_id: Annotated[WorkflowName, about("Names the workflow.")]
    workflow_version: Annotated[
        AtLeastOne, about("Tells the versions of the workflow apart; a run stays with the one that it began with.")
    ]
    content_hash: (
        Annotated[
            DigestText,
            about(
                "Pins the content, by the SHA-256 of the canonical form of the document without this member, in "
                "lowercase hexadecimal."
            ),
        ]
        | None
    ) = None
    schema: Annotated[str, about("Tells editors the JSON Schema; a run makes nothing of it.")] | None = field(
        name="$schema", default=None
    )
    children: Annotated[
        Mapping[CatalogKey, Definition],
        about(
            "Defines the workflows that child nodes may run, each as `workflow_id@workflow_version`; no others may be.",
            since=3,
        ),
    ] = field(default_factory=dict)


class HandlerDeclaration(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A handler that an application registers."""

    name: Annotated[FieldName, about("Names the handler, for `handler.name` of nodes.")]
    version: Annotated[AtLeastOne, about("Says which version of its contract it keeps.")]
    inputs: Annotated[
        tuple[FieldName, ...], UNIQUE, about("Declares the input fields that a node must give it; more are accepted.")
    ] = ()


class HandlerCatalogue(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The handlers of an application: what `perdure lint --handlers` reads."""

    handlers: Annotated[tuple[HandlerDeclaration, ...], about("Lists the handlers, each version of one once.")]
    schema: Annotated[str, about("Tells editors the JSON Schema.")] | None = field(name="$schema", default=None)


def covered_by_hash(document: JsonObject) -> JsonObject:
    """Return the part of a document that its content hash covers."""
    return {key: value for key, value in document.items() if key != "content_hash"}
