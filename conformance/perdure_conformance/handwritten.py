"""Files that people write by hand, in JSON or YAML, read as a type; a fault is told with its line and column."""

from __future__ import annotations

from perdure.authoring.positions import SourceError
from perdure.authoring.source import Source, read_source
from perdure.kernel.problems import Problems
from perdure.kernel.structure import Reading, read
from perdure_conformance.histories.words import one_line
from perdure_conformance.lint.files import FileRefused, Text


def read_as(kind: object, text: Text, advice: str) -> tuple[object, Source]:
    """Return the value of a file as a type, and where its parts stand. Raises `FileRefused`, with the advice."""
    try:
        source = read_source(text.content, text.syntax)
    except SourceError as error:
        where = f":{error.position.line}:{error.position.column}" if error.position is not None else ""
        raise FileRefused(f"{text.name}{where}: {error.sentence}.") from error
    problems = Problems()
    found = read(kind, source.value, Reading(problems))
    if problems.errors or found is None:
        first = problems.kept[0]
        more = "" if problems.errors < 2 else f" ({problems.errors - 1:,} more)"
        raise refusal(text, source, first.pointer or "", f"{one_line(first.sentence)} {advice}{more}")
    return found, source


def refusal(text: Text, source: Source, pointer: str, sentence: str) -> FileRefused:
    """Return the refusal of what stands at a JSON Pointer."""
    place = source.locate([pointer])[pointer]
    return FileRefused(f"{text.name}:{place.line}:{place.column}: {sentence}")
