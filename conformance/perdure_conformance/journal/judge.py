"""One judgement of a journal: every script, then the machine; what fails is played again and made smaller."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from perdure.journal.contract import Capabilities
from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.journal.cases import JournalCase, PlayOf, replay, shrink
from perdure_conformance.journal.claims import PAGES
from perdure_conformance.journal.machine import Abilities, Effort, Stop, run_machine
from perdure_conformance.journal.operations import Identities
from perdure_conformance.journal.play import Inconclusive, Play, PlayEnded, Site, Tally
from perdure_conformance.journal.rules import RULES, Rules
from perdure_conformance.journal.scripts import ALL_SCRIPTS, Script
from perdure_conformance.suite import (
    Finding,
    Judgement,
    Options,
    Progress,
    Violation,
    difference,
    failure_of,
    say_nothing,
)
from perdure_conformance.verdict import Depth

MACHINE: Final = "stateful machine"
MACHINE_WITH_KILLS: Final = "stateful machine with kill -9"

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

    def without_shrinking(self) -> Plan:
        """Return the plan that takes each failing case as it is."""
        at_once = replace(self.machine, plays_to_shrink=0)
        at_once_as_process = replace(self.machine_as_process, plays_to_shrink=0)
        return Plan(self.rounds, at_once, at_once_as_process, attempts_to_shrink=0)


PLANS: Final[dict[Depth, Plan]] = {
    "quick": Plan(
        rounds=2,
        machine=Effort(examples=12, steps=15, restarts=2, plays_to_shrink=60),
        machine_as_process=Effort(examples=4, steps=10, restarts=1, plays_to_shrink=20),
        attempts_to_shrink=150,
    ),
    "normal": Plan(
        rounds=5,
        machine=Effort(examples=200, steps=25, restarts=4, plays_to_shrink=250),
        machine_as_process=Effort(examples=25, steps=20, restarts=2, plays_to_shrink=60),
        attempts_to_shrink=400,
    ),
    "deep": Plan(
        rounds=8,
        machine=Effort(examples=600, steps=40, restarts=6, plays_to_shrink=800),
        machine_as_process=Effort(examples=120, steps=30, restarts=3, plays_to_shrink=200),
        attempts_to_shrink=1_000,
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
    court = _Court(target, options, progress, rules)
    only = options.only
    try:
        court.describe()
        if only and not court.claims_any(only):
            return court.judgement
        if "scripts" in options.parts:
            court.play_scripts([script for script in ALL_SCRIPTS if not only or only & set(script.reaches)])
        if "machine" in options.parts:
            court.run_machines()
    except AdapterFault as fault:
        court.judgement.fault = fault
    finally:
        court.close()
    return court.judgement


@dataclass(slots=True)
class _Place:
    """Where plays happen: where the target is, or in a process of its own that can be killed and have siblings."""

    target: Target
    site: Site
    machine: str
    effort: Effort
    history: list[tuple[int, Play]] = field(default_factory=list)
    """What was played here, by number: the state that a failure may need."""


class _Court:
    """One judgement under way."""

    def __init__(self, target: Target, options: Options, progress: Progress, rules: Rules) -> None:
        self.judgement = Judgement()
        self._tally = Tally(self.judgement.reached)
        self._target = target
        self._options = options
        self._rules = rules
        self._plan = plan_of(options)
        self._off = options.switched_off
        self._progress = progress
        self._started = time.monotonic()
        self._plays = 0
        plan = self._plan
        restarts = (plan.machine_as_process if target.is_process else plan.machine).restarts
        self._here = self._place(target, MACHINE, replace(plan.machine, restarts=restarts))
        self._apart = self._here
        if not target.is_process:
            self._apart = self._place(target.as_process(), MACHINE_WITH_KILLS, plan.machine_as_process)

    def describe(self) -> None:
        """Learn what is claimed."""
        try:
            self.judgement.description = self._here.site.describe()
        except AdapterFault as fault:
            self._keep(fault, None, "initialize", self._here)
            raise

    def claims_any(self, of: frozenset[str]) -> bool:
        """Tell whether any of these requirements is claimed."""
        claimed = self._rules.claimed(PAGES, self._claims(), in_process=not self._target.is_process)
        return any(requirement.id in of for requirement in claimed)

    def close(self) -> None:
        """Remove every state directory, and whatever still runs on one, and add up."""
        self._here.site.remove()
        self._apart.site.remove()
        self.judgement.durable_operations = self._tally.durable_operations

    def play_scripts(self, scripts: list[Script]) -> None:
        """Play each script once."""
        began = time.monotonic()
        for done, script in enumerate(scripts):
            self._progress("scripts", done, len(scripts))
            if not script.alone:
                self._play_script(script, self._here)
            elif self._makes_sense_apart():
                self._play_script(script, self._apart)
        self._progress("scripts", len(scripts), len(scripts))
        self.judgement.durations_s["scripts"] = time.monotonic() - began

    def run_machines(self) -> None:
        """Run the machine where the target is, and once more in a process if that is another place."""
        self._run_machine(self._here)
        if self._apart is not self._here and self._makes_sense_apart():
            self._run_machine(self._apart)

    def _place(self, target: Target, machine: str, effort: Effort) -> _Place:
        return _Place(target, Site(target, self._options.timeout_s), machine, effort)

    def _play_script(self, script: Script, place: _Place) -> None:
        play: Play | None = None
        try:
            play = self._begin(place, self._off)
            for operation in script.operations:
                play.do(operation)
        except Violation as violation:
            self._keep(violation, play, script.name, place)
        except Inconclusive:
            self.judgement.inconclusive.update(script.reaches)
        except PlayEnded:
            pass
        except AdapterFault as fault:
            self._keep(fault, play, script.name, place)
            raise

    def _run_machine(self, place: _Place) -> None:
        """Run the machine round after round, each without what is known already, until one finds nothing new."""
        began = time.monotonic()
        for round_ in range(self._plan.rounds):
            if not self._machine_round(place, self._options.seed + round_):
                break
        self._progress(place.machine, place.effort.examples, place.effort.examples)
        self.judgement.durations_s[place.machine] = time.monotonic() - began

    def _machine_round(self, place: _Place, seed: int) -> bool:
        off = self._off | frozenset(self.judgement.findings)
        stops: list[tuple[PlayOf, Violation]] = []
        faults: list[tuple[Play, AdapterFault]] = []
        first = self._plays

        def new_play() -> Play | None:
            self._progress(place.machine, min(self._plays - first, place.effort.examples), place.effort.examples)
            try:
                return self._begin(place, off)
            except PlayEnded:
                return None

        def on_stop(play: Play, stop: Stop) -> None:
            if isinstance(stop, Violation):
                stops.append((PlayOf(self._plays, tuple(play.operations)), stop))
            elif isinstance(stop, AdapterFault):
                faults.append((play, stop))
            else:
                self.judgement.cut_short = True

        run_machine(new_play, on_stop, place.effort, self._abilities(place), seed)
        if faults:
            play, fault = faults[0]
            self._keep(fault, play, place.machine, place)
            raise fault
        if not stops:
            return False
        smallest, violation = min(stops, key=lambda stop: len(stop[0].operations))
        self._add(violation, smallest, place.machine, off, place)
        return True

    def _abilities(self, place: _Place) -> Abilities:
        claims = self._claims()
        return Abilities(
            can_crash=place.target.is_process and claims.durable is not None,
            has_snapshots=claims.snapshots,
            judges_leases=claims.leases and claims.lease_clock == "caller",
            fences=claims.fencing,
        )

    def _begin(self, place: _Place, off: frozenset[str]) -> Play:
        self._plays += 1
        identities = Identities(self._options.seed, self._plays)
        play = Play(place.site, identities, self._tally, self._rules, off)
        place.history.append((self._plays, play))
        return play

    def _keep(self, stop: Violation | AdapterFault, play: Play | None, found_by: str, place: _Place) -> None:
        """Keep a failure, unless one of its kind is known."""
        if failure_of(stop) not in self.judgement.findings:
            operations = tuple(play.operations) if play is not None else ()
            self._add(stop, PlayOf(self._plays, operations), found_by, self._off, place)

    def _add(
        self, stop: Violation | AdapterFault, play: PlayOf, found_by: str, off: frozenset[str], place: _Place
    ) -> None:
        """Confirm a failure on fresh state, make it smaller, and keep it."""
        seconds = time.monotonic() - self._started
        seen = JournalCase(
            target=self._target.words(),
            in_own_process=place.target is not self._target,
            timeout_s=self._options.timeout_s,
            seed=self._options.seed,
            plays=(play,),
            off=tuple(sorted(off)),
            failure=failure_of(stop),
            **difference(stop),
        )
        is_silence = seen.failure == "fault:silence"  # Each further look would cost a time-out.
        confirmed = self._confirmed(seen, place) if not is_silence else None
        case = confirmed or seen
        again = replay(case, place.target, self._rules) if confirmed is not None else None
        if again is not None:
            last = PlayOf(case.plays[-1].number, case.plays[-1].operations[: len(again.answers)])
            case = msgspec.structs.replace(
                case, plays=(*case.plays[:-1], last), expected=again.expected, actual=again.actual
            )
        self.judgement.findings[seen.failure] = Finding(
            case=case,
            reproduced=None if is_silence else confirmed is not None,
            found_by=found_by,
            answers=again.answers if again else (),
            transcript=again.transcript if again else place.site.transcript.text(),
            stderr=again.stderr if again else stop.stderr if isinstance(stop, AdapterFault) else "",
            seconds=seconds,
        )

    def _confirmed(self, seen: JournalCase, place: _Place) -> JournalCase | None:
        """Return the smallest case that fails the same way on fresh state, alone or after what was played before."""
        for candidate in (seen, self._with_history(seen, place)):
            if replay(candidate, place.target, self._rules).failure == seen.failure:
                attempts = self._plan.attempts_to_shrink
                return shrink(candidate, place.target, self._rules, attempts=attempts)
        return None

    def _with_history(self, seen: JournalCase, place: _Place) -> JournalCase:
        before = [PlayOf(number, tuple(play.operations)) for number, play in place.history]
        earlier = [play for play in before if play.number < seen.plays[-1].number]
        return msgspec.structs.replace(seen, plays=(*earlier, *seen.plays))

    def _claims(self) -> Capabilities:
        assert self.judgement.description is not None  # describe() came first
        claims: Capabilities = self.judgement.description.capabilities
        return claims

    def _makes_sense_apart(self) -> bool:
        """Tell whether anything is claimed that only processes can show."""
        claims = self._claims()
        return claims.durable is not None or claims.multi_process
