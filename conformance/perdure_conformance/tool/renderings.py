"""What the renderings of a report promise, each as a function of a renderer: it returns a complaint, or None."""

from __future__ import annotations

import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from markdown_it import MarkdownIt

from perdure.kernel.values import JsonObject
from perdure_conformance.reports.badge import COLOURS
from perdure_conformance.reports.junit import SUITE_OF_THE_VERDICT
from perdure_conformance.reports.page import SIGNS
from perdure_conformance.reports.reading import ReportRefused
from perdure_conformance.reports.rendering import FORMATS, FormatName
from perdure_conformance.reports.summary import MOST_BYTES
from perdure_conformance.tool import folders
from perdure_conformance.verdict import NOT_CONFORMANT

Render = Callable[[Path, FormatName], str]
Compare = Callable[[Path, Path], JsonObject]
Complaint = str | None

TEXTS: Final = (
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "]]><x/><!-- --></style></title></pre></svg></summary>",
    '" onload="x" \' & &lt; &#60;script&#62; &amp;',
    "\x1b]0;owned\x07\x1b[2J\x9b1A\b",
    "\u202eevil\u2066\u200b\ufeff\ufffe\U000e0041",
    "\x00\x0b\x0c\x85\u2028",
    "\r\n::error title=x::owned\n  ::set-output name=x::y\n##[error]x ##vso[task.complete]",
    "| a | b |\n|---|---|\n| c \\| d |\\",
    "[x](javascript:alert(1)) ![y](http://a.example/z.png) <http://a.example> http://a.example www.a.example a@b.c",
    "\n\n# h\n\n- x\n1. y\n> q\n\n    code\n\n```\n~~~\n---\n===\n<b>\n",
    "@somebody *a* _b_ ~~c~~ **d** [ ] \\ &copy;",
    "` a `` b ``` c ```` d",
    "{{ 7*7 }}{% for x in y %}{# c #}{{ ''.__class__ }}",
)
"""What steers a browser, a terminal, a template, a reader of XML or Markdown, or a CI service."""
LONG: Final = "<b>" + "x" * 100_000

_STEERING: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_COMMAND: Final = re.compile(r"^\s*::|##(?:[a-z]+)?\[", re.MULTILINE)
_PROPERTY: Final = re.compile(r"::(error|notice|warning) title=[^:,\r\n]*::[^\r\n]*")
_LINKS: Final = re.compile(r"://|www\.|@")
_LONGEST: Final = 200_000
_ROUNDS: Final = 24
"""So many make a case as long as one is shown."""


def texts_stay_texts(render: Render) -> Complaint:
    """Render reports that differ in their texts alone: all that is not text must be the same."""
    for name in ("not conformant", "expected to be broken", "inconclusive", "at fault"):
        report = folders.ALL_BUT_GREEN[name]
        wanted = {form: _skeleton(form, told) for form, told in _in_all_forms(render, report, "")}
        for text in TEXTS:
            for form, told in _in_all_forms(render, report, text):
                problem = _stray(form, told)
                try:
                    problem = problem or ("another form" if _skeleton(form, told) != wanted[form] else None)
                except (ValueError, ET.ParseError) as error:
                    problem = f"no form at all, {error},"
                if problem is not None:
                    return f"{form} of a report that is {name} has {problem} with the text {text!a}"
    return None


def long_texts_are_cut(render: Render) -> Complaint:
    """Render a report whose texts are too long."""
    for form in FORMATS:
        told = _rendered(render, form, folders.ALL_BUT_GREEN["not conformant"], LONG)
        if len(told) > _LONGEST:
            return f"{form} has {len(told):,} characters, of a report whose texts are long"
        if form != "badge" and "left out" not in told:
            return f"{form} does not say that anything is left out"
    return _summaries_are_short(render)


def _summaries_are_short(render: Render) -> Complaint:
    verdicts = {f"JRN-{number:03}": "fail" for number in range(1, 11)}
    report = folders.document(folders.Options(verdicts, NOT_CONFORMANT, "none", outcome="not_conformant"))
    with TemporaryDirectory(prefix="perdure-") as place:
        folder = folders.write(Path(place), report, LONG[:2_000], rounds=_ROUNDS)
        size_bytes = len(render(folder, "markdown").encode())
    return f"markdown has {size_bytes:,} bytes, of ten long failures" if size_bytes > MOST_BYTES else None


def only_the_folder_is_told(render: Render) -> Complaint:
    """Render a folder twice, a copy of it elsewhere, and one with a link that leads out of it."""
    elsewhere = "what stands elsewhere"
    for form in FORMATS:
        with TemporaryDirectory(prefix="perdure-") as place:
            report = folders.document(folders.ALL_BUT_GREEN["not conformant"])
            one, other = (folders.write(Path(place, name), report) for name in ("one", "other"))
            if len({render(one, form), render(one, form), render(other, form)}) > 1:
                return f"{form} of the same report is not the same each time"
            Path(place, "elsewhere.txt").write_text(elsewhere, "utf-8")
            stderr = one / "failures" / folders.BROKEN / "stderr.txt"
            stderr.unlink()
            stderr.symlink_to(Path(place, "elsewhere.txt"))
            if elsewhere in render(one, form):
                return f"{form} follows a link that leads out of the folder"
    return None


