"""Validators that are unusual and right: whoever accuses one of them is wrong."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from perdure.kernel.specification import HandlerDeclaration
from perdure.kernel.validation.handlers import Handlers
from perdure.kernel.validation.validator import Validation
from perdure.kernel.values import JsonError, read_json
from perdure_conformance.requirements import requirement_of_code
from perdure_conformance.spec.contract import Answer, Capabilities, Told
from perdure_conformance.spec.places import at, parts, pointer_of, steps_of
from perdure_conformance.spec.reference import EVERYTHING, ReferenceValidator
from perdure_conformance.spec.registry import TWINS, twin

__all__ = ["TWINS"]


def _without(**claims: bool) -> Capabilities:
    claimed: Capabilities = msgspec.structs.replace(EVERYTHING, **claims)
    return claimed


class _AnswersOtherwise(ReferenceValidator):
    """It knows what the model knows, and says it in another way."""

    def otherwise(self, answer: Answer) -> Answer:
        """Return the answer as it is given."""
        raise NotImplementedError

    def validate(self, document: str, handlers: Sequence[HandlerDeclaration] | None) -> Answer:
        return self.otherwise(super().validate(document, handlers))


class _TellsOtherwise(_AnswersOtherwise):
    """It tells each problem in another way."""

    def told(self, problem: Told) -> Told:
        """Return a problem as it is told."""
        raise NotImplementedError

    def otherwise(self, answer: Answer) -> Answer:
        problems = None if answer.problems is None else tuple(self.told(problem) for problem in answer.problems)
        return msgspec.structs.replace(answer, problems=problems)


# What is claimed


@twin
class SaysYesOrNo(_AnswersOtherwise):
    """Claims nothing, and tells nothing but whether a document is valid."""

    claims: ClassVar[Capabilities] = Capabilities()

    def otherwise(self, answer: Answer) -> Answer:
        return Answer(valid=answer.valid)


@twin
class TalksToItself(_AnswersOtherwise):
    """Claims nothing, and tells what nobody can read."""

    claims: ClassVar[Capabilities] = Capabilities()

    def otherwise(self, answer: Answer) -> Answer:
        told = (Told(code="E42", pointer="line 3", witness=42, sentence="?"),)
        return Answer(valid=answer.valid, problems=told, warnings=told, content_hash="?", initial_nodes=("?",))


@twin
class TellsCodesAlone(_AnswersOtherwise):
    """Claims codes, and tells nothing else."""

    claims: ClassVar[Capabilities] = Capabilities(codes=True)

    def otherwise(self, answer: Answer) -> Answer:
        return Answer(valid=answer.valid, problems=tuple(Told(code=each.code) for each in answer.problems or ()))


@twin
class TellsPlacesAlone(_AnswersOtherwise):
    """Claims pointers, and has no codes."""

    claims: ClassVar[Capabilities] = Capabilities(pointers=True)

    def otherwise(self, answer: Answer) -> Answer:
        return Answer(valid=answer.valid, problems=tuple(Told(pointer=each.pointer) for each in answer.problems or ()))


@twin
class TellsWitnessesAlone(_AnswersOtherwise):
    """Claims witnesses, and has neither codes nor places."""

    claims: ClassVar[Capabilities] = Capabilities(witnesses=True)

    def otherwise(self, answer: Answer) -> Answer:
        return Answer(valid=answer.valid, problems=tuple(Told(witness=each.witness) for each in answer.problems or ()))


@twin
class HashesAlone(_AnswersOtherwise):
    """Claims the content hash and the initial nodes, and tells no problem."""

    claims: ClassVar[Capabilities] = Capabilities(content_hash=True, initial_nodes=True)

    def otherwise(self, answer: Answer) -> Answer:
        return Answer(valid=answer.valid, content_hash=answer.content_hash, initial_nodes=answer.initial_nodes)


# Which problems are told


@twin
class StopsAtTheFirstProblem(_AnswersOtherwise):
    """Tells the first problem alone, and claims no more."""

    claims: ClassVar[Capabilities] = _without(all_problems=False)

    def otherwise(self, answer: Answer) -> Answer:
        return msgspec.structs.replace(answer, problems=(answer.problems or ())[:1] or None)


@twin
class StopsAtTheLastProblem(_AnswersOtherwise):
    """Tells the problem that it found last, and claims no more."""

    claims: ClassVar[Capabilities] = _without(all_problems=False)

    def otherwise(self, answer: Answer) -> Answer:
        return msgspec.structs.replace(answer, problems=(answer.problems or ())[-1:] or None)


@twin
class TellsOneProblemOfEachRule(_AnswersOtherwise):
    """Tells one problem for each rule that is broken, wherever else it is broken too."""

    def otherwise(self, answer: Answer) -> Answer:
        return msgspec.structs.replace(answer, problems=_one_of_each_rule(answer.problems or ()) or None)


@twin
class TellsOneProblemOfEachRuleWithoutCode(_AnswersOtherwise):
    """Tells one problem for each rule that is broken, and has no codes."""

    claims: ClassVar[Capabilities] = _without(codes=False)

    def otherwise(self, answer: Answer) -> Answer:
        told = (msgspec.structs.replace(each, code=None) for each in _one_of_each_rule(answer.problems or ()))
        return msgspec.structs.replace(answer, problems=tuple(told) or None)


def _one_of_each_rule(problems: Sequence[Told]) -> tuple[Told, ...]:
    first = {requirement_of_code(str(problem.code)): problem for problem in reversed(problems)}
    return tuple(reversed(first.values()))


@twin
class TellsInReverse(_AnswersOtherwise):
    """Tells the last problem first."""

    def otherwise(self, answer: Answer) -> Answer:
        return msgspec.structs.replace(answer, problems=(answer.problems or ())[::-1] or None)


@twin
class TellsEachProblemThrice(_AnswersOtherwise):
    """Tells each problem three times, as it comes by it in three ways."""

    def otherwise(self, answer: Answer) -> Answer:
        return msgspec.structs.replace(answer, problems=((answer.problems or ()) * 3)[:1000] or None)


@twin
class TellsConsequencesToo(_AnswersOtherwise):
    """Tells what follows from a problem as problems of their own, before it."""

    def otherwise(self, answer: Answer) -> Answer:
        told: list[Told] = []
        for problem in answer.problems or ():
            consequences = _CONSEQUENCES.get(problem.code or "", ())
            told += [msgspec.structs.replace(problem, code=code) for code in consequences] + [problem]
        return msgspec.structs.replace(answer, problems=tuple(told[:1000]) or None)


_CONSEQUENCES: Final = {
    "dependency_cycle": ("initial_nodes_needed", "unreachable_node"),
    "unknown_node": ("unreachable_node", "undeclared_output", "output_out_of_reach"),
    "duplicate_node": ("unreachable_node",),
    "wrong_type": ("missing_member",),
    "unknown_member": ("missing_member",),
    "missing_member": ("handler_or_child",),
    "wrong_reference": ("unknown_child",),
    "unknown_child": ("undeclared_output", "missing_child_input"),
    "never_matches": ("unreachable_node",),
    "no_initial_nodes": ("unreachable_node",),
}


@twin
class HasCodesOfItsOwnToo(_AnswersOtherwise):
    """Tells problems and warnings that this page does not know, beside those that it knows."""

    def otherwise(self, answer: Answer) -> Answer:
        own = Told(code="style", pointer="/nodes", sentence="I would write this otherwise.")
        warnings = (*(answer.warnings or ())[:900], own)
        if answer.valid:
            return msgspec.structs.replace(answer, warnings=warnings)
        return msgspec.structs.replace(answer, problems=(own, *(answer.problems or ())[:900]), warnings=warnings)


@twin
class SaysNothingOfWarnings(_AnswersOtherwise):
    """Accepts what is only odd without a word."""

    def otherwise(self, answer: Answer) -> Answer:
        return msgspec.structs.replace(answer, warnings=None)


@twin
class TellsTheHashOfTheRefusedToo(ReferenceValidator):
    """Tells the content hash and some initial nodes of a refused document too."""

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        self._hash = super().find(text, handlers)
        return self._hash

    def validate(self, document: str, handlers: Sequence[HandlerDeclaration] | None) -> Answer:
        answer = super().validate(document, handlers)
        if answer.valid:
            return answer
        return msgspec.structs.replace(answer, content_hash=self._hash.content_hash, initial_nodes=())


# How they are told


@twin
class SaysNotJson(_TellsOtherwise):
    """Tells a number that is out of range as no JSON, and a key that is no reference as one without form."""

    def told(self, problem: Told) -> Told:
        others = {"number_out_of_range": "not_json", "wrong_reference": "wrong_form"}
        return msgspec.structs.replace(problem, code=others.get(problem.code or "", problem.code))


@twin
class TakesOddVersionsForUnsupported(_TellsOtherwise):
    """Tells a `schema_version` that is no integer as one that there is not, which it is as well."""

    def told(self, problem: Told) -> Told:
        is_odd = problem.code == "wrong_type" and problem.pointer == "/schema_version"
        return msgspec.structs.replace(problem, code="unsupported_version") if is_odd else problem


@twin
class TakesOddHashesForWrong(_TellsOtherwise):
    """Tells a `content_hash` that has not the form as one that is not the digest, which it is not either."""

    def told(self, problem: Told) -> Told:
        is_odd = problem.code in {"wrong_form", "wrong_type"} and problem.pointer == "/content_hash"
        return msgspec.structs.replace(problem, code="wrong_content_hash") if is_odd else problem


@twin
class LooksNamesUp(_TellsOtherwise):
    """Looks up names without a look at their form: what has not the form is not there, either."""

    def told(self, problem: Told) -> Told:
        *_, around, last = ("", *(problem.pointer or "").split("/"))
        code = _UNKNOWN.get(last) or _UNKNOWN.get(around)
        is_name = problem.code == "wrong_form" and code is not None
        return msgspec.structs.replace(problem, code=code) if is_name else problem


_UNKNOWN: Final = {
    "from": "unknown_node",
    "to": "unknown_node",
    "node": "unknown_node",
    "dependencies": "unknown_node",
    "initial_nodes": "unknown_node",
    "workflow": "unknown_child",
    "output": "undeclared_output",
    "run_input": "undeclared_run_input",
}


@twin
class PointsAround(_TellsOtherwise):
    """Points to the object or array right around the place."""

    def told(self, problem: Told) -> Told:
        return msgspec.structs.replace(problem, pointer=(problem.pointer or "").rpartition("/")[0])


class _LooksInside(_TellsOtherwise):
    _document: Any = None

    def validate(self, document: str, handlers: Sequence[HandlerDeclaration] | None) -> Answer:
        try:
            self._document = read_json(document)
        except JsonError:
            self._document = None
        return super().validate(document, handlers)


@twin
class PointsInside(_LooksInside):
    """Points to the first thing inside the place, if there is any."""

    def told(self, problem: Told) -> Told:
        value = at(self._document, steps_of(problem.pointer or ""))
        inside = next((place for place, _ in parts(value) if place), ())
        return msgspec.structs.replace(problem, pointer=f"{problem.pointer}{pointer_of(inside)}")


@twin
class SpeaksAtLength(_TellsOtherwise):
    """Has long sentences in another language."""

    def told(self, problem: Told) -> Told:
        return msgspec.structs.replace(problem, sentence=("Das geht so nicht: 👎 " * 500)[:4096])


@twin
class SaysNothingToPeople(_TellsOtherwise):
    """Has no sentences."""

    def told(self, problem: Told) -> Told:
        return msgspec.structs.replace(problem, sentence=None)


@twin
class ShowsMoreThanItMust(_TellsOtherwise):
    """Shows witnesses with more in them: another field, evidence, and `changes_requested` where either will do."""

    def told(self, problem: Told) -> Told:
        witness: Any = problem.witness
        if witness is None:
            return problem
        if "output" in witness:
            witness = {**witness, "output": {**witness["output"], "something-else": [1]}}
        return msgspec.structs.replace(problem, witness={**witness, "evidence": [_EVIDENCE]})


_EVIDENCE: Final = {"artifact_id": "00000000-0000-4000-8000-000000000000", "byte_length": 0, "sha256": "0" * 64}


@twin
class ShowsChangesRequested(_LooksInside):
    """Shows an outcome that requests changes, where the edges ask for fields alone."""

    def told(self, problem: Told) -> Told:
        witness: Any = problem.witness
        if witness is None or "output" not in witness:
            return problem
        _, place, *_ = steps = (problem.pointer or "").split("/")
        workflow = self._document["children"][steps[2]] if place == "children" else self._document
        source = workflow["edges"][int(steps[-1])]["from"]
        predicates = [edge.get("when", "any") for edge in workflow["edges"] if edge["from"] == source]
        if any("outcome" in predicate for predicate in predicates):
            return problem
        return msgspec.structs.replace(problem, witness={**witness, "kind": "changes_requested", "reason": "why"})


# How it is done


@twin
class TakesItsTime(_AnswersOtherwise):
    """Needs five milliseconds more than others for each answer."""

    def otherwise(self, answer: Answer) -> Answer:
        time.sleep(0.005)
        return answer


@twin
class BeginsAnewEachTime(ReferenceValidator):
    """Makes a validator for each answer, and throws it away."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._made = (state_dir, namespace)

    def validate(self, document: str, handlers: Sequence[HandlerDeclaration] | None) -> Answer:
        return ReferenceValidator(*self._made).validate(document, handlers)


@twin
class ReadsDeepTextToTheEnd(ReferenceValidator):
    """Reads text however deep it nests, and refuses it as a document that nests too deep, which it is as well."""

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        found = super().find(text, handlers)
        renamed = tuple(
            msgspec.structs.replace(each, code="document_too_deep") if each.code == "too_deep" else each
            for each in found.problems
        )
        return msgspec.structs.replace(found, problems=renamed)
