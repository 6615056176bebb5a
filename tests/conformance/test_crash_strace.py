"""What strace prints is told as our own tracer tells it, and judged alike; what it does not show is said."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec import structs
from tests.conformance.test_crash_recording import C_PROGRAM, EVERYTHING, HIDDEN, PYTHON, UNDER_ANOTHER_MOUNT

from perdure_conformance import data
from perdure_conformance.crash import recording
from perdure_conformance.crash.campaign import Plan, crash, play
from perdure_conformance.crash.power import Bench, Recorded, judge
from perdure_conformance.crash.programs import NoSuchProgram, program
from perdure_conformance.crash.record import record
from perdure_conformance.crash.recording import (
    FORCED,
    STRACE_DISTURBS_NOTHING,
    Done,
    Recording,
    Watcher,
    digest,
    read,
    traced,
    why_not_disturbed,
)
from perdure_conformance.crash.recovery import recoverer, scratch
from perdure_conformance.crash.replay import Fault, Undisturbed, Workload, parse, parse_fault
from perdure_conformance.crash.retold import Retold
from perdure_conformance.crash.selftest import GUILTY
from perdure_conformance.crash.trace import Sync, Write
from perdure_conformance.harness.targets import CommandTarget, Target
from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.suite import say_nothing

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed.")
needs_both = pytest.mark.skipif(why_not_disturbed() is not None, reason=f"{why_not_disturbed()}")


# What is printed, read


def hexed(text: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(text))


class Told:
    """What is told of lines that were printed of a program whose current folder is its state directory.

    In these, 'text' stands for text, and 3@log for a descriptor that leads to a file.
    """

    def __init__(self, folder: Path, *lines: str, last: str = "", fault: Fault = Undisturbed()) -> None:  # noqa: B008
        self._state = folder / "state"
        self._state.mkdir()
        (self._state / "old").write_bytes(b"0123456789")
        said: list[str] = []
        retold = Retold(f"{self._state}", (0, 1), "pipe:[7]", ("*-shm",), said.append, fault)
        retold.read([self._filled(line) for line in (f"10 chdir('{self._state}') = 0", *lines)] + [last])
        retold.end(0)
        (folder / "log").write_text("".join(f"{line}\n" for line in said), "utf-8")
        self.recording = read(folder / "log")
        self.texts = [call.text for call in self.recording.trace.calls]

    def _filled(self, line: str) -> str:
        line = re.sub(r"'([^']*)'", lambda found: f'"{hexed(found[1])}"', line)
        return re.sub(r"@([a-z./]*)", lambda found: f"<{hexed(f'{self._state}/{found[1]}'.rstrip('/'))}>", line)


OPENED = "10 openat(-100@, 'log', 0x42, 0666) = 3@log"
WRITTEN = (OPENED, "10 write(3@log, 'one', 3) = 3")


def test_a_call_that_is_printed_in_two_lines_is_one(tmp_path: Path) -> None:
    told = Told(
        tmp_path,
        "10 clone3({flags=0x3d0f00, exit_signal=0}, 88) = 11",
        "10 openat(-100@, 'log', 0x42, 0666 <unfinished ...>",
        "11 +++ exited with 0 +++",
        "10 <... openat resumed>) = 3@log",
        "10 write(3@log, 'one',  <unfinished ...>",
        "10 <... write resumed>3) = 3",
    )
    assert told.texts == ["create log", "write log@0+3"]


def test_a_descriptor_stands_where_the_calls_before_have_left_it(tmp_path: Path) -> None:
    told = Told(
        tmp_path,
        "10 openat(-100@, 'old', 0x2) = 3@old",
        "10 read(0x3, 0x7ffe, 0x4) = 0x4",
        "10 dup(3@old) = 4@old",
        "10 write(4@old, 'a', 1) = 1",
        "10 lseek(3@old, 0, 0x2) = 10",
        "10 writev(3@old, [{iov_base='b', iov_len=1}, {iov_base='', iov_len=0}, {iov_base='cd', iov_len=2}], 3) = 3",
        "10 fcntl(3@old, 0x4, 0x8402) = 0",
        "10 lseek(3@old, 0, 0) = 0",
        "10 pwritev2(3@old, [{iov_base='e', iov_len=1}], 1, 2, 0x2) = 1",
        "10 write(4@old, 'f', 1) = 1",
    )
    assert told.texts == [
        "write old@4+1",
        "write old@10+3",
        "write old@13+1",
        "RWF_DSYNC old",
        "write old@14+1",
    ]


def test_a_child_is_known_before_the_call_has_ended_that_starts_it(tmp_path: Path) -> None:
    told = Told(
        tmp_path,
        OPENED,
        "10 clone3({flags=0x3d0f00, exit_signal=0} <unfinished ...>",
        "11 write(3@log, 'one', 3) = 3",
        "10 <... clone3 resumed> => {parent_tid=[11]}, 88) = 11",
        "10 close(3@log) = 0",
        "10 clone(child_stack=NULL, flags=0x1200000|17, child_tidptr=0x7f) = 12",
        "12 write(3@log, 'two', 3) = 3",
    )
    assert told.texts[:2] == ["create log", "write log@0+3"]
    assert told.texts[2:] == ["a descriptor of log came from where nobody looked"]
    assert [call.thread for call in told.recording.trace.calls] == [0, 1, 2]


def test_a_thread_that_becomes_another_program_goes_by_the_number_of_its_process(tmp_path: Path) -> None:
    told = Told(
        tmp_path,
        OPENED,
        "10 fcntl(3@log, 0x2, 0) = 0",
        "10 openat(-100@, 'gone', 0x80042, 0666) = 4@gone",
        "10 clone3({flags=0x3d0f00, exit_signal=0}, 88) = 11",
        "11 execve('/bin/true', ['true'], 0x7f /* 38 vars */ <unfinished ...>",
        "10 +++ superseded by execve in pid 11 +++",
        "10 <... execve resumed>) = 0",
        "10 write(3@log, 'one', 3) = 3",
        "10 write(4@gone, 'two', 3) = 3",
    )
    assert told.texts[2:] == ["write log@0+3", "a descriptor of gone came from where nobody looked"]


def test_a_sync_need_not_have_brought_what_was_made_while_it_ran(tmp_path: Path) -> None:
    told = Told(
        tmp_path,
        *WRITTEN,
        "10 clone3({flags=0x3d0f00, exit_signal=0}, 88) = 11",
        "11 fsync(3@log <unfinished ...>",
        "10 pwrite64(3@log, 'two', 3, 3) = 3",
        "11 <... fsync resumed>) = 0",
        "11 fsync(3@log) = 0",
    )
    assert told.texts == ["create log", "write log@0+3", "write log@3+3", "fsync log", "fsync log"]
    syncs = [call.operation for call in told.recording.trace.calls if isinstance(call.operation, Sync)]
    assert [sync.began for sync in syncs] == [2, None]


@pytest.mark.parametrize(
    ("first", "second", "is_known"),
    [
        ("write(3@log, 'a', 1 <unfinished ...>|write", "write(3@log, 'b', 1) = 1", False),
        ("pwrite64(3@log, 'ab', 2, 0 <unfinished ...>|pwrite64", "pwrite64(3@log, 'b', 1, 1) = 1", False),
        ("pwrite64(3@log, 'ab', 2, 0 <unfinished ...>|pwrite64", "pwrite64(3@log, 'b', 1, 2) = 1", True),
        ("ftruncate(3@log, 9 <unfinished ...>|ftruncate", "pwrite64(3@log, 'b', 1, 2) = 1", False),
        ("rename('log', 'b' <unfinished ...>|rename", "unlink('b') = -1 ENOENT (No such file or directory)", True),
        ("rename('log', 'b' <unfinished ...>|rename", "link('old', 'log') = 0", False),
        ("rename('log', 'b' <unfinished ...>|rename", "mkdir('c', 0777) = 0", True),
        ("mkdir('/elsewhere/a', 0777 <unfinished ...>|mkdir", "mkdir('/elsewhere/a', 0777) = 0", True),
    ],
)
def test_where_the_order_of_two_calls_matters_that_ran_at_the_same_time_nothing_is_known(
    tmp_path: Path, first: str, second: str, *, is_known: bool
) -> None:
    begun, _, name = first.partition("|")
    result = 0 if name in {"rename", "mkdir", "ftruncate"} else begun.count("'a") + begun.count("'ab")
    told = Told(
        tmp_path,
        OPENED,
        "10 clone3({flags=0x3d0f00, exit_signal=0}, 88) = 11",
        f"10 {begun}",
        f"11 {second}",
        f"10 <... {name} resumed>) = {result}",
    )
    assert (told.recording.blind == []) == is_known
    assert is_known or "ran at the same time, and nobody knows which came first" in told.recording.blind[0]


@pytest.mark.parametrize(
    "line",
    [
        "strace is out of its mind",
        "10 write(3@log, 'one', 3) = a lot",
        "10 write(3@log, [17, 4], 3) = 3",
        '10 write(3@log, "one", 3) = 3',
        '10 write(3@log, "61\\x62 ", 3) = 3',
        "10 write(3</elsewhere>, 'one', 3) = 3",
        "10 write(3@log, 'one'..., 3000) = 3000",
        "10 openat(-100@, 'old', 0xc2, 0666) = 4@old",
        "10 openat(-100@, 'new', 0x2) = 4@new",
        "10 write(9@old, 'one', 3) = 3",
        "10 write(3@old, 'one', 3) = 3",
        "10 <... write resumed>) = 3",
        "99 write(3@log, 'one', 3) = 3",
        "10 mkdir('x', 0777) = 0\n10 mkdir('x', 0777) = 0",
        "10 write(3@log, 'one', 3 <unfinished ...>\n10 +++ killed by SIGKILL +++",
        "10 [ Process PID=10 runs in 32 bit mode. ]",
        "10 chroot('/elsewhere') = 0",
        "10 recvmsg(5<\\x73>, {msg_control=[{cmsg_len=20, cmsg_type=0x1, cmsg_data=[6@log]}]}, 0) = 1",
        "10 sendfile(3@log, 5, NULL, 4) = 4",
        "10 mmap(NULL, 4096, 0x3, 0x1, 3@log, 0) = 0x7f0000000000",
        "10 mmap(NULL, 4096, 0x1, 0x1, 3@log, 0) = 0x7000\n10 mprotect(0x7000, 4096, 0x3) = 0",
        "10 ioctl(3@log, 0x40049409, 4) = 0",
        "10 fallocate(3@log, 0x3, 0, 4) = 0",
        "10 io_uring_setup(1, {flags=0, sq_entries=1}) = 4<\\x73>",
        "10 symlink('log', 'link') = 0",
        "10 renameat2(-100@, 'log', -100@, 'old', 0x2) = 0",
    ],
)
def test_what_cannot_be_followed_is_no_base_for_a_verdict(tmp_path: Path, line: str) -> None:
    told = Told(tmp_path, OPENED, *line.split("\n"))
    assert len(told.recording.blind) == 1


def test_what_is_printed_beside_and_memory_that_is_free_again_are_harmless(tmp_path: Path) -> None:
    told = Told(
        tmp_path,
        OPENED,
        "10 --- stopped by SIGSTOP ---",
        "10 write(3@log, 'one', 3) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)",
        "10 write(3@log, 'one', 3) = 3",
        "10 mmap(NULL, 4096, 0x1, 0x1, 3@log, 0) = 0x7000",
        "10 munmap(0x7000, 4096) = 0",
        "10 mprotect(0x7000, 4096, 0x3) = 0",
        "10 fallocate(3@log, 0, 0, 7) = 0",
        "10 write(1<\\x70\\x69\\x70\\x65\\x3a\\x5b\\x37\\x5d>, 'yes\n', 4) = 4",
        "10 +++ exited with 0 +++",
    )
    assert told.texts == ["create log", "write log@0+3", "truncate log to 7", "answer 1"]


def test_a_line_that_is_cut_is_no_base_for_a_verdict(tmp_path: Path) -> None:
    told = Told(tmp_path, OPENED, last='10 write(3, "", 1) = 1')
    assert [each.partition(":")[0] for each in told.recording.blind] == ["what strace printed cannot be followed"]


def test_the_call_that_fails_is_the_one_that_was_to_fail_or_nothing_is_known(tmp_path: Path) -> None:
    made, failed = "10 fsync(3@log) = 0", "10 fsync(3@log) = -1 EIO (Input/output error) (INJECTED)"
    fault = parse_fault("err/fsync#2=EIO")
    told = []
    for number, lines in enumerate([(made, failed), (failed, made), (made, made)]):
        (tmp_path / f"{number}").mkdir()
        told.append(Told(tmp_path / f"{number}", *WRITTEN, *lines, fault=fault).recording)
    assert [each.blind != [] for each in told] == [False, True, True]
    assert told[0].injected is not None
    assert (told[0].injected.name, told[0].injected.ordinal, told[0].end) == ("fsync", 2, told[1].end)
    assert [done.thread_ordinal for done in told[0].done] == [1, 1, 1]


# Programs, watched both ways


class Run:
    """One run of a program whose working directory is its state directory."""

    def __init__(self, folder: Path, by: Watcher, command: Sequence[str]) -> None:
        state = folder / by / "state"
        (state / "before").mkdir(parents=True)
        (state / "before" / "held").write_bytes(b"held")
        watched = traced(command, state, folder / by / "log", by=by)
        with (state / "before" / "held").open("ab") as inherited:
            os.set_inheritable(inherited.fileno(), True)
            self.done = subprocess.run(
                watched,
                cwd=state,
                capture_output=True,
                check=False,
                timeout=60,
                pass_fds=(inherited.fileno(),),
                env={**os.environ, "INHERITED": f"{inherited.fileno()}"},
            )
        self.recording: Recording = read(folder / by / "log")
        self.left = sorted(path.name for path in (folder / by).iterdir())


ODD = """
import os, subprocess
inherited = int(os.environ["INHERITED"])
os.write(inherited, b"more")
odd = ['a"b', "a\\nb <unfinished ...>", "<... write resumed>) = 3", "a, b)", "(deleted)", "x (deleted)", "\u00e9\u4e2d"]
for name in odd:
    with open(name, "xb", buffering=0) as opened:
        opened.write(name.encode() + b'\\0\\xff"...')
        os.fsync(opened.fileno())
    os.rename(name, name + ">")
