"""What is proved, as a page, as JSON and in words: all from the theorems themselves.

Source: `schemas/prove-1.json`; `docs/proofs.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any as Untyped
from typing import Final

from perdure.kernel.values import JsonObject
from perdure_proofs.changes import Notice
from perdure_proofs.confirming import ContractVerdict
from perdure_proofs.contracts import Contract
from perdure_proofs.proving import Verdict, shown
from perdure_proofs.theorems import Theorem

NOT_PROVED: Final = (
    "That a journal keeps what it acknowledges: `perdure check` and `perdure crash` try it.",
    (
        "That the rules are put together rightly for every specification: `decide` and `reduce` are explored whole on "
        "small ones, and tried on drawn runs; theorems are about what they are made of, and about single steps."
    ),
    (
        "That what is shown at places holds of nodes, edges and agendas that no place has: a place is where the kernel "
        "put an event in a generated history. There is one of everything; its numbers can be any, its graph is its own."
    ),
    (
        "That what is gone through in small numbers holds of more: batches of up to three records (`journal.appends`), "
        "three things that are due (`time.order`), the first overlap of three predicates (`edges.groups`), up to two "
        "nodes where a cancellation begins and ends (`lifecycle.cancellation`), three nodes that wait for one signal "
        "(`signals.waits`). Where a theorem says why it should, that is an argument, and no proof."
    ),
    (
        "That a rejected command consumes nothing in every state: finitely many are tried (`budgets.rejections`). That "
        "a state is the same after it was written down as JSON: it is compared, but for the numbers of nodes "
        "(`journal.folds`)."
    ),
    (
        "That a run of a version before 4 stays within budgets, and comes to rest: budgets hold from version 4 on "
        "(`budgets.limits`, `budgets.quiescence`)."
    ),
    (
        "What is computed of texts: the hash of a jitter, digests, canonical JSON. Vectors hold them; a theorem takes "
        "the number that comes of a hash as any."
    ),
    "That anything happens: a theorem says what holds after a step, none that a command is ever sent.",
    (
        "That what stands for all values does what Python does: each answer is compared on many points (`--points`), "
        "not on all. And that Z3, CrossHair and Python are right."
    ),
)

_OPENING: Final = """# What is proved

Written by `perdure prove --page`: do not edit it.

A test shows that a rule is right where it was tried. A theorem says what it holds for, and holds for all of that. It
is about the very functions and tables that `decide` and `reduce` use (`Rules`), or that a journal uses: each runs as it
is, on values that stand for all, and Z3 proves what is claimed of its answers. Python runs the same claims on plain
values, many of them, and compares every answer; a rule that has a fault gives a counterexample, which Python confirms.
`perdure prove` does all of it again, and says how long it took.

How to read a theorem:

- Numbers, times, names and identities that are *any* stand for all: numbers from 0 or 1 to 2^53−1, unless it says
  otherwise. Of what is one of a few, as a status, a kind or a row of a table, each is gone through. So a claim without
  numbers and names is a search of finitely many cases, which leaves none of them out.
- A *place* is where the kernel put an event in a generated history: the state before it, the event, and the state
  after it. There is one for each type of event of each version, for each row of the node table by each event, and for
  all that an event can be owed for. "Every event" is each of these; the numbers that a theorem is about can be any, and
  all else is that of the place.
- That the kernel writes something *and nowhere else* is read from its text: no other call names this field.
- An *assumption* is not proved; it says what checks it. The last section says what else is not.
- *For* names the requirements that lean on a theorem, *Refuted* the faults that were put into its rules: for each of
  them a claim has a counterexample.
"""

_CONTRACTS: Final = """## Contracts

