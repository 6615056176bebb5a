"""`perdure explain`: what a requirement says, or what a word means."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Annotated, Final

import typer

from perdure_conformance import data, members
from perdure_conformance.cli.common import console, even_if_nobody_reads, print_json, wrong_usage
from perdure_conformance.crash.campaign import layers_of
from perdure_conformance.crash.judge import PAGES as CRASH_PAGES
from perdure_conformance.crash.mutants import MUTANTS as CRASH_MUTANTS
from perdure_conformance.harness.connection import FAULTS
from perdure_conformance.profiles import PROFILES
from perdure_conformance.requirements import Requirement, codes, requirement_of_code, requirements, warnings
from perdure_conformance.tool.checks import CHECKS
from perdure_conformance.tool.mutants import TOOL_MUTANTS

EPILOG = """\b
Examples:
  perdure explain
  perdure explain JRN-008
  perdure explain sequence_conflict
  perdure explain silence
  perdure explain dependency_cycle
  perdure explain propagate
  perdure explain retry.max_attempts
"""


def explain(
    word: Annotated[
        str | None,
        typer.Argument(
            help="A requirement (JRN-008), a refusal (sequence_conflict), the code of a problem (dependency_cycle), "
            "a member of a specification (backoff), a word in one (propagate), a claim, a verdict or a kind of fault."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Explain a requirement, with its source, its checks and the mutants that break it; or a refusal, fault or code.

    Of a member of a specification it tells what it does, its shape, its default, its words, and where it may stand.

    Without a word it lists all requirements.
    """
    if word is None:
        _list(as_json=as_json)
        return
    meanings = _meanings()
    word = word.removeprefix("fault:").partition("=")[0]
    known = [*requirements(), *meanings, *codes(), *members.names()]
    if word not in known and (word.lower() in known or members.members_called(word.lower())):
        word = word.lower()
    if (requirement := requirements().get(word.upper())) is not None:
        _requirement(requirement, as_json=as_json)
    elif word in meanings or word in codes() or members.is_known(word):
        _word(word, meanings.get(word), as_json=as_json)
    else:
        close = difflib.get_close_matches(word, known, n=3) or difflib.get_close_matches(word.upper(), known, n=3)
        hint = f"Did you mean {', '.join(close)}?" if close else "`perdure explain` lists the requirements."
        wrong_usage(f"Nothing is called {word!r}. {hint}")


def _list(*, as_json: bool) -> None:
    if as_json:
        print_json([_document(requirement) for requirement in requirements().values()])
        return
    for requirement in requirements().values():
        reserved = "(reserved) " if requirement.is_reserved else ""
        _say(f"{requirement.id}  {reserved}{requirement.sentence}")


def _word(word: str, meaning: str | None, *, as_json: bool) -> None:
    """Explain a word by all that it is: a term, the code of a problem of a specification, a member, a word in one."""
    meaning = meaning or warnings().get(word) or rules_of_yaml().get(word)
    requirement = requirement_of_code(word) if word in codes() else None
    if as_json:
        document: dict[str, object] = {"word": word}
        if meaning is not None:
            document["meaning"] = meaning
        if requirement is not None:
            document["requirement"] = _document(requirement)
        document["members"] = [asdict(member) for member in members.members_called(word)]
        document["words"] = [asdict(each) for each in members.words_called(word)]
        print_json(document)
        return
    _say(word if meaning is None else f"{word}\n  {meaning}")
    if requirement is not None:
        _say(f"{'A warning' if word in warnings() else 'A problem'} of a specification, as `perdure lint` tells it:")
        _requirement(requirement, as_json=False)
    for member in members.members_called(word):
        _member(member)
    for each in members.words_called(word):
        _say(f"A word: {each.does}")
        for member_name, description in each.of.items():
            _say(f"  of        {member_name}: {description}")
        _places(each.places)


