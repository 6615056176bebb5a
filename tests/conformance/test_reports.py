"""Reports: rendered from their folders alone, inert whatever they say, bounded, never a bare green, compared."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import xmlschema
from jsonschema import Draft202012Validator
from tests.conformance.helpers import PERDURE, ROOT, compiled
from tests.conformance.histories import run

from perdure.kernel.values import JsonValue
from perdure_conformance import data
from perdure_conformance.reports import (
    bounded,
    comparison,
    difference,
    junit,
    page,
    reading,
    rendering,
    summary,
    telling,
)
from perdure_conformance.reports.inert import cut, inert
from perdure_conformance.reports.picture import picture
from perdure_conformance.reports.reading import ReportRefused
from perdure_conformance.reports.rendering import FORMATS, FormatName
from perdure_conformance.reports.report import IN_PART
from perdure_conformance.timeline import Moment, Timeline
from perdure_conformance.tool import folders
from perdure_conformance.tool.renderings import LONG, TEXTS

MUTANTS = "perdure_conformance.journal.mutants"
ADAPTER = Path(__file__).with_name("hostile_adapter.py")
NOT_CONFORMANT = folders.ALL_BUT_GREEN["not conformant"]


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of a broken journal."""
    folder = tmp_path_factory.mktemp("broken") / "report"
    words = ("journal", f"{MUTANTS}:KeepsTheLoser", "--only", "JRN-007", "--depth", "quick")
    assert run("check", *words, "--report", str(folder)).exit_code == 1
    return folder


@pytest.fixture(scope="module", params=["writes-markup", "exit-1-with-escapes"])
def hostile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of an adapter that says what steers whoever reads it."""
    program = compiled(ADAPTER, tmp_path_factory.mktemp("hostile"))
    folder = tmp_path_factory.mktemp("judged") / "report"
    command = f"{sys.executable} -S {program} {request.param}"
    done = run(
        "check", "journal", "--command", command, "--depth", "quick", "--only", "JRN-002", "--report", str(folder)
    )
    assert done.exit_code in {1, 3}
    return folder


def valid_junit(text: str) -> None:
    xmlschema.XMLSchema(str(data.schemas() / "junit-1.xsd")).validate(text)


class Tags(HTMLParser):
    """The tags of a page, and their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


# --- What a check writes ----------------------------------------------------------------


def test_a_check_writes_every_format_and_report_writes_the_same_again(broken: Path) -> None:
    files = {each.file: (broken / each.file).read_bytes() for each in FORMATS.values() if each.file is not None}
    assert len(files) == 4
    done = run("report", str(broken))
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [str(broken / name) for name in files]
    assert {name: (broken / name).read_bytes() for name in files} == files


@pytest.mark.parametrize("form", FORMATS)
def test_one_format_is_printed_or_written_to_a_file(broken: Path, tmp_path: Path, form: FormatName) -> None:
    printed = run("report", str(broken / "report.json"), "--format", form)
    assert printed.exit_code == 0
    assert printed.stdout == rendering.rendered(broken, form)
    assert not run("report", str(broken), "--format", form, "--output", str(tmp_path / "out")).stdout
    assert (tmp_path / "out").read_text("utf-8") == printed.stdout
    assert run("report", str(broken), "--format", form, "--output", "/dev/null").exit_code == 0
    assert Path("/dev/null").is_char_device()


def test_the_page_shows_the_case_the_difference_the_kill_and_the_line_that_plays_it_again(tmp_path: Path) -> None:
    text = rendering.rendered(folders.write(tmp_path, folders.document(NOT_CONFORMANT)), "html")
    found = Tags(text)
    assert "script" not in found.tags
    assert {"svg", "mark", "table", "h1", "details"} <= set(found.tags)
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert ("content", policy) in found.attributes
    outside = [
        value for name, value in found.attributes if name in {"src", "href"} and not (value or "").startswith("#")
    ]
    assert outside == []
    assert "url(" not in text
    assert "kill -9 every process and start again" in text
    assert 'class="across kill"' in text
    assert "perdure rerun r/failures/JRN-007" in text
    assert text.index("NOT CONFORMANT") < text.index("Not covered") < text.index("What failed")


