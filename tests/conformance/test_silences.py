"""What is said of an implementation that does not answer: where that was both times, and what it had kept before."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import count

import msgspec

from perdure.kernel.values import JsonObject
from perdure_conformance.harness.connection import Connection, Silence
from perdure_conformance.harness.targets import CommandTarget, Subjects
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.profiles import PROFILES
from perdure_conformance.reports.reading import Document
from perdure_conformance.reports.report import build
from perdure_conformance.suite import Options


class Mute:
    """A connection to something good, on which some calls are not answered."""

    def __init__(self, connection: Connection, calls: Iterator[int], silent: Collection[int]) -> None:
        self.connection, self.calls, self.silent = connection, calls, silent
        self.close, self.kill, self.stderr = connection.close, connection.kill, connection.stderr

    def call(self, method: str, params: JsonObject) -> JsonObject:
        if method not in {"initialize", "shutdown"} and next(self.calls) in self.silent:
            raise Silence(f"{method} was not answered within 1 s")
        return self.connection.call(method, params)


def muted(subjects: Subjects, name: str, silent: Collection[int]) -> CommandTarget:
    """Return a built-in implementation, as if it were a program, but for these calls."""
    calls = count(1)

    def connect(_: Sequence[str], timeout_s: float, transcript: Transcript) -> Connection:
        return Mute(subjects.find(name).open(timeout_s, transcript), calls, silent)

    return CommandTarget(("mute",), connect=connect)


def rows(profile: str, name: str, *silent: int, only: Collection[str]) -> tuple[str, dict[str, str]]:
    """Return the sentence of the fault, and why each requirement has no verdict."""
    judged_as = PROFILES[profile]
    target = muted(judged_as.subjects, name, silent)
    options = Options("quick", only=frozenset(only), parts=frozenset({"written"}), smaller=False)
    judgement = judged_as.judge(target, options)
    report = build(judged_as, judgement, target, depth="quick", seed=1, only=frozenset(only), cases={})
    document = msgspec.convert(report.document, Document)
    assert document.fault is not None
    return document.fault.sentence, {row.id: row.why for row in document.requirements}


def test_a_second_silence_of_a_journal_tells_of_the_first_and_what_was_kept_before() -> None:
    sentence, why = rows("journal", "files-flush", 3, 8, only={"JRN-001", "SNP-001"})
    assert sentence.endswith(
        " was not answered within 1 s, for the second time; "
        "before, there was no answer to load run 0 from 1 in pages of 1000 in 'append and load', for JRN-001, JRN-003."
    )
    assert re.fullmatch("kept [1-9][0-9]* times; cut short after no answer had come", why["JRN-001"])
    assert why["SNP-001"] == "after no answer had come"


def test_a_second_silence_of_a_validator_tells_of_the_first() -> None:
    sentence, why = rows("spec", "reference", 3, 8, only={"SPC-001", "SPC-008"})
    assert sentence == (
        "validate was not answered within 1 s, for the second time; "
        "before, there was no answer to validate in 'a key stands twice, deep inside', for SPC-001."
    )
    assert why == {"SPC-001": "validate was not answered within 1 s", "SPC-008": "after no answer had come"}
