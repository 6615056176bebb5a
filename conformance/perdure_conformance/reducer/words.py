"""The kernel's words, each with what it means, as the page `kernel.md` says it: codes, events, commands, terms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from perdure.kernel.commands import COMMANDS
from perdure.kernel.events import EVENTS
from perdure_conformance import data

_CODE = re.compile(r"^\| (?P<codes>`[a-z_]+`(?:, `[a-z_]+`)*) \| (?P<when>.+) \|$", re.MULTILINE)
_TERM = re.compile(r"^- \*\*(?P<term>[A-Z][a-z ]+)\*\*(?P<meaning>(?:.|\n(?=  ))+)", re.MULTILINE)
_SECTIONS: Final = {"Refusals": "A refusal of a command", "Corruption": "A fault of a history"}


def words_of_the_kernel() -> dict[str, str]:
    """Return what each word means. A code that stands in two tables means both, one after the other."""
    page = (data.specification() / "kernel.md").read_text("utf-8")
    found = dict(_terms(page))
    for section, kind in _SECTIONS.items():
        text = page.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
        for row in _CODE.finditer(text):
            meaning = f"{kind}: {row['when'].replace(' | ', ', ')}."
            for code in re.findall(r"[a-z_]+", row["codes"]):
                found[code] = f"{found[code]} {meaning}" if code in found else meaning
    events = {event for events in EVENTS.values() for event in events}
    found.update({event.__name__: f"An event: {_first_line(event)}" for event in events})
    found.update({command.__name__: f"A command: {_first_line(command)}" for command in COMMANDS})
    return found


def _terms(page: str) -> Iterator[tuple[str, str]]:
    for row in _TERM.finditer(page):
        meaning = " ".join(row["meaning"].split()).removeprefix(": ")
        yield row["term"].lower(), f"{meaning[:1].upper()}{meaning[1:]}"


def _first_line(kind: type) -> str:
    return (kind.__doc__ or "").strip().splitlines()[0]
