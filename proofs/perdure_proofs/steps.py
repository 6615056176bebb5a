"""Steps: how the kernel goes from one state to the next, as a subject that a fault can be put in.

`written_by` says which functions of the kernel write a field of the state, by their text. A state is frozen: a field
that no function writes on the way is what it was, for any nodes, edges and agenda. So what is shown of a field at the
places holds of all other states.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from inspect import getsource
from typing import Final

from perdure.kernel.changes import applied
from perdure.kernel.commands import Rejection, RejectionCode
from perdure.kernel.events import EventV5
from perdure.kernel.legality import Opening, refusal
from perdure.kernel.rules import RULES, Rules
from perdure.kernel.state import State
from perdure_proofs.theorems import UNNOTED

Apply = Callable[[State, EventV5, int, Rules], State]
Refuse = Callable[[State, Opening, Rules], Rejection | None]
Source = Callable[[str], str]

MODULES: Final = ("changes", "consequences", "liveness", "closing", "mapping", "queues", "reduce", "decide")
"""The modules of the kernel in which a state follows from another."""


def forgiving(code: RejectionCode) -> Refuse:
    """Return what takes an event that the kernel refuses with a code: a fault."""

    def forgiven(state: State, event: Opening, rules: Rules) -> Rejection | None:
        found = refusal(state, event, rules)
        return None if found is not None and found.code == code else found

    return forgiven


def text_of(module: str) -> str:
    """Return the text of a module of the kernel."""
    return getsource(import_module(f"perdure.kernel.{module}"))


@dataclass(frozen=True, slots=True)
class Step:
    """What makes a step, as the kernel has it."""

    rules: Rules = RULES
    applied: Apply = field(default=applied, metadata=UNNOTED)
    source: Source = field(default=text_of, metadata=UNNOTED)


def written_by(name: str, source: Source) -> set[str]:
    """Return where the kernel writes this field of a state when one follows from another: the function, and its case.

    What is replaced by names that are not in the text might be any field, and counts.
    """
    found = set()
    for module in MODULES:
        for function in ast.parse(source(module)).body:
            if isinstance(function, ast.FunctionDef):
                found |= {f"{module}.{function.name}{case}" for case in _writes(function, name)}
    return found


def _writes(node: ast.AST, name: str, case: str = "") -> Iterator[str]:
    """Yield the case of each call within that writes a field."""
    if isinstance(node, ast.match_case):
        case = f": {ast.unparse(node.pattern)}"
    if isinstance(node, ast.Call) and _replaces(node) and {name, None} & {each.arg for each in node.keywords}:
        yield case
    for part in ast.iter_child_nodes(node):
        yield from _writes(part, name, case)


def _replaces(call: ast.Call) -> bool:
    """Tell whether a call makes a state, or changes one: `replace`, `State`, or what writes what is frozen."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in {"replace", "State", "force_setattr", "__setattr__", "setattr"}
