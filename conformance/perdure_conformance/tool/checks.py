"""What the tool promises, each promise as one check of a tool: it returns a complaint, or None if the promise is kept.

A tool is its rules and its way to connect; the checks try it on miniatures, on mutants of journals and on odd twins.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from perdure_conformance.harness.connection import Connection, FaultKind
from perdure_conformance.harness.process import ProcessConnection
from perdure_conformance.harness.targets import CommandTarget, Target
from perdure_conformance.journal import profile
from perdure_conformance.journal.mutants import MUTANTS
from perdure_conformance.journal.rules import RULES, Rules
from perdure_conformance.journal.twins import TWINS
from perdure_conformance.reports.report import Report, build
from perdure_conformance.suite import AnyProfile, Judgement, Options, Part
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT

_TIMEOUT_S: Final = 0.5

PAGES: Final = ("tool.md",)
"""The pages whose requirements are checked here."""


@dataclass(frozen=True, slots=True)
class Tool:
    """What is on trial: rules, and a way to connect."""

    rules: Rules = RULES
    connect: Callable[..., Connection] = ProcessConnection

    @property
    def journal(self) -> AnyProfile:
        """The profile on which it is tried."""
        return profile.under(self.rules)


Complaint = str | None
Check = Callable[[Tool], Complaint]
CHECKS: dict[str, list[Check]] = {}


def check(requirement: str) -> Callable[[Check], Check]:
    """Register a check of a requirement on the tool."""

    def register(function: Check) -> Check:
        CHECKS.setdefault(requirement, []).append(function)
        return function

    return register


@check("TOL-001")
def empty_selection_is_no_pass(tool: Tool) -> Complaint:
    """Select what is not claimed, and nothing else."""
    report = _report(tool, TWINS["HasTheCoreOnly"].target, only=frozenset({"LSE-001", "SNP-001"}))
    return None if report.exit_code == NO_VERDICT else f"nothing was judged, and the exit code is {report.exit_code}"


@check("TOL-002")
def unreached_is_no_pass(tool: Tool) -> Complaint:
    """Judge a good journal with nothing at all."""
    target = TWINS["PagesOddly"].target
    report = _report_of(tool, target, _judged(tool, target, parts=frozenset()))
    if report.exit_code == NO_VERDICT and "pass" not in report.verdicts.values():
        return None
    return f"no check was played, and the exit code is {report.exit_code}"


@check("TOL-003")
def yes_and_no_are_not_enough(tool: Tool) -> Complaint:
    """Judge what accepts everything, and what refuses everything."""
    for name in ("AcceptsEverything", "RefusesEverything"):
        report = _report(tool, MUTANTS[name].target)
        if report.exit_code != NOT_CONFORMANT:
            return f"{name} is judged with exit code {report.exit_code}"
    return None


@check("TOL-004")
def odd_is_not_wrong(tool: Tool) -> Complaint:
    """Judge every odd twin."""
    for name, twin in TWINS.items():
        judgement = _judged(tool, twin.target)
        if judgement.findings:
            return f"{name} is accused of {', '.join(judgement.findings)}"
    return None


@check("TOL-005")
def failures_fail_again(tool: Tool) -> Complaint:
    """Play the shrunk cases of some mutants again, twice."""
    for name in ("DropsNul", "KeepsTheLoser", "AcceptsEverything", "ForgetsIdsOnReopen"):
        journal = tool.journal
        findings = journal.judge(MUTANTS[name].target, Options("quick", parts=frozenset({"written"}))).findings
        for finding in findings.values():
            again = [journal.replay(finding.case, journal.target_of(finding.case)) for _ in range(2)]
            if any(replayed.failure != finding.failure for replayed in again):
                return f"the case of {name} for {finding.failure} gives {[replayed.failure for replayed in again]}"
    return None


_FAULTS: Final[dict[str, FaultKind]] = {
    "says_nothing": "silence",
    "answers_another_id": "wrong_reply",
    "logs_to_stdout": "no_message",
    "repeats_a_key": "no_message",
    "answers_twice": "unasked",
    "exits": "exited",
}


@check("TOL-006")
def misbehaviour_is_a_fault(tool: Tool) -> Complaint:
    """Judge each miniature: the fault must be told by its kind, and no requirement blamed."""
    for mode, kind in _FAULTS.items():
        target = _miniature(tool, mode)
        judgement = _judged(tool, target)
        report = _report_of(tool, target, judgement)
        seen = judgement.fault.kind if judgement.fault else "nothing"
        if seen != kind or report.exit_code != NO_VERDICT or "pass" in report.verdicts.values():
            return f"{mode} is judged as {seen} with exit code {report.exit_code}"
    return None


@check("TOL-007")
def endless_line_is_cut_short(tool: Tool) -> Complaint:
    """Judge a line that never ends."""
    judgement = _judged(tool, _miniature(tool, "never_ends_a_line"))
    kind = judgement.fault.kind if judgement.fault else "nothing"
    return None if kind == "line_too_long" else f"a line without end is judged as {kind}"


@check("TOL-008")
def nothing_is_left_running(tool: Tool) -> Complaint:
    """Judge an adapter that starts a daemon, and look for it."""
    mark = str(uuid.uuid4())
    _judged(tool, _miniature(tool, "leaves_a_daemon", mark))
    left = _marked(mark)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return f"{len(left)} processes are left" if left else None


@check("TOL-009")
def unclaimed_is_not_judged(tool: Tool) -> Complaint:
    """Judge a journal that claims nothing."""
    report = _report(tool, TWINS["HasTheCoreOnly"].target)
    not_covered = report.document["not_covered"]
    told = isinstance(not_covered, list) and any("exact_replay" in str(line) for line in not_covered)
    if report.exit_code == CONFORMANT and told:
        return None
    return f"a journal with the core alone gets exit code {report.exit_code}, not covered: {not_covered}"


@check("TOL-010")
def fault_is_blamed_by_name(tool: Tool) -> Complaint:
    """Judge mutants that break a particular requirement, and with it a general one."""
    for name in ("TrustsItsOwnCounter", "LosesTheTailOnClose", "TakesOneAsAnywhere", "KnowsIdsOfAllRuns"):
        mutant = MUTANTS[name]
        if mutant.breaks not in _judged(tool, mutant.target).findings:
            return f"{name} is not blamed on {mutant.breaks}"
    return None


def _judged(
    tool: Tool,
    target: Target,
    only: frozenset[str] = frozenset(),
    parts: frozenset[Part] = frozenset({"written"}),
) -> Judgement:
    return tool.journal.judge(target, Options("quick", timeout_s=_TIMEOUT_S, only=only, parts=parts, smaller=False))


def _report(tool: Tool, target: Target, only: frozenset[str] = frozenset()) -> Report:
    return _report_of(tool, target, _judged(tool, target, only), only)


def _report_of(tool: Tool, target: Target, judgement: Judgement, only: frozenset[str] = frozenset()) -> Report:
    return build(tool.journal, judgement, target, depth="normal", seed=1, only=only, cases={})


def _miniature(tool: Tool, *words: str) -> Target:
    return CommandTarget((sys.executable, "-m", "perdure_conformance.tool.miniatures", *words), connect=tool.connect)


def _marked(mark: str) -> set[int]:
    """Return the processes that have the mark among their words."""
    found = set()
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if mark.encode() in command.read_bytes().split(b"\0"):
                found.add(int(command.parent.name))
    return found
