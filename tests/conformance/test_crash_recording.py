"""What a program does to its files, as it is seen from outside."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from perdure_conformance.crash.disk import Cut, Disk
from perdure_conformance.crash.recording import (
    Failed,
    Recording,
    Watcher,
    digest,
    divergence,
    read,
    traced,
    why_not_disturbed,
)
from perdure_conformance.crash.replay import Fault, Undisturbed, parse_fault
from perdure_conformance.crash.trace import Sync, Write
from perdure_conformance.crash.windows import image_of
from perdure_conformance.harness.process import wait_for

pytestmark = pytest.mark.skipif(why_not_disturbed() is not None, reason=f"{why_not_disturbed()}")

PYTHON = (sys.executable, "-I", "-S", "-c")


class Run:
    """One run of a program whose working directory is its state directory."""

    def __init__(self, folder: Path, command: Sequence[str], fault: Fault | str = Undisturbed()) -> None:  # noqa: B008
        self.state = folder / "state"
        self.state.mkdir(exist_ok=True)
        log = folder / "log"
        log.unlink(missing_ok=True)
        fault = parse_fault(fault) if isinstance(fault, str) else fault
        self.done = subprocess.run(
            traced(command, self.state, log, fault), cwd=self.state, capture_output=True, check=False, timeout=60
        )
        self.recording: Recording = read(log)

    @property
    def texts(self) -> list[str]:
        return [call.text for call in self.recording.trace.calls]

    @property
    def files(self) -> dict[str, bytes]:
        return {
            f"{path.relative_to(self.state)}": path.read_bytes() for path in self.state.rglob("*") if path.is_file()
        }


EVERYTHING = """
import os, threading
log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_DSYNC)
os.write(log, b"one")
same = os.dup(log)
os.write(same, b"two")
os.mkdir("runs")
os.chdir("runs")
here = os.open(".", os.O_RDONLY)
data = os.open("data.tmp", os.O_RDWR | os.O_CREAT | os.O_EXCL, dir_fd=here)
os.write(data, b"0123456789")
os.lseek(data, 2, os.SEEK_SET)
os.writev(data, [b"ab", b"", b"cd"])
os.pwritev(data, [b"ef"], 8)
os.pwritev(data, [b"g"], 1, os.RWF_DSYNC)
os.ftruncate(data, 9)
os.ftruncate(data, 9)
os.sendfile(data, os.open("data.tmp", os.O_RDONLY), 0, 3)
os.copy_file_range(os.open("data.tmp", os.O_RDONLY), data, 2, 4, 0)
os.posix_fallocate(data, 4, 5)
os.posix_fallocate(data, 8, 92)
os.ftruncate(data, 9)
os.fsync(data)
os.rename("data.tmp", "../data")
os.link("../data", "other", )
os.fdatasync(here)
os.unlink("other")
try:
    os.unlink("other")
except FileNotFoundError:
    pass
os.chdir("..")
os.rmdir("runs")
os.sync()
unnamed = os.open(".", os.O_TMPFILE | os.O_WRONLY)
os.write(unnamed, b"named later")
os.link(f"/proc/self/fd/{unnamed}", "named", src_dir_fd=here, follow_symlinks=True)
thread = threading.Thread(target=lambda: os.write(data, b"!"))
thread.start()
thread.join()
if os.fork() == 0:
    os.write(data, b"?")
    os._exit(0)
