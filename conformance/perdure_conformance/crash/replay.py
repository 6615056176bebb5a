"""One line that plays a finding again, whichever layer found it: what was asked, and what went wrong at which start.

    v1:w=append,n=3,seed=7:kill/after:17
    v1:w=append,n=3,seed=7:none+err/read#2=EIO
    v1:w=append,n=3,seed=7:server/kill#3+server/kill#1

What is asked comes first. Then comes what happens at the first start of the program, and after each `+` what happens at
the next one: `none`, a kill, a call that fails or writes less, a power cut, a message that is dropped, a schedule. This
module imports nothing but the standard library: the program that traces others reads its fault here too.
"""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

VERSION: Final = "v1"

Moment = Literal["before", "after"]
Direction = Literal["s2c", "c2s"]
Level = Literal["process-crash", "ordered", "sector", "posix-weak"]
"""What an acknowledgement may survive, weakest first."""


@dataclass(frozen=True, slots=True)
class Workload:
    """What is asked of the program: the same words ask the same again."""

    name: str
    """A name in `workload.WORKLOADS`."""
    appends: int
    seed: int

    def __str__(self) -> str:
        return f"w={self.name},n={self.appends},seed={self.seed}"


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """The program runs as it would."""

    def __str__(self) -> str:
        return "none"


@dataclass(frozen=True, slots=True)
class Kill:
    """All its processes are killed just before a call that changes files, or just behind it; counted from 1."""

    moment: Moment
    number: int

    def __str__(self) -> str:
        return f"kill/{self.moment}:{self.number}"


@dataclass(frozen=True, slots=True)
class Failure:
    """A call is not made, and fails: the so-manieth of this name, on the files of the state directory."""

    call: str
    ordinal: int
    error: str
    """`EIO`, `ENOSPC`, `EINTR`."""
    thread_ordinal: int = field(default=0, compare=False)
    """Counted from 1 over the calls of this name of its thread, on whatever files, by which strace goes; 0 if no
    recording has counted."""

    def __str__(self) -> str:
        return f"err/{self.call}#{self.ordinal}={self.error}"


@dataclass(frozen=True, slots=True)
class Short:
    """A call writes so many bytes and no more: the so-manieth of this name."""

    call: str
    ordinal: int
    size_bytes: int

    def __str__(self) -> str:
        return f"short/{self.call}#{self.ordinal}={self.size_bytes}"


@dataclass(frozen=True, slots=True)
class Tear:
    """All processes are killed within the so-manieth call of this name, when it has written so many bytes."""

    call: str
    ordinal: int
    size_bytes: int

    def __str__(self) -> str:
        return f"tear/{self.call}#{self.ordinal}={self.size_bytes}"


@dataclass(frozen=True, slots=True)
class Power:
    """The power goes after so many calls of the trace; the deviations say what of them the disk does not hold."""

    level: Level
    calls: int
    deviations: str

    def __str__(self) -> str:
        return f"power/{self.level}:t{self.calls}:{self.deviations}"


@dataclass(frozen=True, slots=True)
class Network:
    """What happens to the so-manieth message of a direction, from server to client or from client to server."""

    direction: Direction
    message: int
    happening: str

    def __str__(self) -> str:
        return f"net/{self.direction}#{self.message}={self.happening}"


@dataclass(frozen=True, slots=True)
class ServerKill:
    """The server is killed and started again when the so-manieth message of either direction comes; that is lost."""

    message: int

    def __str__(self) -> str:
        return f"server/kill#{self.message}"


@dataclass(frozen=True, slots=True)
class Schedule:
    """Which client goes on at each place where several could, and what happens then: `crash10/ordered:-6`."""

    choices: tuple[int, ...]
    happening: str

    def __str__(self) -> str:
        return f"sched/{','.join(map(str, self.choices))}:{self.happening}"


Fault = Undisturbed | Kill | Failure | Short | Tear | Power | Network | ServerKill | Schedule


