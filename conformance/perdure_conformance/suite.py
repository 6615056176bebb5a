"""What every profile shares: how a judgement is asked for, what comes of it, and what a profile is.

A profile is a folder beside this module and one value of `Profile`, which stands in the table in `profiles.py`. It has
its own types of claims and of cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, Protocol, Self, TypeVar

import msgspec
from msgspec import Meta

from perdure.kernel.values import JsonValue
from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.factories import TargetError
from perdure_conformance.harness.targets import Subjects, Target
from perdure_conformance.registry import Mutant, Twin
from perdure_conformance.requirements import Requirement, requirements, requirements_of, reserved_of
from perdure_conformance.rules import Rules
from perdure_conformance.timeline import Timeline
from perdure_conformance.verdict import Depth, Verdict

Part = Literal["written", "drawn"]
"""What somebody thought of, and what is drawn."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to judge."""

    depth: Depth
    seed: int = 1
    timeout_s: float = 10.0
    only: frozenset[str] = frozenset()
    """Requirements to judge alone; all if empty."""
    off: frozenset[str] = frozenset()
    """Requirements that are not asked about: what breaks one of them ends what is done, and says nothing."""
    parts: frozenset[Part] = frozenset({"written", "drawn"})
    generated: int = 0
    """How many histories are generated too, for a profile that has them."""
    smaller: bool = True
    """Whether failing cases are shrunk."""
    first_alone: bool = False
    """Whether a first failure is enough: what is asked one by one is not asked further."""

    @property
    def switched_off(self) -> frozenset[str]:
        """All that is not asked about."""
        return self.off | (frozenset(requirements()) - self.only if self.only else frozenset())


class Progress(Protocol):
    """Told now and then how far a judgement is."""

    def __call__(self, label: str, done: int, total: int) -> None:
        """Note that `done` of `total` parts of `label` are done."""
        ...


def say_nothing(label: str, done: int, total: int) -> None:
    """Keep progress to oneself."""


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="profile"):
    """All that is needed to fail again. Each profile adds what was done, under its name as a tag."""

    case_version: Literal[1] = 1
    target: dict[str, str | list[str]]
    """`{"name": …}` or `{"command": […]}`."""
    in_own_process: bool
    timeout_s: Annotated[float, Meta(gt=0, le=3600)]
    seed: Annotated[int, Meta(ge=0, le=2**53 - 1)]
    off: tuple[str, ...] = ()
    """Requirements that were switched off: known to be broken too, and not asked about."""
    failure: str
    """The requirement that is broken, or `fault:KIND` for a fault of the adapter."""
    expected: object = None
    """A JSON value, for people: what was expected at the first difference."""
    actual: object = None
    """A JSON value, for people: what came instead."""

    @property
    def size(self) -> int:
        """How much was done."""
        return 1

    @property
    def needs_prior_state(self) -> bool:
        """Whether it fails only after something else was done."""
        return False

    @property
    def tries(self) -> int:
        """How often it is played until it fails the same way: more than once if that depends on timing."""
        return 1

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The answers of a case that ended in silence and is not played again, as far as that tells where it ended."""
        return ()

    def as_played(self, again: Replay) -> Self:
        """Return the case with what came of playing it; what it did not come to is left out."""
        return msgspec.structs.replace(self, expected=again.expected, actual=again.actual)

    @property
    def is_plausible(self) -> bool:
        """Whether a check may have written it: whether it asks for no more than checks do."""
        return True

    def in_words(self, answers: tuple[str, ...], *, whole: bool) -> list[str]:
        """Return what is done, a line each, with the answers to what fails; `whole` tells what comes before it too."""
        raise NotImplementedError

    def timeline(self, answers: tuple[str, ...]) -> Timeline:
        """Return what is done in the part that fails, with its answers as far as there were any."""
        raise NotImplementedError


class Violation(Exception):
    """An answer breaks a requirement."""

    def __init__(self, requirement: str, expected: JsonValue, actual: JsonValue) -> None:
        super().__init__(requirement)
        self.requirement = requirement
        self.expected = expected
        self.actual = actual


class Inconclusive(Exception):
    """No definite answer came, so that nothing can be said. `str(error)` is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of playing a case."""

    failure: str | None
    """As in the case; None if nothing failed."""
    expected: object
    actual: object
    answers: tuple[str, ...]
    """What came in answer to each thing that the failing part does, in a word."""
    finished: bool
    """Whether all that the failing part does was done and judged, the failing one included."""
    transcript: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One failure: a broken requirement, or a fault of the adapter."""

    case: Case
    reproduced: bool | None
    """Whether it failed again, the same way, on fresh state; None if that was not tried."""
    found_by: str
    answers: tuple[str, ...]
    """As in `Replay`, of the last time."""
    transcript: str
    stderr: str
    seconds: float
    """From the start of the judgement to the finding, before it was made smaller."""
    state: bytes | None = None
    """The state that fails, as a compressed tar, if it is kept beside the case."""

    @property
    def failure(self) -> str:
        """The requirement that is broken, or `fault:KIND`."""
        return self.case.failure


AnyCase = TypeVar("AnyCase", bound=Case)
"""A profile's cases."""
AnyClaims = TypeVar("AnyClaims")
"""What an implementation may claim, as a profile has it."""
Claims_co = TypeVar("Claims_co", covariant=True)


