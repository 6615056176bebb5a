"""`perdure explain`: what a requirement says, or what a word means."""

from __future__ import annotations

import difflib
import inspect
from typing import Annotated, Final

import msgspec
import typer

from perdure.journal import contract
from perdure_conformance.cli.common import console, even_if_nobody_reads, print_json, wrong_usage
from perdure_conformance.harness.connection import FAULTS
from perdure_conformance.journal.mutants import MUTANTS
from perdure_conformance.journal.profile import PREFIXES, checks_of
from perdure_conformance.requirements import Requirement, requirements
from perdure_conformance.tool.checks import CHECKS
from perdure_conformance.tool.mutants import TOOL_MUTANTS

EPILOG = """\b
Examples:
  perdure explain
  perdure explain JRN-008
  perdure explain sequence_conflict
  perdure explain silence
"""


def explain(
    word: Annotated[
        str | None,
        typer.Argument(
            help="A requirement (JRN-008), a refusal (sequence_conflict), a claim, a verdict or a kind of fault."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Explain a requirement, with its source, its checks and the mutants that break it; or a refusal, or a fault.

    Without a word it lists all requirements.
    """
    if word is None:
        _list(as_json=as_json)
        return
    word = word.removeprefix("fault:").partition("=")[0]
    if word.lower() in _TERMS:
        word = word.lower()
    if (requirement := requirements().get(word.upper())) is not None:
        _requirement(requirement, as_json=as_json)
    elif (meaning := _meanings().get(word)) is not None:
        print_json({"word": word, "meaning": meaning}) if as_json else console().print(
            f"{word}\n  {meaning}", markup=False
        )
    else:
        known = [*requirements(), *_meanings()]
        close = difflib.get_close_matches(word, known, n=3) or difflib.get_close_matches(word.upper(), known, n=3)
        hint = f"Did you mean {', '.join(close)}?" if close else "`perdure explain` lists the requirements."
        wrong_usage(f"Nothing is called {word!r}. {hint}")


def _list(*, as_json: bool) -> None:
    if as_json:
        print_json([_document(requirement) for requirement in requirements().values()])
        return
    for requirement in requirements().values():
        _say(f"{requirement.id}  {requirement.sentence}")


def _requirement(requirement: Requirement, *, as_json: bool) -> None:
    document = _document(requirement)
    if as_json:
        print_json(document)
        return
    _say(f"{requirement.id}  {requirement.sentence}")
    for name in ("claim", "source", "report", "page"):
        if document[name]:
            _say(f"  {name:9} {document[name]}")
    for check in _checks(requirement.id):
        _say(f"  check     {check}")
    for mutant, fault in _mutants(requirement.id).items():
        _say(f"  mutant    {mutant}: {fault}")


def _document(requirement: Requirement) -> dict[str, object]:
    return {
        "id": requirement.id,
        "sentence": requirement.sentence,
        "claim": requirement.claim,
        "source": requirement.source,
        "report": requirement.report,
        "page": f"docs/spec/{requirement.page}",
        "checks": _checks(requirement.id),
        "mutants": [{"name": name, "fault": fault} for name, fault in _mutants(requirement.id).items()],
    }


def _checks(requirement: str) -> list[str]:
    if requirement.startswith(PREFIXES):
        return checks_of(requirement)
    return [(check.__doc__ or "").strip() for check in CHECKS.get(requirement, ())]


def _mutants(requirement: str) -> dict[str, str]:
    of_journals = {mutant.name: mutant.fault for mutant in MUTANTS.values() if mutant.breaks == requirement}
    of_the_tool = {mutant.name: mutant.fault for mutant in TOOL_MUTANTS if mutant.breaks == requirement}
    return of_journals | of_the_tool


def _say(line: str) -> None:
    with even_if_nobody_reads():
        console().print(line, markup=False, soft_wrap=True)


def _meanings() -> dict[str, str]:
    refusals = {
        str(kind.__struct_config__.tag): inspect.cleandoc(kind.__doc__ or "")
        for _, kind in inspect.getmembers(contract, inspect.isclass)
        if issubclass(kind, msgspec.Struct) and kind.__struct_config__.tag is not None
    }
    return {**refusals, **FAULTS, **_VERDICTS, **_CLAIMS, **_TERMS}


_VERDICTS: Final = {
    "pass": "Every operation that reached the requirement kept it.",
    "fail": "An operation broke it; the report names the folder of the smallest case.",
    "inconclusive": "The judgement was cut short: an adapter fault, or answers that left everything open.",
    "not_claimed": "The implementation does not claim the capability under which it is judged.",
    "not_reached": "It is claimed, and no operation ever reached it: nothing was shown.",
}

_CLAIMS: Final = {
    "core": "What every journal is judged by; nothing waives it.",
    "unclaimed": "Judged for everybody who leaves an operation unclaimed.",
    "exact_replay": "Records sent again are acknowledged again and stored once.",
    "event_id_dedup": "An event id stands once in a run.",
    "atomic_batch": "A batch is stored whole or not at all.",
    "multi_handle": "Several open journals of one process share the state.",
    "multi_process": "Several processes share the state.",
    "durable": "What an acknowledged record survives: process-crash, ordered, sector or posix-weak.",
    "snapshots": "One derived cache a run.",
    "leases": "Ownership of a run for a time, under an epoch that only grows.",
    "fencing": "An append with an epoch below the highest granted one is refused.",
    "read": "own_writes: a load shows what its own handle appended. linearizable: what anybody appended.",
    "lease_clock": "Whose time judges a lease: the caller's, or the store's.",
}

_TERMS: Final = {
    "run": "One workflow's history: records at positions 1, 2, 3, ….",
    "handle": "One open journal: an object in Python, a process otherwise.",
    "reopen": "Closing a handle in good order, and opening it again.",
    "crash": "kill -9, and a fresh start on the same state.",
    "epoch": "The number under which a lease is granted. It only grows, and a lower one is stale.",
    "level": "What the verdicts add up to: Core, or Workflow journal; see docs/spec/journal.md, Levels.",
    "process-crash": "What is acknowledged survives kill -9 of the process.",
    "ordered": "What is acknowledged survives a power cut on a disk that keeps the order of writes.",
    "sector": "What is acknowledged survives a power cut that keeps whole sectors, in any order.",
    "posix-weak": "What is acknowledged survives a power cut that keeps only what was synced.",
    "own_writes": "A load shows what its own handle appended.",
    "linearizable": "A load shows what anybody appended before it began.",
    "not_supported": "The answer to an operation that is not offered: JSON-RPC error -32601.",
}
