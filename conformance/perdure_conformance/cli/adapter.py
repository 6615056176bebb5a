"""`perdure adapter`: what an author of an adapter starts with."""

from __future__ import annotations

import contextlib
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from perdure.kernel.values import JsonError, read_json
from perdure_conformance.adapters import new as skeletons
from perdure_conformance.adapters.exchange import NotRecorded, exchange, in_lines
from perdure_conformance.adapters.model import LevelName, ModelTarget
from perdure_conformance.adapters.new import LANGUAGES, LanguageName, NotWritten
from perdure_conformance.adapters.smoke import SECONDS, Fix, Outcome, Smoked
from perdure_conformance.adapters.smoke import smoke as smoked
from perdure_conformance.cli.common import (
    add_command,
    even_if_nobody_reads,
    print_json,
    print_lines,
    target_or_exit,
    write_file,
    write_product,
    wrong_usage,
)
from perdure_conformance.harness.targets import Target
from perdure_conformance.journal.claims import made
from perdure_conformance.journal.differences import cut
from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.reports.failure import last_words
from perdure_conformance.requirements import requirements
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT

HELP: Final = "Start an adapter for an implementation in any language."

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

NEW_EPILOG = """\b
Examples:
  perdure adapter new --lang go
  perdure adapter new --lang python --folder my-journal
  perdure adapter new --lang rust --folder adapter --json
"""


