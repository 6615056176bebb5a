"""`perdure simulate`: play a run of a workflow specification."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from perdure.authoring.source import Syntax
from perdure.kernel.values import MAX_SAFE_INTEGER
from perdure_conformance.cli.common import (
    even_if_nobody_reads,
    print_json,
    print_lines,
    write_file,
    write_product,
    wrong_usage,
)
from perdure_conformance.cli.pictures import METAVAR, draw, refuse_other_kinds
from perdure_conformance.histories.conversion import encoded
from perdure_conformance.lint import text
from perdure_conformance.lint.files import STDIN, FileRefused, read, read_said
from perdure_conformance.lint.findings import Linted, lint
from perdure_conformance.simulation import pictures, results
from perdure_conformance.simulation.inputs import WordsRefused, inputs_of
from perdure_conformance.simulation.outcomes import answers_of
from perdure_conformance.simulation.player import Bounds, Player
from perdure_conformance.simulation.results import Result
from perdure_conformance.simulation.scripts import Script
from perdure_conformance.simulation.steps import Step, steps_of
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT

EPILOG = """\b
Outcomes, of the successive attempts of a node; after them it succeeds:
  --outcome review=changes_requested               once, and then success
  --outcome fetch=retryable_failure*2,succeeded    twice, and then success
  --outcome fetch=retryable_failure*               always
  --outcome 'review=succeeded:{"go":0}'            with this output, and no other
  --outcome fetch=hangs                            nothing comes: a deadline has to end it
A handler's attempt gives succeeded, changes_requested, retryable_failure, permanent_failure, blocked or cancelled;
a child run is completed, failed, blocked or cancelled. An output of which nothing is said has all declared fields,
each with the first value that an edge asks for.

\b
A script is an array of steps, as JSON or YAML. Unless --stop is given, the run then goes on by itself:
  - {reach: review}                    # go on by itself until this node is running
  - {start: review}
  - {complete: review, outcome: blocked, output: {}, reason: why}   # outcome: succeeded if absent
  - {run: review, outcome: succeeded}  # start and complete
  - {child: check, result: failed, output: {}}                      # result: completed if absent
  - {wait: review, signal: approved, token: secret, until_ms: 500}
  - {wait: review, until_ms: 500}      # for a time
  - {deliver: approved, to: review, token: secret, payload: 1, delivery: first}
  - {advance_to_ms: 500}
  - {cancel: why, requester: who}
Each step but reach may say what the kernel refuses it with, as in {start: review, refused: not_ready}.

\b
Examples:
  perdure simulate workflow.yaml
  perdure simulate workflow.yaml --input topic=durability --outcome review=changes_requested,succeeded
  perdure simulate workflow.yaml --script script.yaml --stop
  perdure simulate workflow.yaml --picture svg run.svg
  perdure simulate workflow.yaml --picture mermaid -
  perdure simulate workflow.yaml --output run.jsonl