Leaves, which are functions over numbers and frozen dataclasses, have contracts besides. CrossHair, which shares nothing
with what runs the theorems, confirms each over all paths. Numbers are any whole numbers that make sense: what a
contract takes for granted of them, as that a time is not negative, is the `assume` in its text.
"""


@dataclass(slots=True)
class Found:
    """What came of all that was tried."""

    theorems: list[Verdict] = field(default_factory=list)
    contracts: list[ContractVerdict] = field(default_factory=list)
    changes: dict[str, Notice | None] = field(default_factory=dict)
    """Which theorem noticed each deliberate change."""


def page(theorems: Iterable[Theorem[Untyped]], contracts: Iterable[Contract[Untyped]]) -> str:
    """Return the page of all theorems and contracts, in Markdown."""
    not_proved = ("## What is not proved", "", *(f"- {each}" for each in NOT_PROVED), "")
    return "\n".join([_OPENING, *_sections(theorems), _CONTRACTS, *map(_item, contracts), "", *not_proved])


def _item(contract: Contract[Untyped]) -> str:
    name = f"`{contract.name}`, for {', '.join(contract.requirements)}"
    return f"- {name}: {contract.sentence} Refuted: {_listed(contract.mutants)}."


def _listed(mutants: Iterable[str]) -> str:
    return ", ".join(f"`{each}`" for each in mutants)


def _sections(theorems: Iterable[Theorem[Untyped]]) -> Iterator[str]:
    group = ""
    for theorem in theorems:
        head, _, name = theorem.name.rpartition(".")
        if head != group:
            group = head
            yield from (f"## {head.capitalize()}", "")
        yield from (f"### {name.replace('_', ' ').capitalize()}", "", theorem.text, "")
        yield from ("Claims:", "", *(f"- `{each.name}`: {each.sentence}" for each in theorem.claims), "")
        if theorem.assumptions:
            yield from ("Assumptions:", "", *(f"- {each}" for each in theorem.assumptions), "")
        invariant = "" if theorem.invariant is None else f" Invariant {theorem.invariant} of `kernel/invariants.py`."
        mutants = ", ".join(f"`{each}`" for each in theorem.mutants)
        yield from (f"For {', '.join(theorem.requirements)}.{invariant} Refuted: {mutants}.", "")


def as_json(found: Found, points: int, seed: int) -> JsonObject:
    """Return what came of all."""
    return {
        "prove_version": 1,
        "points": points,
        "seed": seed,
        "theorems": [_theorem(each) for each in found.theorems],
        "contracts": [_contract(each) for each in found.contracts],
        "changes": [_change(name, notice) for name, notice in found.changes.items()],
    }


def _theorem(verdict: Verdict) -> JsonObject:
    theorem = verdict.theorem
    return {
        "name": theorem.name,
        "sentence": theorem.sentence,
        "requirements": list(theorem.requirements),
        "invariant": theorem.invariant,
        "assumptions": list(theorem.assumptions),
        "verdict": verdict.outcome,
        "faults": list(verdict.faults),
        "doubts": list(verdict.doubts),
        "claims": [{"name": claim.name, "sentence": claim.sentence} for claim in theorem.claims],
        "ways": verdict.ways,
        "points": verdict.points,
        "mutants": [
            {"name": name, "claim": case.claim, "counterexample": _in_words(case.values)}
            for name, case in verdict.refuted.items()
        ],
        "seconds": round(verdict.seconds, 3),
    }


def _contract(verdict: ContractVerdict) -> JsonObject:
    contract = verdict.contract
    return {
        "name": contract.name,
        "sentence": contract.sentence,
        "requirements": list(contract.requirements),
        "verdict": verdict.outcome,
        "faults": list(verdict.faults),
        "doubts": list(verdict.doubts),
        "mutants": [{"name": name, "counterexample": _in_words(values)} for name, values in verdict.refuted.items()],
        "seconds": round(verdict.seconds, 3),
    }


def _change(name: str, notice: Notice | None) -> JsonObject:
    if notice is None:
        return {"name": name, "theorem": None, "claim": None, "counterexample": None}
    case = notice.case
    return {
        "name": name,
        "theorem": notice.theorem,
        "claim": case.claim,
        "counterexample": _in_words(case.values),
    }


def _in_words(values: Mapping[str, object]) -> JsonObject:
    return {name: str(value) for name, value in values.items()}


def lines(found: Found) -> Iterator[str]:
    """Yield what came of all in words, and then in sum."""
    for each in found.theorems:
        yield f"{each.outcome.upper():<9}  {each.theorem.name}  {each.seconds:.1f} s"
        yield f"           {each.theorem.sentence}"
        yield (
            f"           {len(each.theorem.claims)} claims, {each.ways:,} ways, {each.points:,} points compared; "
            f"for {', '.join(each.theorem.requirements)}"
        )
        yield from (f"           assumed: {assumption}" for assumption in each.theorem.assumptions)
        yield from (f"           {sentence}" for sentence in (*each.faults, *each.doubts))
        for name, case in each.refuted.items():
            yield f"           not so for {name}: {case.claim}, where {shown(case.values)}"
        yield ""
    for held in found.contracts:
        yield f"{held.outcome.upper():<9}  {held.contract.name}  {held.seconds:.1f} s"
        yield f"           {held.contract.sentence}"
        yield from (f"           {sentence}" for sentence in (*held.faults, *held.doubts))
        for name, values in held.refuted.items():
            yield f"           not so for {name}, where {shown(values)}"
        yield ""
    for name, notice in found.changes.items():
        told = "by none" if notice is None else f"by {notice.theorem}: {notice.case.claim}"
        yield f"{'UNNOTICED' if notice is None else 'NOTICED':<9}  {name}  {told}"
    if found.changes:
        yield ""
    yield from _in_sum(found)


def _in_sum(found: Found) -> Iterator[str]:
    proved = sum(each.outcome == "proved" for each in found.theorems)
    mutants = sum(len(each.theorem.mutants) for each in found.theorems)
    refuted = sum(len(each.refuted) for each in found.theorems)
    seconds = sum(each.seconds for each in found.theorems)
    yield (
        f"{proved} of {len(found.theorems)} theorems proved, {refuted} of {mutants} mutants refuted, "
        f"in {seconds:.1f} s of processor time."
    )
    if found.contracts:
        confirmed = sum(each.outcome == "confirmed" for each in found.contracts)
        seconds = sum(each.seconds for each in found.contracts)
        yield f"{confirmed} of {len(found.contracts)} contracts confirmed over all paths, in {seconds:.1f} s."
    if found.changes:
        noticed = sum(each is not None for each in found.changes.values())
        yield f"{noticed} of {len(found.changes)} deliberate changes of rules are noticed by a theorem."