def new(
    lang: Annotated[LanguageName, typer.Option(help="The language of the adapter.")],
    folder: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to write it; made if it is not there.")] = Path(
        "my-journal"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Write a working adapter with a small file journal, which passes perdure check journal: put yours in its place.

    Nothing that is there is written over.

    Exit codes: 0 written, 2 wrong usage, or nothing was written.
    """
    try:
        written = skeletons.write(lang, folder)
    except NotWritten as error:
        wrong_usage(str(error))
    language = LANGUAGES[lang]
    place = f"./{folder}" if str(folder).startswith("-") else str(folder)  # Else it would be an option of cd.
    steps = [
        " && ".join(words for words in (f"cd {shlex.quote(place)}", language.build) if words),
        f"perdure adapter smoke --command {shlex.quote(language.run)}",
    ]
    if as_json:
        told = {
            "skeleton_version": 1,
            "language": lang,
            "folder": str(folder),
            "files": [str(path) for path in written],
        }
        print_json({**told, "needs": language.needs, "command": language.run, "next": steps, "exit_code": CONFORMANT})
    else:
        with even_if_nobody_reads():
            lines = [f"WRITTEN  {path}" for path in written]
            print_lines([*lines, "", f"It needs {language.needs}.", "", "Next:", *(f"  {step}" for step in steps)])
    sys.exit(CONFORMANT)


SMOKE_EPILOG = """\b
Examples:
  perdure adapter smoke --command "python3 adapter.py"
  perdure adapter smoke --command ./adapter --json
  perdure adapter smoke my_package.journal:open_journal
"""

_TARGET = typer.Argument(
    metavar="TARGET", help=f"A built-in name ({', '.join(JOURNALS.built_in)}) or a Python factory as module:factory."
)
_COMMAND = typer.Option(
    metavar="COMMAND", help="A program that speaks the protocol, in place of TARGET; no shell runs it."
)
_CHARACTERS_SHOWN: Final = 600
_STDERR_LINES_SHOWN: Final = 16
"""As many as a program needs that says why it does not start."""


def smoke(
    target: Annotated[str | None, _TARGET] = None,
    command: Annotated[str | None, _COMMAND] = None,
    within: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, max=3600, help="How long all of it may take.")
    ] = SECONDS,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Try a journal for a few seconds: what works, and the first thing to mend, with what was sent and what came.

    It opens, appends, loads, replays, conflicts, asks for what is not claimed, reopens and kills, with scripts of
    perdure check journal. It is no verdict.

    Exit codes: 0 nothing is wrong so far, 1 a requirement is broken, 2 wrong usage, 3 the adapter is at fault, or
    nothing can be said.
    """
    if target is None and command is None:
        wrong_usage('Say what to try: --command "node adapter.mjs", or a Python factory as module:factory.')
    implementation = target_or_exit(JOURNALS, target, command)
    with contextlib.redirect_stdout(sys.stderr):  # What it prints must not mix with the result.
        found = smoked(implementation, within)
    code = _exit_code(found.fix)
    if as_json:
        print_json({"smoke_version": 1, **implementation.words(), **msgspec.to_builtins(found), "exit_code": code})
    else:
        with even_if_nobody_reads():
            print_lines(_in_words(found, implementation))
    sys.exit(code)


def _exit_code(fix: Fix | None) -> int:
    if fix is None:
        return CONFORMANT
    return NOT_CONFORMANT if fix.failure in requirements() else NO_VERDICT


_OUTCOMES: Final[dict[Outcome, str]] = {
    "ok": "ok",
    "not_claimed": "–",
    "not_tried": "–",
    "wrong": "WRONG",
    "unknown": "?",
}
_REMARKS: Final[dict[Outcome, str]] = {"not_claimed": ": not claimed", "not_tried": ": not tried in this process"}


def _in_words(found: Smoked, target: Target) -> Iterator[str]:
    if (about := found.description) is not None:
        claims = ", ".join(made(about.capabilities).values())
        yield f"{about.name} {about.version} claims {claims or 'nothing beyond the core'}."
        yield ""
    for step in found.steps:
        yield f"{_OUTCOMES[step.outcome]:<6}{step.name}{_REMARKS.get(step.outcome, '')}"
    yield ""
    if found.fix is None:
        words = target.words()
        named = f"--command {shlex.quote(shlex.join(words['command']))}" if "command" in words else words["name"]
        if found.untried:
            yield f"Claimed, and not tried here: {', '.join(found.untried)} (perdure check tries them)."
        if found.unjudged:
            yield f"Claimed, and not judged as things are: {', '.join(found.unjudged)} (perdure check says why)."
        yield f"READY  Nothing is wrong so far. That is no verdict, which comes from: perdure check journal {named}"
        return
    fix = found.fix
    yield f"FIX NEXT  {fix.failure}  {fix.sentence}"
    if fix.advice:
        yield f"          {fix.advice}"
    yield ""
    if fix.sent is not None:
        yield f"sent      {_shown(fix.sent)}"
        yield f"received  {_shown(fix.received) if fix.received is not None else 'nothing'}"
    if fix.right is not None:
        yield f"right     {_shown(fix.right)}"
    yield from map(_beginning, last_words(fix.stderr, _STDERR_LINES_SHOWN))
    if fix.failure in requirements():
        yield f"more      perdure explain {fix.failure}"


def _shown(message: str) -> str:
    """Return a message on one line, without what makes it long."""
    try:
        told = cut(read_json(message.encode("utf-8", "surrogateescape")))
    except JsonError:
        return _beginning(message.replace("\n", "\\n"))
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


TRANSCRIPT_EPILOG = """\b
Examples:
  perdure adapter transcript --output exchange.jsonl
  perdure adapter transcript --level leases --output exchange.jsonl
  perdure adapter transcript --command ./adapter --output exchange.jsonl
"""


def transcript(
    command: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="A program that speaks the protocol, in place of the model."),
    ] = None,
    level: Annotated[
        LevelName | None,
        typer.Option(help="What the model claims; workflow if nothing is said."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to this file, in place of standard output.")
    ] = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.05, max=3600, help="How long one answer may take.")
    ] = 10.0,
) -> None:
    """Record an exchange with a good journal, to test an adapter against: what is sent, and what comes.

    Each line is {"process": NUMBER, "to": MESSAGE} or {"process": NUMBER, "from": MESSAGE}. The model answers, with the
    claims of a workflow journal, unless a program is named. It is the same each time. Where multi_process is claimed,
    as at level processes, two of them take turns; what happens at the same time is in no exchange.

    Exit codes: 0 recorded, 1 an answer breaks a requirement, 2 wrong usage, 3 the adapter is at fault; only what is
    right is recorded.
    """
    if level is not None and command is not None:
        wrong_usage("--level is what the model claims; a program says itself what it claims.")
    answering = ModelTarget(level or "workflow") if command is None else target_or_exit(JOURNALS, None, command)
    try:
        with contextlib.redirect_stdout(sys.stderr):  # What it prints must not mix with the exchange.
            content = in_lines(exchange(answering, timeout))
    except NotRecorded as error:
        print_lines([f"perdure: {error} perdure adapter smoke says more."], to=sys.stderr)
        sys.exit(NOT_CONFORMANT if error.kind == "wrong" else NO_VERDICT)
    if output is None:
        write_product(content, "Name a file with --output.")
    else:
        write_file(output, content, "--output")


def _beginning(text: str) -> str:
    over = len(text) - _CHARACTERS_SHOWN
    return text if over <= 0 else f"{text[:_CHARACTERS_SHOWN]}… ({over} more characters)"


add_command(app, "new", new, NEW_EPILOG, "Write a working adapter, to put your journal into.")
add_command(app, "smoke", smoke, SMOKE_EPILOG, "Try a journal for seconds; what to mend first.")
add_command(app, "transcript", transcript, TRANSCRIPT_EPILOG, "Record an exchange, for tests of your own.")
