"""Conformance as tests of pytest: a class to subclass, with a test for each requirement.

    from perdure_conformance.testing import Conformance

    class TestMyJournal(Conformance):
        target = "my_package.journal:open_journal"

It needs pytest, which the extra `pytest` brings. The options `--perdure-depth`, `--perdure-seed` and
`--perdure-report` are those of the plugin, which pytest finds by itself.

Source: "Who plugs in, and how" of the conformance design.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final, get_args

import pytest

from perdure.kernel.values import MAX_SAFE_INTEGER
from perdure_conformance.checking import Checked, checked, prepare, terms_of
from perdure_conformance.harness.factories import TargetError
from perdure_conformance.profiles import PROFILES
from perdure_conformance.reports.failure import in_words
from perdure_conformance.reports.inert import inert
from perdure_conformance.requirements import requirements
from perdure_conformance.suite import AnyProfile, Options
from perdure_conformance.terms import TermsRefused
from perdure_conformance.verdict import CONFORMANT, Depth, is_allowed


class Conformance:
    """Judges one implementation, once for all of its tests."""

    target: ClassVar[str | Sequence[str]]
    """A built-in name, a Python factory as `module:factory`, or the words of a command that speaks the protocol."""
    profile: ClassVar[str] = "journal"
    depth: ClassVar[Depth] = "quick"
    """How much is tried, if `--perdure-depth` does not say it."""
    seed: ClassVar[int] = 1
    """The seed of what is drawn, if `--perdure-seed` does not say it."""
    timeout_s: ClassVar[float] = 10.0
    """Seconds that the implementation has for one answer."""
    expected_failures: ClassVar[str | Path | None] = None
    """A file of what is known to fail, beside where pytest runs."""
    pinned: ClassVar[str | None] = None
    """The release by whose requirements it is judged."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make a test for each requirement."""
        if "requirement" in metafunc.fixturenames:
            names = [requirement.id for requirement in _profile(self.profile).requirements()]
            metafunc.parametrize("requirement", names)

    @pytest.fixture(scope="class")
    @classmethod
    def perdure_check(cls, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Checked:
        """The check: done once, its report kept."""
        profile = _profile(cls.profile)
        option = request.config.getoption
        folder, seed = option("--perdure-report", None), option("--perdure-seed", None)
        options = Options(
            option("--perdure-depth", None) or cls.depth, cls.seed if seed is None else seed, timeout_s=cls.timeout_s
        )
        done_before = request.config.stash.setdefault(CHECKS, [])
        where = tmp_path_factory.mktemp("perdure") if folder is None else Path(folder, cls.__name__)
        if any(each.path.parent == where for _, each in done_before):
            where = where.with_name(f"{cls.__module__}.{cls.__name__}")  # Another module has a class of this name.
        problem = _wrong_setting(cls, options)
        if not problem:
            try:
                expected, words = cls.expected_failures, cls.target
                terms = terms_of(profile, None if expected is None else str(expected), cls.pinned)
                target = profile.subjects.find(*((words,) if isinstance(words, str) else (None, tuple(words))))
                prepare(where)
            except (TermsRefused, TargetError) as error:
                problem = str(error)
            except OSError as error:
                problem = f"{where} cannot be written: {error.strerror}. Name another folder with --perdure-report."
        if problem:
            pytest.fail(f"perdure: {inert(problem)}", pytrace=False)
        done = checked(profile, target, options, where, terms)
        done_before.append((cls.__name__, done))
        return done

    def test_it_opens_and_comes_to_a_verdict(self, perdure_check: Checked) -> None:
        """Fail on a fault of the adapter, and on whatever else leaves the whole without a good end."""
        report = perdure_check.report
        if report.exit_code == CONFORMANT:
            return
        fault = perdure_check.judgement.faults
        told = [each.sentence for each in fault] or [each.sentence for each in report.surprises]
        broken = [key for key, verdict in report.verdicts.items() if verdict == "fail" and key not in report.excuses]
        told += [f"broken: {', '.join(broken)}"] if broken else []
        told += [] if told else ["something that is claimed was not reached, or has no verdict"]
        pytest.fail("\n".join([*map(inert, told), f"report: {perdure_check.path}"]), pytrace=False)

    def test_requirement(self, perdure_check: Checked, requirement: str) -> None:
        """Tell the verdict on one requirement."""
        report, judgement = perdure_check.report, perdure_check.judgement
        sentence = requirements()[requirement].sentence
        surprise = next((each for each in report.surprises if each.requirement == requirement), None)
        if surprise is not None:
            pytest.fail(inert(surprise.sentence), pytrace=False)
        if requirement in report.excuses:
            pytest.xfail(report.excuses[requirement].why)
        match report.verdicts[requirement]:
            case "pass":
                return
            case "fail":
                told = in_words(judgement.findings[requirement], perdure_check.folders[requirement])
                pytest.fail(told, pytrace=False)
            case "not_claimed":
                pytest.skip(f"not claimed: {sentence}")
            case "not_reached" as verdict if is_allowed(verdict, report.depth):
                pytest.skip(f"not reached at depth {report.depth}: {sentence}")
            case verdict:
                why = judgement.inconclusive.get(requirement, "")
                pytest.fail(inert(f"{requirement} is {verdict}. {why}".strip()), pytrace=False)


_SECONDS: Final = (0.05, 3600)
"""What one answer may take, as for `perdure check --timeout`."""

CHECKS: pytest.StashKey[list[tuple[str, Checked]]] = pytest.StashKey()
"""The checks of this run, by the name of their class."""


def _wrong_setting(of: type[Conformance], options: Options) -> str:
    """Return which setting of a class says nothing, and what it may be; empty if all are right."""
    words = getattr(of, "target", None)
    if not words or not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        return (
            f"{of.__name__}.target names nobody: give a factory, as 'my_package.journal:open_journal', "
            "or the words of a command, as ['./adapter']."
        )
    if options.depth not in get_args(Depth):
        return f"The depth is {options.depth!r}: give one of {', '.join(get_args(Depth))}."
    if not 0 <= options.seed <= MAX_SAFE_INTEGER:
        return f"The seed is {options.seed!r}: give an integer from 0 to 2^53−1."
    if not _SECONDS[0] <= options.timeout_s <= _SECONDS[1]:
        return f"{of.__name__}.timeout_s is {options.timeout_s!r}: give {_SECONDS[0]:g} to {_SECONDS[1]:,g} seconds."
    return ""


def _profile(name: str) -> AnyProfile:
    if name not in PROFILES:
        raise pytest.UsageError(f"There is no profile {name!r}. What there is: {', '.join(PROFILES)}.")
    return PROFILES[name]
