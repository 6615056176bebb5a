"""The profile `journal`, as one check: every script, then the machine, and a verdict for each requirement."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

import msgspec

from perdure.journal.contract import Capabilities, Description
from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.journal.cases import Case, PlayOf, failure_of, replay, shrink
from perdure_conformance.journal.machine import Abilities, Effort, Stop, run_machine
from perdure_conformance.journal.operations import Identities, Operation
from perdure_conformance.journal.play import Inconclusive, Play, PlayEnded, Site, Tally, Violation
from perdure_conformance.journal.rules import RULES, Rules, is_claimed
from perdure_conformance.journal.scripts import ALL_SCRIPTS, Script
from perdure_conformance.requirements import Requirement, requirements
from perdure_conformance.verdict import Depth

PREFIXES: Final = ("JRN", "SNP", "LSE")
Part = Literal["scripts", "machine"]
MACHINE: Final = "stateful machine"
MACHINE_WITH_KILLS: Final = "stateful machine with kill -9"


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
    "quick": Plan(2, Effort(12, 15, 2, 60), Effort(4, 10, 1, 20), 60),
    "normal": Plan(5, Effort(200, 25, 4, 250), Effort(25, 20, 2, 60), 250),
    "deep": Plan(8, Effort(600, 40, 6, 800), Effort(120, 30, 3, 200), 800),
}
"""Normal stays below 4,000 durable operations on a good implementation."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One failure: a broken requirement, or a fault of the adapter."""

    failure: str
    case: Case
    reproduced: bool
    """Whether it failed again, the same way, on fresh state."""
    needs_prior_state: bool
    found_by: str
    answers: tuple[str, ...]
    """What came in answer to each operation of the last play, in a word."""
    transcript: str
    stderr: str
    seconds: float
    """From the start of the judgement to the finding, before it was made smaller."""


@dataclass(slots=True)
class Judgement:
    """All that was learnt about one implementation."""

    description: Description | None = None
    tally: Tally = field(default_factory=Tally)
    findings: dict[str, Finding] = field(default_factory=dict)
    inconclusive: Counter[str] = field(default_factory=Counter)
    """Requirements whose script could not be played to its end."""
    fault: AdapterFault | None = None
    durations_s: dict[str, float] = field(default_factory=dict)


class Progress(Protocol):
    """Told now and then how far a judgement is."""

    def __call__(self, label: str, done: int, total: int) -> None:
        """Note that `done` of `total` parts of `label` are done."""
        ...


def checks_of(requirement: str) -> list[str]:
    """Return the names of all checks that judge a requirement."""
    return [script.name for script in ALL_SCRIPTS if requirement in script.reaches] + [MACHINE]


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