def test_annotations_are_printed_where_they_are_asked_for_and_never_into_json(tmp_path: Path) -> None:
    judged = ("check", "journal", f"{MUTANTS}:KeepsTheLoser", "--only", "JRN-007", "--depth", "quick")
    words = (*judged, "--report", str(tmp_path / "report"))
    asked = run(*words, "--annotations", "github")
    commands = [line for line in asked.stdout.splitlines() if line.startswith("::")]
    assert [line.partition(" ")[0] for line in commands] == ["::error", "::notice"]
    assert commands[0].startswith(
        "::error title=JRN-007 is broken::An append that is refused stores nothing: afterwards"
    )
    assert commands == rendering.rendered(tmp_path / "report", "github").splitlines()
    as_json = run(*words, "--annotations", "github", "--json")
    assert json.loads(as_json.stdout)["exit_code"] == 1
    assert "::error title=JRN-007 is broken::" in as_json.stderr
    assert "::error" not in run(*words).output


def test_a_report_for_which_there_is_no_room_is_not_there_in_part(tmp_path: Path) -> None:
    words = [*PERDURE, "check", "journal", "memory", "--only", "JRN-001", "--depth", "quick"]
    done = subprocess.run(  # No file may have more than 1 KiB: the disk is full.
        ["bash", "-c", f"ulimit -f 1; {shlex.join(words)}"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "The verdict stands, and is not kept." in done.stderr
    assert "report.html" not in done.stdout
    assert [path.name for path in (tmp_path / "perdure-report").iterdir()] == ["failures"]


def test_what_an_earlier_check_rendered_does_not_outlive_its_report(tmp_path: Path) -> None:
    folder = folders.write(tmp_path, folders.document())
    rendering.write_all(reading.read(folder), folder)
    (folder / "mine.txt").write_text("mine", "utf-8")
    rendering.remove_old(folder)
    assert {path.name for path in folder.iterdir()} == {"report.json", "mine.txt"}


# --- Inert, and bounded -----------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_what_a_hostile_adapter_says_is_text(hostile: Path, form: FormatName) -> None:
    told = rendering.rendered(hostile, form)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", told)
    if form != "github":
        assert not re.search(r"^\s*::|##\[", told, re.MULTILINE)
    match form:
        case "html":
            assert not {"script", "img"} & set(Tags(told).tags)
            assert "{{7*7}}" in told or "exited with code 1" in told
        case "junit":
            valid_junit(told)
        case "github":
            assert all(line.startswith("::") for line in told.splitlines())
        case "badge":
            assert json.loads(told)["schemaVersion"] == 1
        case "markdown":
            assert "](http" not in re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", told, flags=re.DOTALL)


@pytest.mark.parametrize("text", [*TEXTS, LONG], ids=range(len(TEXTS) + 1))
def test_a_report_edited_by_a_hostile_hand_is_told_in_valid_xml(tmp_path: Path, text: str) -> None:
    for name, options in {"passing": folders.Options(), **folders.ALL_BUT_GREEN}.items():
        folder = folders.write(tmp_path / name, folders.document(options, text), text)
        valid_junit(rendering.rendered(folder, "junit"))


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("::error::x", r"\x3a:error::x"),
        ("a\n  ::x", "a\n  \\x3a:x"),
        ("a ::x", "a ::x"),
        ("##[group]", r"\x23#[group]"),
        ("##vso[x]", r"\x23#vso[x]"),
        ("## heading", "## heading"),
        ("\x1b[31m\ud800\u202e", r"\x1b[31m\ud800\u202e"),
    ],
)
def test_what_steers_is_escaped(text: str, harmless: str) -> None:
    assert inert(text) == harmless
    assert inert(harmless) == harmless


def test_what_is_cut_says_how_much_is_left_out() -> None:
    assert cut("abc", 3) == "abc"
    assert cut("abcde", 3) == "abc… (2 more characters are left out)"