def _member(member: members.Member) -> None:
    _say(f"A member: {member.does}")
    _say(f"  shape     {member.shape}")
    for word, does in member.words.items():
        _say(f"  word      {word}: {does}")
    if member.required:
        _say("  default   none: it is required")
    elif member.default is None:
        _say("  default   none: it may be absent")
    else:
        _say(f"  default   {json.dumps(member.default)}")
    _places(member.places)


def _places(places: Sequence[members.Where]) -> None:
    for place in places:
        version = f", from schema_version {place.since} on" if place.document == "specification" else ""
        _say(f"  place     {place.path} of {'an' if place.document == 'outcome' else 'a'} {place.document}{version}")


def _requirement(requirement: Requirement, *, as_json: bool) -> None:
    document = _document(requirement)
    if as_json:
        print_json(document)
        return
    _say(f"{requirement.id}  {requirement.sentence}")
    if requirement.is_reserved:
        _say("  status    reserved: nothing judges it yet")
    for name in ("claim", "source", "report", "page"):
        if document[name]:
            _say(f"  {name:9} {document[name]}")
    for check in _checks(requirement):
        _say(f"  check     {check}")
    for mutant, fault in _mutants(requirement.id).items():
        _say(f"  mutant    {mutant}: {fault}")


def _document(requirement: Requirement) -> dict[str, object]:
    return {
        "id": requirement.id,
        "sentence": requirement.sentence,
        "status": "reserved" if requirement.is_reserved else "in force",
        "claim": requirement.claim,
        "source": requirement.source,
        "report": requirement.report,
        "page": f"docs/spec/{requirement.page}",
        "checks": _checks(requirement),
        "mutants": [{"name": name, "fault": fault} for name, fault in _mutants(requirement.id).items()],
    }


def _checks(requirement: Requirement) -> list[str]:
    for profile in PROFILES.values():
        if requirement.page in profile.pages:
            return [] if requirement.is_reserved else profile.checks_of(requirement.id)
    if requirement.page in CRASH_PAGES:
        return [f"perdure crash --layer {name}: {tried}" for name, tried in layers_of(requirement.id).items()]
    return [(check.__doc__ or "").strip() for check in CHECKS.get(requirement.id, ())]


def _mutants(requirement: str) -> dict[str, str]:
    found = {mutant.name: mutant.fault for mutant in TOOL_MUTANTS if mutant.breaks == requirement}
    for profile in PROFILES.values():
        found |= profile.mutants_of(requirement)
    return found | {each.name: each.fault for each in CRASH_MUTANTS.values() if each.breaks == requirement}


def _say(line: str) -> None:
    with even_if_nobody_reads():
        console().print(line, markup=False, soft_wrap=True)


@cache
def rules_of_yaml() -> Mapping[str, str]:
    """Return what each code of YAML means, and why the rule is there, from the page of specifications."""
    page = (data.specification() / "specification.md").read_text("utf-8")
    section = page.partition("\n## YAML\n")[2].partition("\n## ")[0]
    return {row["code"]: f"{row['rule']} {row['why']}" for row in _RULE_OF_YAML.finditer(section)}


_RULE_OF_YAML: Final = re.compile(r"^\| `(?P<code>[a-z_]+)` \| (?P<rule>.+) \| (?P<why>.+) \|$", re.MULTILINE)


def _meanings() -> dict[str, str]:
    """Return what each word means; where profiles mean different things by it, one after the other."""
    found = {**FAULTS, **_VERDICTS, **_TERMS}
    for profile in PROFILES.values():
        for word, meaning in profile.meanings.items():
            found[word] = f"{found[word]} {meaning}" if word in found else meaning
    return found


_VERDICTS: Final = {
    "pass": "Every operation that reached the requirement kept it.",
    "fail": "An operation broke it; the report names the folder of the smallest case.",
    "inconclusive": "The judgement was cut short: an adapter fault, or answers that left everything open.",
    "not_claimed": "The implementation does not claim the capability under which it is judged.",
    "not_reached": "It is claimed, and no operation ever reached it: nothing was shown.",
}

_TERMS: Final = {
    "not_supported": "The answer to an operation that is not offered: JSON-RPC error -32601.",
}
