"""The registry of requirements, read from the normative pages: the only place where their sentences stand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from perdure.kernel.values import Digest, digest
from perdure_conformance import data

_REQUIREMENT = re.compile(r"^\*\*(?P<id>[A-Z]{3}-\d{3})\*\* (?P<sentence>.+)\n(?P<facts>(?:- .+\n)*)", re.MULTILINE)
_FACT = re.compile(r"^- (?P<name>[A-Z][a-z]+): (?P<value>.+)$", re.MULTILINE)
_CODE = re.compile(r"`([a-z_0-9]+)`")
_WARNING = re.compile(r"^\| `(?P<code>[a-z_0-9]+)` \| (?P<meaning>.+) \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One normative sentence."""

    id: str
    sentence: str
    claim: str
    """The capability under which it is judged; `core` for everybody."""
    source: str
    report: str
    """Faults of this kind that were reported in the field; empty if none is known."""
    page: str
    codes: tuple[str, ...] = ()
    """The codes of problems that it is told by."""


@cache
def requirements() -> Mapping[str, Requirement]:
    """Return all requirements by id: pages and prefixes in their own order, then by number."""
    found: dict[str, Requirement] = {}
    for path in sorted(data.specification().glob("*.md")):
        for match in _REQUIREMENT.finditer(path.read_text("utf-8")):
            facts = {fact["name"]: fact["value"] for fact in _FACT.finditer(match["facts"])}
            identity = match["id"]
            assert identity not in found, f"{identity} stands twice in the specification"
            found[identity] = Requirement(
                id=identity,
                sentence=match["sentence"],
                claim=facts["Claim"].split("`")[1],
                source=facts["Source"],
                report=facts.get("Report", ""),
                page=path.name,
                codes=tuple(_CODE.findall(facts.get("Codes", ""))),
            )
    prefixes = list(dict.fromkeys(key[:3] for key in found))
    return dict(sorted(found.items(), key=lambda item: (prefixes.index(item[0][:3]), item[0])))


def requirement_of_code(code: str) -> Requirement | None:
    """Return the requirement that a problem with this code is about, if there is one."""
    return _by_code().get(code)


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


def requirements_digest(prefixes: tuple[str, ...]) -> Digest:
    """Return the digest of the sentences of these prefixes: two reports with the same one are comparable."""
    return digest({key: value.sentence for key, value in requirements().items() if key.startswith(prefixes)})