with open("log", "a+b", buffering=0) as log:
    os.set_inheritable(log.fileno(), True)
    subprocess.run(["sh", "-c", f"echo to the log >&{log.fileno()}; cd before; echo new > new; mv new ../moved"],
        close_fds=False)
    log.seek(0)
    assert log.read(3) == b"to "
    with open("log", "r+b", buffering=0) as other:
        os.dup2(other.fileno(), log.fileno())
        log.write(b"TO")
        other.write(b"?")
os.mkfifo("pipe")
pipe = os.open("pipe", os.O_RDWR | os.O_CREAT)
os.write(pipe, b"not kept")
folder = os.open("before", os.O_RDONLY)
os.fchdir(folder)
os.rename("../before", "../after")
os.mkdir("../after/deep")
os.unlink("held")
os.fsync(inherited)
os.truncate("../moved", 2)
os.closerange(inherited, inherited + 1)
os.fsync(folder)
print("done", flush=True)
os.write(os.open("/dev/stdout", os.O_WRONLY), b"twice\\n")
"""


def uncounted(recording: Recording) -> Recording:
    """Return it without what strace alone counts."""
    lines = [structs.replace(line, thread_ordinal=0) if isinstance(line, Done) else line for line in recording.lines]
    return Recording(lines)


@needs_both
@needs_strace
@pytest.mark.parametrize("source", [EVERYTHING, ODD, HIDDEN], ids=["everything", "odd", "hidden"])
def test_a_program_is_told_alike_by_both(tmp_path: Path, source: str) -> None:
    ours, theirs = (Run(tmp_path, by, (*PYTHON, source)) for by in recording.WATCHERS)
    assert (ours.done.returncode, ours.done.stderr) == (0, b"")
    assert (theirs.done.returncode, theirs.done.stderr) == (0, b"")
    assert theirs.done.stdout == ours.done.stdout
    assert uncounted(theirs.recording) == ours.recording
    assert "log.strace" not in theirs.left


@needs_strace
def test_a_program_is_told_alike_where_no_filter_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    for by in ("with", "without"):
        told.append(Run(tmp_path / by, "strace", (*PYTHON, ODD)).recording)
        without = tmp_path / "strace"
        drop = 'for each; do shift; [ "$each" = --seccomp-bpf ] || set -- "$@" "$each"; done'
        without.write_text(f'#!/bin/sh\n{drop}\nexec {shutil.which("strace")} "$@"\n')
        without.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert told[0] == told[1]
    assert told[0].blind == []


@needs_strace
def test_threads_that_write_at_the_same_time_are_told_in_order_or_said_to_be_not(tmp_path: Path) -> None:
    program, source = tmp_path / "program", tmp_path / "program.c"
    if shutil.which("gcc") is None:
        pytest.skip("There is no compiler.")
    source.write_text(C_PROGRAM)
    subprocess.run(["gcc", "-w", "-pthread", "-o", f"{program}", f"{source}"], check=True)
    run = Run(tmp_path, "strace", (f"{program}",))
    writes = [call.operation for call in run.recording.trace.calls if isinstance(call.operation, Write)]
    assert (len(writes), run.done.stdout) == (100, b"done\n")
    is_in_order = b"".join(write.data for write in writes) == (tmp_path / "strace/state/done").read_bytes()
    assert is_in_order or "ran at the same time" in run.recording.blind[0]


@needs_strace
@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            "import os; a = os.open('a', 66); os.sendfile(a, os.open(__import__('sys').executable, 0), 0, 9)",
            "was copied",
        ),
        (UNDER_ANOTHER_MOUNT, "mount was called: what names mean from then on is not followed"),
    ],
)
def test_what_strace_does_not_show_is_said(tmp_path: Path, source: str, sentence: str) -> None:
    run = Run(tmp_path, "strace", (*PYTHON, source))
    if run.done.returncode == 77:
        pytest.skip("Nothing can be mounted here.")
    assert sentence in run.recording.blind[0]


@needs_strace
@pytest.mark.parametrize("command", ["/no/such/program", "broken"])
def test_a_program_that_does_not_start_is_told_as_ever(tmp_path: Path, command: str) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    done = [Run(tmp_path, by, (f"{tmp_path}/{command}",)).done for by in recording.WATCHERS]
    assert [each.returncode for each in done] == [127, 127]
    assert done[1].stderr.splitlines()[-1] == done[0].stderr.splitlines()[-1]


@needs_strace
def test_a_program_that_ends_by_a_signal_does_so_and_its_orphans_are_killed(tmp_path: Path) -> None:
    program = "import os, time\nif os.fork():\n    os.kill(os.getpid(), 10)\nos.setsid()\ntime.sleep(600)"
    run = Run(tmp_path, "strace", (*PYTHON, program))
    assert (run.done.returncode, run.recording.blind) == (-10, [])
    assert run.recording.end is not None
    assert run.recording.end.status == 10


# Journals


@pytest.fixture
def place() -> Iterator[Path]:
    with scratch() as folder:
        yield folder


def found(name: str, folder: Path) -> Target:
    if name == "in C":
        try:
            return program("C", "good", folder)
        except NoSuchProgram as reason:
            pytest.skip(f"{reason}")
    if name == "in Node.js":
        if shutil.which("node") is None:
            pytest.skip("node is not found")
        return CommandTarget(("node", f"{data.examples()}/node-journal/adapter.mjs"))
    return JOURNALS.find(name if name in JOURNALS.built_in else f"perdure_conformance.crash.{name}")


def recorded(target: Target, folder: Path, by: Watcher, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    monkeypatch.setenv(FORCED, by)
    return record(target, Workload("append", 1, 7), folder / by, timeout_s=30)


@needs_both
@needs_strace
@pytest.mark.parametrize("name", ["sqlite", "in C", "in Node.js"])
def test_a_journal_is_recorded_alike(name: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = found(name, place)
    ours, theirs = (recorded(target, place, by, monkeypatch) for by in recording.WATCHERS)
    assert (digest(theirs.trace), theirs.syncs) == (digest(ours.trace), ours.syncs)


@needs_both
@needs_strace
@pytest.mark.parametrize(
    ("name", "highest"),
    [
        ("journals:Appends", "posix-weak"),
        ("journals:Replaces", "posix-weak"),
        ("mutants:NeverSyncs", "process-crash"),
        ("mutants:AcknowledgesBeforeTheSync", "process-crash"),
        ("mutants:DoesNotSyncTheFileItRenames", "sector"),
        ("mutants:DoesNotSyncTheDirectoryItRenamesIn", "process-crash"),
    ],
)
def test_a_journal_is_recorded_and_judged_alike(
    name: str, highest: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = found(name, place)
    ours, theirs = (recorded(target, place, by, monkeypatch) for by in recording.WATCHERS)
    assert digest(theirs.trace) == digest(ours.trace)
    with recoverer(target, timeout_s=30) as opened:
        judged = judge(Bench(theirs, opened, place), draws=5)
    assert (judged.highest_level, judged.blind) == (highest, ())
    guilty = GUILTY.get(name.partition(":")[2], {}).get("power", "")
    assert guilty in [each.blame[: len(guilty)] for each in judged.findings.values()] or not guilty


@needs_strace
def test_who_does_not_wait_for_a_sync_is_not_saved_by_one_that_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FORCED, "strace")
    target = JOURNALS.find("tests.conformance.odd_journals:SyncsOnAThreadThatNobodyWaitsFor")
    plan = Plan(layers=["power"], level="ordered", workload="append", appends=1)
    assert set(crash(target, plan, say_nothing).found) == {"CRS-011"}


@needs_strace
def test_what_would_have_to_be_disturbed_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FORCED, "strace")
    outcome = crash(found("journals:Appends", Path()), Plan(level="ordered", workload="append", appends=1), say_nothing)
    assert (outcome.highest_level, outcome.found) == ("ordered", {})
    assert outcome.open == {"calls": STRACE_DISTURBS_NOTHING}
    assert [outcome.why_open(each) for each in ("CRS-001", "CRS-011")] == [None, None]
    assert [outcome.why_open(each) for each in ("CRS-041", "CRS-042")] == [STRACE_DISTURBS_NOTHING, None]
    assert outcome.reached("CRS-042") == 3
    assert recording.what_watches() == "system calls are watched by strace: PERDURE_TRACE says so."


@needs_strace
def test_a_sync_that_failed_is_played_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FORCED, "strace")
    line = "v1:w=append,n=1,seed=1:err/fsync#3=EIO+power/ordered:t6:-5"
    again = play(found("mutants:AcknowledgesAlthoughTheSyncFailed", Path()), parse(line), 30)
    assert again is not None
    assert again.blame.startswith("fsync 3 failed, and acknowledgement 1 is not covered: write perdure.log@0+")


# What watches


def on(machine: str, path: str, monkeypatch: pytest.MonkeyPatch, forced: str = "") -> str | None:
    """Return why nothing can be watched on such a machine."""
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv(FORCED, forced)
    recording.choose.cache_clear()
    try:
        return recording.why_not()
    finally:
        recording.choose.cache_clear()


def test_a_machine_where_nothing_watches_is_told_what_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert on("aarch64", f"{tmp_path}", monkeypatch) == (
        "Our own tracer is for x86-64 alone, and this is aarch64. "
        "strace can stand in for our own tracer (aarch64 is untested), and is not found: apt install strace."
    )
    assert on("x86_64", f"{tmp_path}", monkeypatch, "strace") == (
        "strace can stand in for our own tracer, and is not found: apt install strace."
    )
    assert on("x86_64", f"{tmp_path}", monkeypatch, "dtrace") == "PERDURE_TRACE is 'dtrace': write ptrace or strace."
    refuses = tmp_path / "strace"
    refuses.write_text("#!/bin/sh\necho 'strace: ptrace(PTRACE_SEIZE, 7): Operation not permitted' >&2\nexit 1\n")
    refuses.chmod(0o755)
    assert on("x86_64", f"{tmp_path}", monkeypatch, "strace") == (
        "System calls cannot be watched by strace on this machine: "
        "strace: ptrace(PTRACE_SEIZE, 7): Operation not permitted."
    )


@needs_strace
def test_strace_stands_in_where_our_own_tracer_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    path = os.environ["PATH"]
    assert on("aarch64", path, monkeypatch) is None
    assert recording.what_watches() == (
        "system calls are watched by strace, and aarch64 is untested: "
        "Our own tracer is for x86-64 alone, and this is aarch64."
    )
    monkeypatch.undo()
    recording.choose.cache_clear()
