"""The engine judges itself: each mutant must be found by name, with the guilty call; no good journal may be accused.

What is found has to play again too: from its line, and from its folder.

Source: "Calibration, in CI" of the crash design.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from perdure.journal.contract import Capabilities
from perdure_conformance import data
from perdure_conformance import selftest as suite
from perdure_conformance.crash import journals, network, scheduling, several
from perdure_conformance.crash.campaign import FILES, Plan, level_of
from perdure_conformance.crash.cases import CrashCase
from perdure_conformance.crash.findings import Layer
from perdure_conformance.crash.judge import AFTER_A_FAILED_SYNC, AFTER_AN_ERROR, REQUIREMENTS
from perdure_conformance.crash.mutants import MUTANTS
from perdure_conformance.crash.of_clients import OfClients
from perdure_conformance.crash.of_files import OfFiles
from perdure_conformance.crash.of_servers import OfServers
from perdure_conformance.crash.profile import Campaign
from perdure_conformance.crash.programs import Language, NoSuchProgram, program
from perdure_conformance.crash.replay import Power, ReplayError, parse
from perdure_conformance.crash.scheduling import CannotBeScheduled
from perdure_conformance.crash.servers import Behind, ServerFault
from perdure_conformance.crash.windows import CannotBeTried, Part
from perdure_conformance.harness.connection import AdapterFault, Silence
from perdure_conformance.harness.targets import CommandTarget, Target
from perdure_conformance.journal.dispatch import JOURNALS, Dispatcher
from perdure_conformance.journal.profile import JOURNAL
from perdure_conformance.suite import Judgement, Options, say_nothing

_TIMEOUT_S: Final = 30.0
_SMALL: Final = 2
"""How much a smallest case may lose or tear at most."""
SEEDS: Final = 20
"""How many seeds of what must pass are tried in full."""
_APPENDS: Final = 2
_TO_A_SECOND_RUN: Final = 3
"""Appends until a second run begins: fewer do not show a fault of that."""
_APPENDS_IN_FULL: Final = 4
_SCHEDULES: Final = 60
_ROUNDS: Final = 2
_SLICES: Final = 20
"""A quick look tries so many windows fewer, and so does each seed in full but the first: together they try all."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A journal with one fault, and who is to blame for it."""

    name: str
    breaks: str
    fault: str
    guilty: Mapping[Layer, str]
    """How the sentence begins that names the guilty call, by each layer that has to find it; or a pattern within it."""
    target: Callable[[Path], Target]
    """What it is, given a folder for what must be compiled. Raises `NoSuchProgram`."""
    workload: str = "append"
    appends: int = _APPENDS
    server: Behind | None = None
    """The server that keeps its state, if one does."""

    def campaign(self, layer: Layer) -> Campaign:
        """Return what tries one layer at it."""
        if layer == "schedule":
            return OfClients(workload=self.workload)
        if self.server is not None:
            return OfServers(
                behind=self.server, tried=(layer,), appends=self.appends, rounds=_ROUNDS, until=self.breaks
            )
        return OfFiles(Plan(layers=(layer,), workload=self.workload, appends=self.appends, until=self.breaks))


@dataclass(frozen=True, slots=True)
class Kill:
    """What became of a mutant."""

    name: str
    breaks: str
    fault: str
    blame: Mapping[Layer, str]
    """Who was blamed, by each layer that found it."""
    replays: Mapping[Layer, str]
    seconds: float
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Good:
    """What must pass."""

    name: str
    oddity: str
    target: Callable[[Path], Target]
    campaign: Callable[[int, bool], Campaign]
    """What tries it: the so-manieth time, and whether in full."""


@dataclass(slots=True)
class Pass:
    """What became of what must pass."""

    name: str
    oddity: str
    seeds: int = 0
    states: int = 0
    windows: int = 0
    claimed: str = ""
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)


_WRITE: Final = "acknowledgement 1 is not covered: write"