def what_contradicts_itself_is_refused(render: Render) -> Complaint:
    """Render what is no report, or none that can be."""
    good = folders.document()
    rows = good["requirements"]
    assert isinstance(rows, list)
    texts = {
        f"{name}, and conformant": json.dumps({**folders.document(each), "exit_code": 0, "outcome": "conformant"})
        for name, each in folders.ALL_BUT_GREEN.items()
    }
    texts |= {
        "with two verdicts on one requirement": json.dumps({**good, "requirements": [*rows, rows[0]]}),
        "with a member too many": json.dumps({**good, "is_green": True}),
        "without a member": json.dumps({key: value for key, value in good.items() if key != "not_covered"}),
        "with half a character": json.dumps(folders.document(text="\ud800")),
        "without end": json.dumps(good) + " " * 2**23,
        "empty": "",
    }
    for name, text in texts.items():
        with TemporaryDirectory(prefix="perdure-") as place:
            Path(place, "report.json").write_text(text, "utf-8")
            with suppress(ReportRefused):
                render(Path(place), "markdown")
                return f"a report that is {name} is not refused"
    return None


def green_is_never_bare(render: Render) -> Complaint:
    """Render what is conformant, what is not, what has no verdict, and what was judged in part."""
    for form in FORMATS:
        told = _rendered(render, form, folders.Options(), "")
        if not _is_success(form, told):
            return f"{form} does not show what is conformant as conformant"
        missing = [word for word in _WANTED.get(form, (folders.LEVEL, folders.GAP, "JRN-017")) if word not in told]
        if missing:
            return f"{form} of what is conformant does not say {missing[0]!r}"
        for name, report in folders.ALL_BUT_GREEN.items():
            told = _rendered(render, form, report, "")
            if _is_success(form, told) or (report.exit_code and not _ends_a_job(form, told)):
                return f"{form} shows a report that is {name} as a success"
        if _is_whole(form, _rendered(render, form, folders.IN_PART_ONLY, "")):
            return f"{form} shows a part as the whole"
    return None


_WANTED: Final[Mapping[FormatName, tuple[str, ...]]] = {"badge": (folders.LEVEL, "2 of 3 pass, 1 not judged")}


def regressions_are_told(compare: Compare) -> Complaint:
    """Compare reports with one that is better, worse, other, made otherwise, and of another profile."""
    passing, before = folders.PASSING, folders.document()
    failing = folders.document(folders.ALL_BUT_GREEN["not conformant"])
    lost = {**passing, "JRN-001": "not_claimed"}
    new = folders.Options({**passing, "JRN-017": "fail"}, 1, "none", outcome="not_conformant")
    pairs: Mapping[str, tuple[JsonObject, JsonObject, list[str]]] = {
        "the same": (before, before, []),
        "better": (failing, before, []),
        "broken": (before, failing, [folders.BROKEN]),
        "less, and better": (failing, folders.document(folders.Options(lost)), ["JRN-001"]),
        "newly claimed, and broken": (
            before,
            folders.document(new),
            ["JRN-017"],
        ),
        "without a requirement": (before, folders.document(folders.Options({"JRN-001": "pass"})), [folders.BROKEN]),
        "at fault": (before, folders.document(folders.ALL_BUT_GREEN["at fault"]), ["fault:silence"]),
        "excused no more": (folders.document(folders.ALL_BUT_GREEN["broken as expected"]), failing, [folders.BROKEN]),
        "not as expected": (
            before,
            folders.document(folders.ALL_BUT_GREEN["expected to be broken"]),
            ["JRN-001", folders.BROKEN],
        ),
        "inconclusive": (before, folders.document(folders.ALL_BUT_GREEN["inconclusive"]), [folders.BROKEN]),
    }
    for name, (one, other, wanted) in pairs.items():
        found = _compared(compare, one, other)
        if found["regressions"] != wanted or found["exit_code"] != bool(wanted):
            return f"a report that is {name} is told to have these regressions: {found['regressions']}"
    suite = {"name": "perdure", "version": "0.2.0", "profile": "journal"}
    digests: JsonObject = {"requirements_digest": "2" * 64, "vectors_digest": "3" * 64}
    otherwise: JsonObject = {**before, "depth": "deep", "seed": 2, "suite": suite, **digests}
    told = str(_compared(compare, before, otherwise)["conditions"])
    for what in ("depth", "seed", "suite version", "requirements digest", "vectors digest"):
        if what not in told:
            return f"it is not said that two reports have another {what}"
    with suppress(ReportRefused):
        _compared(compare, before, folders.document(folders.Options(profile="spec")))
        return "reports of two profiles are compared"
    return None