@pytest.mark.parametrize("text", ["plain words, as they are.", "a `b` c", "JRN-007 and x_y (so)", 'it is "anywhere".'])
def test_plain_words_are_markdown_as_they_are(text: str) -> None:
    assert summary.prose(text) == text


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("a*b", "`a*b`"),
        ("1. one", "`1.` one"),
        ("a | b", "a `\\x7c` b"),
        ("a@b.c", "`a@b.c`"),
        ("www.x.y", "`www.x.y`"),
        ("`", "`` ` ``"),
        ("a `b", "``a `b``"),
        ("<b>", "`<b>`"),
    ],
)
def test_other_words_are_code(text: str, quoted: str) -> None:
    assert summary.prose(text) == quoted


def test_the_end_of_a_long_standard_error_is_shown(tmp_path: Path) -> None:
    folder = folders.write(tmp_path, folders.document(NOT_CONFORMANT))
    lines = "".join(f"line {number}\n" for number in range(200_000))
    (folder / "failures" / folders.BROKEN / "stderr.txt").write_text(lines, "utf-8")
    (told,) = telling.tell(reading.read(folder)).failures
    assert told.stderr[-1] == "line 199999"
    assert told.stderr[0].endswith("earlier lines are left out)")
    assert len(told.stderr) == 41


# --- What is refused --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"exit_code": 1}, "contradicts itself: its exit_code is 1, and its verdicts come to 0"),
        ({"level": 7}, "is no report: at '/level'"),
        ({"durations": {"a": 1e308, "b": 1e308}}, "contradicts itself: its durations are more than a number can be"),
        ({"requirements_digest": "0" * 64 + "\n"}, "is no report"),
        ({"suite": {"name": "other", "version": "1", "profile": "journal"}}, "is no report: at '/suite/name'"),
        ({"seed": -1}, "is no report: at '/seed'"),
        ({"capabilities": []}, "is no report"),
        ({"green": True}, "is no report"),
    ],
)
def test_a_report_that_cannot_be_is_refused_in_one_sentence(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    folders.write(tmp_path, {**folders.document(), **change})
    done = run("report", str(tmp_path))
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "content", ["", "[]", "null", "{", '{"a":1,"a":2}', '"\\ud800"', "[" * 100_000, "\x00", '{"a":1e999}']
)
def test_what_is_no_report_is_refused_in_one_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / "report.json").write_text(content, "utf-8")
    done = run("report", str(tmp_path), "--format", "html")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "is no report" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["report", "nowhere"], "cannot be read: No such file or directory. Give the folder that a check has written"),
        (["report", "a" * 5_000], "cannot be read"),
        (["report", "\x1b[31m"], "cannot be read"),
        (["report", ".", "--output", "x"], "--output belongs to --format"),
        (["report", ".", "--format", "pdf"], "pdf"),
        (["report", ".", "--format", "html", "--output", "/dev/null/x"], "cannot be written"),
    ],
)
def test_wrong_words_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: Sequence[str], said: str) -> None:
    monkeypatch.chdir(folders.write(tmp_path, folders.document()))
    done = run(*words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "\x1b" not in done.stderr
    assert not done.stdout


def test_cases_that_are_too_large_together_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = {"JRN-006": "fail", "JRN-007": "fail", "JRN-008": "fail"}
    folder = folders.write(tmp_path, folders.document(folders.Options(verdicts, 1, "none", outcome="not_conformant")))
    size_bytes = (folder / "failures/JRN-006/case.json").stat().st_size
    monkeypatch.setattr(reading, "_CASES_BYTES", size_bytes * 3 // 2)
    first, *others = [failed.problem for failed in reading.read(folder).failures]
    assert not first
    assert all(problem.endswith("is larger than any case, or all cases together are.") for problem in others)


def test_a_link_is_not_followed_on_a_system_without_a_flag_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded, "_NO_LINK", 0)
    folder = folders.write(tmp_path / "report", folders.document())
    (folder / "report.json").rename(tmp_path / "elsewhere.json")
    (folder / "report.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(ReportRefused, match=r"cannot be read: Too many levels of symbolic links\."):
        reading.read(folder)


def test_a_pipe_and_a_link_are_not_waited_for_and_not_followed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "report.json")
    with pytest.raises(ReportRefused, match="it is no file"):
        reading.read(tmp_path)
    folder = folders.write(tmp_path / "report", folders.document(NOT_CONFORMANT))
    (folder / "failures").rename(tmp_path / "failures")
    (folder / "failures").symlink_to(tmp_path / "failures")
    (told,) = telling.tell(reading.read(folder)).failures
    assert told.problem.endswith("is a link, which is not followed.")


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("case.json", None, "cannot be read: No such file"),
        ("case.json", "[]", "is no case"),
        ("case.json", "other", "and not of JRN-007"),
        ("found.json", "{}", "says nothing of a failure"),
        ("stderr.txt", None, "cannot be read"),
    ],
)
def test_a_failure_that_cannot_be_read_is_told_in_its_place(
    tmp_path: Path, file: str, content: str | None, said: str
) -> None:
    folder = folders.write(tmp_path, folders.document(NOT_CONFORMANT))
    path = folder / "failures" / folders.BROKEN / file
    if content is None:
        path.unlink()
    else:
        path.write_text(
            path.read_text("utf-8").replace("JRN-007", "JRN-008") if content == "other" else content, "utf-8"
        )
    (told,) = telling.tell(reading.read(folder)).failures
    assert said in told.problem
    assert all(rendering.rendered(folder, form) for form in FORMATS)