@dataclass(frozen=True, slots=True)
class Replay:
    """What is asked, and what happens at each start of the program; at later ones nothing does."""

    workload: Workload
    faults: tuple[Fault, ...]

    def __str__(self) -> str:
        return f"{VERSION}:{self.workload}:{'+'.join(map(str, self.faults))}"


class ReplayError(ValueError):
    """A line that is none of these. `str(error)` is one sentence."""


_WORKLOAD: Final = r"w=([a-z][a-z-]*),n=([1-9][0-9]{0,3}),seed=([0-9]{1,18})"
_COUNT: Final = "([1-9][0-9]{0,8})"
_CALL: Final = "([a-z][a-z0-9_]*)"
_NUMBER: Final = "(0|[1-9][0-9]{0,8})"
_FORMS: Final = {
    "none": "none",
    "kill": f"kill/({'|'.join(get_args(Moment))}):{_COUNT}",
    "err": f"err/{_CALL}#{_COUNT}=(E[A-Z0-9]+)",
    "short": f"short/{_CALL}#{_COUNT}={_COUNT}",
    "tear": f"tear/{_CALL}#{_COUNT}={_COUNT}",
    "power": f"power/({'|'.join(get_args(Level))}):t{_NUMBER}:([^+\\s]*)",
    "net": f"net/({'|'.join(get_args(Direction))})#{_COUNT}=([a-z][a-z0-9-]*)",
    "server": f"server/kill#{_COUNT}",
    "sched": r"sched/([0-9]+(?:,[0-9]+)*|):([a-z0-9-]+(?:/[a-z-]+:[^+\s]*)?)",
}
"""Not compiled before one is needed: the tracer is started for each window, and needs one at most."""


def parse(line: str) -> Replay:
    """Read a line as `str` of a replay writes it. Raises `ReplayError`."""
    version, _, rest = line.strip().partition(":")
    if version != VERSION:
        raise ReplayError(f"{line!a} is no replay that is known here: it does not begin with {VERSION}:.")
    words, _, faults = rest.partition(":")
    found = re.fullmatch(_WORKLOAD, words)
    if found is None:
        raise ReplayError(f"{words!a} in {line!a} does not say what is asked: write w=append,n=3,seed=7.")
    return Replay(
        Workload(found[1], int(found[2]), int(found[3])), tuple(parse_fault(fault) for fault in faults.split("+"))
    )


def parse_fault(text: str) -> Fault:
    """Read what happens at one start. Raises `ReplayError`."""
    form = _FORMS.get(text.partition("/")[0])
    found = re.fullmatch(form, text, re.ASCII) if form is not None else None
    if found is None:
        raise ReplayError(f"{text!a} is no fault: write one like kill/after:17, err/fsync#5=EIO or short/write#2=7.")
    return _fault(text, found)


def _fault(text: str, found: re.Match[str]) -> Fault:
    match text.partition("/")[0]:
        case "kill":
            return Kill("before" if found[1] == "before" else "after", int(found[2]))
        case "err":
            if not isinstance(getattr(errno, found[3], None), int):
                raise ReplayError(f"{found[3]} in {text!a} is no error of this system: write one like EIO.")
            return Failure(found[1], int(found[2]), found[3])
        case "short":
            return Short(found[1], int(found[2]), int(found[3]))
        case "tear":
            return Tear(found[1], int(found[2]), int(found[3]))
        case "power":
            return Power(_level(found[1]), int(found[2]), found[3])
        case "net":
            return Network("s2c" if found[1] == "s2c" else "c2s", int(found[2]), found[3])
        case "server":
            return ServerKill(int(found[1]))
        case "sched":
            return Schedule(tuple(int(choice) for choice in found[1].split(",") if choice), found[2])
        case _:
            return Undisturbed()


def _level(text: str) -> Level:
    return next(level for level in get_args(Level) if level == text)
