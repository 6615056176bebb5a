"""One judgement of a journal: every script, then the machine; what fails is played again and made smaller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from perdure.journal.contract import Capabilities, Description
from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.journal.cases import JournalCase, PlayOf, replay, shrink
from perdure_conformance.journal.claims import PAGES
from perdure_conformance.journal.effort import Abilities, Effort, Stop
from perdure_conformance.journal.operations import Identities
from perdure_conformance.journal.play import Play, PlayEnded, Site, Tally
from perdure_conformance.journal.rules import RULES, Rules
from perdure_conformance.journal.scripts import Script
from perdure_conformance.journal.written import ALL_SCRIPTS
from perdure_conformance.judging import Court
from perdure_conformance.suite import Inconclusive, Judgement, Options, Progress, Replay, Violation, say_nothing
from perdure_conformance.verdict import Depth

MACHINE: Final = "stateful machine"
MACHINE_WITH_KILLS: Final = "stateful machine with kill -9"
FOUND_BY: Final[Mapping[str, str]] = {
    MACHINE: "A check that draws: sequences of operations that nobody wrote, from the seed, on one run and on several; "
    "each answer is compared with what the model allows, and what fails is made smaller.",
    MACHINE_WITH_KILLS: "The same with processes that are killed between operations, and started again.",
}
"""What a failure may be found by that is no written check, in words."""

_BEYOND_THE_MACHINE: Final = frozenset({"JRN-022"})
"""The machine sends only what is claimed."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is tried at a depth."""

    rounds: int
    """The machine is run again, without what it has found, this often at most."""
    machine: Effort
    machine_as_process: Effort
    attempts_to_shrink: int
    races: int
    """How often each script is played that depends on timing."""

    def without_shrinking(self) -> Plan:
        """Return the plan that takes each failing case as it is."""
        at_once = replace(self.machine, plays_to_shrink=0)
        at_once_as_process = replace(self.machine_as_process, plays_to_shrink=0)
        return replace(self, machine=at_once, machine_as_process=at_once_as_process)


PLANS: Final[dict[Depth, Plan]] = {
    "quick": Plan(
        rounds=2,
        machine=Effort(examples=12, steps=15, restarts=2, plays_to_shrink=60),
        machine_as_process=Effort(examples=4, steps=10, restarts=1, plays_to_shrink=20),
        attempts_to_shrink=150,
        races=2,
    ),
    "normal": Plan(
        rounds=5,
        machine=Effort(examples=200, steps=25, restarts=4, plays_to_shrink=250),
        machine_as_process=Effort(examples=25, steps=20, restarts=2, plays_to_shrink=60),
        attempts_to_shrink=400,
        races=4,
    ),
    "deep": Plan(
        rounds=8,
        machine=Effort(examples=600, steps=40, restarts=6, plays_to_shrink=800),
        machine_as_process=Effort(examples=120, steps=30, restarts=3, plays_to_shrink=200),
        attempts_to_shrink=1_000,
        races=40,
    ),
}
"""Normal stays below 4,000 durable operations on a good implementation."""


def checks_of(requirement: str) -> list[str]:
    """Return the names of all checks that judge a requirement."""
    scripts = [script.name for script in ALL_SCRIPTS if requirement in script.reaches]
    return scripts if requirement in _BEYOND_THE_MACHINE else [*scripts, MACHINE]


def plan_of(options: Options) -> Plan:
    """Return how much is tried."""
    return PLANS[options.depth] if options.smaller else PLANS[options.depth].without_shrinking()


def judge(target: Target, options: Options, progress: Progress = say_nothing, *, rules: Rules = RULES) -> Judgement:
    """Judge a journal. An adapter fault ends it, and is in the judgement."""
    return _JournalCourt(target, options, progress, rules).judge()


@dataclass(slots=True)
class _Place:
    """Where plays happen: where the target is, or in a process of its own that can be killed and have siblings."""

    target: Target
    site: Site
    machine: str
    effort: Effort
    history: list[tuple[int, Play]] = field(default_factory=list)
    """What was played here, by number: the state that a failure may need."""


