"""The profile `crash`, as one value: `perdure crash` judges by it, and `perdure check journal --crash` by it too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final, Protocol

from perdure.journal.contract import Capabilities
from perdure_conformance.crash import network, several
from perdure_conformance.crash.campaign import FILES, Plan
from perdure_conformance.crash.cases import CrashCase, replay, shrink
from perdure_conformance.crash.findings import LAYERS, Found, Layer
from perdure_conformance.crash.judge import PAGES
from perdure_conformance.crash.mutants import MUTANTS
from perdure_conformance.crash.of_clients import OfClients
from perdure_conformance.crash.of_files import OfFiles
from perdure_conformance.crash.replay import Replay
from perdure_conformance.harness.targets import Target
from perdure_conformance.journal import claims as of_journals
from perdure_conformance.journal.cases import JournalCase
from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.requirements import Requirement, requirements_of
from perdure_conformance.rules import Rules
from perdure_conformance.suite import Judgement, Options, Profile, Progress, Sizes, say_nothing
from perdure_conformance.verdict import Depth, Verdict

MEANINGS: Final[Mapping[str, str]] = {
    **{f"layer {name}": f"Crashes that are tried: {what}." for name, what in LAYERS.items()},
    "blame": "The call, or the message, that a finding is due to: the least that must be lost or torn, or disturbed.",
    "fsync": "What brings a file to the disk: all that was written to it before, and not its name, which takes the "
    "fsync of its directory.",
    "torn": "Of a write: a part of its sectors of 512 bytes is on the disk, in any order. So a log may end within a "
    "record: leave that out, and cut it off before anything is appended behind it.",
    "workload": "What is asked of a journal that is crashed.\n"
    "append: small records of one run, and from the third append on of two in turn.\n"
    "caches: snapshots and leases beside them; the default of a journal that keeps files, if it claims any of these.\n"
    "large: records of one run, larger than a sector, a page or a pipe.\n"
    "runs: two runs in turn.",
    "diverged": "Said of a trace: the journal did not make the calls that it made when it was recorded, so the crash "
    "that is to be played is none of it.",
}
"""Words of findings and options."""
_APPENDS: Final[Mapping[Depth, int]] = {"quick": 3, "normal": 4, "deep": 12}


class Campaign(Protocol):
    """What is tried at a journal by one command, and what is judged by that."""

    @property
    def layers(self) -> Mapping[Layer, bool]:
        """The layers that there are for such a journal, and whether each is tried."""
        ...

    @property
    def not_there(self) -> tuple[str, ...]:
        """What none of its layers shows, in words."""
        ...

    def layers_of(self, requirement: str) -> tuple[Layer, ...]:
        """Return which of its layers judge a requirement; none if none does."""
        ...

    def is_claimed(self, requirement: str, claims: Capabilities) -> bool:
        """Tell whether a requirement of its layers is judged under these claims."""
        ...

    def level(self, claims: Capabilities) -> str:
        """Return what is shown if nothing is wrong."""
        ...

    def judge(self, judgement: Judgement, target: Target, options: Options, progress: Progress) -> None:
        """Add to a judgement what came of it. A fault of the adapter ends it, and is in the judgement."""
        ...

    def play(self, target: Target, replay: Replay, timeout_s: float) -> Found | None:
        """Play one line again; return what is wrong, None if nothing is."""
        ...


def judged_by(campaign: Campaign) -> frozenset[str]:
    """Return the requirements that are judged if all layers of a campaign are tried."""
    return frozenset(each.id for each in requirements_of(PAGES) if campaign.layers_of(each.id))


def selected_by(campaign: Campaign) -> frozenset[str]:
    """Return the requirements that are judged if only a part of the layers is tried; empty if all are."""
    if all(campaign.layers.values()):
        return frozenset()
    tried = {layer for layer, is_tried in campaign.layers.items() if is_tried}
    return frozenset(each for each in judged_by(campaign) if tried & set(campaign.layers_of(each)))


def under(campaign: Campaign) -> Profile[CrashCase, Capabilities]:
    """Return the profile as it is when this is tried."""
    return Profile(
        name="crash",
        pages=PAGES,
        judged_elsewhere=_all() - judged_by(campaign),
        subjects=JOURNALS,
        rules=Rules(is_claimed=partial(_is_claimed, campaign)),
        nothing_claimed=Capabilities(),
        judge=partial(_judge, campaign),
        case=CrashCase,
        replay=replay,
        shrink=shrink,
        level=lambda claims, _verdicts: campaign.level(claims),
        not_covered=lambda _claims, _verdicts: list(campaign.not_there),
        checks_of=checks_of,
        written=dict,
        meanings=MEANINGS,
        mutants={**MUTANTS, **several.MUTANTS},
        twins=several.TWINS,
        steps="requests",
        sizes=Sizes(unit="requests", largest=14, median=4),
    )


def _all() -> frozenset[str]:
    return frozenset(each.id for each in requirements_of(PAGES))


def checks_of(requirement: str) -> list[str]:
    """Return what is tried for a requirement."""
    of_files, of_clients = OfFiles().layers_of(requirement), OfClients().layers_of(requirement)
    return [
        *(f"perdure crash --layer {name}: {LAYERS[name]}" for name in (*of_files, *of_clients)),
        *(f"perdure crash --server … --layer {name}: {LAYERS[name]}" for name in network.layers_of(requirement)),
    ]


def _is_claimed(campaign: Campaign, requirement: Requirement, claims: Capabilities, *, in_process: bool) -> bool:
    """Tell whether a requirement is judged."""
    del in_process
    return bool(campaign.layers_of(requirement.id)) and campaign.is_claimed(requirement.id, claims)


def _judge(campaign: Campaign, target: Target, options: Options, progress: Progress = say_nothing) -> Judgement:
    """Judge a journal by its crashes. An adapter fault ends it, and is in the judgement."""
    judgement = Judgement()
    campaign.judge(judgement, target, options, progress)
    return judgement


CRASH: Final = under(OfFiles())


def with_crashes(journals: Profile[JournalCase, Capabilities]) -> Profile[JournalCase, Capabilities]:
    """Return the profile of journals that is judged by crashes too, at the level that is claimed."""
    crashes, of_files = CRASH, judged_by(OfFiles())

    def is_claimed(requirement: Requirement, claims: Capabilities, *, in_process: bool) -> bool:
        owner = crashes if requirement.page in PAGES else journals
        return owner.rules.is_claimed(requirement, claims, in_process=in_process)

    def judge(target: Target, options: Options, progress: Progress = say_nothing) -> Judgement:
        judgement = journals.judge(target, options, progress)
        description = judgement.description
        if judgement.fault is None and description is not None and _is_asked(options, description.capabilities):
            OfFiles(_plan(options)).judge(judgement, target, options, progress)
        return judgement

    def level(claims: Capabilities, verdicts: Mapping[str, Verdict]) -> str:
        of_journal = journals.level(claims, verdicts)
        return of_journal if claims.durable is None else f"{of_journal}, {crashes.level(claims, verdicts)}"

    def not_covered(claims: Capabilities, verdicts: Mapping[str, Verdict]) -> list[str]:
        of_journal = (each for each in of_journals.not_judged(claims, verdicts) if not each.startswith("durable="))
        return [*of_journal, *crashes.not_covered(claims, verdicts)]

    def checks(requirement: str) -> list[str]:
        return checks_of(requirement) if requirement in of_files else journals.checks_of(requirement)

    return replace(
        journals,
        pages=(*journals.pages, *PAGES),
        judged_elsewhere=journals.judged_elsewhere | crashes.judged_elsewhere,
        rules=replace(journals.rules, is_claimed=is_claimed),
        judge=judge,
        level=level,
        not_covered=not_covered,
        checks_of=checks,
    )


def _plan(options: Options) -> Plan:
    """Return what is tried in a check: the layers that judge what is selected."""
    judged = judged_by(OfFiles()) - options.switched_off
    wanted = {name for requirement in judged for name in OfFiles().layers_of(requirement)}
    return Plan(layers=tuple(name for name in FILES if name in wanted), appends=_APPENDS[options.depth])


def _is_asked(options: Options, claims: object) -> bool:
    """Tell whether anything about crashes is to be judged."""
    is_asked = not options.switched_off >= judged_by(OfFiles())
    return isinstance(claims, Capabilities) and claims.durable is not None and is_asked