GUILTY: Final[Mapping[str, Mapping[Layer, str]]] = {
    "CutsOffWhatWasAcknowledged": {
        "power": "the recovery is to blame: all that was written is on the disk",
        "calls": "undisturbed",
    },
    "KeepsItsTemporaryFileElsewhere": {
        "power": "truncate perdure.log to 0 takes away what was acknowledged before it",
        "calls": "killed just behind call 6 (truncate perdure.log to 0)",
    },
    "WritesRecordByRecord": {
        "power": "a crash right behind write perdure.log@0+",
        "calls": "killed just behind call",
    },
    "DoesNotOpenWithHalfAFrame": {
        "power": "a crash right behind write perdure.log@0+12 is enough",
        "calls": "killed just behind call 4 (write perdure.log@0+12)",
    },
    "AppendsBehindATornTail": {
        "power": "a crash right behind write perdure.log@0+12 is enough",
        "calls": "killed just behind call 4 (write perdure.log@0+12)",
    },
    "NeverSyncs": {"power": f"{_WRITE} perdure.log@0+"},
    "AcknowledgesBeforeTheSync": {"power": f"{_WRITE} perdure.log@0+"},
    "SyncsBeforeTheWrite": {"power": f"{_WRITE} perdure.log@0+"},
    "AcknowledgesAlthoughTheSyncFailed": {"power": f"fsync 3 failed, and {_WRITE} perdure.log@0+"},
    "DoesNotSyncTheDirectoryItRenamesIn": {
        "power": "acknowledgement 1 is not covered: rename perdure.tmp to perdure.log has no fsync of its directory"
    },
    "WritesOverWhatWasAcknowledged": {"power": "write perdure.log@0+"},
    "ResurrectsHalfABatch": {"power": "write perdure.log@"},
    "TakesZerosForARecord": {"power": "write perdure.log@"},
    "DoesNotOpenWithATornTail": {"power": "write perdure.log@0+"},
    "AppendsBehindAHole": {"power": "write perdure.log@0+"},
    "NeverSyncsTheDirectory": {
        "power": "acknowledgement 1 is not covered: create perdure.log has no fsync of its directory"
    },
    "SyncsTheDirectoryForItsFirstRunAlone": {"power": "acknowledgement 3 is not covered: create "},
    "DoesNotSyncTheFileItRenames": {"power": f"{_WRITE} perdure.tmp@0+"},
    "TakesWhatIsThereOfACommittedBatch": {"power": "write perdure.log@"},
    "DoesNotOpenWithAnEmptyFile": {
        "power": "rename perdure.tmp to perdure.log may be on the disk before write perdure.tmp@0+"
    },
    "AppendsBehindAHoleInABatch": {"power": "write perdure.log@"},
}
"""How the smallest case of each mutant that is a class names the guilty call."""


@dataclass(frozen=True, slots=True)
class _Program:
    how: str
    breaks: str
    fault: str
    guilty: Mapping[Layer, str]
    languages: Sequence[Language]
    workload: str = "append"


