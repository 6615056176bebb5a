"""The version policy: each kind of change, whether it is compatible, and why.

The question is that of whoever has documents and histories from before: is what was valid still valid, and does it
still mean the same? Whether an older reader takes what is written from now on is another question; where it would
not, the reason says so.

Source: ADR-0032 "Version and compatibility policy"; `docs/gate.md` shows this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Verdict = Literal["compatible", "breaking"]
Code = Literal[
    "schema_added",
    "schema_removed",
    "text_changed",
    "member_added",
    "made_optional",
    "value_added",
    "type_widened",
    "alternative_added",
    "limit_loosened",
    "optional_without_default",
    "member_removed",
    "member_renamed",
    "member_required",
    "default_changed",
    "value_removed",
    "type_narrowed",
    "alternative_removed",
    "limit_tightened",
    "condition_changed",
    "version_added",
    "version_removed",
    "event_type_added",
    "event_type_removed",
    "event_type_renamed",
    "version_without_upcaster",
    "version_without_vectors",
    "vector_added",
    "vector_renamed",
    "vector_described",
    "answer_for_people",
    "answer_widened",
    "vector_removed",
    "question_changed",
    "answer_changed",
    "workflow_added",
    "workflow_version_added",
    "workflow_left_out",
    "node_left_out",
    "workflow_removed",
    "workflow_version_removed",
    "workflow_version_lowered",
    "no_longer_valid",
    "node_removed",
    "node_renamed",
    "node_added",
    "handler_changed",
    "schema_version_changed",
    "changed_in_place",
]


@dataclass(frozen=True, slots=True)
class Rule:
    """What the policy says of a kind of change."""

    verdict: Verdict
    what: str
    """What has changed, in a few words."""
    reason: str
    """Why it is compatible, or why it is not and what to do instead."""
    source: str
    """The rule of the ADR, by its number in "Version and compatibility policy"."""


_C: Final = "compatible"
_B: Final = "breaking"
_NEW_VERSION: Final = "leave this version as it is, and give a new one, with an upcaster"
_NEW_WORKFLOW_VERSION: Final = "leave this version as it is, and raise `workflow_version` in a copy of it"

POLICY: Final[Mapping[Code, Rule]] = {
    # Schemas
    "schema_added": Rule(_C, "a schema is new", "Nothing was valid by it before.", "rule 3"),
    "text_changed": Rule(_C, "words for people", "What is valid, and what it means, is not told by them.", "rule 3"),
    "member_added": Rule(
        _C,
        "an optional member with a default is new",
        "What lacks it has the default. Older readers may refuse what has it: write it once all know it.",
        "rule 3",
    ),
    "made_optional": Rule(
        _C, "a required member is optional, with a default", "What has it is valid as before.", "rule 3"
    ),
    "value_added": Rule(
        _C,
        "more values are allowed",
        "What was valid still is. Older readers refuse the new ones: write them once all know them.",
        "rule 3",
    ),
    "type_widened": Rule(_C, "more types are allowed", "What was valid still is.", "rule 3"),
    "alternative_added": Rule(_C, "an alternative is new", "What was valid still is.", "rule 3"),
    "limit_loosened": Rule(_C, "a limit is looser, or gone", "What was valid still is.", "rule 3"),
    "schema_removed": Rule(
        _B, "a schema is gone", "What is written by it can no longer be held against it: keep it.", "rule 4"
    ),
    "optional_without_default": Rule(
        _B,
        "a member may be missing, and has no default",
        "What a document without it means must be said: give it a `default`, null if its absence says nothing.",
        "rule 3",
    ),
    "member_removed": Rule(
        _B, "a member is gone", f"What has it is not understood any more: {_NEW_VERSION}.", "rule 4"
    ),
    "member_renamed": Rule(
        _B, "a member has another name", f"What has the old name is not understood any more: {_NEW_VERSION}.", "rule 4"
    ),
    "member_required": Rule(
        _B, "a member must be there that could be missing", "What lacks it was valid: make it optional.", "rule 3"
    ),
    "default_changed": Rule(
        _B,
        "a member has another default, or first has one, or has none any more",
        f"What lacks it means something else: {_NEW_VERSION}.",
        "rule 4",
    ),
    "value_removed": Rule(_B, "fewer values are allowed", f"What was valid no longer is: {_NEW_VERSION}.", "rule 4"),
    "type_narrowed": Rule(_B, "fewer types are allowed", f"What was valid no longer is: {_NEW_VERSION}.", "rule 4"),
    "alternative_removed": Rule(
        _B, "an alternative is gone", f"What was valid by it no longer is: {_NEW_VERSION}.", "rule 4"
    ),
    "limit_tightened": Rule(
        _B, "a limit is tighter, or new", f"What was valid no longer is: {_NEW_VERSION}.", "rule 4"
    ),
    "condition_changed": Rule(
        _B,
        "a pattern, condition or other demand is another one",
        f"Nobody can tell that all that was valid still is: {_NEW_VERSION}.",
        "rule 4",
    ),
    # Versions
    "version_added": Rule(_C, "a version is new", "It stands beside the ones that there were.", "rule 4"),
    "version_removed": Rule(
        _B, "a version is gone", "What is stored in it is refused from now on: keep it, and its upcaster.", "rule 6"
    ),
    "event_type_added": Rule(
        _B,
        "a released version of events has another type",
        "Who knows this version refuses it as unknown, and cannot tell why: give it in a new version.",
        "rule 5",
    ),
    "event_type_removed": Rule(
        _B,
        "a released version of events lacks a type",
        "Histories that have it are refused from now on: leave it out of a new version, with an upcaster.",
        "rule 5",
    ),
    "event_type_renamed": Rule(
        _B,
        "a type of a released version of events has another name",
        "Histories that have the old name are refused from now on: leave it, and give the new one in a new version.",
        "rule 5",
    ),
    "version_without_upcaster": Rule(
        _B,
        "a new version of events has no upcaster from an older one",
        "A golden vector of the kind `upcast` has to show the newest form of each type that is another or gone.",
        "rule 4",
    ),
    "version_without_vectors": Rule(
        _B,
        "a new version of events has no golden vectors",
        "A history has to show each of its types, in the folder of vectors beside it.",
        "rule 9",
    ),
    # Golden vectors
    "vector_added": Rule(_C, "a vector is new", "Every one that there was still has its answer.", "rule 9"),
    "vector_renamed": Rule(_C, "a vector has another name", "Its question and its answer are as they were.", "rule 9"),
    "vector_described": Rule(_C, "words and requirements of a vector", "Its answer is as it was.", "rule 9"),
    "answer_for_people": Rule(
        _C, "what an answer says for people", "No implementation is right or wrong by it.", "rule 9"
    ),
    "answer_widened": Rule(_C, "more answers are right", "Every answer that was right still is.", "rule 9"),
    "vector_removed": Rule(
        _B, "a vector is gone", "Nothing shows any more that its answer stays: bring it back.", "rule 9"
    ),
    "question_changed": Rule(
        _B,
        "the question of a vector is another one",
        "Nothing shows any more that the old one has its answer: bring it back, and add another vector.",
        "rule 9",
    ),
    "answer_changed": Rule(
        _B,
        "a vector has another answer",
        "The same input means something else: what is stored already is read otherwise. Correct it in a new version.",
        "rule 5",
    ),
    # Specifications
    "workflow_added": Rule(_C, "a workflow is new", "No run refers to it.", "rule 2"),
    "workflow_version_added": Rule(_C, "a workflow has a new version", "Runs stay with the one they pin.", "rule 2"),
    "workflow_left_out": Rule(
        _C, "a workflow is gone", "No history that was given, and has not ended, is of it.", "rule 8"
    ),
    "node_left_out": Rule(
        _C, "a node is gone", "No history that was given, and has not ended, refers to it.", "rule 8"
    ),
    "workflow_removed": Rule(
        _B,
        "a workflow is gone",
        "Runs of it may not have ended: keep it, or show with --journals that none is left.",
        "rule 2",
    ),
    "workflow_version_removed": Rule(
        _B,
        "a version of a workflow is gone, and no later one is there",
        "Runs of it may not have ended: keep it, or show with --journals that none is left.",
        "rule 2",
    ),
    "workflow_version_lowered": Rule(
        _B, "the newest version of a workflow is lower", "A version says one thing, once: raise it.", "rule 2"
    ),
    "no_longer_valid": Rule(
        _B, "a specification is refused that was valid", "No run of it can begin: `perdure lint` says why.", "rule 2"
    ),
    "node_removed": Rule(
        _B,
        "a node is gone that histories may refer to",
        "Keep the version that has it beside the new one, or show with --journals that no history refers to it.",
        "rule 8",
    ),
    "node_renamed": Rule(
        _B,
        "a node that histories may refer to has another name",
        "Keep the version that has it beside the new one, or show with --journals that no history refers to it.",
        "rule 8",
    ),
    "node_added": Rule(
        _B,
        "a node is new under the same workflow_version",
        f"A run pins the version and its content: {_NEW_WORKFLOW_VERSION}.",
        "rule 2",
    ),
    "handler_changed": Rule(
        _B,
        "a node has another handler, or another version of it, under the same workflow_version",
        f"Unfinished work goes on only with the handler that is pinned: {_NEW_WORKFLOW_VERSION}.",
        "rule 7",
    ),
    "schema_version_changed": Rule(
        _B,
        "a document has another schema_version under the same workflow_version",
        f"A run pins the version and its content: {_NEW_WORKFLOW_VERSION}.",
        "rule 2",
    ),
    "changed_in_place": Rule(
        _B,
        "a member of a document is another one under the same workflow_version",
        f"A run pins the version and its content: {_NEW_WORKFLOW_VERSION}.",
        "rule 2",
    ),
}