"""


def simulate(  # noqa: PLR0913, PLR0917 - the options of a command
    specification: Annotated[
        str, typer.Argument(metavar="SPEC", help="A workflow specification: .json, .yaml, .yml; - is stdin.")
    ],
    outcome: Annotated[
        list[str] | None, typer.Option(metavar="NODE=OUTCOME,…", help="How attempts end; may be given again.")
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME=VALUE", help="The run's input: JSON, or else text; may be given again."),
    ] = None,
    script: Annotated[str | None, typer.Option(metavar="FILE", help="Steps that come first: .json, .yaml.")] = None,
    stop: Annotated[bool, typer.Option("--stop", help="Go no further than the script.")] = False,  # noqa: FBT002
    until: Annotated[
        int | None,
        typer.Option(metavar="MS", min=0, max=MAX_SAFE_INTEGER, help="Let virtual time go no further than this."),
    ] = None,
    max_events: Annotated[int, typer.Option(metavar="N", min=1, help="Stop after so many events.")] = 1_000,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="What identities are made from: the same seed gives the same run.")
    ] = 0,
    picture: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar=METAVAR, help="Draw the graph as it ended; - is standard output, alone."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(metavar="FILE.jsonl", help="Write the records, or to FILE.mwj1; - is standard output, alone."),
    ] = None,
    syntax: Annotated[
        Syntax | None, typer.Option(help="How SPEC is written, not the script; for - it is needed.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Play a run of a workflow specification: everything succeeds, unless something else is said.

    Nothing is executed, and the same words give the same run. All ready nodes start, then attempts end in the order in
    which they started; signals come when they are waited for, and time goes on when nothing else can happen.

    Exit codes: 0 the run ended, or was stopped by --until or --stop; 1 the specification is not valid, or a step of the
    script went otherwise; 2 wrong usage; 3 the run did not end: --max-events, or nothing comes any more.
    """
    _refuse_what_does_not_fit(picture, output, script, as_json=as_json)
    with _refusals():
        linted = lint(read_said(specification, syntax), None)
        steps = steps_of(read(script)) if script is not None else ()
    if linted.specification is None or not linted.valid:
        sys.stderr.write(text.report([linted]))
        sys.exit(NOT_CONFORMANT)
    with _refusals():
        result = _played(
            linted, outcome or [], given or [], steps, stop=stop, bounds=Bounds(max_events, until), seed=seed
        )
    code = _exit_code(result)
    _write_records(result, output)
    drawn = None
    if picture is not None:
        assert linted.content_hash is not None
        drawn = draw(pictures.ended(result.player.state, result.player.fired), linted.content_hash, picture)
    with even_if_nobody_reads():
        if drawn is not None:
            sys.stdout.write(drawn)
        elif as_json:
            print_json(results.document(result, code))
        elif output != STDIN:
            print_lines(results.in_words(result))
    if code != CONFORMANT and (output == STDIN or drawn is not None):
        print_lines([f"perdure: {results.sentence(result)}"], to=sys.stderr)
    sys.exit(code)


def _refuse_what_does_not_fit(
    picture: tuple[str, str] | None, output: str | None, script: str | None, *, as_json: bool
) -> None:
    if script == STDIN:
        wrong_usage("--script takes a file, and not standard input.")
    refuse_other_kinds(picture)
    if output is not None and output != STDIN and not output.lower().endswith((".jsonl", ".mwj1")):
        wrong_usage(f"--output {output} does not end with .jsonl or .mwj1: records are written there.")
    alone = [output == STDIN, picture is not None and picture[1] == STDIN, as_json]
    if sum(alone) > 1:
        wrong_usage("Standard output takes one thing: the records, the picture or the JSON document.")


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except (FileRefused, WordsRefused) as error:
        wrong_usage(str(error))


def _played(
    linted: Linted,
    outcome: list[str],
    given: list[str],
    steps: tuple[Step, ...],
    *,
    stop: bool,
    bounds: Bounds,
    seed: int,
) -> Result:
    """Play the run that was asked for. Raises `WordsRefused`."""
    assert linted.source is not None
    assert linted.specification is not None
    assert isinstance(linted.source.value, dict)
    run_input, missing = inputs_of(given, linted.specification)
    answers = answers_of(outcome, linted.specification)
    player = Player(linted.source.value, run_input, answers, bounds, seed)
    if not player.is_created:
        assert player.answer is not None
        raise WordsRefused(f"No run can be created: {player.answer.sentence}.")
    played = Script(player, steps)
    end = played.play()
    if end is None and player.state.status != "running":
        end = "ended"
    if end is None:
        end = "script" if stop else player.play() or "ended"
    fault = played.fault
    if end == "refused" and not fault:
        assert player.answer is not None
        fault = f"What comes by itself was refused with {player.answer.code}: {player.answer.sentence}."
    told = results.notes(missing, answers.unused(), player)
    return Result(linted.file, seed, player, end, fault, told)


def _exit_code(result: Result) -> int:
    match result.end:
        case "ended" | "until" | "script":
            return CONFORMANT
        case "refused":
            return NOT_CONFORMANT
        case "max_events" | "stands_still":
            return NO_VERDICT


def _write_records(result: Result, output: str | None) -> None:
    if output is None:
        return
    content = b"".join(encoded(result.player.records(), "mwj1" if output.lower().endswith(".mwj1") else "jsonl"))
    if output == STDIN:
        write_product(content, "Name a file with --output.")
    else:
        write_file(output, content, "--output")
