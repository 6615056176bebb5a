"""One document, and what an answer to it must be.

What is right is the model's business. Here stands who is to blame for what is wrong: each difference between the
model and an answer breaks one requirement, the most particular that it can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import msgspec

from perdure.kernel.outcomes import Outcome, read_outcome
from perdure.kernel.predicates import matches
from perdure.kernel.problems import Problem, Problems
from perdure.kernel.specification import Definition, HandlerDeclaration, Specification
from perdure.kernel.structure import Reading, read
from perdure.kernel.validation.validator import Validation, validate_text
from perdure.kernel.values import JsonValue, read_json
from perdure_conformance.requirements import requirement_of_code, requirements
from perdure_conformance.spec.contract import Answer, Capabilities
from perdure_conformance.spec.documents import Document, text_of
from perdure_conformance.spec.places import parts, pointer_of
from perdure_conformance.spec.reference import answer_of, catalogue
from perdure_conformance.suite import Violation

_LEVELS_ABOVE: Final = {
    "dependency_cycle": 3,
    "duplicate_node": 2,
    "duplicate_name": 1,
    "overlapping_edges": 1,
    "input_given_twice": 2,
    "child_recursion": 5,
    "children_too_deep": 99,
}
"""Where any of several places is right: how far above the model's place they all are."""

_LEXICAL: Final = frozenset({"not_json", "number_out_of_range", "empty", "not_utf8", "too_large"})
_NAMES_NOTHING: Final = frozenset(
    {
        *("unknown_node", "unknown_child", "unknown_handler", "wrong_reference", "undeclared_output"),
        *("undeclared_run_input", "undeclared_child_input", "undeclared_child_output"),
    }
)
_ALSO_RIGHT: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(_LEXICAL, _LEXICAL),
    "too_deep": frozenset({"document_too_deep"}),
    "wrong_form": _NAMES_NOTHING,
    "wrong_reference": frozenset({"wrong_form"}),
}
"""Codes that say no less than the model's: NaN is no JSON, and out of range; a name without form names nothing."""

_ALSO_RIGHT_AT: Final[Mapping[str, frozenset[str]]] = {
    "/schema_version": frozenset({"wrong_type", "unsupported_version"}),
    "/content_hash": frozenset({"wrong_type", "wrong_form", "wrong_content_hash"}),
}

_LIMITS_OF_A_DOCUMENT: Final = frozenset({"document_too_large", "document_too_deep"})
"""With the codes of SPC-001, those whose place is the document; whoever is more exact is not at fault."""


_OF_YES_OR_NO: Final = frozenset({"core", "handlers"})
"""The claims under which it is judged whether a document is accepted."""

_BROKEN_BY_CODES_OF_OTHERS: Final = frozenset({"EDG-004", "CHD-005", "CHD-006"})
"""Requirements without codes of their own that a wrong acceptance breaks all the same."""

