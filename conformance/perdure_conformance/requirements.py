"""The registry of requirements, read from the normative pages: the only place where their sentences stand."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from perdure.kernel.values import Digest, digest
from perdure_conformance import data

FIRST_RELEASE: Final = "0.1"
"""The release that a requirement came with which does not say so."""

_REQUIREMENT = re.compile(
    r"^\*\*(?P<id>[A-Z]{3}-\d{3})\*\* (?:\*\((?P<status>[a-z]+)\)\* )?(?P<sentence>.+)\n(?P<facts>(?:- .+\n)*)",
    re.MULTILINE,
)
_FACT = re.compile(r"^- (?P<name>[A-Z][a-z]+): (?P<value>.+)$", re.MULTILINE)
_CODE = re.compile(r"`([a-z_0-9]+)`")
_WARNING = re.compile(r"^\| `(?P<code>[a-z_0-9]+)` \| (?P<meaning>.+) \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One normative sentence."""

    id: str
    sentence: str
    claim: str
    """The capability under which it is judged; `core` for everybody. A reserved one may have none yet."""
    source: str
    report: str
    """Faults of this kind that were reported in the field; empty if none is known."""
    page: str
    """The file in `docs/spec` on which it stands; whoever owns the page judges it."""
    is_reserved: bool = False
    """Whether it is only announced: nothing judges it yet."""
    codes: tuple[str, ...] = ()
    """The codes of problems that it is told by."""
    since: str = FIRST_RELEASE
    """The release that it came with, MAJOR.MINOR."""


@cache
def requirements() -> Mapping[str, Requirement]:
    """Return all requirements by id, in the order of `registered`."""
    return registered({path.name: path.read_text("utf-8") for path in sorted(data.specification().glob("*.md"))})


def requirements_of(pages: Collection[str]) -> list[Requirement]:
    """Return the requirements of these pages that are in force."""
    return [each for each in requirements().values() if each.page in pages and not each.is_reserved]


def reserved_of(pages: Collection[str]) -> list[Requirement]:
    """Return the requirements of these pages that are only announced."""
    return [each for each in requirements().values() if each.page in pages and each.is_reserved]


def registered(pages: Mapping[str, str]) -> Mapping[str, Requirement]:
    """Return the requirements of pages, given by name, by id: page by page, prefixes in their own order, by number.

    A prefix may be used on several pages; an id stands once.
    """
    found: dict[str, Requirement] = {}
    for page, text in pages.items():
        of_page = [_requirement(match, page) for match in _REQUIREMENT.finditer(text)]
        prefixes = list(dict.fromkeys(requirement.id[:3] for requirement in of_page))
        for requirement in sorted(of_page, key=lambda each: (prefixes.index(each.id[:3]), each.id)):
            assert requirement.id not in found, f"{requirement.id} stands twice in the specification"
            found[requirement.id] = requirement
    return found


def _requirement(match: re.Match[str], page: str) -> Requirement:
    facts = {fact["name"]: fact["value"] for fact in _FACT.finditer(match["facts"])}
    identity, is_reserved = match["id"], match["status"] == "reserved"
    assert match["status"] in {None, "reserved"}, f"{identity} has a status that means nothing: {match['status']}"
    assert "Source" in facts, f"{identity} has no source"
    assert is_reserved or "Claim" in facts, f"{identity} has no claim"
    return Requirement(
        id=identity,
        sentence=match["sentence"],
        claim=facts["Claim"].split("`")[1] if "Claim" in facts else "",
        source=facts["Source"],
        report=facts.get("Report", ""),
        page=page,
        is_reserved=is_reserved,
        codes=tuple(_CODE.findall(facts.get("Codes", ""))),
        since=facts.get("Since", FIRST_RELEASE),
    )


def requirement_of_code(code: str) -> Requirement:
    """Return the requirement that a problem with this code is about. Raises `KeyError` if `codes` has it not."""
    return _by_code()[code]


@cache
def codes() -> tuple[str, ...]:
    """Return the codes of all problems, in the order of their requirements."""
    return tuple(_by_code())


@cache
def warnings() -> Mapping[str, str]:
    """Return what each warning means, by its code."""
    page = (data.specification() / "specification.md").read_text("utf-8")
    return {row["code"]: row["meaning"] for row in _WARNING.finditer(page.partition("\n## Warnings\n")[2])}


@cache
def _by_code() -> Mapping[str, Requirement]:
    found: dict[str, Requirement] = {}
    for requirement in requirements().values():
        for code in requirement.codes:
            assert code not in found, f"{code} is a code of {found[code].id} and {requirement.id}"
            found[code] = requirement
    return found


def requirements_digest(pages: Collection[str]) -> Digest:
    """Return the digest of the sentences in force on these pages: two reports with the same one are comparable."""
    return digest({requirement.id: requirement.sentence for requirement in requirements_of(pages)})
