"""`perdure vectors`: the golden vectors written, held against the model, and exported for other languages."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from perdure_conformance import data
from perdure_conformance.cli.common import (
    add_command,
    even_if_nobody_reads,
    print_json,
    print_lines,
    write_file,
    write_product,
    wrong_usage,
)
from perdure_conformance.golden.collection import all_vectors
from perdure_conformance.golden.coverage import gaps
from perdure_conformance.golden.export import archived, exported
from perdure_conformance.golden.kernels import reduced
from perdure_conformance.histories.verification import counted
from perdure_conformance.reducer.generated import generate
from perdure_conformance.vectors.folder import (
    FORMAT_PAGE,
    Difference,
    VectorsRefused,
    changes,
    differences,
    files_in,
    loaded,
    wanted_of,
    write,
)
from perdure_conformance.vectors.index import digest_of, listed
from perdure_conformance.vectors.vector import written
from perdure_conformance.verdict import CONFORMANT, NOT_CONFORMANT

HELP: Final = "Golden vectors: inputs, each with the one answer that every release must give, in every language."

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

_CHECK: Final = """\b
Examples:
  perdure vectors check
  perdure vectors check --folder fixtures --json
"""
_WRITE: Final = """\b
Examples:
  perdure vectors write
  perdure vectors write --accept
  perdure vectors write --folder /tmp/vectors
"""
_EXPORT: Final = """\b
Examples:
  perdure vectors export vectors
  perdure vectors export --tar perdure-vectors.tar
  perdure vectors export --tar - | ssh elsewhere tar -x
"""
_GENERATE: Final = """\b
Examples:
  perdure vectors generate
  perdure vectors generate --count 10000 --seed 7 > histories.jsonl
  perdure vectors generate --count 10000 | node compare.mjs