_PROGRAMS: Final = (
    _Program("no-fsync", "CRS-011", "Never syncs its file.", {"power": f"{_WRITE} log@0+"}, ("Node", "C")),
    _Program(
        "no-directory-sync",
        "CRS-031",
        "Never syncs the directory in which its file got its name.",
        {"power": "acknowledgement 1 is not covered: create log has no fsync of its directory"},
        ("Node", "C"),
    ),
    _Program(
        "acknowledges-before-the-sync",
        "CRS-011",
        "Syncs what it acknowledged when it is asked for the next thing.",
        {"power": f"{_WRITE} log@0+"},
        ("Node", "C"),
    ),
    _Program(
        "ignores-errors-of-syncs",
        AFTER_A_FAILED_SYNC,
        "Takes no notice of a sync that fails.",
        {"power": ""},
        ("Node", "C"),
    ),
    _Program(
        "ignores-short-writes",
        AFTER_AN_ERROR,
        "Does not look how much was written.",
        {"calls": "call 4 (write log) wrote 1 byte and no more"},
        ("C",),
    ),
    _Program(
        "ignores-errors",
        AFTER_AN_ERROR,
        "Goes on as if a write that failed had been made.",
        {"calls": "call 4 (write log) failed with EIO"},
        ("Node", "C"),
    ),
    _Program(
        "writes-in-place",
        "CRS-001",
        "Empties its file and writes all of it anew.",
        {"calls": "killed just behind call", "power": "truncate log to 0 takes away what was acknowledged before it"},
        ("Node", "C"),
    ),
    _Program(
        "cuts-too-much",
        "CRS-001",
        "Where it finds a torn line, it cuts off all the lines before it too.",
        {"calls": "killed within call"},
        ("C",),
        "large",
    ),
    _Program(
        "IgnoresAnErrorOfAWrite",
        AFTER_AN_ERROR,
        "Goes on as if a write that failed had been made.",
        {"calls": "call 2 (write log) failed with EIO"},
        ("Python",),
    ),
    _Program(
        "IgnoresAShortWrite",
        AFTER_AN_ERROR,
        "Does not look how much was written.",
        {"calls": "call 2 (write log) wrote 1 byte and no more"},
        ("Python",),
    ),
    _Program(
        "LeavesWhatIsNotStored",
        AFTER_AN_ERROR,
        "Says that nothing was stored where only the sync failed.",
        {"calls": "call 3 (fsync log) failed with EIO"},
        ("Python",),
    ),
    _Program(
        "TakesAnErrorForTheEnd",
        AFTER_AN_ERROR,
        "What it cannot read, it takes for not being there.",
        {"calls": "in the recovery, read 1 (read log) failed with EIO"},
        ("Python",),
    ),
    _Program(
        "RecoversInPlace",
        "CRS-001",
        "Where it finds a torn line, it empties its file and writes the whole ones anew.",
        {"calls": "in the recovery, killed just behind call 1 (truncate log to 0)"},
        ("Python",),
        "large",
    ),
)
"""The mutants that are programs."""


_SWITCHED: Final = {
    "ChecksBeforeItLocks": "stops before a lock on a file",
    "StoresWhatItRefuses": "stops before (read perdure.log|a lock on a file)",
    "LeavesWhatItRefused": "stops before (read perdure.log|a lock on a file)",
    "IndexesBeforeItWrites": "stops before write perdure.log",
    "SharesAPosition": "stops before write perdure.log",
    "CountsOnTheSyncOfAnother": "stops before fsync perdure.log",
    "OpensAsIfAlone": "stops before truncate perdure.log",
}
"""At which call each mutant for several clients is switched in its smallest case, as a pattern."""


@dataclass(frozen=True, slots=True)
class _Served:
    breaks: str
    fault: str
    layer: Layer
    blame: str
    broken: Literal["Server", "Client"]


SERVED: Final[Mapping[str, _Served]] = {
    "AcknowledgesBeforeItCommits": _Served(
        "CRS-056",
        "Leaves each transaction open until the next append.",
        "server",
        "the server was killed at message",
        "Server",
    ),
    "AppliesARetryAgain": _Served(
        "CRS-052",
        "Takes a batch whose sequences are taken to be meant for the end.",
        "net",
        "reply 1 was lost with its connection",
        "Server",
    ),
    "CutMeansNotStored": _Served(
        "CRS-053",
        "Says that nothing is stored when no answer came.",
        "net",
        "reply 1 was lost with its connection",
        "Client",
    ),
    "CutMeansStored": _Served(
        "CRS-051",
        "Says that all is stored when it was sent.",
        "net",
        "request 1 was lost with its connection",
        "Client",
    ),
    "DoesItAgainAtTheStart": _Served(
        "CRS-057",
        "Keeps a log of what it was asked, for the case that it dies, and does all of it again.",
        "server",
        "the server was killed at message 2",
        "Server",
    ),
    "KeepsAnUnreadReply": _Served(
        "CRS-051",
        "Goes on with a connection on which a reply did not come in time.",
        "net",
        "reply 1 was late",
        "Client",
    ),
    "KeepsItsLock": _Served(
        "CRS-055",
        "Locks the database as soon as an append begins, and forgets that when the connection is cut.",
        "net",
        "request 1 was cut off with its connection",
        "Server",
    ),
    "LeavesALock": _Served(
        "CRS-058",
        "Does not start where another one has not ended in good order.",
        "server",
        "the server was killed at message 1",
        "Server",
    ),
    "RefusesARetry": _Served(
        "CRS-054",
        "Knows each event id again, and not that it is the same batch.",
        "net",
        "reply 1 was lost with its connection",
        "Server",
    ),
    "RetriesUnderANewIdentity": _Served(
        "CRS-052",
        "Sends what got no answer again, as other records, and where there is room for them.",
        "net",
        "reply 1 was lost with its connection",
        "Client",
    ),
    "StoresAsItComes": _Served(
        "CRS-052",
        "Stores each record as soon as its line is there.",
        "net",
        "request [12] was cut off with its connection",
        "Server",
    ),
}
"""The servers and clients of the example that are broken, each with its fault in the words of its docstring.

What is to blame is a pattern: whether a server reads on when its client is gone, and how far, is a matter of time.
"""

