"""Terms: what an implementation is known to fail, and by the requirements of which release it is judged.

`expectations` reads what is known from a file.

Source: "Verdicts" of the conformance design; TOL-014 and TOL-015.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from perdure.kernel.structure import Json, about, whole
from perdure_conformance.requirements import Requirement
from perdure_conformance.verdict import Verdict

_SHOWN: Final = 200
_RELEASE: Final = re.compile(r"(?P<major>0|[1-9][0-9]{0,5})\.(?P<minor>0|[1-9][0-9]{0,5})")


class TermsRefused(ValueError):
    """Terms that say nothing. `str(error)` is one sentence that names the place and what helps."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A failure that is known, as it stands in the file."""

    requirement: Annotated[str, whole(r"[A-Z]{3}-[0-9]{3}"), about("Names the requirement that is broken.")]
    reason: Annotated[str, Meta(min_length=1, max_length=1_000), about("Says why it is broken.")] | None = None
    link: Annotated[str, whole(r"https?://[!-~]{1,1000}"), about("Leads to where that is told.")] | None = None
    actual: Annotated[
        Json,
        about(
            "Is what comes instead of what is expected, or the members of it that matter; without it, whatever comes."
        ),
    ] | (UnsetType) = UNSET


@dataclass(frozen=True, slots=True)
class Expected:
    """A failure that is known, and where that is written."""

    entry: Entry
    place: str
    """`FILE:LINE`."""

    @property
    def why(self) -> str:
        """Why it is known: the reason, or the link, or both."""
        return ", ".join(each for each in (self.entry.reason, self.entry.link) if each is not None)


Kind = Literal["passes", "not_claimed", "otherwise"]


@dataclass(frozen=True, slots=True)
class Surprise:
    """A requirement that was expected to be broken, and is not, or is broken otherwise."""

    requirement: str
    kind: Kind
    sentence: str


@dataclass(frozen=True, slots=True)
class Terms:
    """What an implementation may fail."""

    expected: Mapping[str, Expected] = field(default_factory=dict)
    """By requirement."""
    pinned: str | None = None
    """The release by whose requirements it is judged; None for this one."""


NO_TERMS: Final = Terms()
"""Nothing is known to fail, and this release's requirements count."""


def surprises(
    expected: Mapping[str, Expected], verdicts: Mapping[str, Verdict], actual: Mapping[str, object]
) -> tuple[Surprise, ...]:
    """Return which entries are not as it is; those about what was not selected or left open say nothing (TOL-014)."""
    found = (_surprise(expected[key], verdict, actual) for key, verdict in verdicts.items() if key in expected)
    return tuple(each for each in found if each is not None)


def _surprise(expected: Expected, verdict: Verdict, actual: Mapping[str, object]) -> Surprise | None:
    key = expected.entry.requirement
    match verdict:
        case "pass":
            told = f"{expected.place}: {key} is expected to fail, and passes: remove the entry."
            return Surprise(key, "passes", told)
        case "not_claimed":
            told = f"{expected.place}: {key} is expected to fail, and is not claimed, so not judged: remove the entry."
            return Surprise(key, "not_claimed", told)
        case "fail" if expected.entry.actual is not UNSET:
            if _is_part(expected.entry.actual, actual[key]):
                return None
            wanted, came = _shown(expected.entry.actual), _shown(actual[key])
            told = f"{expected.place}: {key} fails otherwise than expected: not with {wanted}, but with {came}."
            return Surprise(key, "otherwise", told)
        case _:
            return None


def _is_part(wanted: object, found: object) -> bool:
    """Tell whether all that is wanted was found; there may be more members, for ids differ from check to check."""
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        return all(name in found and _is_part(value, found[name]) for name, value in wanted.items())
    if isinstance(wanted, list | tuple) and isinstance(found, list | tuple):
        return len(wanted) == len(found) and all(map(_is_part, wanted, found))
    return _text(wanted) == _text(found)


def _shown(value: object) -> str:
    text = _text(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _text(value: object) -> str:
    """Return a JSON value as harmless text, the same for the same value."""
    return json.dumps(value, sort_keys=True)


def in_grace(requirement: Requirement, pinned: str | None, release: str) -> bool:
    """Tell whether a requirement only warns: it came with this release, and an earlier one is pinned (TOL-015)."""
    if pinned is None:
        return False
    return parsed(pinned) < parsed(requirement.since) == parsed(release)


def parsed(release: str) -> tuple[int, int]:
    """Return the numbers of a release, MAJOR.MINOR. Raises `TermsRefused`."""
    found = _RELEASE.fullmatch(release)
    if found is None:
        raise TermsRefused(f"{release!r} is no release: write it as MAJOR.MINOR, as in 0.1.")
    return int(found["major"]), int(found["minor"])
