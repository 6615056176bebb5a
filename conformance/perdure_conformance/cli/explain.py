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
from perdure_conformance.crash.profile import CRASH
from perdure_conformance.crash.selftest import planted
from perdure_conformance.harness.connection import FAULTS
from perdure_conformance.journal.claims import CLAIMS, Claim, woken_by
from perdure_conformance.profiles import PROFILES
from perdure_conformance.reports.inert import inert
from perdure_conformance.requirements import Requirement, codes, requirement_of_code, requirements, warnings
from perdure_conformance.suite import AnyProfile
from perdure_conformance.tool.checks import CHECKS
from perdure_conformance.tool.mutants import TOOL_MUTANTS

EPILOG = """\b
Examples:
  perdure explain
  perdure explain JRN-008
  perdure explain append
  perdure explain sequence_conflict
  perdure explain snapshots
  perdure explain silence
  perdure explain dependency_cycle
  perdure explain propagate
  perdure explain retry.max_attempts
  perdure explain "kill -9 at once"
  perdure explain CommitsOnClose
"""


def explain(
    word: Annotated[
        str | None,
        typer.Argument(
            metavar="WORD",
            help="A requirement (JRN-008), a method (append), a refusal (sequence_conflict), "
            "the code of a problem (dependency_cycle), "
            "a member of a specification (backoff), a word in one (propagate), a claim, a verdict, a kind of fault, "
            "the name of a check or of a mutant.",
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
    elif broken := _broken_by(word):
        _mutant(word, broken, as_json=as_json)
    elif (judged_as := next((each for each in PROFILES.values() if word in each.written()), None)) is not None:
        _check(word, judged_as, as_json=as_json)
    else:
        known += [name for each in PROFILES.values() for name in each.written()]
        wrong_usage(f"Nothing is called {word!r}. {_hint(word, known)}")


_ALIKE: Final = 0.7
_MENTIONS_SHOWN: Final = 5


def _hint(word: str, known: Sequence[str]) -> str:
    """Say what is called nearly so; else which requirements speak of it; else how to find all."""
    for spelled in (word, word.upper()):
        if close := difflib.get_close_matches(spelled, known, n=3, cutoff=_ALIKE):
            return f"Did you mean {', '.join(close)}?"
    whole = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
    mentions = [each.id for each in _in_order() if whole.search(each.sentence)]
    if mentions:
        more = " and others" if len(mentions) > _MENTIONS_SHOWN else ""
        return f"It stands in the sentences of {', '.join(mentions[:_MENTIONS_SHOWN])}{more}."
    return "`perdure explain` lists the requirements."


def _list(*, as_json: bool) -> None:
    listed = _in_order()
    if as_json:
        print_json([_document(requirement) for requirement in listed])
        return
    for requirement in listed:
        reserved = "(reserved) " if requirement.is_reserved else ""
        _say(f"{requirement.id}  {reserved}{requirement.sentence}")


def _in_order() -> list[Requirement]:
    """Return all requirements, profile by profile as reports have them; what is only announced comes last of each."""
    of_profiles = [each for profile in PROFILES.values() for each in (*profile.requirements(), *profile.reserved())]
    known = {each.id for each in of_profiles}
    return [*of_profiles, *(each for each in requirements().values() if each.id not in known)]


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
        if word in CLAIMS:
            document["claim"] = {"name": word, **asdict(CLAIMS[word]), "requirements": woken_by(word)}
        document["members"] = [asdict(member) for member in members.members_called(word)]
        document["words"] = [asdict(each) for each in members.words_called(word)]
        print_json(document)
        return
    _say("\n  ".join([word, *(meaning or "").splitlines()]))
    if word in CLAIMS:
        _claim(word, CLAIMS[word])
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


_STEPS_SHOWN: Final = 20


def _check(name: str, judged_as: AnyProfile, *, as_json: bool) -> None:
    """Explain a written check: what it does or asks, step by step, and which requirements it tells of."""
    check = judged_as.written()[name]
    steps = [inert(step).replace("\n", "\\n") for step in check.steps()]
    if as_json:
        print_json({"check": name, "requirements": check.requirements, "steps": [step.strip() for step in steps]})
        return
    _say(name)
    note = f"; {check.note}" if check.note else ""
    _say(f"A check of a {judged_as.subjects.noun}, for {', '.join(check.requirements)}{note}.")
    for step in steps[:_STEPS_SHOWN]:
        _say(step)
    if len(steps) > _STEPS_SHOWN:
        _say(f"  … and {len(steps) - _STEPS_SHOWN} more lines: --json has them all")


def _broken_by(name: str) -> dict[str, str]:
    """Return the requirements that a mutant of this name breaks, each with its fault."""
    known = [(each.name, each.breaks, each.fault) for each in TOOL_MUTANTS]
    known += [(each.name, each.breaks, each.fault) for each in planted().values()]
    for profile in PROFILES.values():
        known += [(each.name, each.breaks, each.fault) for each in profile.mutants.values()]
    return {breaks: fault for called, breaks, fault in known if called == name and breaks in requirements()}


def _mutant(name: str, broken: Mapping[str, str], *, as_json: bool) -> None:
    """Explain a mutant: its fault, and the requirement that it breaks."""
    if as_json:
        breaks = [{"requirement": requirement, "fault": fault} for requirement, fault in broken.items()]
        print_json({"mutant": name, "breaks": breaks})
        return
    for requirement, fault in broken.items():
        _say(f"{name}  {fault}")
        _say("A mutant: broken on purpose, and `perdure selftest` has to find it by the requirement that it breaks.")
        _say(f"  breaks    {requirement}  {requirements()[requirement].sentence}")


def _claim(name: str, claim: Claim) -> None:
    _say(f'A claim of a journal: "{name}": {claim.value} in the capabilities of its description.')
    _say(f"  duty      {claim.duty}")
    _say(f"  next      {claim.step}")
    effect = "silences" if name == "lease_clock" else "wakes"
    _say(f"  {effect:9} {', '.join(woken_by(name))}")


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
    for theorem, sentence in _theorems().get(requirement.id, {}).items():
        _say(f"  theorem   {theorem}: {sentence}")


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
        "theorems": list(_theorems().get(requirement.id, ())),
    }


def _checks(requirement: Requirement) -> list[str]:
    for profile in (*PROFILES.values(), CRASH):
        if requirement.page in profile.pages:
            return [] if requirement.is_reserved else profile.checks_of(requirement.id)
    return [(check.__doc__ or "").strip() for check in CHECKS.get(requirement.id, ())]


def _mutants(requirement: str) -> dict[str, str]:
    found = {mutant.name: mutant.fault for mutant in TOOL_MUTANTS if mutant.breaks == requirement}
    for profile in PROFILES.values():
        found |= profile.mutants_of(requirement)
    return found | {each.name: each.fault for each in planted().values() if each.breaks == requirement}


@cache
def _theorems() -> Mapping[str, Mapping[str, str]]:
    """Return the theorems that each requirement leans on, by name, with what each says; none where proofs are not."""
    try:
        from perdure_proofs.theorems import theorems  # noqa: PLC0415 - only a checkout has them, and may lack Z3
    except ModuleNotFoundError:
        return {}
    found: dict[str, dict[str, str]] = {}
    for theorem in theorems().values():
        for requirement in theorem.requirements:
            found.setdefault(requirement, {})[theorem.name] = theorem.sentence
    return found


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


@cache
def methods() -> Mapping[str, str]:
    """Return what each method of the protocol is given and answers, from its page; of each profile that has it."""
    page = (data.specification() / "protocol.md").read_text("utf-8")
    found: dict[str, str] = {}
    for table in _METHODS.finditer(page):
        for row in _METHOD.finditer(table["rows"]):
            told = f"A method of the protocol. It is given {row['params']}. The answer is {row['result']}."
            found[row["name"]] = f"{found[row['name']]}\n{told}" if row["name"] in found else told
    return found


_METHODS: Final = re.compile(
    r"^\| method \| params \| result \|\n\| --- \| --- \| --- \|\n(?P<rows>(?:\|.+\n)+)", re.MULTILINE
)
_METHOD: Final = re.compile(r"^\| `(?P<name>[a-z_]+)` \| (?P<params>.+) \| (?P<result>.+) \|$", re.MULTILINE)


def _meanings() -> dict[str, str]:
    """Return what each word means; where several mean something by it, a line for each, which says whose it is."""
    found = {**FAULTS, **_VERDICTS, **_TERMS, **methods()}
    profiles = (*PROFILES.values(), CRASH)
    for word in {word for profile in profiles for word in profile.meanings}:
        of = {each.subjects.noun: each.meanings[word] for each in profiles if word in each.meanings}
        is_shared = len(of) > 1 or word in codes()
        found[word] = "\n".join(f"of a {noun}: {told}" if is_shared else told for noun, told in of.items())
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
