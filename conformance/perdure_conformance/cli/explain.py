"""`perdure explain`: what a requirement says, or what a word means."""

from __future__ import annotations

import difflib
import inspect
from typing import Annotated, Final

import msgspec
import typer
from rich.console import Console

from perdure.journal import contract
from perdure_conformance.cli.common import console, print_json, wrong_usage
from perdure_conformance.journal.mutants import MUTANTS
from perdure_conformance.journal.profile import PREFIXES, checks_of
from perdure_conformance.requirements import Requirement, requirements

_FAULTS: Final = {
    "cannot_start": "The program or the factory is not there, or fails at once.",
    "exited": "The program ended although it was not asked to.",
    "silence": "No answer came within the time-out, for the second time in one check. Raise --timeout if it is slow.",
    "no_message": "A line on standard output is no JSON message. Logs belong on standard error.",
    "line_too_long": "A line is longer than the protocol allows: twice the larger limit plus 64 KiB.",
    "wrong_reply": "A message does not answer the request: its id, its form or its result is wrong.",
    "unasked": "A message came that nobody asked for.",
    "error": "An operation was answered with an error or an exception. A refusal is a result.",
    "not_reading": "The program does not take its input.",
}


EPILOG = """\b
Examples:
  perdure explain
  perdure explain JRN-008
  perdure explain sequence_conflict
  perdure explain silence
"""


def explain(
    word: Annotated[
        str | None, typer.Argument(help="A requirement (JRN-008), a refusal (sequence_conflict) or a kind of fault.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Explain a requirement, with its source, its checks and the mutants that break it; or a refusal, or a fault.

    Without a word it lists all requirements.
    """
    if word is None:
        _list(as_json=as_json)
    elif (requirement := requirements().get(word.upper())) is not None:
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
    out = console()
    for requirement in requirements().values():
        out.print(f"{requirement.id}  {requirement.sentence}", markup=False, soft_wrap=True)


def _requirement(requirement: Requirement, *, as_json: bool) -> None:
    document = _document(requirement)
    if as_json:
        print_json(document)
        return
    out = console()
    out.print(f"{requirement.id}  {requirement.sentence}", markup=False, soft_wrap=True)
    _fact(out, "claim", requirement.claim)
    _fact(out, "source", requirement.source)
    _fact(out, "reported", requirement.report)
    _fact(out, "page", f"docs/spec/{requirement.page}")
    for check in checks_of(requirement.id) if requirement.id.startswith(PREFIXES) else []:
        _fact(out, "check", check)
    for mutant in MUTANTS.values():
        if mutant.breaks == requirement.id:
            _fact(out, "mutant", f"{mutant.name}: {mutant.fault}")


def _fact(out: Console, name: str, value: str) -> None:
    if value:
        out.print(f"  {name:9} {value}", markup=False, soft_wrap=True)


def _document(requirement: Requirement) -> dict[str, object]:
    return {
        "id": requirement.id,
        "sentence": requirement.sentence,
        "claim": requirement.claim,
        "source": requirement.source,
        "report": requirement.report,
        "page": requirement.page,
        "checks": checks_of(requirement.id) if requirement.id.startswith(PREFIXES) else [],
        "mutants": [
            {"name": mutant.name, "fault": mutant.fault}
            for mutant in MUTANTS.values()
            if mutant.breaks == requirement.id
        ],
    }


def _meanings() -> dict[str, str]:
    refusals = {
        str(kind.__struct_config__.tag): inspect.cleandoc(kind.__doc__ or "")
        for _, kind in inspect.getmembers(contract, inspect.isclass)
        if issubclass(kind, msgspec.Struct) and kind.__struct_config__.tag is not None
    }
    return {**refusals, **_FAULTS}