# --- What is told -----------------------------------------------------------------------


def test_what_was_told_of_one_failure_is_not_told_again_of_another(tmp_path: Path) -> None:
    verdicts = {"JRN-006": "fail", "JRN-007": "fail"}
    folder = folders.write(tmp_path, folders.document(folders.Options(verdicts, 1, "none", outcome="not_conformant")))
    first, second = telling.tell(reading.read(folder)).failures
    assert first.steps
    assert (second.same_as, second.steps) == ("JRN-006", ())
    assert 'href="#failure-JRN-006"' in page.render(telling.tell(reading.read(folder)))


def test_what_was_not_reached_at_a_depth_that_allows_it_is_skipped(tmp_path: Path) -> None:
    options = folders.Options({**folders.PASSING, "JRN-009": "not_reached"})
    folder = folders.write(tmp_path, {**folders.document(options), "depth": "quick"})
    text = junit.render(telling.tell(reading.read(folder)))
    valid_junit(text)
    assert 'failures="0" errors="0" skipped="2"' in text
    broken = folders.Options({**options.verdicts, "JRN-007": "fail"}, 1, "none", outcome="not_conformant")
    folder = folders.write(tmp_path / "broken", {**folders.document(broken), "depth": "quick"})
    assert 'failures="2" errors="0" skipped="2"' in junit.render(telling.tell(reading.read(folder)))


def test_many_failures_are_left_out_and_it_is_said_so(tmp_path: Path) -> None:
    verdicts = {f"JRN-{number:03}": "fail" for number in range(60)}
    folder = folders.write(tmp_path, folders.document(folders.Options(verdicts, 1, "none", outcome="not_conformant")))
    assert "10 more failures are left out here" in rendering.rendered(folder, "html")
    assert "50 more failures are left out here" in rendering.rendered(folder, "markdown")
    errors = [line for line in rendering.rendered(folder, "github").splitlines() if line.startswith("::error")]
    assert len(errors) == 10
    assert errors[-1].startswith("::error title=51 more errors are left out::JRN-009 is broken, JRN-010 is broken, ")


def test_a_summary_tells_failures_as_long_as_there_is_room_and_counts_the_others(tmp_path: Path) -> None:
    verdicts = {f"JRN-{number:03}": "fail" for number in range(10)}
    report = folders.document(folders.Options(verdicts, 1, "none", outcome="not_conformant"))
    told = rendering.rendered(folders.write(tmp_path, report, LONG[:2_000], rounds=24), "markdown")
    assert len(told.encode()) <= summary.MOST_BYTES
    shown = len(re.findall(r"^### JRN-", told, re.MULTILINE))
    assert 1 < shown < 9
    assert f"{10 - shown} more failures are left out here" in told