class _JournalCourt(Court[JournalCase, Capabilities]):
    """One judgement of a journal under way."""

    def __init__(self, target: Target, options: Options, progress: Progress, rules: Rules) -> None:
        super().__init__(target, options, progress, rules, PAGES)
        self._tally = Tally(self.judgement.reached)
        self._rules_of_journals = rules
        self._plan = plan = plan_of(options)
        self._off = options.switched_off
        self._plays = 0
        restarts = (plan.machine_as_process if target.is_process else plan.machine).restarts
        self._here = self._place(target, MACHINE, replace(plan.machine, restarts=restarts))
        self._apart = self._here
        if not target.is_process:
            self._apart = self._place(target.as_process(), MACHINE_WITH_KILLS, plan.machine_as_process)

    def describe(self) -> Description:
        """Learn what is claimed."""
        return self._here.site.describe()

    def ask_written(self) -> None:
        """Play each script once, or as often as is planned if it depends on timing."""
        only = self.options.only
        scripts = [script for script in ALL_SCRIPTS if not only or only & set(script.reaches)]
        for script in self.each("scripts", scripts):
            self._tally.silences.during(script.name, *script.reaches)
            if script.alone and not self._makes_sense_apart():
                continue
            for _ in range(self._plan.races if script.depends_on_timing else 1):
                self._play_script(script, self._apart if script.alone else self._here)

    def ask_drawn(self) -> None:
        """Run the machine where the target is, and once more in a process if that is another place."""
        self._run_machine(self._here)
        if self._apart is not self._here and self._makes_sense_apart():
            self._run_machine(self._apart)

    def close(self) -> None:
        """Do nothing: how a journal closes is judged wherever an operation closes it."""

    def remove(self) -> None:
        """Remove every state directory, and whatever still runs on one, and add up."""
        self._here.site.remove()
        self._apart.site.remove()
        self.judgement.counts["durable_operations"] = self._tally.durable_operations

    def bare_case(self, stop: AdapterFault) -> JournalCase:
        """Return the case of one play that does nothing."""
        return self._case(stop, PlayOf(self._plays, ()), self._off, self._here)

    def with_history(self, case: JournalCase) -> JournalCase:
        """Return a case with all plays of its place before it."""
        before = [PlayOf(number, tuple(play.operations)) for number, play in self._place_of(case).history]
        earlier = [play for play in before if play.number < case.plays[-1].number]
        return msgspec.structs.replace(case, plays=(*earlier, *case.plays))

    def replay(self, case: JournalCase) -> Replay:
        """Play a case on fresh state."""
        return replay(case, self._place_of(case).target, self._rules_of_journals)

    def shrink(self, case: JournalCase) -> JournalCase:
        """Make a case smaller."""
        attempts = self._plan.attempts_to_shrink
        return shrink(case, self._place_of(case).target, self._rules_of_journals, attempts=attempts)

    def seen(self, case: JournalCase) -> str:
        """Return what was said where a case failed."""
        return self._place_of(case).site.transcript.text()

    def _place(self, target: Target, machine: str, effort: Effort) -> _Place:
        return _Place(target, Site(target, self.options.timeout_s), machine, effort)

    def _place_of(self, case: JournalCase) -> _Place:
        return self._apart if case.in_own_process else self._here

    def _play_script(self, script: Script, place: _Place) -> None:
        play: Play | None = None
        try:
            play = self._begin(place, self._off)
            if script.takes_several and not play.can_share:
                return  # What is left of it is in other scripts, whose names say what they do.
            for operation in script.operations:
                play.do(operation)
        except (Violation, AdapterFault) as stop:
            done = PlayOf(self._plays, tuple(play.operations) if play is not None else ())
            self.keep(stop, self._case(stop, done, self._off, place), script.name)
            if isinstance(stop, AdapterFault):
                raise
        except Inconclusive as error:
            self.judgement.inconclusive.update(dict.fromkeys(script.reaches, f"{error}"))
        except PlayEnded:
            pass

    def _run_machine(self, place: _Place) -> None:
        self.rounds(place.machine, self._plan.rounds, lambda seed: self._machine_round(place, seed))
        self.progress(place.machine, place.effort.examples, place.effort.examples)

    def _machine_round(self, place: _Place, seed: int) -> None:
        from perdure_conformance.journal.machine import run_machine  # noqa: PLC0415 - see `effort`

        self._tally.silences.during(place.machine)
        off = self._off | frozenset(self.judgement.findings)
        stops: list[tuple[PlayOf, Violation]] = []
        faults: list[tuple[PlayOf, AdapterFault]] = []
        first = self._plays

        def new_play() -> Play | None:
            self.progress(place.machine, min(self._plays - first, place.effort.examples), place.effort.examples)
            try:
                return self._begin(place, off)
            except PlayEnded:
                return None

        def on_stop(play: Play, stop: Stop) -> None:
            done = PlayOf(self._plays, tuple(play.operations))
            if isinstance(stop, Violation):
                stops.append((done, stop))
            elif isinstance(stop, AdapterFault):
                faults.append((done, stop))
            else:
                self.judgement.cut_short = True

        run_machine(new_play, on_stop, place.effort, self._abilities(place), seed)
        if faults:
            done, fault = faults[0]
            self.keep(fault, self._case(fault, done, self._off, place), place.machine)
            raise fault
        if stops:
            smallest, violation = min(stops, key=lambda stop: len(stop[0].operations))
            self.keep(violation, self._case(violation, smallest, off, place), place.machine)

    def _abilities(self, place: _Place) -> Abilities:
        claims = self.claims
        return Abilities(
            can_crash=place.target.is_process and claims.durable is not None,
            has_snapshots=claims.snapshots,
            judges_leases=claims.leases and claims.lease_clock == "caller",
            fences=claims.fencing,
            keeps_files=claims.format is not None,
            shares=claims.multi_process if place.target.is_process else claims.multi_handle,
        )

    def _begin(self, place: _Place, off: frozenset[str]) -> Play:
        self._plays += 1
        identities = Identities(self.options.seed, self._plays)
        play = Play(place.site, identities, self._tally, self._rules_of_journals, off)
        place.history.append((self._plays, play))
        return play

    def _case(self, stop: Violation | AdapterFault, play: PlayOf, off: frozenset[str], place: _Place) -> JournalCase:
        in_own_process = place.target is not self.target
        return JournalCase(plays=(play,), in_own_process=in_own_process, **self.circumstances(stop, off))

    def _makes_sense_apart(self) -> bool:
        """Tell whether anything is claimed that only processes can show."""
        claims = self.claims
        return claims.durable is not None or claims.multi_process