"""

FolderOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="The folder of vectors, in place of the one that perdure has.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")]


def check_vectors(folder: FolderOption = None, as_json: JsonOption = False) -> None:  # noqa: FBT002
    """Hold the vectors in a folder against what the model would write, and against what must have one.

    A file that is missing, that no vector has, or that differs in a byte is told with its vector and its first
    difference; and so is each event, code, mix of versions and requirement that no vector reaches.

    Exit codes: 0 all is the same, 1 it is not, 2 wrong usage or a folder that cannot be read.
    """
    where = _folder(folder)
    try:
        files = files_in(where)
    except VectorsRefused as error:
        wrong_usage(str(error))
    found, lacking = differences(files, wanted_of(all_vectors())), gaps(all_vectors())
    if as_json:
        told = {"folder": str(where), "vectors": len(all_vectors())}
        print_json({**told, "differences": _as_json(found), "not_reached": lacking})
    else:
        lines = [f"DIFFERENT  {each.sentence}" for each in found] + [f"NOT REACHED  {goal}" for goal in lacking]
        with even_if_nobody_reads():
            print_lines(lines or [f"SAME  {_amount()}"])
    sys.exit(NOT_CONFORMANT if found or lacking else CONFORMANT)


def _amount() -> str:
    kinds = Counter(vector.kind for vector in all_vectors())
    told = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    return f"{len(all_vectors())} vectors: {told}; digest  {digest_of(map(listed, all_vectors()))}"


def write_vectors(
    folder: FolderOption = None,
    accept: Annotated[bool, typer.Option("--accept", help="Replace and remove what differs.")] = False,  # noqa: FBT002
    as_json: JsonOption = False,  # noqa: FBT002
) -> None:
    """Write the vectors as the model has them, and tell what changed.

    Vectors are frozen: what is there and differs is a change of meaning. It is told, and nothing is written, until it
    is accepted; then it needs a line in the changelog. What is only added needs no acceptance.

    Exit codes: 0 written, or all is the same; 1 something differs and is not accepted; 2 wrong usage or the folder
    cannot be written.
    """
    where, wanted = _folder(folder), wanted_of(all_vectors())
    try:
        there = files_in(where) if where.exists() else {}
        made = changes(there, wanted.contents)
        frozen = [each for each in differences(there, wanted) if each.what != "missing"]
        is_refused = bool(frozen) and not accept
        if not is_refused:
            write(where, wanted.contents, made)
    except VectorsRefused as error:
        wrong_usage(str(error))
    if as_json:
        rows = [{"file": each.path, "how": each.how} for each in made]
        told = {"folder": str(where), "written": not is_refused, "changes": rows}
        print_json({**told, "differences": _as_json(frozen)})
    else:
        lines = [f"DIFFERENT  {each.sentence}" for each in frozen]
        if not is_refused:
            lines += [f"{each.how}  {each.path}" for each in made]
        refusal = "Nothing was written: what is there is frozen. --accept replaces and removes what differs."
        done = f"WRITTEN  {counted(len(made), 'file')}" if made else f"SAME  {_amount()}"
        with even_if_nobody_reads():
            print_lines([*lines, refusal if is_refused else done])
    sys.exit(NOT_CONFORMANT if is_refused else CONFORMANT)


def _as_json(found: Sequence[Difference]) -> list[dict[str, str]]:
    return [{"vector": e.vector, "file": e.file, "what": e.what, "sentence": e.sentence} for e in found]


def export_vectors(
    output: Annotated[Path | None, typer.Argument(metavar="DIR", help="A new or empty folder.")] = None,
    tar: Annotated[
        str | None, typer.Option(metavar="FILE", help="A tar archive, in place of a folder; - is standard output.")
    ] = None,
    folder: FolderOption = None,
) -> None:
    """Write the vectors out for another language: the folder as it is, and each state that is a digest there, in full.

    Exit codes: 0 written, 2 wrong usage, a folder that cannot be read or a place that cannot be written.
    """
    if (output is None) == (tar is None):
        wrong_usage("Name a folder or --tar FILE, one of the two.")
    where = _folder(folder)
    try:
        contents = exported(loaded(files_in(where)), _page(where))
        if output is not None:
            if output.exists() and (not output.is_dir() or any(output.iterdir())):
                wrong_usage(f"{output} is there and not empty: name a new folder.")
            write(output, contents, changes({}, contents))
    except VectorsRefused as error:
        wrong_usage(str(error))
    if tar == "-":
        write_product(archived(contents), "Name a file with --tar.")
        sys.exit(CONFORMANT)
    if tar is not None:
        write_file(tar, archived(contents), "--tar")
    with even_if_nobody_reads():
        print_lines([f"WRITTEN  {counted(len(contents), 'file')} to {tar or output}"])
    sys.exit(CONFORMANT)


def generate_vectors(
    count: Annotated[int, typer.Option(min=1, max=10**9, help="How many histories.")] = 100,
    seed: Annotated[int, typer.Option(min=0, max=2**53 - 1, help="The seed: the same one gives the same.")] = 1,
) -> None:
    """Print generated histories, one a line, each with the answer that it must have.

    They are runs of every version and every mix of them; each second one is the one before it, damaged in one place.
    A line has its number, the damage or none, the sequence of what was damaged, the history, and what is expected, as
    a vector of the kind reduce has it. What speaks the protocol is asked about the same ones by
    `perdure check reducer --generated`, which keeps and shortens what differs.

    Exit codes: 0 written, 2 wrong usage.
    """
    for each in generate(count, seed):
        line = written(
            {
                "number": each.number,
                "damage": each.damage,
                "at": each.at,
                "history": [{"version": entry.version, "event": entry.event} for entry in each.history],
                "expected": reduced(each.history),
            }
        )
        if not write_product(line, "Make room where it goes."):
            break
    sys.exit(CONFORMANT)


def _page(folder: Path) -> bytes:
    page = folder / FORMAT_PAGE
    return page.read_bytes() if page.is_file() else b""


def _folder(named: Path | None) -> Path:
    if named is not None:
        return named
    try:
        return data.vectors()
    except FileNotFoundError as error:
        wrong_usage(f"{error}")


add_command(app, "check", check_vectors, _CHECK, "Hold the vectors against the model.")
add_command(app, "write", write_vectors, _WRITE, "Write the vectors as the model has them.")
add_command(app, "export", export_vectors, _EXPORT, "Write them out for another language.")
add_command(app, "generate", generate_vectors, _GENERATE, "Print generated histories, with answers.")
