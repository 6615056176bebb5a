"""A picture as a Mermaid flowchart, which many hosts of Markdown draw."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from perdure_conformance.lint.drawing import COLOURS, Arrow, Box, Panel, legend

_LINES: Final = {"dependency": "-.->", "parallel": "-->", "exclusive": "==>"}

_NOT_PLAIN: Final = re.compile(r"[^A-Za-z0-9 .=@_\u25b6\u25c7\u2026-]|(?<=-)-")
"""Whatever Mermaid, Markdown or HTML could take for more than a character."""


def flowchart(panels: Sequence[Panel]) -> str:
    """Return the text of a flowchart: children are subgraphs."""
    own, *children = panels
    lines = ["flowchart TD", f"  %% {own.title}. {'; '.join(legend(panels))}.", *_panel(own, "n", "  ")]
    for number, panel in enumerate(children):
        lines += [f'  subgraph d{number}["{escaped(panel.title)}"]', *_panel(panel, f"d{number}n", "    "), "  end"]
    lines.append("  classDef initial stroke-width:3px")
    return "\n".join([*lines, *_run(panels), ""])


def _run(panels: Sequence[Panel]) -> Iterator[str]:
    """Yield how nodes and arrows look for what became of them."""
    found = {box.status for panel in panels for box in panel.boxes if box.status is not None}
    for status in sorted(found & COLOURS.keys()):
        fill, stroke = COLOURS[status]
        yield f"  classDef {status} fill:{fill},stroke:{stroke},color:#1f2328"
    for number, panel in enumerate(panels):
        prefix = "n" if number == 0 else f"d{number - 1}n"
        for position, box in enumerate(panel.boxes):
            if box.status in COLOURS:
                yield f"  class {prefix}{position} {box.status}"
    arrows = [arrow for panel in panels for arrow in panel.arrows]
    fired = [str(number) for number, arrow in enumerate(arrows) if arrow.has_fired]
    if fired:
        yield f"  linkStyle {','.join(fired)} stroke-width:3px"


def escaped(text: str) -> str:
    """Return text for a quoted label: what is not plain is written by its code point."""
    return _NOT_PLAIN.sub(lambda found: f"#{ord(found[0])};", text)


def _panel(panel: Panel, prefix: str, indent: str) -> Iterator[str]:
    for position, box in enumerate(panel.boxes):
        yield f"{indent}{prefix}{position}{_box(box)}"
    for arrow in panel.arrows:
        yield f"{indent}{prefix}{arrow.source} {_LINES[arrow.kind]}{_label(arrow)} {prefix}{arrow.target}"


def _box(box: Box) -> str:
    text = "<br/>".join(escaped(line) for line in box.lines)
    framed = f'[["{text}"]]' if box.is_child else f'["{text}"]'
    return f"{framed}:::initial" if box.is_initial else framed


def _label(arrow: Arrow) -> str:
    text = "<br/>".join(escaped(label) for label in arrow.labels)
    return f'|"{text}"|' if text else ""