def _compared(compare: Compare, before: JsonObject, after: JsonObject) -> JsonObject:
    with TemporaryDirectory(prefix="perdure-") as place:
        return compare(folders.write(Path(place, "before"), before), folders.write(Path(place, "after"), after))


def _in_all_forms(render: Render, report: folders.Options, text: str) -> Iterator[tuple[FormatName, str]]:
    with TemporaryDirectory(prefix="perdure-") as place:
        folder = folders.write(Path(place, "report"), folders.document(report, text), text)
        yield from ((form, render(folder, form)) for form in FORMATS)


def _rendered(render: Render, form: FormatName, report: folders.Options, text: str) -> str:
    with TemporaryDirectory(prefix="perdure-") as place:
        return render(folders.write(Path(place, "report"), folders.document(report, text), text), form)


def _is_success(form: FormatName, told: str) -> bool:
    """Tell whether a rendering looks like a success to whoever, or whatever, reads it."""
    match form:
        case "html" | "markdown":
            return f"{SIGNS['good']} CONFORMANT" in told
        case "junit":
            return not {child.tag for child in _case_of_the_verdict(told)} & _NO_SUCCESS
        case "badge":
            return bool(json.loads(told)["color"] == COLOURS["good"])
        case "github":
            return not told.startswith(("::error", "::warning"))


def _ends_a_job(form: FormatName, told: str) -> bool:
    """Tell whether a service that reads it fails, as it must where the exit code is not 0."""
    return {"junit": "<failure" in told or "<error" in told, "github": "::error" in told}.get(form, True)


def _is_whole(form: FormatName, told: str) -> bool:
    """Tell whether a rendering says that the whole is conformant, and not what was selected alone."""
    match form:
        case "junit":
            return _case_of_the_verdict(told).get("name") == "conformant"
        case "github":
            return "title=CONFORMANT%3A" in told
        case _:
            return _is_success(form, told)


def _case_of_the_verdict(told: str) -> ET.Element:
    suites = ET.fromstring(told.encode()).iter("testsuite")  # noqa: S314 - our own
    found = [suite for suite in suites if suite.get("name", "").endswith(f" {SUITE_OF_THE_VERDICT}")]
    return next(case for suite in found for case in suite.iter("testcase"))


_NO_SUCCESS: Final = frozenset({"failure", "error", "skipped"})


def _skeleton(form: FormatName, told: str) -> object:
    """Return what is not text in a rendering. Raises `ValueError`, `ParseError`."""
    match form:
        case "html":
            tags = _Tags()
            tags.feed(told)
            tags.close()
            return tags.found
        case "markdown":
            return list(_blocks(told))
        case "junit":
            return [(element.tag, sorted(element.attrib)) for element in ET.fromstring(told.encode()).iter()]  # noqa: S314 - our own
        case "badge":
            badge = json.loads(told)
            return [(name, type(value)) for name, value in badge.items()], badge["color"]
        case "github":
            lines = told.removesuffix("\n").split("\n")
            if stray := next((line for line in lines if not _PROPERTY.fullmatch(line)), None):
                raise ValueError(f"{stray!a} is no command")
            return [line.partition(" ")[0] for line in lines]


def _stray(form: FormatName, told: str) -> str | None:
    """Return what a rendering has that is never only text."""
    character = next((each for each in told if each not in "\n\t" and unicodedata.category(each) in _STEERING), None)
    if character is not None:
        return f"the character {character!a}"
    if form != "github" and (command := _COMMAND.search(told)):
        return f"the command {command[0]!a}"
    links = (_LINKS.search(text) for text in _texts(told)) if form == "markdown" else ()
    return next((f"the link {link[0]!a}" for link in links if link), None)


class _Tags(HTMLParser):
    """The tags of a page with the names of their attributes; words in backticks may be code, and pieces marked."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[object] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in {"code", "mark"}:
            self.found.append((tag, sorted(name for name, _ in attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in {"code", "mark"}:
            self.found.append(tag)

    def handle_comment(self, data: str) -> None:
        self.found.append(("comment", data))


_MARKDOWN: Final = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_WORDS: Final = frozenset({"text", "code_inline", "softbreak"})


def _blocks(told: str) -> Iterator[object]:
    """Yield the blocks of Markdown, and whatever in their lines is no word."""
    for token in _MARKDOWN.parse(told):
        yield token.type, token.content if token.type == "html_block" else token.tag
        yield from ((child.type, child.content) for child in token.children or () if child.type not in _WORDS)


def _texts(told: str) -> Iterator[str]:
    """Yield what is plain text in Markdown, in which services find links and names of people."""
    for token in _MARKDOWN.parse(told):
        yield from (child.content for child in token.children or () if child.type == "text")
