"""`perdure lint`: find out what is wrong with a workflow specification before a run is made from it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Annotated, Final, Literal

import typer

from perdure.authoring.source import Source, Syntax
from perdure.kernel.specification import covered_by_hash
from perdure.kernel.validation.handlers import Handlers
from perdure.kernel.validation.validator import validate
from perdure.kernel.values import canonical_json
from perdure_conformance import data
from perdure_conformance.cli.common import even_if_nobody_reads, print_json, wrong_usage
from perdure_conformance.cli.pictures import METAVAR, Picture, draw, refuse_other_kinds
from perdure_conformance.lint import document, drawing, fixes, github, patch, sarif, text
from perdure_conformance.lint.files import STDIN, FileRefused, Text, read_said, replace
from perdure_conformance.lint.findings import Linted, lint, lint_handlers, lint_source, without_handlers
from perdure_conformance.reports.inert import inert
from perdure_conformance.verdict import CONFORMANT, NOT_CONFORMANT, USAGE

Format = Literal["text", "json", "sarif", "github"]

EPILOG = """\b
Examples:
  perdure lint workflow.yaml
  perdure lint workflows/*.yaml --handlers handlers.json --strict
  perdure lint workflow.json --format sarif > lint.sarif
  perdure lint workflow.yaml --fix --diff
  perdure lint workflow.yaml --fix
  perdure lint workflow.yaml --canonical > workflow.canonical.json
  perdure lint workflow.yaml --picture svg workflow.svg
  perdure lint workflow.yaml --picture mermaid -
  generate | perdure lint - --syntax json
  perdure lint --schema specification > specification.schema.json

\b
A YAML file that starts with this line is checked by editors, too:
  # yaml-language-server: $schema=specification.schema.json
"""

_FIXES_TOLD: Final = 100

_DIFF: Final = typer.Option("--diff", "--dry-run", help="Print what --fix would change, and change nothing.")
_CANONICAL: Final = typer.Option("--canonical", help="Print one valid document in canonical form, with its hash.")


def lint_command(  # noqa: PLR0913, PLR0917 - the options of a command
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE", help="Specifications: .json, .yaml, .yml; - is stdin.")
    ] = None,
    syntax: Annotated[
        Syntax | None, typer.Option(help="How the files are written, whatever their names say; for - it is needed.")
    ] = None,
    format_: Annotated[Format, typer.Option("--format", help="How problems are printed.")] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,  # noqa: FBT002
    handlers: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help='A catalogue to look handlers up in: {"handlers": [{"name", "version", "inputs"}]}.'
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Let warnings count as errors.")] = False,  # noqa: FBT002
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended for certain, in the files.")] = False,  # noqa: FBT002
    diff: Annotated[bool, _DIFF] = False,  # noqa: FBT002
    canonical: Annotated[bool, _CANONICAL] = False,  # noqa: FBT002
    picture: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar=METAVAR, help="Draw one valid document; - is standard output."),
    ] = None,
    schema: Annotated[
        Literal["specification", "outcome", "handlers"] | None,
        typer.Option(help="Print a JSON Schema, for editors, and nothing else."),
    ] = None,
) -> None:
    """Find every problem of workflow specifications at once, each with its line, its requirement and what mends it.

    Exit codes: 0 all are valid, 1 one is not (or --diff would change one), 2 wrong usage or a file cannot be read.
    """
    if schema is not None:
        _write((data.schemas() / f"{schema}-1.json").read_bytes())
        return
    names = files or []
    _refuse_what_does_not_fit(names, fix=fix or diff, canonical=canonical, picture=picture)
    refused: list[str] = []
    of_handlers, known = _handlers(handlers, syntax)
    linted = [*of_handlers]
    would_change = False
    for file in _read(names, syntax, refused):
        found = lint(file, known)
        if fix or diff:
            found, changed = _fix(file, found, partial(lint_source, file.name, handlers=known), refused, dry=diff)
            would_change = would_change or (changed and diff)
        if handlers is not None and known is None:
            found = without_handlers(found, handlers)
        linted.append(found)
    code = USAGE if refused else NOT_CONFORMANT if would_change or _is_bad(linted, strict=strict) else CONFORMANT
    if canonical or picture is not None:
        _print_one(linted, code, picture=picture, strict=strict)
    elif diff:
        sys.stderr.write(text.report(linted, strict=strict, is_patch=True))
    else:
        _report(linted, "json" if as_json else format_, code, strict=strict)
    for sentence in refused:
        sys.stderr.write(f"perdure: {inert(sentence)}\n")
    sys.exit(code)


def _refuse_what_does_not_fit(names: Sequence[str], *, fix: bool, canonical: bool, picture: Picture | None) -> None:
    if not names:
        wrong_usage("Give at least one FILE, as in `perdure lint workflow.yaml`; - is standard input.")
    if names.count(STDIN) > 1:
        wrong_usage("Standard input can be read once: give - once.")
    if sum([fix, canonical, picture is not None]) > 1:
        wrong_usage("Give one of --fix, --canonical and --picture at a time.")
    if (canonical or picture is not None) and len(names) != 1:
        wrong_usage("--canonical and --picture take one FILE.")
    refuse_other_kinds(picture)


def _read(names: Sequence[str], syntax: Syntax | None, refused: list[str]) -> Iterator[Text]:
    for name in names:
        try:
            yield read_said(name, syntax)
        except FileRefused as error:
            refused.append(str(error))


def _handlers(name: str | None, syntax: Syntax | None) -> tuple[list[Linted], Handlers | None]:
    if name is None:
        return [], None
    if name == STDIN:
        wrong_usage("--handlers takes a file, and not standard input.")
    try:
        found, handlers = lint_handlers(read_said(name, syntax if not name.lower().endswith(_SUFFIXES) else None))
    except FileRefused as error:
        wrong_usage(str(error))
    return [found], handlers


_SUFFIXES: Final = (".json", ".yaml", ".yml")


def _fix(
    file: Text, linted: Linted, lint_again: Callable[[Source], Linted], refused: list[str], *, dry: bool
) -> tuple[Linted, bool]:
    """Mend a file, or print what would change; return what there is to say, and whether anything is another."""
    fixed = fixes.fix(linted, lint_again)
    if not fixed.done or linted.source is None or fixed.linted.source is None:
        return fixes.marked_as_left(linted), False
    before, after = linted.source.text, fixed.linted.source.text
    if dry:
        _print_diff(patch.unified(file.name, before, after))
        return fixes.marked(linted, fixed), True
    if file.name == STDIN:
        refused.append("Standard input cannot be changed: print what would change with --fix --diff.")
        return linted, False
    try:
        replace(file, after.encode())
    except FileRefused as error:
        refused.append(str(error))
        return linted, False
    for finding in fixed.done[:_FIXES_TOLD]:
        where = f"{text.one_line(file.name)}:{finding.position.line}:{finding.position.column}"
        told = f"fixed {finding.problem.code} ({finding.requirement}): {fixes.told(finding)}"
        sys.stderr.write(f"{where}: {told}\n")
    if len(fixed.done) > _FIXES_TOLD:
        sys.stderr.write(f"{text.one_line(file.name)}: … and {len(fixed.done) - _FIXES_TOLD:,} more were fixed\n")
    return fixes.marked_as_left(fixed.linted), True


def _print_diff(difference: str) -> None:
    """Print a difference: as it is for programs, and harmless for a terminal."""
    with even_if_nobody_reads():
        sys.stdout.write(inert(difference) if sys.stdout.isatty() else difference)


def _is_bad(linted: Sequence[Linted], *, strict: bool) -> bool:
    return any(not one.valid or (strict and one.count("warning")) for one in linted)


def _report(linted: Sequence[Linted], kind: Format, code: int, *, strict: bool) -> None:
    match kind:
        case "json":
            print_json(document.build(linted))
        case "sarif":
            print_json(sarif.build(linted, code))
        case "github":
            _write(github.report(linted).encode("utf-8", "backslashreplace"))
        case "text":
            with even_if_nobody_reads():
                sys.stdout.write(text.report(linted, colours=_has_colours(), strict=strict))


def _has_colours() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _print_one(linted: Sequence[Linted], code: int, *, picture: Picture | None, strict: bool) -> None:
    """Print the canonical form or the picture of the one document, or why not."""
    if code != CONFORMANT:
        sys.stderr.write(text.report(linted, strict=strict))
        return
    one = linted[-1]
    assert one.source is not None
    assert one.specification is not None
    assert one.content_hash is not None
    if picture is None:
        assert isinstance(one.source.value, dict)
        whole = {**covered_by_hash(one.source.value), "content_hash": one.content_hash}
        if not validate(whole).valid:
            wrong_usage(f"{one.file} has no room for its content hash: make the document smaller.")
        _write(canonical_json(whole))
        return
    drawn = draw(drawing.panels(one.specification), one.content_hash, picture)
    if drawn is not None:
        _write(drawn.encode())


def _write(content: bytes) -> None:
    with even_if_nobody_reads():
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