def test_github_is_given_as_many_errors_and_warnings_as_it_shows(tmp_path: Path) -> None:
    names = [f"JRN-{number:03}" for number in range(36)]
    broken, excused, surprising = names[:12], names[12:24], names[24:]
    verdicts = {**dict.fromkeys([*broken, *excused], "fail"), **dict.fromkeys(surprising, "pass")}
    options = folders.Options(verdicts, 1, "none", outcome="not_conformant", excused=excused, surprises=surprising)
    folder = folders.write(tmp_path, folders.document(options))
    told = rendering.rendered(folder, "github").splitlines()
    assert [line.partition(" ")[0] for line in told] == ["::error"] * 10 + ["::warning"] * 10 + ["::notice"]
    assert told[9].startswith("::error title=15 more errors are left out::An expected failure is not as expected, ")
    assert "JRN-011 is broken" in told[9]
    assert told[19].startswith("::warning title=3 more warnings are left out::JRN-021 is broken, expected, ")


def test_a_difference_is_marked_where_it_is() -> None:
    expected, actual = difference.marked({"a": 1, "b": "x" * 40 + "y"}, {"a": 2, "b": "x" * 40 + "z"})
    assert [piece.text for piece in expected if piece.differs] == ["1", "y"]
    assert [piece.text for piece in actual if piece.differs] == ["2", "z"]
    assert "".join(piece.text for piece in expected) == json.dumps({"a": 1, "b": "x" * 40 + "y"}, indent=2)


@pytest.mark.parametrize(
    ("expected", "actual", "of_one", "of_other"),
    [
        ([1, 2, 3], [1, 3], ["2"], []),
        ([1, 2], [1, 5, 2], [], ["5"]),
        ({"a": 1}, {"b": 1}, ['"a"', "1"], ['"b"', "1"]),
        ({"a": {"b": True}}, {"a": {"b": 1}}, ["true"], ["1"]),
        ({"a": []}, {"a": {}}, ["[]"], ["{}"]),
        ("held", {"held": 1}, ["held"], ['{\n  "held": 1\n}']),
        (None, [], ["null"], ["[]"]),
        ({"a": [{"b": 1, "c": 2}]}, {"a": []}, ["{", '"b": 1,', '"c": 2', "}"], ["[]"]),
        ([1], [1], [], []),
    ],
)
def test_only_what_differs_is_marked(expected: object, actual: object, of_one: list[str], of_other: list[str]) -> None:
    found = difference.marked(expected, actual)
    assert [[piece.text for piece in side if piece.differs] for side in found] == [of_one, of_other]
    for side, value in zip(found, (expected, actual), strict=True):
        text = value if isinstance(value, str) else json.dumps(value, indent=2)
        assert "".join(piece.text for piece in side) == text


def test_a_long_difference_is_shown_from_shortly_before_it_begins() -> None:
    one = [f"item {number}" for number in range(5_000)]
    expected, actual = difference.marked(one, [*one[:2_500], "other", *one[2_501:]])
    assert [piece.text for piece in actual if piece.differs] == ['"other"']
    text = "".join(piece.text for piece in expected)
    assert "before this are left out" in text
    assert "more characters are left out" in text
    assert len(text) < 4_200


def test_a_picture_shows_the_last_moments_and_says_what_it_leaves_out() -> None:
    moments = tuple(Moment(number % 12, f"moment {number}\x1b") for number in range(100))
    found = picture(Timeline(tuple(f"lane {number}" for number in range(12)), moments), is_known_to_fail=True)
    assert found is not None
    assert found.note == "The 60 earlier ones are left out."
    assert [lane.name for lane in found.lanes][-1] == "others"
    assert found.dots[-1].fails
    assert found.dots[-1].words == r"moment 99\x1b"
    assert picture(Timeline((), ()), is_known_to_fail=True) is None


