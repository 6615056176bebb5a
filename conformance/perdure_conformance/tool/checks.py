"""What the tool promises, each promise as one check of a tool: it returns a complaint, or None if the promise is kept.

A tool is its rules, its way to connect, and what it does with stored histories; the checks try it on miniatures, on
mutants of journals, on odd twins, on histories sound and damaged, and on golden vectors.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from perdure.kernel.values import JsonObject, JsonValue, digest
from perdure_conformance.adapters.exchange import NotRecorded
from perdure_conformance.adapters.model import LevelName, ModelTarget
from perdure_conformance.golden.collection import all_vectors
from perdure_conformance.golden.coverage import goals, reached
from perdure_conformance.harness import messages, schemas
from perdure_conformance.harness.connection import AdapterFault, FaultKind, Unsupported
from perdure_conformance.harness.targets import CommandTarget, Target
from perdure_conformance.histories.conversion import NotWritten
from perdure_conformance.histories.sealing import checksum_of, sealed_anew, snapshot_after, tied_to, with_state
from perdure_conformance.histories.stored import HistoryRefused
from perdure_conformance.journal.mutants import MUTANTS
from perdure_conformance.journal.twins import TWINS
from perdure_conformance.reports.report import Report, build
from perdure_conformance.requirements import requirements
from perdure_conformance.suite import Judgement, Options, Part
from perdure_conformance.terms import NO_TERMS, Entry, Expected, Terms
from perdure_conformance.tool import explorations, frozen, gating, planted, renderings, samples
from perdure_conformance.tool.trial import Document, Tool
from perdure_conformance.vectors.folder import wanted_of
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT

_TIMEOUT_S: Final = 0.5
"""For whoever does not answer; those that do may be on a busy machine."""
_PATIENT_S: Final = 30.0

PAGES: Final = ("tool.md",)
"""The pages whose requirements are checked here."""


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
        judgement = _judged(tool, twin.target, timeout_s=_PATIENT_S)
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


Seen = tuple[object, object, object]
"""What is told of a history: the verdict, the kind of check that found a fault, and the sequence."""


@check("TOL-011")
def content_links_and_nothing_are_told_apart(tool: Tool) -> Complaint:
    """Verify a history with precise numbers; with a changed content, a missing record, a wrong event, nothing."""
    lines = samples.with_precise_numbers()
    changed = [*lines[:2], lines[2].replace(b'"attempt":1', b'"attempt":2'), *lines[3:]]
    cases: Mapping[str, tuple[samples.Lines, Seen]] = {
        "sound": (lines, ("sound", None, None)),
        "changed": (changed, ("bad", "checksum", 3)),
        "left out": ([*lines[:2], *lines[3:]], ("bad", "linkage", 3)),
        "against the rules": ([*lines[:2], sealed_anew(changed[2]), *lines[3:]], ("bad", "rules", 3)),
        "empty": ([], ("nothing_checked", None, None)),
    }
    for suffix, (name, (content, wanted)) in product(samples.SUFFIXES, cases.items()):
        found, seen = _verified(tool, suffix, content)
        if seen != wanted:
            return f"a history that is {name} ({suffix}) is told as {seen}, and not as {wanted}"
        if found["exit_code"] != {"sound": CONFORMANT, "bad": NOT_CONFORMANT}.get(str(wanted[0]), NO_VERDICT):
            return f"a history that is {name} ({suffix}) has exit code {found['exit_code']}"
        counts = _counts(found)
        whole = len(lines) if name == "sound" else 0 if name == "empty" else 2
        if any(counts[each] != whole for each in ("checksum", "linkage", "rules")):
            return f"of a history that is {name} ({suffix}), so much is told to be checked: {counts}"
    return None


_TORN: Final = ("torn_tail", "framing", 7)


@check("TOL-012")
def nothing_is_read_over(tool: Tool) -> Complaint:
    """Verify five damages in each format, and a cut where a batch ends, with its head and without."""
    lines = samples.with_precise_numbers()
    by_format: Mapping[str, tuple[Seen, Seen]] = {
        ".jsonl": (_TORN, _TORN),
        ".mwj1": (("bad", "framing", 8), ("bad", "batches", 8)),
        ".sqlite3": (("bad", "form", 8), ("bad", "batches", 8)),
    }
    for suffix, (of_a_cut_record, of_a_cut_batch) in by_format.items():
        cases: Mapping[str, tuple[samples.Lines, int, Seen]] = {
            "with junk behind it": ([*lines, b"junk"], 0, ("bad", "form", 9)),
            "changed": ([*lines[:3], lines[3].replace(b"1e-7", b"1e-8"), *lines[4:]], 0, ("bad", "checksum", 4)),
            "left out": ([*lines[:5], *lines[6:]], 0, ("bad", "linkage", 6)),
            "cut within a record": (lines, 9, of_a_cut_record),
            "cut within a batch": (lines[:7], 0, of_a_cut_batch),
        }
        for name, (content, cut, wanted) in cases.items():
            _, seen = _verified(tool, suffix, content, cut)
            if seen != wanted:
                return f"a history that is {name} ({suffix}) is told as {seen}, and not as {wanted}"
        if complaint := _about_a_clean_cut(tool, suffix, lines):
            return complaint
    return None


def _about_a_clean_cut(tool: Tool, suffix: str, lines: samples.Lines) -> Complaint:
    head = f"{len(lines)}:{checksum_of(lines[-1])}"
    whole, _ = _verified(tool, suffix, lines, head=head)
    cut, seen = _verified(tool, suffix, lines[:6])
    if (whole["anchored"], cut["anchored"], seen) != ("end", "none", ("sound", None, None)):
        return f"a history cut where a batch ends ({suffix}) is told as {seen}, anchored: {cut['anchored']}"
    _, lost = _verified(tool, suffix, lines[:6], head=head)
    return None if lost == ("bad", "end", 8) else f"a history without its head ({suffix}) is told as {lost}"


@check("TOL-013")
def what_is_written_comes_back(tool: Tool) -> Complaint:
    """Write histories with every kind of record in each format, one after the other."""
    for lines in (*samples.of_every_kind(), samples.with_precise_numbers()):
        with TemporaryDirectory(prefix="perdure-") as folder:
            before = samples.write(Path(folder, "0.jsonl"), lines)
            for number, suffix in enumerate((".mwj1", ".sqlite3", ".jsonl"), start=1):
                after = str(Path(folder, f"{number}{suffix}"))
                try:
                    tool.convert(before, after)
                except (HistoryRefused, NotWritten) as error:
                    return f"what was written is not read again: {error}"
                before = after
            if Path(before).read_bytes() != b"".join(line + b"\n" for line in lines):
                return f"a history with {lines[-1].decode()} comes back with other bytes"
    return None


@check("TOL-014")
def what_is_expected_is_held_to_be_so(tool: Tool) -> Complaint:
    """Judge a mutant with the failure expected, with another answer expected, with more expected; and a fault."""
    target = MUTANTS["DropsNul"].target
    judgement = _judged(tool, target)
    broken = list(judgement.findings)
    cases: Mapping[str, tuple[tuple[Entry, ...], int, str]] = {
        "as it is": (tuple(map(_entry, broken)), CONFORMANT, "as_expected"),
        "with another answer": ((_entry(broken[0], actual="another"),), NOT_CONFORMANT, "not_conformant"),
        "with one that passes": (tuple(map(_entry, [*broken, "JRN-021"])), NOT_CONFORMANT, "not_conformant"),
        "without it": ((), NOT_CONFORMANT, "not_conformant"),
    }
    for name, (entries, code, outcome) in cases.items():
        report = _report_of(tool, target, judgement, terms=_terms(entries))
        if (report.exit_code, report.document["outcome"]) != (code, outcome) or report.document["level"] != "none":
            return f"a failure that is expected {name} has exit code {report.exit_code}"
    unclaimed = _report(tool, TWINS["HasTheCoreOnly"].target, terms=_terms((_entry("LSE-001"),)))
    if unclaimed.exit_code != NOT_CONFORMANT:
        return f"a failure that is expected of what is not claimed has exit code {unclaimed.exit_code}"
    faulty = _report(tool, _miniature(tool, "exits"), terms=_terms((_entry("JRN-001"),)))
    return None if faulty.exit_code == NO_VERDICT else f"a fault is excused: exit code {faulty.exit_code}"


def _entry(requirement: str, **more: str) -> Entry:
    return Entry(requirement=requirement, reason="it is known", **more)


def _terms(entries: Sequence[Entry]) -> Terms:
    return Terms({entry.requirement: Expected(entry, "known.yaml:1") for entry in entries})


@check("TOL-015")
def what_is_new_warns_for_one_release(tool: Tool) -> Complaint:
    """Ask about a requirement of this release, and one of the last, under each pin."""
    cases: Mapping[tuple[str, str | None, str], bool] = {
        ("0.2", "0.1", "0.2"): True,
        ("0.10", "0.9", "0.10"): True,
        ("0.1", "0.1", "0.2"): False,
        ("0.2", "0.1", "0.3"): False,
        ("0.2", "0.2", "0.2"): False,
        ("0.2", None, "0.2"): False,
    }
    for (since, pinned, release), wanted in cases.items():
        requirement = replace(requirements()["JRN-001"], since=since)
        if tool.rules.in_grace(requirement, pinned, release) != wanted:
            told = "counts" if wanted else "does not count"
            return f"a requirement of {since} {told} under the pin {pinned} in release {release}"
    return None


@check("TOL-016")
def snapshots_are_tied_to_their_records(tool: Tool) -> Complaint:
    """Verify a snapshot without its history, beside it, and with one thing that is wrong."""
    lines = samples.with_precise_numbers()
    right, later = snapshot_after(lines, 5), snapshot_after(lines, 6)
    state = dict(right["state"])
    cases: Mapping[str, tuple[Mapping[str, Any], samples.Lines, Seen]] = {
        "alone": (right, [], ("sound", None, None)),
        "beside its history": (right, lines, ("sound", None, None)),
        "of another run": ({**right, "run_id": samples.OTHER_RUN}, lines, ("bad", "linkage", 5)),
        "of a record that is lost": (later, lines[:5], ("bad", "linkage", 6)),
        "of another event": ({**right, "event_id": later["event_id"]}, lines, ("bad", "linkage", 5)),
        "of another record": ({**right, "record_checksum": later["record_checksum"]}, lines, ("bad", "linkage", 5)),
        "inside a batch": (tied_to(right, lines[3]), lines, ("bad", "linkage", 4)),
        "of another specification": ({**right, "content_hash": digest({})}, lines, ("bad", "linkage", 5)),
        "of another state": (with_state(right, {**state, "now_ms": 9}), lines, ("bad", "rules", 5)),
        "of a changed state": ({**right, "state": {**state, "now_ms": 9}}, lines, ("bad", "checksum", 1)),
    }
    for name, (snapshot, history, wanted) in cases.items():
        found, seen = _verified_snapshot(tool, snapshot, history)
        if seen != wanted:
            return f"a snapshot {name} is told as {seen}, and not as {wanted}"
        counts = _counts(found)
        made = wanted[0] == "sound" and bool(history)
        if wanted[0] == "sound" and (counts["linkage"], counts["rules"], not found["not_checked"]) != (
            made,
            made,
            made,
        ):
            return f"of a snapshot {name}, so much is told to be checked: {counts}, and not: {found['not_checked']}"
    return None


def _verified_snapshot(tool: Tool, snapshot: Mapping[str, Any], history: samples.Lines) -> tuple[Document, Seen]:
    with TemporaryDirectory(prefix="perdure-") as folder:
        if history:
            samples.write(Path(folder, "run.mwj1"), history)
        found = tool.verify_snapshot(samples.write_snapshot(Path(folder, "run.mws1"), snapshot))
    return found, _seen(found)


def _seen(found: Document) -> Seen:
    fault = found["fault"]
    place = (fault["check"], fault["sequence"]) if isinstance(fault, Mapping) else (None, None)
    return (found["verdict"], *place)


@check("TOL-017")
def texts_of_reports_stay_texts(tool: Tool) -> Complaint:
    """Render reports with texts that steer whoever reads them, in every place where a text may stand."""
    return renderings.texts_stay_texts(tool.render)


@check("TOL-017")
def long_texts_of_reports_are_cut(tool: Tool) -> Complaint:
    """Render a report whose texts are too long."""
    return renderings.long_texts_are_cut(tool.render)


@check("TOL-018")
def only_the_folder_of_a_report_is_told(tool: Tool) -> Complaint:
    """Render a folder twice, a copy of it, and one with a link that leads out of it."""
    return renderings.only_the_folder_is_told(tool.render)


@check("TOL-018")
def reports_that_cannot_be_are_refused(tool: Tool) -> Complaint:
    """Render what is no report, or contradicts itself."""
    return renderings.what_contradicts_itself_is_refused(tool.render)


@check("TOL-019")
def green_reports_are_never_bare(tool: Tool) -> Complaint:
    """Render what is conformant, what is not, what has no verdict, and what was judged in part."""
    return renderings.green_is_never_bare(tool.render)


@check("TOL-020")
def regressions_between_reports_are_told(tool: Tool) -> Complaint:
    """Compare reports that are better, worse, made otherwise, and of another profile."""
    return renderings.regressions_are_told(tool.compare)


_ENOUGH_S: Final = 60.0
"""More seconds than any smoke test takes of somebody who answers."""


@check("TOL-021")
def first_thing_is_told(tool: Tool) -> Complaint:
    """Smoke the miniatures, some mutants, and every odd twin."""
    for mode, kind in _FAULTS.items():
        seconds = 1.0 if kind == "silence" else _ENOUGH_S
        fix = tool.smoke(_miniature(tool, mode), seconds).fix
        if fix is None or fix.failure != f"fault:{kind}" or not fix.sent or not fix.right:
            return f"{mode} is told as {fix}"
    for name in ("KeepsTheLoser", "TakesOneAsAnywhere", "KnowsIdsOfAllRuns", "ForgetsIdsOnReopen"):
        fix = tool.smoke(MUTANTS[name].target, _ENOUGH_S).fix
        if fix is None or fix.failure != MUTANTS[name].breaks or not fix.received or not fix.right:
            return f"{name} is told as {fix}"
    accused = [name for name, twin in TWINS.items() if tool.smoke(twin.target, _ENOUGH_S).fix is not None]
    return f"{', '.join(accused)} are right, and are told to mend something" if accused else None


_OF_APPEND: Final = frozenset({"invalid_record", "too_large", "event_id_conflict", "sequence_conflict"})
_REFUSALS: Final[Mapping[LevelName, frozenset[str]]] = {
    "workflow": _OF_APPEND,
    "snapshots": _OF_APPEND,
    "leases": _OF_APPEND | {"stale_epoch", "held"},
}
_METHODS: Final = frozenset(
    ["initialize", "append", "load", "save_snapshot", "load_snapshot", "acquire", "renew", "release", "shutdown"],
)


@check("TOL-022")
def exchange_can_be_relied_on(tool: Tool) -> Complaint:
    """Record the model at each level, twice; and a journal that is wrong."""
    for level, refusals in _REFUSALS.items():
        said, again = (tool.exchange(ModelTarget(level), _ENOUGH_S) for _ in range(2))
        if said != again:
            return f"the exchange at the level {level} is another one each time"
        pairs = list(zip(said[::2], said[1::2], strict=True))
        if complaint := next((f"{level}: {wrong}" for wrong in map(_wrong_pair, pairs) if wrong), None):
            return complaint
        methods = {str(request["to"]["method"]) for request, _ in pairs if isinstance(request["to"], Mapping)}
        refused = {str(word) for _, reply in pairs if (word := _refusal(reply["from"])) is not None}
        if methods != _METHODS or refused != refusals:
            return f"the exchange at the level {level} has {sorted(methods)} and {refused}"
    try:
        tool.exchange(MUTANTS["KeepsTheLoser"].target, _ENOUGH_S)
    except NotRecorded:
        return None
    return "what KeepsTheLoser answers is recorded"


def _wrong_pair(pair: tuple[JsonObject, JsonObject]) -> Complaint:
    """Return what is wrong with a request and its reply, by their schemas."""
    request, reply = pair[0].get("to"), pair[1].get("from")
    if not isinstance(request, dict) or not isinstance(params := request["params"], dict):
        return f"{request} is no request"
    try:
        schemas.decode_reply(messages.encode_line(reply), str(request["id"]), str(request["method"]), params)  # type: ignore[arg-type]
    except AdapterFault as fault:
        return fault.sentence
    except Unsupported:
        pass
    return None


def _refusal(reply: JsonValue) -> JsonValue:
    result = reply.get("result") if isinstance(reply, dict) else None
    return result.get("refused") if isinstance(result, dict) else None


@check("TOL-023")
def frozen_is_frozen(tool: Tool) -> Complaint:
    """Hold a folder with a vector of each kind against itself, and with each way of differing, one at a time."""
    wanted = wanted_of(frozen.vectors_of_every_kind())
    if tool.differences(wanted.contents, wanted):
        return "what the model writes is said to differ from what it writes"
    for vector in wanted.listed.values():
        for how, files in frozen.differing(wanted, vector):
            told = [each.sentence for each in tool.differences(files, wanted) if each.vector == vector.id]
            if not told:
                return f"{vector.id}: {how}, and nothing is told of it"
            if how in frozen.WITH_A_PLACE and not any("there is" in sentence for sentence in told):
                return f"{vector.id}: {how}, and it is not told where"
    return None


@check("TOL-024")
def what_has_no_vector_is_told(tool: Tool) -> Complaint:
    """Take away, for one thing of each sort that has to be reached, the vectors that reach it."""
    if complaint := tool.gaps(all_vectors()):
        return f"all is reached, and it is told that this is not: {', '.join(complaint)}"
    reached_by = {vector.id: reached([vector]) for vector in all_vectors()}
    for goal in {goal[0]: goal for goal in sorted(goals())}.values():
        left = [vector for vector in all_vectors() if goal not in reached_by[vector.id]]
        if " ".join(goal) not in tool.gaps(left):
            return f"no vector reaches {' '.join(goal)}, and it is not told"
    return None


@check("TOL-025")
def changes_of_schemas_are_told(tool: Tool) -> Complaint:
    """Plant changes in schemas."""
    return gating.planted_changes_are_told(tool.gate, planted.OF_SCHEMAS)


@check("TOL-026")
def changes_of_versions_are_told(tool: Tool) -> Complaint:
    """Plant changes in the versions of events."""
    return gating.planted_changes_are_told(tool.gate, planted.OF_EVENTS)


@check("TOL-027")
def changes_of_vectors_are_told(tool: Tool) -> Complaint:
    """Plant changes in golden vectors."""
    return gating.planted_changes_are_told(tool.gate, planted.OF_VECTORS)


@check("TOL-028")
def changes_of_specifications_are_told(tool: Tool) -> Complaint:
    """Plant changes in workflows, and take away what stored histories refer to."""
    told = gating.planted_changes_are_told(tool.gate, planted.OF_WORKFLOWS)
    return told or gating.what_histories_refer_to_is_told(tool.gate)


@check("TOL-029")
def nothing_compared_is_no_pass(tool: Tool) -> Complaint:
    """Compare what cannot be compared."""
    return gating.what_cannot_be_compared_is_no_pass(tool.gate)


@check("TOL-030")
def replays_are_told(tool: Tool) -> Complaint:
    """Replay stored histories and golden vectors, on the model and on kernels that are wrong."""
    return gating.replayed_histories_are_told(tool.replay) or gating.vectors_decide_what_is_right(tool.replay)


@check("TOL-031")
def explorations_are_right(tool: Tool) -> Complaint:
    """Explore small specifications of which it is known what their runs can do."""
    return explorations.what_is_told_is_so(tool.explore)


@check("TOL-032")
def what_was_not_explored_is_not_excluded(tool: Tool) -> Complaint:
    """Explore the same, and stop at the first state."""
    return explorations.bounds_are_told(tool.explore)


def _verified(
    tool: Tool, suffix: str, lines: samples.Lines, cut: int = 0, head: str | None = None
) -> tuple[Document, Seen]:
    with TemporaryDirectory(prefix="perdure-") as folder:
        found = tool.verify(samples.write(Path(folder, f"run{suffix}"), lines, cut), head)
    return found, _seen(found)


def _counts(found: Document) -> Mapping[str, object]:
    """Return how much each kind of check found good; None where it was not made."""
    checks = found["checks"]
    assert isinstance(checks, Mapping)
    return {name: each["count"] for name, each in checks.items()}


def _judged(
    tool: Tool,
    target: Target,
    only: frozenset[str] = frozenset(),
    parts: frozenset[Part] = frozenset({"written"}),
    timeout_s: float = _TIMEOUT_S,
) -> Judgement:
    return tool.journal.judge(target, Options("quick", timeout_s=timeout_s, only=only, parts=parts, smaller=False))


def _report(tool: Tool, target: Target, only: frozenset[str] = frozenset(), terms: Terms = NO_TERMS) -> Report:
    return _report_of(tool, target, _judged(tool, target, only), only, terms)


def _report_of(
    tool: Tool,
    target: Target,
    judgement: Judgement,
    only: frozenset[str] = frozenset(),
    terms: Terms = NO_TERMS,
) -> Report:
    return build(tool.journal, judgement, target, depth="normal", seed=1, only=only, terms=terms, cases={})


def _miniature(tool: Tool, *words: str) -> Target:
    return CommandTarget((sys.executable, "-m", "perdure_conformance.tool.miniatures", *words), connect=tool.connect)


def _marked(mark: str) -> set[int]:
    """Return the processes that have the mark among their words."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (process / "cmdline").read_bytes().split(b"\0"):
                found.add(int(process.name))
    return found