class _Court:
    """One judgement under way."""

    def __init__(self, target: Target, options: Options, progress: Progress) -> None:
        self.judgement = Judgement()
        self._target = target
        self._options = options
        self._plan = options.plan
        self._off = options.switched_off
        self._progress = progress
        self._started = time.monotonic()
        self._plays = 0
        self._sites: dict[bool, Site] = {}
        self._history: dict[bool, list[tuple[int, Play]]] = {False: [], True: []}
        """What was played on each site: the state that a failure may need."""

    def describe(self) -> None:
        """Learn what is claimed."""
        try:
            self.judgement.description = self._site(in_own_process=False).describe()
        except AdapterFault as fault:
            self._found(fault, None, "initialize", in_own_process=False)
            raise

    def claims_any(self, of: frozenset[str]) -> bool:
        """Tell whether any of these requirements is claimed."""
        claimed = claimed_requirements(self._claims(), in_process=not self._target.is_process)
        return any(requirement.id in of for requirement in claimed)

    def close(self) -> None:
        """Remove every state directory, and whatever still runs on one."""
        for site in self._sites.values():
            site.remove()

    def play_scripts(self, scripts: list[Script]) -> None:
        """Play each script once."""
        began = time.monotonic()
        for done, script in enumerate(scripts):
            self._progress("scripts", done, len(scripts))
            if script.alone and not self._can_be_alone():
                continue
            self._play_script(script, in_own_process=script.alone and not self._target.is_process)
        self._progress("scripts", len(scripts), len(scripts))
        self.judgement.durations_s["scripts"] = time.monotonic() - began

    def run_machines(self) -> None:
        """Run the machine where the target is, and once more in a process if that is another place."""
        self._run_machine(MACHINE, in_own_process=False)
        if not self._target.is_process and self._can_be_alone():
            self._run_machine(MACHINE_WITH_KILLS, in_own_process=True)

    def _play_script(self, script: Script, *, in_own_process: bool) -> None:
        play: Play | None = None
        try:
            play = self._begin(in_own_process=in_own_process)
            for operation in script.operations:
                play.do(operation)
        except Violation as violation:
            self._found(violation, play, script.name, in_own_process=in_own_process)
        except Inconclusive:
            self.judgement.inconclusive.update(script.reaches)
        except PlayEnded:
            pass
        except AdapterFault as fault:
            self._found(fault, play, script.name, in_own_process=in_own_process)
            raise

    def _run_machine(self, name: str, *, in_own_process: bool) -> None:
        began = time.monotonic()
        as_process = in_own_process or self._target.is_process
        effort = self._plan.machine_as_process if in_own_process else self._plan.machine
        if as_process and not in_own_process:
            effort = Effort(
                effort.examples, effort.steps, self._plan.machine_as_process.restarts, effort.plays_to_shrink
            )
        for round_ in range(self._plan.rounds):
            if not self._machine_round(name, effort, self._options.seed + round_, in_own_process=in_own_process):
                break
        self._progress(name, effort.examples, effort.examples)
        self.judgement.durations_s[name] = time.monotonic() - began

    def _machine_round(self, name: str, effort: Effort, seed: int, *, in_own_process: bool) -> bool:
        """Run the machine once, without what is known already; tell whether it found something new."""
        off = self._off | frozenset(self.judgement.findings)
        stops: list[tuple[tuple[Operation, ...], int, Violation]] = []
        faults: list[tuple[Play, AdapterFault]] = []

        first = self._plays

        def new_play() -> Play | None:
            self._progress(name, min(self._plays - first, effort.examples), effort.examples)
            try:
                return self._begin(in_own_process=in_own_process, off=off)
            except PlayEnded:
                return None

        def on_stop(play: Play, stop: Stop) -> None:
            if isinstance(stop, Violation):
                stops.append((tuple(play.operations), self._plays, stop))
            elif isinstance(stop, AdapterFault):
                faults.append((play, stop))

        run_machine(new_play, on_stop, effort, self._abilities(in_own_process=in_own_process), seed)
        if faults:
            play, fault = faults[0]
            self._found(fault, play, name, in_own_process=in_own_process)
            raise fault
        if not stops:
            return False
        operations, number, violation = min(stops, key=lambda stop: len(stop[0]))
        self._add(violation, PlayOf(number, operations), name, off, in_own_process=in_own_process)
        return True

    def _abilities(self, *, in_own_process: bool) -> Abilities:
        claims = self._claims()
        return Abilities(
            can_crash=(in_own_process or self._target.is_process) and claims.durable is not None,
            has_snapshots=claims.snapshots,
            judges_leases=claims.leases and claims.lease_clock == "caller",
            fences=claims.fencing,
        )

    def _begin(self, *, in_own_process: bool, off: frozenset[str] | None = None) -> Play:
        site = self._site(in_own_process=in_own_process)
        self._plays += 1
        identities = Identities(self._options.seed, self._plays)
        play = Play(site, identities, self.judgement.tally, self._options.rules, self._off if off is None else off)
        self._history[in_own_process].append((self._plays, play))
        return play

    def _found(self, stop: Violation | AdapterFault, play: Play | None, found_by: str, *, in_own_process: bool) -> None:
        if failure_of(stop) not in self.judgement.findings:
            operations = tuple(play.operations) if play is not None else ()
            self._add(stop, PlayOf(self._plays, operations), found_by, self._off, in_own_process=in_own_process)

    def _add(
        self,
        stop: Violation | AdapterFault,
        play: PlayOf,
        found_by: str,
        off: frozenset[str],
        *,
        in_own_process: bool,
    ) -> None:
        """Confirm a failure on fresh state, make it smaller, and keep it."""
        seconds = time.monotonic() - self._started
        alone = Case(
            target=self._target.words(),
            in_own_process=in_own_process,
            timeout_s=self._options.timeout_s,
            seed=self._options.seed,
            plays=(play,),
            off=tuple(sorted(off)),
            failure=failure_of(stop),
            expected=stop.expected if isinstance(stop, Violation) else None,
            actual=stop.actual if isinstance(stop, Violation) else stop.sentence,
        )
        target = self._target.as_process() if in_own_process else self._target
        case, reproduced = self._confirmed(alone, target, is_silence=alone.failure == "fault:silence")
        again = replay(case, target, self._options.rules) if reproduced else None
        if again is not None:
            last = PlayOf(case.plays[-1].number, case.plays[-1].operations[: len(again.answers)])
            case = msgspec.structs.replace(
                case, plays=(*case.plays[:-1], last), expected=again.expected, actual=again.actual
            )
        self.judgement.findings[alone.failure] = Finding(
            failure=alone.failure,
            case=case,
            reproduced=reproduced,
            needs_prior_state=len(case.plays) > 1,
            found_by=found_by,
            answers=again.answers if again else (),
            transcript=again.transcript if again else self._site(in_own_process=in_own_process).transcript.text(),
            stderr=again.stderr if again else stop.stderr if isinstance(stop, AdapterFault) else "",
            seconds=seconds,
        )

    def _confirmed(self, alone: Case, target: Target, *, is_silence: bool) -> tuple[Case, bool]:
        """Return the smallest case that fails the same way on fresh state, and whether any did."""
        if is_silence:  # Each further look would cost a time-out.
            return alone, False
        with_history = self._with_history(alone)
        for candidate in (alone, with_history) if with_history.plays != alone.plays else (alone,):
            if replay(candidate, target, self._options.rules).failure == alone.failure:
                return shrink(candidate, target, self._options.rules, attempts=self._attempts(target)), True
        return alone, False

    def _attempts(self, target: Target) -> int:
        attempts = self._plan.attempts_to_shrink
        return attempts // 4 if target.is_process else attempts

    def _with_history(self, alone: Case) -> Case:
        last = alone.plays[-1]
        before = [
            PlayOf(number, tuple(play.operations))
            for number, play in self._history[alone.in_own_process]
            if number < last.number
        ]
        return msgspec.structs.replace(alone, plays=(*before, last))

    def _site(self, *, in_own_process: bool) -> Site:
        if in_own_process not in self._sites:
            target = self._target.as_process() if in_own_process else self._target
            self._sites[in_own_process] = Site(target, self._options.timeout_s)
        return self._sites[in_own_process]

    def _claims(self) -> Capabilities:
        assert self.judgement.description is not None
        return self.judgement.description.capabilities

    def _can_be_alone(self) -> bool:
        claims = self._claims()
        return claims.durable is not None or claims.multi_process


def claimed_requirements(claims: Capabilities, *, in_process: bool) -> Iterator[Requirement]:
    """Yield the profile's requirements that these claims bring."""
    for requirement in requirements().values():
        if requirement.id.startswith(PREFIXES) and is_claimed(requirement, claims, in_process=in_process):
            yield requirement
