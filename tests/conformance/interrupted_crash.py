"""Runs `perdure crash` in a process of its own that gets a signal at one moment; tells what is left behind.

    python interrupted_crash.py FOLDER MOMENT…

A moment is `SIGNAL NAME COUNT LAYER`: the signal comes right behind the so-manieth call of a function of this name. All
that is orphaned becomes a child of this program, which sees whether it ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Final

from perdure_conformance import __main__ as program
from perdure_conformance.cli import crash as _crash
from perdure_conformance.crash import recording, recovery
from perdure_conformance.crash.recorder import Recorder
from perdure_conformance.harness import serve

IMPORTED: Final = (_crash, Recorder, serve)
_SUBREAPER: Final = 36
_LATEST_S: Final = 60
_LIVES_S: Final = 10


def main(folder: str, *moments: str) -> None:
    """Print what came of each moment, as JSON, a line each."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    memory, temporary, work = (Path(folder, name) for name in ("memory", "temporary", "work"))
    for each in (memory, temporary, work):
        each.mkdir(parents=True)
    os.chdir(work)
    os.environ["TMPDIR"] = str(temporary)
    recovery._IN_MEMORY = memory  # type: ignore[misc]
    recording.why_not_disturbed()
    for moment in moments:
        number, name, count, layer = moment.split()
        code = _played(signal.Signals[number], name, int(count), layer)
        living = _living()
        left = [f"{path.relative_to(folder)}" for place in (memory, temporary) for path in place.rglob("*")]
        print(json.dumps({"moment": moment, "code": code, "living": living, "left": left}), flush=True)


def _played(number: signal.Signals, name: str, count: int, layer: str) -> int:
    child = os.fork()
    if not child:
        signal.alarm(_LATEST_S)
        _interrupt_behind(number, name, count)
        sys.argv = ["perdure", "crash", "lines", "--layer", layer, "--appends", "1"]
        nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - it ends with the process
        with contextlib.redirect_stdout(nowhere):
            try:
                program.main()
            except SystemExit as ended:
                sys.setprofile(None)
                os._exit(ended.code if isinstance(ended.code, int) else 1)
        os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _interrupt_behind(number: signal.Signals, name: str, count: int) -> None:
    seen: Counter[str] = Counter()

    def look(frame: FrameType, event: str, of: object) -> None:
        if event not in {"return", "c_return"}:
            return
        called = frame.f_code.co_name if event == "return" else getattr(of, "__name__", "")
        if called == name:
            seen[name] += 1
            if seen[name] == count:
                os.kill(os.getpid(), number)

    sys.setprofile(look)


def _living() -> int:
    """Reap what was orphaned; return how many do not end."""
    signal.signal(signal.SIGALRM, lambda _number, _frame: (_ for _ in ()).throw(TimeoutError()))
    signal.alarm(_LIVES_S)
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        return 0
    except TimeoutError:
        return 1
    finally:
        signal.alarm(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
