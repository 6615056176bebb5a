"""The suite judges itself: the kill matrices of journals and of the tool."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def selftest(profile: str, cwd: Path) -> dict[str, Any]:
    program = [sys.executable, "-c", "from perdure_conformance.cli import main; main()", "selftest", profile, "--json"]
    done = subprocess.run(program, cwd=cwd, capture_output=True, text=True, check=False, timeout=900)
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["problems"] == []
    assert done.returncode == 0
    return document


def test_every_mutant_of_a_journal_is_found_by_name(tmp_path: Path) -> None:
    journal = selftest("journal", tmp_path)["journal"]
    assert len(journal["mutants"]) >= 12
    assert journal["largest_operations"] <= 6
    assert journal["median_operations"] <= 3
    assert len(journal["good"]) >= 4


def test_every_mutant_of_the_tool_is_found_by_name(tmp_path: Path) -> None:
    assert len(selftest("tool", tmp_path)["tool"]) >= 10


@pytest.mark.parametrize("flaw", ["survivor", "accused twin"])
def test_the_self_test_can_fail(tmp_path: Path, flaw: str) -> None:
    breaking = {
        "survivor": "registry.mutant('JRN-005')(type('FaultlessMutant', (memory.MemoryJournal,), {}))",
        "accused twin": "registry.twin(mutants.DropsNul)",
    }[flaw]
    code = (
        "from perdure.journal import memory\n"
        "from perdure_conformance.journal import mutants, registry, selftest\n"
        f"{breaking}\n"
        "if 'FaultlessMutant' in registry.MUTANTS:\n"
        "    print(*selftest.kill(registry.MUTANTS['FaultlessMutant'], 1).problems)\n"
        "else:\n"
        "    good = registry.TWINS['DropsNul']\n"
        "    print(*selftest.check_good(good.name, good.oddity, good.target, (1,), 'quick').problems)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert {"survivor": "survives", "accused twin": "is accused of JRN-002"}[flaw] in done.stdout
