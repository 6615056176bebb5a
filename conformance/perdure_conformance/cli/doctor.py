"""`perdure doctor`: what this machine allows, and what is therefore not claimed."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path
from typing import Annotated, Final

import typer

from perdure_conformance.cli.common import console, print_json
from perdure_conformance.crash.recording import watcher, what_watches, why_not, why_not_disturbed

_SYNCS: Final = 40
_IMPLAUSIBLE_MS: Final = 0.02
"""No disk, and no flash with a controller, stores 4 KiB durably in less."""

_PROGRAMS: Final = ("node", "strace", "postgres", "redis-server", "nats-server")

EPILOG = """\b
Examples:
  perdure doctor
  perdure doctor --json
"""


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Show what this machine allows, how fast it syncs, and what is therefore not claimed."""
    median_ms = _sync_median_ms()
    programs = {name: _find(name) for name in _PROGRAMS}
    document: dict[str, object] = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "sqlite": sqlite3.sqlite_version,
        "cores": os.cpu_count(),
        "temporary_folder": tempfile.gettempdir(),
        "sync_median_ms": round(median_ms, 4),
        "sync_is_plausible": median_ms >= _IMPLAUSIBLE_MS,
        "process_groups": hasattr(os, "killpg"),
        "proc": Path("/proc/self/environ").exists(),
        "ptrace_scope": _ptrace_scope(),
        "calls_watched_by": watcher() or "nothing",
        "programs": programs,
        "not_claimed": _not_claimed(median_ms, programs),
    }
    if as_json:
        print_json(document)
        return
    out = console()
    for name, value in document.items():
        if not isinstance(value, dict | list):
            out.print(f"{name:18} {value}", markup=False)
    for name, path in programs.items():
        out.print(f"{name:18} {path or 'not found'}", markup=False)
    for line in _not_claimed(median_ms, programs):
        out.print(f"not claimed        {line}", markup=False, soft_wrap=True)


def _sync_median_ms() -> float:
    """Return the median time of writing 4 KiB and syncing it, where checks keep their state."""
    times_ms = []
    with tempfile.TemporaryFile(prefix="perdure-") as file:
        for _ in range(_SYNCS):
            began = time.perf_counter()
            file.write(b"\0" * 4096)
            file.flush()
            os.fsync(file.fileno())
            times_ms.append((time.perf_counter() - began) * 1_000)
    return statistics.median(times_ms)


def _find(name: str) -> str | None:
    """Return where a program is; PostgreSQL's server is often not on the path."""
    found = shutil.which(name)
    if found is None and name == "postgres":
        found = next((str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))), None)
    return found


def _ptrace_scope() -> str:
    try:
        scope = Path("/proc/sys/kernel/yama/ptrace_scope").read_text("ascii").strip()
    except OSError:
        return "unrestricted" if platform.system() == "Linux" else "unknown"
    return {"0": "unrestricted", "1": "own children", "2": "root only", "3": "none"}.get(scope, scope)


def _not_claimed(median_ms: float, programs: dict[str, str | None]) -> list[str]:
    lines = [
        "journals on PostgreSQL, Redis or NATS: none is built in yet; yours is judged through its adapter",
    ]
    if (reason := why_not()) is not None:
        lines.append(f"power loss, disk errors, crashes within an append: {reason}")
    elif (reason := why_not_disturbed()) is not None:
        lines.append(f"disk errors, crashes within an append: {reason}")
    if (what := what_watches()) is not None:
        lines.append(what)
    if median_ms < _IMPLAUSIBLE_MS:
        lines.append(f"durability on this disk: a sync takes {median_ms:.4f} ms, which no disk does; is this memory?")
    if not Path("/proc/self/environ").exists():
        lines.append("finding children that left the process group: there is no /proc")
    if programs["node"] is None:
        lines.append("the example in Node.js: node is not found")
    return lines
