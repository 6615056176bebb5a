"""What `--picture KIND FILE` means to every command that draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from perdure_conformance.cli.common import write_file, wrong_usage
from perdure_conformance.lint import mermaid, svg
from perdure_conformance.lint.drawing import Panel
from perdure_conformance.lint.files import STDIN

Picture = tuple[str, str]
"""A kind, and the file that it is written to; `-` is standard output."""

METAVAR: Final = "svg|mermaid FILE"

_KINDS: Final = ("svg", "mermaid")


def refuse_other_kinds(picture: Picture | None) -> None:
    """Exit with 2 if there is no such kind of picture."""
    if picture is not None and picture[0] not in _KINDS:
        wrong_usage(f"--picture {picture[0]} is no kind of picture: say --picture svg FILE or --picture mermaid FILE.")


def draw(panels: Sequence[Panel], content_hash: str, picture: Picture) -> str | None:
    """Draw a picture and write it; return it if it goes to standard output. Exits with 2 if it cannot be written."""
    kind, file = picture
    try:
        drawn = mermaid.flowchart(panels) if kind == "mermaid" else svg.picture(panels, content_hash[:12])
    except svg.Crowded as error:
        wrong_usage(str(error))
    if file == STDIN:
        return drawn
    write_file(file, drawn.encode(), "--picture")
    return None