_PROBLEMS_SHOWN: Final = 8


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One document, with the handlers that there are."""

    document: Document
    handlers: tuple[HandlerDeclaration, ...] | None = None
    about: str = ""
    """The requirement that the document is there for; empty if it was drawn."""


def can_be_asked(question: Question, claims: Capabilities) -> bool:
    """Tell whether a question can be asked: handlers are sent only to those who claim to look them up."""
    return question.handlers is None or claims.handlers


@dataclass(frozen=True, slots=True)
class Point:
    """One thing about an answer that a requirement decides."""

    requirement: str
    kept: bool
    expected: JsonValue
    actual: JsonValue


@lru_cache(maxsize=4096)
def truth_about(document: Document, handlers: tuple[HandlerDeclaration, ...] | None) -> Validation:
    """Return what the model says of a document."""
    return validate_text(text_of(document), catalogue(handlers))


def points(question: Question, answer: Answer, claims: Capabilities) -> Iterator[Point]:
    """Yield what an answer is judged by, in order; what comes after a broken one means nothing."""
    truth = truth_about(question.document, question.handlers)
    expected, actual = _words(answer_of(truth)), _words(answer)
    yield Point(_on_acceptance(question, truth), answer.valid == truth.valid, expected, actual)
    if truth.valid:
        yield Point("SPC-002", True, expected, actual)  # noqa: FBT003 - it was accepted, as it must be
        yield from _of_accepted(truth, answer, claims)
    else:
        yield from _of_refused(question, truth, answer, claims)


def hold(question: Question, answer: Answer, claims: Capabilities, off: frozenset[str], reached: Counter[str]) -> None:
    """Judge an answer, and count what is reached. Raises `Violation` for the first requirement that is broken.

    What is switched off says nothing, and ends the judgement of the answer.
    """
    for point in points(question, answer, claims):
        reached[point.requirement] += 1
        if not point.kept:
            if point.requirement in off:
                return
            raise Violation(point.requirement, point.expected, point.actual)


def about(question: Question) -> str:
    """Return the requirement that a question is there for, or, of a drawn one, the one that its answer decides."""
    return question.about or _on_acceptance(question, truth_about(question.document, question.handlers))


def _on_acceptance(question: Question, truth: Validation) -> str:
    """Return whom a wrong acceptance or refusal breaks."""
    about = question.about if question.about and requirements()[question.about].claim in _OF_YES_OR_NO else ""
    if truth.valid:
        return about or ("SPC-031" if truth.problems else "SPC-002")
    broken = [requirement_of_code(problem.code).id for problem in truth.problems if problem.severity == "error"]
    return about if about in broken or about in _BROKEN_BY_CODES_OF_OTHERS else broken[0]


def _of_accepted(truth: Validation, answer: Answer, claims: Capabilities) -> Iterator[Point]:
    if claims.content_hash:
        same = answer.content_hash == truth.content_hash
        yield Point("SPC-012", same, {"content_hash": truth.content_hash}, {"content_hash": answer.content_hash})
    if claims.initial_nodes:
        told = None if answer.initial_nodes is None else list(answer.initial_nodes)
        wanted = list(truth.initial_nodes)
        yield Point("SPC-021", told == wanted, {"initial_nodes": wanted}, {"initial_nodes": told})


def _of_refused(question: Question, truth: Validation, answer: Answer, claims: Capabilities) -> Iterator[Point]:
    errors = [problem for problem in truth.problems if problem.severity == "error"]
    told = answer.problems or ()
    expected, actual = _words(answer_of(truth)), _words(answer)
    named = {each.code for each in told if each.code}
    right = [_right_codes(error) for error in errors]
    if claims.codes:
        yield Point("SPC-028", any(not named.isdisjoint(codes) for codes in right), expected, actual)
    if claims.all_problems and question.about == "SPC-030":
        rules = {requirement_of_code(error.code).id for error in errors}
        all_told = all(not named.isdisjoint(codes) for codes in right) if claims.codes else len(told) >= len(rules)
        yield Point("SPC-030", all_told, expected, actual)
    if len(errors) > 1:
        return
    (error,) = errors
    at_fault = [each for each in told if not claims.codes or each.code in right[0]]
    if claims.pointers and _has_a_place(error):
        near = _near(error, question)
        yield Point("SPC-029", any(near(each.pointer or "") for each in at_fault), expected, actual)
    if claims.witnesses and error.code == "overlapping_edges":
        shown = any(_is_witness(each.witness, question) for each in at_fault)
        yield Point("EDG-007", shown, expected, actual)


def _has_a_place(error: Problem) -> bool:
    return error.code not in _LIMITS_OF_A_DOCUMENT and requirement_of_code(error.code).id != "SPC-001"


def _right_codes(error: Problem) -> frozenset[str]:
    """Return the codes that a problem may be told by."""
    here = _ALSO_RIGHT_AT.get(error.pointer, frozenset())
    return frozenset({error.code}) | _ALSO_RIGHT.get(error.code, frozenset()) | here


def _near(error: Problem, question: Question) -> Callable[[str], bool]:
    """Return how to tell whether a pointer leads to the place of a problem, around it or inside it.

    Around is the object or array that the place is in; inside is a value that is there.
    """
    if error.code in _LEVELS_ABOVE:
        whole = _above(error.pointer, _LEVELS_ABOVE[error.code])
        return lambda told: f"{told}/".startswith(f"{whole}/")

    def is_near(told: str) -> bool:
        if told == error.pointer:
            return True
        inside, around = _above(told, 1) == error.pointer, told == _above(error.pointer, 1)
        if not (inside or around):
            return False
        return any(told == pointer_of(place) for place, _ in parts(read_json(text_of(question.document))))

    return is_near


def _above(pointer: str, levels: int) -> str:
    for _ in range(levels):
        pointer = pointer.rpartition("/")[0]
    return pointer


def _is_witness(witness: Any, question: Question) -> bool:
    """Tell whether an outcome matches two exclusive edges of one node."""
    problems = Problems()
    outcome = read_outcome(witness, problems)
    if outcome is None or problems.errors:
        return False
    document = read(Specification, read_json(text_of(question.document)), Reading(Problems()))
    assert isinstance(document, Specification)
    return any(_shows_an_overlap(outcome, workflow) for workflow in (document, *document.children.values()))


def _shows_an_overlap(outcome: Outcome, workflow: Definition) -> bool:
    sources = [edge.source for edge in workflow.edges if edge.mode == "exclusive" and matches(edge.when, outcome)]
    return len(sources) > len(set(sources))


def _words(answer: Answer) -> JsonValue:
    """Return an answer for people: without the sentences, which are not judged."""
    without = [msgspec.structs.replace(each, sentence=None) for each in answer.problems or ()]
    shown: JsonValue = msgspec.to_builtins(
        msgspec.structs.replace(answer, problems=tuple(without[:_PROBLEMS_SHOWN]) or None, warnings=None)
    )
    return shown