_SLOW: Final = frozenset({"KeepsAnUnreadReply", "KeepsItsLock"})
"""Those with which a client waits for its time-out, again and again."""
_EXAMPLE: Final = "tcp-journal"


def planted() -> Mapping[str, Planted]:
    """Return all mutants, by name."""
    classes = {
        name: Planted(
            name,
            mutant.breaks,
            mutant.fault,
            GUILTY[name],
            _always(mutant.target),
            appends=_TO_A_SECOND_RUN if name == "SyncsTheDirectoryForItsFirstRunAlone" else _APPENDS,
        )
        for name, mutant in MUTANTS.items()
    }
    programs = {
        f"{each.how} ({language})": Planted(
            f"{each.how} ({language})",
            each.breaks,
            each.fault,
            each.guilty,
            _program(language, each.how),
            each.workload,
        )
        for each in _PROGRAMS
        for language in each.languages
    }
    shared = {
        name: Planted(name, mutant.breaks, mutant.fault, {"schedule": _SWITCHED[name]}, _always(mutant.target))
        for name, mutant in several.MUTANTS.items()
    }
    servers = {
        name: Planted(
            name,
            each.breaks,
            each.fault,
            {each.layer: each.blame},
            _client(name if each.broken == "Client" else "TcpJournal"),
            appends=2 if name == "StoresAsItComes" else 1,
            server=_server(
                "tcp_server.py" if each.broken == "Client" else f"broken_tcp.py {name}", is_slow=name in _SLOW
            ),
        )
        for name, each in SERVED.items()
    }
    return {**classes, **programs, **shared, **servers}


def good_ones() -> Mapping[str, Good]:
    """Return what must pass, by name: all that keeps anything and claims a level."""
    files = {
        name: Good(name, twin.oddity, _always(twin.target), _of_files)
        for name, twin in suite.good_ones(JOURNAL).items()
        if name in {*JOURNALS.built_in, *JOURNAL.examples} - {"memory"}
    }
    synthetic = {
        each.__name__: Good(
            each.__name__, (each.__doc__ or "").partition("\n")[0], _always(JOURNALS.of(each)), _of_files
        )
        for each in (journals.Appends, journals.Replaces)
    }
    programs = {
        f"{how} ({language})": Good(f"{how} ({language})", "a small program", _program(language, how), _of_files)
        for language, how in _GOOD_PROGRAMS
    }
    shared = {
        f"{name}, several clients": Good(f"{name}, several clients", oddity, _always(target), _of_clients)
        for name, oddity, target in (
            *((name, twin.oddity, twin.target) for name, twin in several.TWINS.items()),
            *((name, "built in", JOURNALS.find(name)) for name in ("files", "files-write", "lines")),
        )
    }
    server = Good(_EXAMPLE, "the example with a server", _client("TcpJournal"), _of_servers)
    return {**files, **synthetic, **programs, **shared, server.name: server}


