"""Folders of reports on which the tool's renderings are tried: small, whole, and with any text wherever one may be."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.journal.cases import JournalCase, PlayOf
from perdure_conformance.journal.operations import Append, Crash, Load, RecordSpec, Reopen
from perdure_conformance.reports import failure
from perdure_conformance.reports.report import IN_PART
from perdure_conformance.suite import Finding
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT

BROKEN: Final = "JRN-007"
FAULTY: Final = "fault:silence"
GAP: Final = "concurrent appenders"
LEVEL: Final = "Core, as it happens"

Verdicts = Mapping[str, str]

PASSING: Final[Verdicts] = {"JRN-001": "pass", BROKEN: "pass", "JRN-017": "not_claimed"}


@dataclass(frozen=True, slots=True)
class Options:
    """What a report says."""

    verdicts: Verdicts = field(default_factory=lambda: PASSING)
    exit_code: int = CONFORMANT
    level: str = LEVEL
    is_faulty: bool = False
    profile: str = "journal"
    outcome: str = "conformant"
    excused: Collection[str] = ()
    """The broken requirements that do not count."""
    surprises: Collection[str] = ()
    """The requirements that were expected to be broken, and are not."""


def _open(verdicts: Verdicts, *, is_faulty: bool = False) -> Options:
    return Options(verdicts, NO_VERDICT, "none", is_faulty=is_faulty, outcome="no_verdict")


BROKEN_ONCE: Final[Verdicts] = {**PASSING, BROKEN: "fail"}
ALL_BUT_GREEN: Final[Mapping[str, Options]] = {
    "not conformant": Options(BROKEN_ONCE, NOT_CONFORMANT, "none", outcome="not_conformant"),
    "broken as expected": Options(BROKEN_ONCE, CONFORMANT, "none", outcome="as_expected", excused=(BROKEN,)),
    "expected to be broken": Options(
        PASSING, NOT_CONFORMANT, "none", outcome="not_conformant", surprises=("JRN-001", BROKEN)
    ),
    "inconclusive": _open({**PASSING, BROKEN: "inconclusive"}),
    "not reached": _open({**PASSING, BROKEN: "not_reached"}),
    "not claimed at all": _open({BROKEN: "not_claimed"}),
    "at fault": _open(PASSING, is_faulty=True),
}
"""Reports that no rendering may show as a success."""
IN_PART_ONLY: Final = Options({BROKEN: "pass"}, CONFORMANT, IN_PART)


def document(options: Options = Options(), text: str = "") -> dict[str, JsonValue]:
    """Return a report with a text wherever one may stand."""
    fault: JsonObject = {"kind": "silence", "sentence": f"No answer came. {text}", "case": f"r/failures/x{text}"}
    return {
        "report_version": 1,
        "suite": {"name": "perdure", "version": f"0.1.0{text}", "profile": options.profile},
        "requirements_digest": "0" * 64,
        "vectors_digest": None,
        "target": {
            "name": f"sample{text}",
            "version": f"1{text}",
            "words": {"command": [f"./adapter{text}"]},
            "digest": "1" * 64,
        },
        "machine": {"system": f"S{text}", "architecture": f"A{text}", "python": f"3{text}", "cores": 1},
        "depth": "normal",
        "seed": 1,
        "capabilities": {f"claim{text}": text},
        "level": options.level,
        "outcome": options.outcome,
        "pinned": None,
        "exit_code": options.exit_code,
        "requirements": [
            {
                "id": key,
                "sentence": f"What it demands.{text}",
                "verdict": verdict,
                "reached": 3,
                "checks": [f"a check{text}"],
                "case": f"r/failures/{key}{text}" if verdict == "fail" else None,
                **({"why": f"Nobody knows.{text}"} if verdict == "inconclusive" else {}),
                **({"excuse": {"kind": "expected", "why": f"It is known.{text}"}} if key in options.excused else {}),
            }
            for key, verdict in options.verdicts.items()
        ],
        "surprises": [
            {"id": key, "kind": "passes", "sentence": f"It passes all the same.{text}"} for key in options.surprises
        ],
        "fault": fault if options.is_faulty else None,
        "not_covered": [GAP, f"all else{text}"],
        "durations": {f"part{text}": 1.5},
        "durable_operations": 3,
        "counts": {f"things{text}": 3},
    }


def write(folder: Path, report: JsonObject, text: str = "", *, rounds: int = 1) -> Path:
    """Write the folder of a report, with the cases of its failures, and a text wherever one may stand in these.

    With several rounds, a case does everything so often, and no two failures have the same case.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps(report), "utf-8")
    rows = report["requirements"]
    assert isinstance(rows, Sequence)
    broken = [str(row["id"]) for row in rows if isinstance(row, Mapping) and row["case"]]
    for name in [*broken, *([FAULTY] if report["fault"] else [])]:
        kept = failure.write(folder, _finding(name, text, rounds))
        (kept / failure.STDERR).write_text(f"last words{text}\n", "utf-8")
    return folder


def _finding(name: str, text: str, rounds: int) -> Finding:
    operations = (
        Append(0, 1, (RecordSpec(1, text=text[:4_000]),)),
        Crash(),
        Reopen(),
        Append(0, 2, (RecordSpec(2),), handle=1),
        Load(0),
    )
    case = JournalCase(
        target={"name": f"module:factory{text}"},
        in_own_process=False,
        timeout_s=1.0,
        seed=1,
        failure=name,
        expected={"records": [text, "same" if rounds == 1 else name]},
        actual={"records": [f"else{text}", "same"]} if not name.startswith("fault:") else f"No answer came.{text}",
        plays=(PlayOf(0, operations * rounds),),
    )
    return Finding(
        case=case,
        reproduced=True,
        found_by=f"a check{text}",
        answers=("acknowledged", "", "", f"refused{text}", f"records{text}") * rounds,
        transcript="",
        stderr="",
        seconds=0.0,
    )
