"""Tools that are wrong, each in one way that a conformance suite really was or easily is."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

from perdure.journal.contract import Capabilities, Granted, Page
from perdure.kernel.values import JsonObject, JsonValue, canonical_json
from perdure_conformance.adapters.exchange import STATE_DIR, NotRecorded, exchange
from perdure_conformance.adapters.smoke import Fix, Smoked, smoke
from perdure_conformance.golden.coverage import gaps
from perdure_conformance.harness.connection import Silence, Unsupported
from perdure_conformance.harness.process import ProcessConnection
from perdure_conformance.harness.targets import Target
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.histories import verification
from perdure_conformance.histories.files import opened
from perdure_conformance.histories.sealing import sealed_anew
from perdure_conformance.histories.snapshots import verified_snapshot
from perdure_conformance.histories.stored import Damage, Stored
from perdure_conformance.histories.verification import head_of, verified_file
from perdure_conformance.journal.clauses import Clause
from perdure_conformance.journal.rules import RULES
from perdure_conformance.journal.world import AcquireStep, LoadStep
from perdure_conformance.requirements import Requirement
from perdure_conformance.terms import Expected, Surprise, parsed, surprises
from perdure_conformance.tool import mutants_of_explorations, mutants_of_gates, mutants_of_reports
from perdure_conformance.tool.samples import write
from perdure_conformance.tool.trial import Document, Tool, ToolMutant
from perdure_conformance.vectors.folder import Difference, Wanted, What, differences
from perdure_conformance.vectors.index import INDEX, read_index
from perdure_conformance.vectors.vector import Vector
from perdure_conformance.verdict import CONFORMANT, NOT_CONFORMANT, Depth, Evidence, Verdict


def _counts_failures_only(verdicts: Sequence[Verdict], depth: Depth, *, faulty: bool) -> int:
    del depth, faulty
    return NOT_CONFORMANT if "fail" in verdicts else CONFORMANT


def _passes_what_did_not_fail(evidence: Evidence) -> Verdict:
    return "fail" if evidence.broken else "pass"


def _lets_the_unreached_pass(evidence: Evidence) -> Verdict:
    verdict = RULES.verdict_on(evidence)
    return "pass" if verdict == "not_reached" else verdict


def _claims_everything(requirement: Requirement, claims: Capabilities, *, in_process: bool) -> bool:
    del requirement, claims, in_process
    return True


def _demands_full_pages(step: LoadStep) -> bool | None:
    return len(step.answer.records) == min(step.limit, len(step.rest)) if isinstance(step.answer, Page) else None


def _demands_the_next_epoch(step: AcquireStep) -> bool | None:
    return step.answer.epoch == step.lease.epoch + 1 if isinstance(step.answer, Granted) else None


def _laxly(line: bytes) -> dict[str, JsonValue]:
    try:
        message: dict[str, JsonValue] = json.loads(line)
    except ValueError:
        return {}
    return message


class TakesAnyId(ProcessConnection):
    """Takes whatever answer comes next for the answer."""

    def _exchange(self, request: bytes, method: str) -> bytes:
        message = _laxly(super()._exchange(request, method))
        return json.dumps({**message, "id": json.loads(request)["id"]}).encode() if message else b""


class SkipsWhatIsNoMessage(ProcessConnection):
    """Skips lines that are no JSON, as if they were not there."""

    def _exchange(self, request: bytes, method: str) -> bytes:
        line = super()._exchange(request, method)
        while not line.startswith(b"{"):
            line = super()._exchange(b"", method)
        return line


class ReadsLaxly(ProcessConnection):
    """Reads with a parser that keeps the last of two equal keys."""

    def _exchange(self, request: bytes, method: str) -> bytes:
        return json.dumps(_laxly(super()._exchange(request, method))).encode()


class IgnoresWhatNobodyAsked(ProcessConnection):
    """Throws away what was said between two requests."""

    def _refuse_unasked_output(self) -> None:
        self._received.clear()


class TakesSilenceForConsent(ProcessConnection):
    """Takes no answer for a kind one."""

    def __init__(self, command: Sequence[str], timeout_s: float, transcript: Transcript) -> None:
        super().__init__(command, timeout_s / 50, transcript)

    def call(self, method: str, params: JsonObject) -> JsonObject:
        try:
            return super().call(method, params)
        except Silence:
            if method not in _KIND_ANSWERS:
                raise Unsupported(method) from None
            return _KIND_ANSWERS[method]


_KIND_ANSWERS: dict[str, JsonObject] = {
    "initialize": {
        "name": "silent",
        "version": "1",
        "capabilities": {},
        "limits": {"max_batch_records": 1_000, "max_batch_bytes": 2**20, "max_snapshot_bytes": 2**20},
    },
    "append": {"acknowledged": []},
    "load": {"records": [], "end": True},
    "shutdown": {},
}


class ReadsLinesWithoutEnd(ProcessConnection):
    """Reads a line until it ends, if it ends."""

    def __init__(self, command: Sequence[str], timeout_s: float, transcript: Transcript) -> None:
        super().__init__(command, timeout_s, transcript)
        self._line_limit_bytes = 2**40


class KillsTheProgramOnly(ProcessConnection):
    """Kills the program that it started, and nothing that the program started."""

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


Records = Iterator[Stored]


def _verifying(through: Callable[[Records], Records]) -> Tool:
    """Return a tool that verifies what a function makes of the records in a file."""

    def verify(file: str, head: str | None) -> Document:
        with opened(file) as history:
            seen = replace(history, records=through(history.records))
            return verification.document(verification.verify(seen, None if head is None else head_of(head)))

    return Tool(verify=verify)


def _skipping_junk(records: Records) -> Records:
    return (stored for stored in records if stored.content.startswith(b"{"))


def _up_to_damage(records: Records) -> Records:
    with suppress(Damage):
        yield from records


def _sealed_anew(records: Records) -> Records:
    for stored in records:
        is_whole = stored.content.startswith(b"{") and stored.content.endswith(b"}")
        yield replace(stored, content=sealed_anew(stored.content)) if is_whole else stored


def _rounded(records: Records) -> Records:
    for stored in records:
        value = json.loads(stored.content, parse_float=lambda text: round(float(text), 6))
        yield replace(stored, content=canonical_json(value))


def _saying(change: Callable[[Document], Document]) -> Tool:
    """Return a tool that says something else of what it found out."""
    return Tool(verify=lambda file, head: change(verified_file(file, head)))


_SOUND: Document = {"verdict": "sound", "exit_code": CONFORMANT, "fault": None}


def _sound_if_nothing_is_wrong(found: Document) -> Document:
    return found if found["fault"] else {**found, **_SOUND}


def _sound_unless_changed(found: Document) -> Document:
    fault = found["fault"]
    return {**found, **_SOUND} if isinstance(fault, Mapping) and fault["check"] == "linkage" else found


def _broken_somewhere(found: Document) -> Document:
    fault = found["fault"]
    return {**found, "fault": {**fault, "check": "framing", "code": "broken"}} if isinstance(fault, Mapping) else found


def _anchored(found: Document) -> Document:
    return {**found, "anchored": "end"}


def _saying_of_snapshots(change: Callable[[Document], Document]) -> Tool:
    """Return a tool that says something else of what it found out about a snapshot."""
    return Tool(verify_snapshot=lambda file: change(verified_snapshot(file)))


def _found(found: Document) -> object:
    fault = found["fault"]
    return fault["check"] if isinstance(fault, Mapping) else None


def _sound_by_itself(found: Document) -> Document:
    return {**found, **_SOUND} if _found(found) in {"linkage", "rules"} else found


def _sound_if_its_record_is_there(found: Document) -> Document:
    return {**found, **_SOUND} if _found(found) == "rules" else found


def _all_checked(found: Document) -> Document:
    checks = found["checks"]
    assert isinstance(checks, Mapping)
    made = {"checked": True, "count": 1, "found": None}
    is_sound = found["fault"] is None
    return {**found, "checks": {**checks, "linkage": made, "rules": made}, "not_checked": []} if is_sound else found


def _converting(change: Callable[[bytes], bytes]) -> Tool:
    """Return a tool that writes each record otherwise than it stands there."""

    def convert(source: str, output: str) -> None:
        with opened(source) as history:
            write(Path(output), [change(stored.content) for stored in history.records])

    return Tool(convert=convert)


def _spelt_otherwise(line: bytes) -> bytes:
    return re.sub(rb'"kind":"([a-z_]+)"', lambda found: b'"kind":"' + found[1].upper() + b'"', line)


def _serialised_anew(line: bytes) -> bytes:
    return json.dumps(json.loads(line), separators=(",", ":"), sort_keys=True).encode()


def _none_that_fail(
    expected: Mapping[str, Expected], verdicts: Mapping[str, Verdict], actual: Mapping[str, object]
) -> tuple[Surprise, ...]:
    return tuple(each for each in surprises(expected, verdicts, actual) if each.kind != "otherwise")


def _none_unclaimed(
    expected: Mapping[str, Expected], verdicts: Mapping[str, Verdict], actual: Mapping[str, object]
) -> tuple[Surprise, ...]:
    return tuple(each for each in surprises(expected, verdicts, actual) if each.kind != "not_claimed")


def _warns_for_ever(requirement: Requirement, pinned: str | None, release: str) -> bool:
    del release
    return pinned is not None and parsed(requirement.since) > parsed(pinned)


def _compares_texts(requirement: Requirement, pinned: str | None, release: str) -> bool:
    return pinned is not None and pinned < requirement.since == release


def _ready_unless_a_rule_is_broken(target: Target, seconds: float) -> Smoked:
    found = smoke(target, seconds)
    return replace(found, fix=None) if found.fix is not None and found.fix.failure.startswith("fault:") else found


def _vaguely(target: Target, seconds: float) -> Smoked:
    found = smoke(target, seconds)
    return replace(found, fix=replace(found.fix, failure="JRN-001")) if found.fix is not None else found


def _demanding_all_claims(target: Target, seconds: float) -> Smoked:
    found = smoke(target, seconds)
    missing = next((step for step in found.steps if step.outcome == "not_claimed"), None)
    return found if missing is None else replace(found, fix=Fix("JRN-022", missing.name, "", "", "", "", ""))


def _recording_what_comes(target: Target, timeout_s: float) -> Sequence[JsonObject]:
    try:
        return exchange(target, timeout_s)
    except NotRecorded:
        return []


def _recording_yes_alone(target: Target, timeout_s: float) -> Sequence[JsonObject]:
    said = exchange(target, timeout_s)
    pairs = zip(said[::2], said[1::2], strict=True)
    return [message for pair in pairs if "refused" not in str(pair[1]) for message in pair]


def _recording_the_folder() -> Callable[[Target, float], Sequence[JsonObject]]:
    numbers = count()

    def record(target: Target, timeout_s: float) -> Sequence[JsonObject]:
        number = next(numbers)
        text = json.dumps(exchange(target, timeout_s))
        said: Sequence[JsonObject] = json.loads(text.replace(STATE_DIR, f"{STATE_DIR}-{number}"))
        return said

    return record


def _telling(what: Callable[[Difference], bool]) -> Tool:
    """Return a tool that tells some differences of a folder of vectors alone."""
    return Tool(differences=lambda files, wanted: [each for each in differences(files, wanted) if what(each)])


def _meaning(content: bytes) -> bytes:
    try:
        return canonical_json(json.loads(content))
    except ValueError:
        return content


def _differences_of_meaning(files: Mapping[str, bytes], wanted: Wanted) -> list[Difference]:
    same = {path: wanted.contents.get(path, b"") for path in files}
    meant = {path: same[path] if _meaning(files[path]) == _meaning(same[path]) else files[path] for path in files}
    return differences(meant, wanted)


def _differences_from_its_own_index(files: Mapping[str, bytes], wanted: Wanted) -> list[Difference]:
    digests = {hashlib.sha256(content).hexdigest() for content in files.values()}
    sound = {file.sha256 for each in read_index(files[INDEX]).vectors for file in each.files} <= digests
    return [] if sound else differences(files, wanted)


def _is_not(what: What) -> Callable[[Difference], bool]:
    return lambda difference: difference.what != what


def _gaps_but_versions(vectors: Sequence[Vector]) -> list[str]:
    return [gap for gap in gaps(vectors) if not gap.startswith(("event ", "upcast ", "versions "))]


def _without_places(files: Mapping[str, bytes], wanted: Wanted) -> list[Difference]:
    return [replace(each, sentence=f"{each.file} differs") for each in differences(files, wanted)]


def _connecting(connection: Callable[..., ProcessConnection]) -> Tool:
    return Tool(connect=connection)


TOOL_MUTANTS: tuple[ToolMutant, ...] = (
    ToolMutant(
        "PassesAnEmptySelection",
        "TOL-001",
        "counts failures, and finds none where nothing was judged",
        Tool(replace(RULES, exit_code=_counts_failures_only)),
    ),
    ToolMutant(
        "PassesTheUnreached",
        "TOL-002",
        "lets a requirement pass that no operation ever reached",
        Tool(replace(RULES, verdict_on=_lets_the_unreached_pass)),
    ),
    ToolMutant(
        "BelievesEveryYes",
        "TOL-003",
        "looks at no refusal and at no record, so that a yes is enough",
        Tool(
            replace(
                RULES,
                clauses=tuple(
                    clause for clause in RULES.clauses if clause.requirement in {"JRN-001", "JRN-014", "JRN-021"}
                ),
            )
        ),
    ),
    ToolMutant(
        "BelievesEveryNo",
        "TOL-003",
        "demands no acknowledgement, so that a no is enough",
        Tool(
            replace(
                RULES,
                clauses=tuple(clause for clause in RULES.clauses if clause.requirement in {"JRN-012", "JRN-021"}),
            )
        ),
    ),
    ToolMutant(
        "DemandsFullPages",
        "TOL-004",
        "demands that a page holds as many records as it may",
        Tool(replace(RULES, clauses=(*RULES.clauses, Clause("JRN-021", LoadStep, _demands_full_pages)))),
    ),
    ToolMutant(
        "DemandsTheNextEpoch",
        "TOL-004",
        "demands that epochs grow by one",
        Tool(replace(RULES, clauses=(*RULES.clauses, Clause("LSE-001", AcquireStep, _demands_the_next_epoch)))),
    ),
    ToolMutant(
        "ShrinksToAnything",
        "TOL-005",
        "keeps a smaller case without playing it, or whatever it does",
        Tool(replace(RULES, same_failure=lambda seen, wanted: True)),  # noqa: ARG005
    ),
    ToolMutant("TakesAnyId", "TOL-006", "takes whatever answer comes next", _connecting(TakesAnyId)),
    ToolMutant("SkipsWhatIsNoMessage", "TOL-006", "skips lines that are no message", _connecting(SkipsWhatIsNoMessage)),
    ToolMutant("ReadsLaxly", "TOL-006", "keeps the last of two equal keys", _connecting(ReadsLaxly)),
    ToolMutant(
        "IgnoresWhatNobodyAsked", "TOL-006", "ignores what nobody asked for", _connecting(IgnoresWhatNobodyAsked)
    ),
    ToolMutant(
        "TakesSilenceForConsent", "TOL-006", "takes silence for an empty answer", _connecting(TakesSilenceForConsent)
    ),
    ToolMutant(
        "PassesWhatDidNotFail",
        "TOL-006",
        "gives a pass where the judgement was cut short",
        Tool(replace(RULES, verdict_on=_passes_what_did_not_fail, exit_code=_counts_failures_only)),
    ),
    ToolMutant("ReadsLinesWithoutEnd", "TOL-007", "reads a line until it ends", _connecting(ReadsLinesWithoutEnd)),
    ToolMutant("KillsTheProgramOnly", "TOL-008", "kills the program alone", _connecting(KillsTheProgramOnly)),
    ToolMutant(
        "JudgesTheUnclaimed",
        "TOL-009",
        "judges what was never claimed",
        Tool(replace(RULES, is_claimed=_claims_everything)),
    ),
    ToolMutant(
        "BlamesTheGeneral",
        "TOL-010",
        "blames the most general requirement that an answer breaks",
        Tool(replace(RULES, blame=lambda broken: broken[-1])),
    ),
    ToolMutant(
        "PassesTheEmpty",
        "TOL-011",
        "calls a history sound of which it read nothing",
        _saying(_sound_if_nothing_is_wrong),
    ),
    ToolMutant("SaysBrokenAlone", "TOL-011", "says that a history is broken, and not how", _saying(_broken_somewhere)),
    ToolMutant("ComparesNoChecksum", "TOL-011", "takes any content for what was sealed", _verifying(_sealed_anew)),
    ToolMutant("ChecksNoLink", "TOL-011", "looks at each record alone", _saying(_sound_unless_changed)),
    ToolMutant("RoundsNumbers", "TOL-011", "hashes numbers with six digits behind the point", _verifying(_rounded)),
    ToolMutant("SkipsJunk", "TOL-012", "reads over what is no record", _verifying(_skipping_junk)),
    ToolMutant("StopsAtDamage", "TOL-012", "takes damage for the end of the file", _verifying(_up_to_damage)),
    ToolMutant("AnchorsEveryEnd", "TOL-012", "takes the last record for the head", _saying(_anchored)),
    ToolMutant("SpellsOtherwise", "TOL-013", "writes the kinds of outcomes in capitals", _converting(_spelt_otherwise)),
    ToolMutant("SerialisesAnew", "TOL-013", "writes what it read, with its own digits", _converting(_serialised_anew)),
    ToolMutant(
        "ExcusesWhatPasses",
        "TOL-014",
        "keeps the entries of expected failures that were mended",
        Tool(replace(RULES, surprises=lambda expected, verdicts, actual: ())),  # noqa: ARG005
    ),
    ToolMutant(
        "ExcusesAnyAnswer",
        "TOL-014",
        "takes a requirement that fails otherwise for the failure that is known",
        Tool(replace(RULES, surprises=_none_that_fail)),
    ),
    ToolMutant(
        "ExcusesTheUnclaimed",
        "TOL-014",
        "keeps the entries of expected failures that nothing judges any more",
        Tool(replace(RULES, surprises=_none_unclaimed)),
    ),
    ToolMutant(
        "CountsWhatIsNewAtOnce",
        "TOL-015",
        "fails whoever has pinned an earlier release for what is new",
        Tool(replace(RULES, in_grace=lambda requirement, pinned, release: False)),  # noqa: ARG005
    ),
    ToolMutant(
        "WarnsForEver",
        "TOL-015",
        "counts nothing that came after the release that is pinned",
        Tool(replace(RULES, in_grace=_warns_for_ever)),
    ),
    ToolMutant(
        "ComparesReleasesAsText",
        "TOL-015",
        "takes 0.10 for an earlier release than 0.9",
        Tool(replace(RULES, in_grace=_compares_texts)),
    ),
    ToolMutant(
        "LooksAtSnapshotsAlone",
        "TOL-016",
        "verifies a snapshot, and never its record",
        _saying_of_snapshots(_sound_by_itself),
    ),
    ToolMutant(
        "BelievesTheState",
        "TOL-016",
        "finds the record of a snapshot, and takes the state for its own",
        _saying_of_snapshots(_sound_if_its_record_is_there),
    ),
    ToolMutant(
        "ChecksWhatIsNotThere",
        "TOL-016",
        "says that a snapshot fits its history where there is none",
        _saying_of_snapshots(_all_checked),
    ),
    *mutants_of_reports.MUTANTS,
    ToolMutant(
        "ReadyDespiteFaults",
        "TOL-021",
        "says that nothing is wrong where the adapter is at fault",
        Tool(smoke=_ready_unless_a_rule_is_broken),
    ),
    ToolMutant("TellsVaguely", "TOL-021", "names the same requirement, whatever is wrong", Tool(smoke=_vaguely)),
    ToolMutant(
        "DemandsAllClaims", "TOL-021", "takes what is not claimed for what is wrong", Tool(smoke=_demanding_all_claims)
    ),
    ToolMutant("RecordsWhatComes", "TOL-022", "records what is wrong as well", Tool(exchange=_recording_what_comes)),
    ToolMutant("RecordsYesAlone", "TOL-022", "leaves refusals out", Tool(exchange=_recording_yes_alone)),
    ToolMutant(
        "RecordsTheFolder", "TOL-022", "records the folder of the state", Tool(exchange=_recording_the_folder())
    ),
    *mutants_of_gates.MUTANTS,
    ToolMutant("OverlooksMissingFiles", "TOL-023", "compares the files that are there", _telling(_is_not("missing"))),
    ToolMutant("OverlooksForeignFiles", "TOL-023", "compares the files of vectors alone", _telling(_is_not("extra"))),
    ToolMutant("ComparesQuestionsAlone", "TOL-023", "compares no answers", _telling(_is_not("answer"))),
    ToolMutant(
        "ComparesMeanings",
        "TOL-023",
        "takes JSON for the same however it is spelt",
        Tool(differences=_differences_of_meaning),
    ),
    ToolMutant(
        "TrustsTheIndex",
        "TOL-023",
        "holds files against the index beside them, and that against nothing",
        Tool(differences=_differences_from_its_own_index),
    ),
    ToolMutant(
        "SaysDifferentAlone", "TOL-023", "says that it differs, and not where", Tool(differences=_without_places)
    ),
    ToolMutant("LooksForNoGap", "TOL-024", "compares vectors, and asks for no more", Tool(gaps=lambda vectors: [])),  # noqa: ARG005
    ToolMutant("CountsTypesOnce", "TOL-024", "takes an event of one version for all", Tool(gaps=_gaps_but_versions)),
    *mutants_of_explorations.MUTANTS,
)