_GOOD_PROGRAMS: Final[Sequence[tuple[Language, str]]] = (
    ("Python", "Good"),
    ("Python", "ViaATemporaryFile"),
    ("Node", "good"),
    ("C", "good"),
)


def _of_files(number: int, full: bool) -> Campaign:  # noqa: FBT001
    part: Part = (0, 1) if full and number == 1 else (number, _SLICES)
    return OfFiles(Plan(appends=_APPENDS_IN_FULL if full else _APPENDS, part=part))


def _of_clients(_number: int, full: bool) -> Campaign:  # noqa: FBT001
    return OfClients(schedules=_SCHEDULES if full else _SCHEDULES // 3)


def _of_servers(_number: int, full: bool) -> Campaign:  # noqa: FBT001
    return OfServers(behind=_server("tcp_server.py", is_slow=False), appends=1 + full, rounds=_ROUNDS)


def _always(target: Target) -> Callable[[Path], Target]:
    return lambda _: target


def _program(language: Language, how: str) -> Callable[[Path], Target]:
    return lambda folder: program(language, how, folder)


def _client(name: str) -> Callable[[Path], Target]:
    """Return what makes a client of the example as a program. That raises `NoSuchProgram`."""

    def target(_: Path) -> Target:
        examples = data.examples()
        if examples is None:
            raise NoSuchProgram("The example with a server is not there: perdure was installed without its repository.")
        path = f"PYTHONPATH={examples / _EXAMPLE}:{os.environ.get('PYTHONPATH', '')}"
        factory = f"{'tcp_journal' if name == 'TcpJournal' else 'broken_tcp'}:{name}"
        serve = (sys.executable, "-m", "perdure_conformance.harness.serve", f"{Dispatcher.__module__}:Dispatcher")
        return CommandTarget(("env", path, *serve, factory))

    return target


def _server(words: str, *, is_slow: bool) -> Behind:
    file, *more = words.split()
    folder = (data.examples() or Path()) / _EXAMPLE
    command = (sys.executable, str(folder / file), *more, "{port}", "{state_dir}")
    return Behind(command=command, connect=("ADDRESS", "TIMEOUT_S=0.2") if is_slow else ("ADDRESS",))


def kill(mutant: Planted, folder: Path, seed: int, *, full: bool = False) -> Kill:
    """Let each layer find a mutant, in full with as few appends as show it, and play what it found again.

    Raises `NoSuchProgram`.
    """
    began = time.monotonic()
    target = mutant.target(folder)
    blame: dict[Layer, str] = {}
    replays: dict[Layer, str] = {}
    problems: list[str] = []
    for layer in mutant.guilty:
        campaign = mutant.campaign(layer)
        judgement = _judged(campaign, target, seed, mutant.breaks, smaller=full)
        finding = judgement.findings.get(mutant.breaks)
        if finding is None or not _is_its_own(finding.case, mutant.breaks):
            others = ", ".join(sorted(_judged(campaign, target, seed).findings)) or "nothing"
            problems.append(
                f"is not found by {mutant.breaks} in {layer}, but by {others}{_why(judgement, mutant.breaks)}"
            )
            continue
        assert isinstance(finding.case, CrashCase)
        blame[layer], replays[layer] = finding.case.blame, finding.case.line
        if not finding.reproduced:
            problems.append(
                f"is not wrong in the same way, judged again from its folder: {finding.case.line}, in {layer}"
            )
        problems += [f"{each}, in {layer}" for each in _wrong_with(mutant, finding.case, campaign, target)]
    return Kill(mutant.name, mutant.breaks, mutant.fault, blame, replays, time.monotonic() - began, tuple(problems))


def _judged(campaign: Campaign, target: Target, seed: int, *only: str, smaller: bool = False) -> Judgement:
    judgement = Judgement()
    options = Options("normal", seed, timeout_s=_TIMEOUT_S, only=frozenset(only), smaller=smaller)
    campaign.judge(judgement, target, options, say_nothing)
    return judgement


def _is_its_own(case: object, requirement: str) -> bool:
    """Tell whether a case was found at the level of a requirement, and not at one beneath."""
    assert isinstance(case, CrashCase)
    return requirement not in REQUIREMENTS.values() or case.level == level_of(requirement)


def _wrong_with(mutant: Planted, case: CrashCase, campaign: Campaign, target: Target) -> Iterator[str]:
    guilty = mutant.guilty[case.layer]
    if not (case.blame.startswith(guilty) if case.layer in FILES else re.search(guilty, case.blame)):
        yield f"is blamed on another call: {case.blame}"
    replay = parse(case.line)
    last = replay.faults[-1]
    if isinstance(last, Power) and len(last.deviations.partition("@")[0].split(",")) > _SMALL:
        yield f"is found by a case that could be smaller: {case.line}"
    try:
        again = campaign.play(target, replay, _TIMEOUT_S)
    except (ReplayError, CannotBeTried, CannotBeScheduled, ServerFault, AdapterFault, Silence) as error:
        yield f"does not play again from {case.line}: {error}"
    else:
        if again is None or (again.requirement, again.blame) != (case.failure, case.blame):
            yield f"does not play again from {case.line}"


def check_good(good: Good, folder: Path, seed: int, *, full: bool) -> Pass:
    """Try what must pass with one seed, or in full. Raises `NoSuchProgram`."""
    began = time.monotonic()
    found = Pass(good.name, good.oddity)
    target = good.target(folder)
    for number, each in enumerate(range(seed, seed + (SEEDS if full else 1)), 1 if full else seed):
        campaign = good.campaign(number, full)
        judgement = _judged(campaign, target, each)
        found.seeds += 1
        found.states += judgement.counts.get("states_of_the_disk", 0) + judgement.counts.get("crashes_of_clients", 0)
        found.windows += sum(judgement.counts.get(name, 0) for name in _WINDOWS)
        found.problems += [f"{problem}, seed {each}" for problem in _accusations(campaign, judgement)]
        if judgement.description is not None:
            found.claimed = str(getattr(judgement.description.capabilities, "durable", None) or "no level")
    found.seconds = time.monotonic() - began
    return found


_WINDOWS: Final = ("kills", "calls_that_failed", *(f"windows_of_layer_{layer}" for layer in network.LAYERS))


def _accusations(campaign: Campaign, judgement: Judgement) -> Iterator[str]:
    for requirement, finding in judgement.findings.items():
        assert isinstance(finding.case, CrashCase)
        yield f"is accused of {requirement}: {finding.case.blame}, {finding.case.line}"
    claims = None if judgement.description is None else judgement.description.capabilities
    assert claims is None or isinstance(claims, Capabilities)
    claimed = [each for each in judgement.reached if claims is not None and campaign.is_claimed(each, claims)]
    is_open = any(each in judgement.inconclusive for each in claimed)
    if judgement.fault is not None or is_open or not any(judgement.reached[each] for each in claimed):
        yield f"has no verdict{_why(judgement)}"


def _why(judgement: Judgement, *only: str) -> str:
    said = [why for requirement, why in judgement.inconclusive.items() if not only or requirement in only]
    said += [] if judgement.fault is None else [f"{judgement.fault}"]
    return "".join(f": {each}" for each in dict.fromkeys(said))


def unproven() -> Sequence[str]:
    """Return the requirements that no mutant breaks."""
    broken = {mutant.breaks for mutant in planted().values()}
    of_files = {*REQUIREMENTS.values(), AFTER_AN_ERROR, AFTER_A_FAILED_SYNC}
    return sorted({*of_files, *network.REQUIREMENTS.values(), *scheduling.REQUIREMENTS.values()} - broken)


def as_document(killed: Kill) -> dict[str, object]:
    """Return what became of a mutant, for machines."""
    return {
        "name": killed.name,
        "breaks": killed.breaks,
        "fault": killed.fault,
        "blame": dict(killed.blame),
        "replays": dict(killed.replays),
        "seconds": round(killed.seconds, 3),
        "problems": list(killed.problems),
    }