def test_a_badge_has_what_shields_asks_for(tmp_path: Path) -> None:
    told = json.loads(rendering.rendered(folders.write(tmp_path, folders.document()), "badge"))
    assert told == {
        "schemaVersion": 1,
        "label": "perdure journal",
        "message": f"{folders.LEVEL}, 2 of 3 pass, 1 not judged",
        "color": "brightgreen",
        "isError": False,
    }


# --- Two reports ------------------------------------------------------------------------


def compared(tmp_path: Path, before: folders.Options, after: folders.Options, *words: str) -> Any:
    places = [
        str(folders.write(tmp_path / name, folders.document(options)))
        for name, options in {"before": before, "after": after}.items()
    ]
    return run("diff", *places, *words)


def test_a_regression_is_told_by_name(tmp_path: Path) -> None:
    done = compared(tmp_path, folders.Options(), NOT_CONFORMANT)
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        f"1 REGRESSION  CONFORMANT ({folders.LEVEL}) before, NOT CONFORMANT after",
        "  worse    JRN-007  pass → fail",
    ]


def test_whatever_else_may_be_different_stands_in_the_schema_of_a_comparison(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text(json.dumps(folders.document()), "utf-8")
    schema = json.loads((data.schemas() / "report-diff-1.json").read_text("utf-8"))
    told = schema["properties"]["conditions"]["items"]["properties"]["what"]["enum"]
    assert told == list(comparison.terms(reading.read_document(report)))


def test_what_is_better_is_no_regression(tmp_path: Path) -> None:
    done = compared(tmp_path, NOT_CONFORMANT, folders.Options({**folders.PASSING, "JRN-017": "pass"}), "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    Draft202012Validator(json.loads((data.schemas() / "report-diff-1.json").read_text("utf-8"))).validate(found)
    assert found["changes"] == [
        {"id": "JRN-007", "before": "fail", "after": "pass", "way": "better"},
        {"id": "JRN-017", "before": "not_claimed", "after": "pass", "way": "better"},
    ]
    assert found["newly_covered"] == ["JRN-017"]
    assert found["outcome"] == {"before": "not_conformant", "after": "conformant"}
    assert found["exit_codes"] == {"before": 1, "after": 0}


def test_the_comparison_in_the_documentation_is_real(
    broken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("check", "journal", "memory", "--only", "JRN-007", "--depth", "quick", "--report", "before")
    (tmp_path / "perdure-report").symlink_to(broken)
    page_of_reports = (ROOT / "docs/reports.md").read_text("utf-8")
    command, *shown = page_of_reports.partition("```\n$ perdure ")[2].partition("```")[0].splitlines()
    printed = run(*command.split()).stdout.splitlines()
    for line, real in zip(shown, printed, strict=True):
        assert re.fullmatch(".*".join(re.escape(part) for part in line.split("…")), real)


def test_each_requirement_is_told_once_in_the_section_that_fits(tmp_path: Path) -> None:
    part = folders.Options({"JRN-001": "pass"}, 0, IN_PART)
    pairs = {
        "wider": (part, NOT_CONFORMANT),
        "narrower": (NOT_CONFORMANT, part),
        "better": (folders.Options(), folders.Options({**folders.PASSING, "JRN-017": "pass"})),
    }
    told = {name: compared(tmp_path / name, *pair).stdout.splitlines()[1:] for name, pair in pairs.items()}
    assert told["wider"] == ["  worse    JRN-007  not judged → fail", "  other selection: a part → everything"]
    assert told["narrower"] == ["  no longer covered: JRN-007", "  other selection: everything → a part"]
    assert told["better"] == ["  better   JRN-017  not_claimed → pass"]
    alone = compared(tmp_path / "alone", part, folders.Options())
    assert alone.stdout.splitlines()[1:] == ["  newly covered: JRN-007", "  other selection: a part → everything"]


def test_what_is_claimed_no_longer_is_told(tmp_path: Path) -> None:
    claimed: dict[str, JsonValue] = {**folders.document()}
    claimed["capabilities"] = {"fencing": True, "durable": "sector", "snapshots": False}
    fewer: dict[str, JsonValue] = {**claimed, "capabilities": {"fencing": False, "durable": "ordered"}}
    places = [str(folders.write(tmp_path / name, each)) for name, each in (("before", claimed), ("after", fewer))]
    told = run("diff", *places).stdout.splitlines()
    assert told[1:] == ["  other claims: fencing, durable=sector → durable=ordered"]


def test_what_passed_and_was_not_selected_is_told_together_with_what_to_do(tmp_path: Path) -> None:
    part = folders.Options({"JRN-001": "pass"}, 0, IN_PART)
    done = compared(tmp_path, folders.Options({"JRN-001": "pass", "JRN-003": "pass", "JRN-007": "pass"}), part)
    assert done.exit_code == 1
    assert done.stdout.splitlines()[1:] == [
        (
            "  worse    passed, and the second report did not select it: JRN-003, JRN-007. "
            "Compare it with one of the same selection, or select everything."
        ),
        "  other selection: everything → a part",
    ]


def test_gaps_that_are_left_out_are_counted(tmp_path: Path) -> None:
    before = folders.document()
    after = {**before, "not_covered": [f"gap {number}" for number in range(103)]}
    places = (folders.write(tmp_path / name, each) for name, each in (("before", before), ("after", after)))
    opened = comparison.compare(*map(reading.read_document, places)).gaps_opened
    assert len(opened) == 101
    assert opened[-2:] == ("gap 99", "and 3 more, which are left out")


def test_reports_of_two_profiles_are_not_compared(tmp_path: Path) -> None:
    done = compared(tmp_path, folders.Options(), folders.Options(profile="spec"))
    assert done.exit_code == 2
    assert "judges as a journal, and the other as a spec" in done.stderr


def test_a_report_is_told_from_a_history_by_what_it_says(tmp_path: Path) -> None:
    report = folders.write(tmp_path / "report", folders.document())
    history = tmp_path / "history.jsonl"
    history.write_text('{"payload":"\\"report_version\\""}\n', "utf-8")
    assert not reading.is_report(str(history))
    assert reading.is_report(str(report))
    assert reading.is_report(str(report / "report.json"))
    torn = tmp_path / "torn.json"
    torn.write_bytes((report / "report.json").read_bytes()[:-9])
    for other, why in (
        (str(history), f"{history} is no report: "),
        (str(torn), f"{torn} is no report: not JSON"),
        (str(tmp_path / "nowhere"), f"{tmp_path / 'nowhere'} cannot be read: No such file"),
        ("-", "standard input is read as a history"),
    ):
        mixed = run("diff", str(report), other)
        assert (mixed.exit_code, mixed.stdout) == (2, "")
        assert why in mixed.stderr
    with_options = run("diff", str(report), str(report), "--ignore-identities")
    assert "are about histories" in with_options.stderr
    assert run("diff", str(report), str(report / "report.json")).exit_code == 0


def test_why_a_judgement_was_cut_short_is_said_once_and_what_came_after_refers_to_it(tmp_path: Path) -> None:
    command = shlex.join([sys.executable, "-S", str(Path(__file__).with_name("hostile_adapter.py")), "exit-at-append"])
    folder = tmp_path / "report"
    words = ("--command", command, "--depth", "quick", "--only", "JRN-020,JRN-001,JRN-003")
    printed = run("check", "journal", *words, "--report", str(folder)).stdout
    document = json.loads((folder / "report.json").read_text("utf-8"))
    rows = {row["id"]: row.get("why") for row in document["requirements"]}
    assert list(rows) == ["JRN-001", "JRN-003", "JRN-020"]
    assert rows["JRN-001"] == "kept once; cut short after the program had ended"
    sentence = document["fault"]["sentence"]
    assert printed.splitlines()[0] == f"Not all could be judged to its end: fault:exited, {sentence}"
    for form in ("markdown", "html", "junit", "github"):
        told = html.unescape(rendering.rendered(folder, form)).replace("`", "")
        assert f"what is inconclusive: fault:exited, {sentence}" in told
