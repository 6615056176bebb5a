"""Confirming: a contract by CrossHair, over all paths of Python's own code; its mutants, by a counterexample.

CrossHair runs a contract on values that stand for all, with an interpreter and a theory of Python's types that share
nothing with `symbols`. A contract is confirmed only if it says "confirmed over all paths": that it found nothing is no
verdict, and what it found counts once Python has run it.

Source: CONTRIBUTING.md, "A theorem".
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any as Untyped
from typing import Final, Literal, TypeVar, get_type_hints

import msgspec
from crosshair import enforce
from crosshair.condition_parser import POSTCONDITION, ConditionExpr, Conditions
from crosshair.core import ConditionCheckable, deep_realize
from crosshair.core_and_libs import MessageType
from crosshair.fnutil import FunctionInfo
from crosshair.options import DEFAULT_OPTIONS, AnalysisKind, AnalysisOptionSet
from crosshair.util import IgnoreAttempt

from perdure_proofs.contracts import Contract
from perdure_proofs.symbols import RAISED, DoesNotApply

Leaf = TypeVar("Leaf")

LIMIT_S: Final = 10.0
"""How long CrossHair may look at one leaf, in processor time."""

Outcome = Literal["confirmed", "refuted", "unknown"]

Values = Mapping[str, object]
"""What a contract was given, by the names of its parameters."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What CrossHair says of a contract of one leaf."""

    is_confirmed: bool
    counterexample: Values | None
    told: str
    """What it says in words."""


@dataclass(slots=True)
class ContractVerdict:
    """What came of a contract."""

    contract: Contract[Untyped]
    faults: list[str] = field(default_factory=list)
    """What shows that it does not hold, or that a mutant keeps it."""
    doubts: list[str] = field(default_factory=list)
    """What is not known of it."""
    refuted: dict[str, Values] = field(default_factory=dict)
    """The counterexample to each mutant, which Python says is one."""
    seconds: float = 0.0

    @property
    def outcome(self) -> Outcome:
        """In a word."""
        return "refuted" if self.faults else "unknown" if self.doubts else "confirmed"


def checked(contract: Contract[Untyped], *, now: Callable[[], float]) -> ContractVerdict:
    """Have a contract confirmed, and each of its mutants refuted; `now` gives seconds of processor time."""
    began, found = now(), ContractVerdict(contract)
    analysis = analysed(contract, contract.leaf)
    if analysis.counterexample is not None:
        found.faults.append(f"it does not hold: {analysis.told}")
    elif not analysis.is_confirmed:
        found.doubts.append(analysis.told)
    for name, mutant in contract.mutants.items():
        of_mutant = analysed(contract, mutant)
        if of_mutant.counterexample is not None:
            found.refuted[name] = of_mutant.counterexample
        else:
            found.faults.append(f"the mutant {name} is not refuted: {of_mutant.told}")
    found.seconds = now() - began
    return found


def analysed(contract: Contract[Leaf], leaf: Leaf) -> Analysis:
    """Have CrossHair look at a contract of a leaf."""
    examples: list[Values] = []

    def called(*values: object) -> bool:
        try:
            return contract.holds(leaf, *values)
        except DoesNotApply:
            raise IgnoreAttempt from None

    def described(arguments: inspect.BoundArguments, _answer: object, _shown: object) -> tuple[str, str]:
        examples.append(dict(deep_realize(arguments.arguments)))
        return ", ".join(f"{name} = {value!r}" for name, value in examples[-1].items()), ""

    with _plain_structs(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # It looks at every class there is.
        messages = _checkable(contract, called, described).analyze()
    told = " ".join(message.message for message in messages)
    kinds = {message.state for message in messages}
    refuting = next((values for values in examples if _is_refuted(contract, leaf, values)), None)
    return Analysis(kinds == {MessageType.CONFIRMED}, refuting, told)


def _checkable(
    contract: Contract[Untyped], called: Callable[..., bool], described: Callable[..., tuple[str, str]]
) -> ConditionCheckable:
    source, line = contract.holds.__code__.co_filename, contract.holds.__code__.co_firstlineno
    kept = ConditionExpr(POSTCONDITION, lambda known: bool(known["__return__"]), source, line, contract.name)
    conditions = Conditions(
        fn=called,
        src_fn=contract.holds,
        pre=[],
        post=[kept],
        raises=frozenset(),
        sig=_signature(contract.holds),
        mutable_args=None,
        fn_syntax_messages=[],
        counterexample_description_maker=described,
    )
    options = DEFAULT_OPTIONS.overlay(
        AnalysisOptionSet(analysis_kind=[AnalysisKind.PEP316], report_all=True, per_condition_timeout=LIMIT_S)
    )
    return ConditionCheckable(FunctionInfo.from_fn(contract.holds), options, conditions)


def _signature(holds: Callable[..., bool]) -> inspect.Signature:
    """Return the parameters of a contract but the leaf, with their types."""
    types = get_type_hints(holds, include_extras=True)
    _, *values = inspect.signature(holds).parameters.values()
    return inspect.Signature([each.replace(annotation=types[each.name]) for each in values], return_annotation=bool)


def _is_refuted(contract: Contract[Leaf], leaf: Leaf, values: Values) -> bool:
    """Tell whether Python, too, says that a contract does not hold of a leaf."""
    try:
        return not contract.holds(leaf, **values)
    except DoesNotApply:
        return False
    except RAISED:
        return True


@contextmanager
def _plain_structs() -> Iterator[None]:
    """Let CrossHair make a `msgspec.Struct` as Python does: it takes the call apart, which none of them allows."""
    taken_apart = enforce.manual_constructor

    def made(kind: type) -> Callable[..., object] | None:
        return None if issubclass(kind, msgspec.Struct) else taken_apart(kind)

    vars(enforce)["manual_constructor"] = made
    try:
        yield
    finally:
        vars(enforce)["manual_constructor"] = taken_apart
