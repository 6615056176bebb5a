"""The profile `journal`, as one judgement: every script, then the machine, and a verdict for each requirement."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

import msgspec

from perdure.journal.contract import Capabilities, Description
from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.journal.cases import Case, PlayOf, difference, failure_of, replay, shrink
from perdure_conformance.journal.machine import Abilities, Effort, Stop, run_machine
from perdure_conformance.journal.operations import Identities
from perdure_conformance.journal.play import Inconclusive, Play, PlayEnded, Site, Tally, Violation
from perdure_conformance.journal.rules import RULES, Rules, is_claimed
from perdure_conformance.journal.scripts import ALL_SCRIPTS, Script
from perdure_conformance.requirements import Requirement, requirements
from perdure_conformance.verdict import Depth

PREFIXES: Final = ("JRN", "SNP", "LSE")
Part = Literal["scripts", "machine"]
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


@dataclass(frozen=True, slots=True)
class Finding:
    """One failure: a broken requirement, or a fault of the adapter."""

    case: Case
    reproduced: bool | None
    """Whether it failed again, the same way, on fresh state; None if that was not tried."""
    found_by: str
    answers: tuple[str, ...]
    """What came in answer to each operation of the last play, in a word."""
    transcript: str
    stderr: str
    seconds: float
    """From the start of the judgement to the finding, before it was made smaller."""

    @property
    def failure(self) -> str:
        """The requirement that is broken, or `fault:KIND`."""
        return self.case.failure

    @property
    def needs_prior_state(self) -> bool:
        """Whether it fails only after other plays."""
        return len(self.case.plays) > 1


@dataclass(slots=True)
class Judgement:
    """All that was learnt about one implementation."""

    description: Description | None = None
    tally: Tally = field(default_factory=Tally)
    findings: dict[str, Finding] = field(default_factory=dict)
    inconclusive: set[str] = field(default_factory=set)
    """Requirements whose script could not be played to its end."""
    cut_short: bool = False
    """Whether a play of the machine could not go on, for want of any definite answer."""
    fault: AdapterFault | None = None
    durations_s: dict[str, float] = field(default_factory=dict)


class Progress(Protocol):
    """Told now and then how far a judgement is."""

    def __call__(self, label: str, done: int, total: int) -> None:
        """Note that `done` of `total` parts of `label` are done."""
        ...


def checks_of(requirement: str) -> list[str]:
    """Return the names of all checks that judge a requirement."""
    scripts = [script.name for script in ALL_SCRIPTS if requirement in script.reaches]
    return scripts if requirement in _BEYOND_THE_MACHINE else [*scripts, MACHINE]


@dataclass(frozen=True, slots=True)
class Options:
    """How to judge."""

    depth: Depth
    seed: int = 1
    timeout_s: float = 10.0
    only: frozenset[str] = frozenset()
    """Requirements to judge alone; all if empty."""
    off: frozenset[str] = frozenset()
    """Requirements that are not asked about: a play that breaks one of them ends, and says nothing."""
    parts: frozenset[Part] = frozenset({"scripts", "machine"})
    smaller: bool = True
    """Whether failing cases are shrunk."""
    rules: Rules = RULES

    @property
    def plan(self) -> Plan:
        """How much is tried."""
        return PLANS[self.depth] if self.smaller else PLANS[self.depth].without_shrinking()

    @property
    def switched_off(self) -> frozenset[str]:
        """All that is not asked about."""
        return self.off | (frozenset(requirements()) - self.only if self.only else frozenset())


def _say_nothing(label: str, done: int, total: int) -> None:
    """Keep progress to oneself."""


def judge(target: Target, options: Options, progress: Progress = _say_nothing) -> Judgement:
    """Judge an implementation. An adapter fault ends it, and is in the judgement."""
    court = _Court(target, options, progress)
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

    def __init__(self, target: Target, options: Options, progress: Progress) -> None:
        self.judgement = Judgement()
        self._target = target
        self._options = options
        self._off = options.switched_off
        self._progress = progress
        self._started = time.monotonic()
        self._plays = 0
        plan = options.plan
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
        claimed = claimed_requirements(self._claims(), in_process=not self._target.is_process)
        return any(requirement.id in of for requirement in claimed)

    def close(self) -> None:
        """Remove every state directory, and whatever still runs on one."""
        self._here.site.remove()
        self._apart.site.remove()

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
        for round_ in range(self._options.plan.rounds):
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
        play = Play(place.site, identities, self.judgement.tally, self._options.rules, off)
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
        seen = Case(
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
        again = replay(case, place.target, self._options.rules) if confirmed is not None else None
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

    def _confirmed(self, seen: Case, place: _Place) -> Case | None:
        """Return the smallest case that fails the same way on fresh state, alone or after what was played before."""
        for candidate in (seen, self._with_history(seen, place)):
            if replay(candidate, place.target, self._options.rules).failure == seen.failure:
                attempts = self._options.plan.attempts_to_shrink
                return shrink(candidate, place.target, self._options.rules, attempts=attempts)
        return None

    def _with_history(self, seen: Case, place: _Place) -> Case:
        before = [PlayOf(number, tuple(play.operations)) for number, play in place.history]
        earlier = [play for play in before if play.number < seen.plays[-1].number]
        return msgspec.structs.replace(seen, plays=(*earlier, *seen.plays))

    def _claims(self) -> Capabilities:
        assert self.judgement.description is not None  # describe() came first
        return self.judgement.description.capabilities

    def _makes_sense_apart(self) -> bool:
        """Tell whether anything is claimed that only processes can show."""
        claims = self._claims()
        return claims.durable is not None or claims.multi_process


def claimed_requirements(claims: Capabilities, *, in_process: bool) -> Iterator[Requirement]:
    """Yield the profile's requirements that these claims bring."""
    for requirement in requirements().values():
        if requirement.id.startswith(PREFIXES) and is_claimed(requirement, claims, in_process=in_process):
            yield requirement