os.wait()
os.close(os.open("data", os.O_WRONLY | os.O_TRUNC))
open("/dev/null", "w").write("not ours")
print("half a ", end="", flush=True)
print("line", flush=True)
print("two\\nthree", flush=True)
"""


def test_every_call_that_changes_files_is_seen_in_order(tmp_path: Path) -> None:
    run = Run(tmp_path, (*PYTHON, EVERYTHING))
    assert run.done.returncode == 0, run.done.stderr
    assert run.texts == [
        "create log",
        "write log@0+3",
        "O_DSYNC log",
        "write log@3+3",
        "O_DSYNC log",
        "mkdir runs",
        "create runs/data.tmp",
        "write runs/data.tmp@0+10",
        "write runs/data.tmp@2+4",
        "write runs/data.tmp@8+2",
        "write runs/data.tmp@1+1",
        "RWF_DSYNC runs/data.tmp",
        "truncate runs/data.tmp to 9",
        "write runs/data.tmp@6+3",
        "write runs/data.tmp@0+2",
        "truncate runs/data.tmp to 100",
        "truncate runs/data.tmp to 9",
        "fsync runs/data.tmp",
        "rename runs/data.tmp to data",
        "link data to runs/other",
        "fdatasync runs",
        "unlink runs/other",
        "unlink runs",
        "sync",
        "write file 4@0+11",
        "link file 4 to named",
        "write data@9+1",
        "write data@10+1",
        "truncate data to 0",
        "answer 1",
        "answer 2",
        "answer 3",
    ]
    writes = [call.operation.data for call in run.recording.trace.calls if isinstance(call.operation, Write)]
    assert writes == [b"one", b"two", b"0123456789", b"abcd", b"ef", b"g", b"0ga", b"cd", b"named later", b"!", b"?"]
    of_others = [call for call in run.recording.trace.calls if call.text in ("write data@9+1", "write data@10+1")]
    assert [call.thread for call in of_others] == [1, 2]
    assert run.recording.end is not None
    assert run.recording.end.status == 0
    assert run.recording.blind == []


def test_what_was_there_before_is_told(tmp_path: Path) -> None:
    (tmp_path / "state" / "runs").mkdir(parents=True)
    (tmp_path / "state" / "runs" / "1").write_bytes(b"\x00old")
    run = Run(tmp_path, ("sh", "-c", "echo new >> runs/1"))
    before = run.recording.trace.before
    assert [(held.name, held.kind, held.directory, held.data) for held in before] == [
        ("runs", "directory", 0, b""),
        ("1", "file", 1, b"\x00old"),
    ]
    assert run.texts == ["write runs/1@4+4"]


HIDDEN = """
import ctypes, mmap, os
data = os.open("data", os.O_RDWR | os.O_CREAT)
shared = os.open("data-shm", os.O_RDWR | os.O_CREAT)
os.write(data, b"0" * 4096)
os.write(shared, b"0" * 4096)
mmap.mmap(data, 4096)
mmap.mmap(shared, 4096)
mmap.mmap(data, 4096, mmap.MAP_PRIVATE)
late, private = os.open("late", os.O_RDWR | os.O_CREAT), os.open("private", os.O_RDWR | os.O_CREAT)
os.write(late, b"0" * 4096)
os.write(private, b"0" * 4096)
c = ctypes.CDLL(None)
c.mmap.restype = ctypes.c_void_p
for flags, file in ((mmap.MAP_SHARED, late), (mmap.MAP_PRIVATE, private)):
    c.mprotect(ctypes.c_void_p(c.mmap(None, 4096, mmap.PROT_READ, flags, file, 0)), 4096, 3)
c.fallocate(data, 0x3, ctypes.c_long(0), ctypes.c_long(4096))
os.symlink("data", "link")
open("../outside", "w").close()
os.rename("../outside", "inside")
os.link("data", "../data")
open(b"\\xff", "w").close()
ctypes.CDLL(None).syscall(425, 1, ctypes.create_string_buffer(256))
"""


def test_what_a_trace_cannot_show_is_said(tmp_path: Path) -> None:
    run = Run(tmp_path, (*PYTHON, HIDDEN))
    assert run.done.returncode == 0, run.done.stderr
    hidden = [text for text in run.recording.blind if "io_uring" not in text]
    assert hidden == [
        "data is written through a shared mapping, which no trace of calls shows",
        "late is written through a shared mapping, which no trace of calls shows",
        "fallocate changed data, which is not modelled",
        "link is a symbolic link, which is not modelled",
        "inside came from outside the state directory, with what was written to it there",
        "data got a name outside the state directory",
        r"create \udcff: a name that is not UTF-8 is not modelled",
    ]


@pytest.mark.parametrize("seed", range(6))
def test_what_random_calls_leave_is_what_was_seen(tmp_path: Path, seed: int) -> None:
    """What the disk holds if nothing is lost, by the trace alone, is what the kernel shows at the end."""
    run = Run(tmp_path, (sys.executable, "-I", "-S", f"{Path(__file__).with_name('random_files.py')}", f"{seed}"))
    assert (run.done.returncode, run.done.stderr, run.recording.blind) == (0, b"", [])
    trace = run.recording.trace
    assert image_of(run.state).key() == Disk(trace).image(Cut(len(trace.calls))).key()


UNDER_ANOTHER_MOUNT = """
import ctypes, os, sys
c = ctypes.CDLL(None)
if c.unshare(0x20000) or c.mount(b"none", b"/", None, 0x44000, None) or c.mount(b".", b"/mnt", None, 0x1000, None):
    sys.exit(77)
