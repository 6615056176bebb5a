"""The example validator in Python passes what its README says, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.conformance.helpers import ROOT, perdure

from perdure_conformance.verdict import CONFORMANT, NOT_CONFORMANT

FOLDER = ROOT / "conformance" / "examples" / "python-validator"
README = (FOLDER / "README.md").read_text("utf-8")
CHECK = ("check", "spec", "graph_validator:GraphValidator", "--depth", "quick")


def named() -> list[str]:
    """Return the requirements in the README's list."""
    lines = [line for line in README.splitlines() if line.startswith("- ")]
    return [identity for line in lines for identity in re.findall(r"[A-Z]{3}-\d{3}", line)]


def test_it_passes_what_it_names_and_nothing_else_that_everybody_is_judged_by(tmp_path: Path) -> None:
    done = perdure(*CHECK, "--report", str(tmp_path), "--json", cwd=FOLDER)
    assert done.returncode == NOT_CONFORMANT
    verdicts = {row["id"]: row["verdict"] for row in json.loads(done.stdout)["requirements"]}
    assert {identity for identity, verdict in verdicts.items() if verdict == "pass"} == set(named())
    assert set(verdicts.values()) == {"pass", "fail", "not_claimed"}


def test_judged_by_what_it_names_alone_it_is_conformant(tmp_path: Path) -> None:
    done = perdure(*CHECK, "--report", str(tmp_path), "--only", ",".join(named()), cwd=FOLDER)
    assert done.returncode == CONFORMANT, done.stdout