class Description(Protocol[Claims_co]):
    """Who an implementation is and what it claims."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def version(self) -> str:
        """Its version."""
        ...

    @property
    def capabilities(self) -> Claims_co:
        """What it claims."""
        ...


@dataclass(slots=True)
class Judgement:
    """All that was learnt about one implementation."""

    description: Description[object] | None = None
    reached: Counter[str] = field(default_factory=Counter)
    """How often the guard of each requirement was reached."""
    findings: dict[str, Finding] = field(default_factory=dict)
    inconclusive: dict[str, str] = field(default_factory=dict)
    """Requirements of which something that was asked had no definite answer, each with a sentence that says why."""
    cut_short: bool = False
    """Whether something drawn could not go on, for want of any definite answer."""
    not_played: list[str] = field(default_factory=list)
    """What was left out or broken off since something was found before, in words (TOL-002)."""
    fault: AdapterFault | None = None
    """What ended the judgement."""
    lapses: list[AdapterFault] = field(default_factory=list)
    """Faults after which the implementation was opened again, and the judgement went on."""
    durations_s: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    """How much was done, by what is counted."""

    @property
    def faults(self) -> list[AdapterFault]:
        """All faults, the one that ended the judgement last. With any, it is never said to be conformant."""
        return [*self.lapses, *([] if self.fault is None else [self.fault])]


class Judge(Protocol):
    """How a profile judges."""

    def __call__(self, target: Target, options: Options, progress: Progress = say_nothing) -> Judgement:
        """Judge an implementation. An adapter fault ends it, and is in the judgement."""
        ...


class Shrink(Protocol[AnyCase]):
    """How a profile makes a case smaller."""

    def __call__(self, case: AnyCase, target: Target, *, attempts: int) -> AnyCase:
        """Return the smallest case found that fails the same way on fresh state, in so many attempts."""
        ...


@dataclass(frozen=True, slots=True)
class WrittenCheck:
    """A check that somebody wrote, in words."""

    requirements: tuple[str, ...]
    """Those that it tells of."""
    steps: Callable[[], list[str]]
    """Returns what it does or asks, a line each, with what is right where that is known before."""
    note: str = ""
    """What else is to be said of it."""


def begun_alike(asked: Sequence[Sequence[object]]) -> int:
    """Return with how many items all begin that a check asks about: what tells them apart comes after that."""
    first, most = asked[0], min(map(len, asked))
    return next((place for place in range(most) if any(each[place] != first[place] for each in asked)), most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How small the shrunk cases of mutants must be."""

    unit: str
    """What a case's size counts."""
    largest: int
    median: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile(Generic[AnyCase, AnyClaims]):
    """What an implementation can be judged as."""

    name: str
    pages: tuple[str, ...]
    """The pages of `docs/spec` that it owns: it judges the requirements that stand on them, whatever their prefix."""
    subjects: Subjects
    """How a target is found, and how a Python object is spoken to."""
    rules: Rules[AnyClaims]
    nothing_claimed: AnyClaims
    """The claims of what did not even open."""
    judge: Judge
    case: type[AnyCase]
    replay: Callable[[AnyCase, Target], Replay]
    """Plays a case on fresh state."""
    shrink: Shrink[AnyCase]
    level: Callable[[AnyClaims, Mapping[str, Verdict]], str]
    """The highest level that these claims and verdicts show, if all is well."""
    not_covered: Callable[[AnyClaims, Mapping[str, Verdict]], list[str]]
    """What, under these claims and verdicts, a report says nothing about."""
    checks_of: Callable[[str], list[str]]
    """The names of all checks that judge a requirement."""
    written: Callable[[], Mapping[str, WrittenCheck]]
    """The checks that somebody wrote, by name."""
    meanings: Mapping[str, str]
    """What its words mean: claims, refusals, terms."""
    mutants: Mapping[str, Mutant]
    twins: Mapping[str, Twin]
    steps: str
    """What its cases do one after the other, as a noun: `operations`."""
    sizes: Sizes
    examples: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Good programs of the repository, by name: the interpreter, and the file in the folder of examples."""
    written_stands_alone: bool = False
    """Whether each written check shows one requirement and says the same whatever else is asked, and for every seed."""
    generates: bool = False
    """Whether it asks about generated histories, as many as are wanted."""
    judged_elsewhere: frozenset[str] = frozenset()
    """Requirements on its pages that it does not judge: another command does."""
    vectors_digest: Callable[[], str] | None = None
    """The digest of the golden vectors that it asks about, if it does."""

    def requirements(self, only: frozenset[str] = frozenset()) -> list[Requirement]:
        """Return the requirements in force on the profile's pages, or those of a selection; those of all come first."""
        own = [each for each in requirements_of(self.pages) if each.id not in self.judged_elsewhere]
        selected = [each for each in own if not only or each.id in only]
        return sorted(selected, key=lambda each: (each.claim != "core", self.pages.index(each.page)))

    def reserved(self) -> list[Requirement]:
        """Return the requirements that its pages only announce: nothing judges them yet."""
        return reserved_of(self.pages)

    def mutants_of(self, requirement: str) -> dict[str, str]:
        """Return the mutants that break a requirement, by name, each with its fault."""
        return {mutant.name: mutant.fault for mutant in self.mutants.values() if mutant.breaks == requirement}

    def target_of(self, case: Case) -> Target:
        """Find a case's target again. Raises `TargetError`."""
        match case.target:
            case {"name": str(name)}:
                target = self.subjects.find(name)
            case {"command": [*command]} if command:
                target = self.subjects.find(None, command)
            case _:
                raise TargetError("The case names no target: neither a name nor a command.")
        return target.as_process() if case.in_own_process else target


AnyProfile = Profile[Any, Any]
"""A profile, whatever its cases and claims are: what those know who take each profile alike."""