log = os.open("/mnt/log", os.O_WRONLY | os.O_CREAT)
os.write(log, b"one")
os.fsync(log)
"""


def test_a_program_that_has_its_files_under_another_mount_is_seen(tmp_path: Path) -> None:
    run = Run(tmp_path, (*PYTHON, UNDER_ANOTHER_MOUNT))
    if run.done.returncode == 77:
        pytest.skip("Nothing can be mounted here.")
    assert run.texts == ["create log", "write log@0+3", "fsync log"]


C_PROGRAM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static int file;
static void *append(void *letter) {
    for (int i = 0; i < 50; i++) { write(file, letter, 1); fdatasync(file); }
    return NULL;
}
int main(void) {
    file = creat("data", 0666);
    pthread_t first, second;
    pthread_create(&first, NULL, append, "a");
    pthread_create(&second, NULL, append, "b");
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    if (syscall(SYS_renameat2, AT_FDCWD, "data", AT_FDCWD, "done", 1) != 0) return 1;
    puts("done");
    return 0;
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="There is no compiler.")
def test_a_call_in_the_numbers_of_another_architecture_is_said(tmp_path: Path) -> None:
    """What is `getpid` there is `writev` here."""
    source, program, state = tmp_path / "call.c", tmp_path / "call", tmp_path / "state"
    source.write_text('int main(void) { int of; __asm__ volatile("int $0x80" : "=a"(of) : "a"(20)); return of < 1; }')
    subprocess.run(["gcc", "-w", "-o", f"{program}", f"{source}"], check=True)
    state.mkdir()
    assert subprocess.run(traced((f"{program}",), state, tmp_path / "log"), check=False).returncode == 0
    assert read(tmp_path / "log").blind == ["a call of another architecture was made, which is not looked at"]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="There is no compiler.")
def test_threads_of_a_compiled_program_have_one_order(tmp_path: Path) -> None:
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(C_PROGRAM)
    subprocess.run(["gcc", "-w", "-pthread", "-o", f"{program}", f"{source}"], check=True)
    run = Run(tmp_path, (f"{program}",))
    assert run.done.stdout == b"done\n"
    assert (run.texts[0], run.texts[-2:]) == ("create data", ["rename data to done", "answer 1"])
    writes = [call.operation for call in run.recording.trace.calls if isinstance(call.operation, Write)]
    assert [write.offset for write in writes] == list(range(100))
    assert b"".join(write.data for write in writes) == run.files["done"]
    assert sum(isinstance(call.operation, Sync) for call in run.recording.trace.calls) == 100


JOURNAL = """
import os
import shutil
log = os.open("log", os.O_WRONLY | os.O_CREAT)
for record in (b"first", b"second"):
    try:
        written = os.writev(log, [record[:2], record[2:], b"."])
        os.fsync(log)
        print(written, flush=True)
    except OSError as error:
        print(error.strerror, flush=True)
print(os.pread(os.open("log", os.O_RDONLY), 100, 0).decode(), flush=True)
"""


@pytest.mark.parametrize(
    ("fault", "said", "left"),
    [
        ("kill/before:1", "", None),
        ("kill/after:1", "", b""),
        ("kill/before:2", "", b""),
        ("kill/after:2", "", b"first."),
        ("kill/before:5", "6\n", b"first.second."),
        ("kill/after:5", "6\n", b"first.second."),
        ("kill/before:6", "6\n7\nfirst.second.\n", b"first.second."),
        ("err/writev#1=ENOSPC", "No space left on device\n7\nsecond.\n", b"second."),
        ("err/fsync#2=EIO", "6\nInput/output error\nfirst.second.\n", b"first.second."),
        ("short/writev#1=1", "1\n7\nfsecond.\n", b"fsecond."),
        ("short/writev#2=5", "6\n5\nfirst.secon\n", b"first.secon"),
        ("short/writev#2=6", "6\n6\nfirst.second\n", b"first.second"),
        ("short/writev#2=9", "6\n7\nfirst.second.\n", b"first.second."),
    ],
)
def test_each_fault_happens_at_its_call_and_nowhere_else(
    tmp_path: Path, fault: str, said: str, left: bytes | None
) -> None:
    run = Run(tmp_path, (*PYTHON, JOURNAL), fault)
    has_happened = fault not in ("kill/before:6", "short/writev#2=9")
    assert (run.done.stdout.decode(), run.files.get("log")) == (said, left)
    assert (run.recording.injected is not None) == has_happened
    assert (run.done.returncode == -9) == (fault.startswith("kill") and has_happened)


def test_a_read_can_fail(tmp_path: Path) -> None:
    run = Run(tmp_path, (*PYTHON, JOURNAL), "err/read#1=EIO")
    assert run.done.stdout == b"6\n7\n"
    assert b"Input/output error" in run.done.stderr
    assert run.recording.injected is not None
    assert run.recording.injected.text == "read log"


def test_an_interrupted_call_is_made_again(tmp_path: Path) -> None:
    run = Run(tmp_path, (*PYTHON, JOURNAL), "err/fsync#1=EINTR")
    assert run.done.stdout == b"6\n7\nfirst.second.\n"
    assert run.recording.injected is not None
    assert run.recording.injected.text == "fsync log"


def test_runs_of_one_program_have_one_shape_and_another_way_is_told(tmp_path: Path) -> None:
    traces = []
    for fault in ("none", "kill/after:3", "err/writev#1=EIO"):
        (tmp_path / fault.replace("/", "-")).mkdir()
        traces.append(Run(tmp_path / fault.replace("/", "-"), (*PYTHON, JOURNAL), fault).recording.trace)
    first, second, third = traces
    assert divergence(first, second) is None
    assert digest(first) != digest(second)
    assert divergence(first, third) == "The trace diverged at call 2: it was 'write log@0+6', and is 'answer 1'."


def test_a_call_that_fails_of_itself_is_counted_and_is_no_operation(tmp_path: Path) -> None:
    program = "import os; os.mkdir('d'); open('d/f', 'w').close()\ntry: os.rmdir('d')\nexcept OSError: os.unlink('d/f')"
    run = Run(tmp_path, (*PYTHON, program))
    assert run.texts == ["mkdir d", "create d/f", "unlink d/f"]
    assert [line.number for line in run.recording.lines if isinstance(line, Failed)] == [3]
    assert [done.number for done in run.recording.done] == [1, 2, 4]


def test_a_program_that_is_not_there_ends_at_once(tmp_path: Path) -> None:
    run = Run(tmp_path, ("/no/such/program",))
    assert run.done.returncode == 127
    why = "there is no such file, seen from the current folder. Is it built?"
    assert run.done.stderr.decode() == f"'/no/such/program' cannot be started: {why}\n"


@pytest.mark.parametrize(
    "by",
    [
        "ptrace",
        pytest.param(
            "strace", marks=pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed.")
        ),
    ],
)
def test_who_kills_the_tracer_kills_all_that_it_traces(tmp_path: Path, by: Watcher) -> None:
    program = "import os, time\nif os.fork() == 0: os.setsid()\nprint(os.getpid(), flush=True)\ntime.sleep(600)"
    state = tmp_path / "state"
    state.mkdir()
    command = traced((*PYTHON, program), state, tmp_path / "log", by=by)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as tracer:
        assert tracer.stdout is not None
        children = [os.pidfd_open(int(tracer.stdout.readline())) for _ in range(2)]
        tracer.kill()
        assert tracer.stdout.read() == b""  # Nobody has it open any more.
    for child in children:
        assert wait_for([child], 60)  # It has ended.
        os.close(child)
