"""All that an implementation can be judged as. This table is the only place that names every profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Union

from perdure_conformance.crash.profile import CRASH, with_crashes
from perdure_conformance.journal.profile import JOURNAL
from perdure_conformance.reducer.profile import REDUCER
from perdure_conformance.requirements import requirements, requirements_of
from perdure_conformance.spec.profile import SPEC
from perdure_conformance.suite import AnyProfile, Case

PROFILES: Final[Mapping[str, AnyProfile]] = {profile.name: profile for profile in (JOURNAL, SPEC, REDUCER)}
"""By name; the first is the one that is judged if none is named."""

WITH_CRASHES: Final[Mapping[str, AnyProfile]] = {JOURNAL.name: with_crashes(JOURNAL)}
"""Those that are judged by crashes too, if that is asked for."""

_OF_CASES: Final[Mapping[str, AnyProfile]] = {**PROFILES, CRASH.name: CRASH}
"""The profile `crash` has a command of its own."""

ANY_CASE: Final[Any] = Union[tuple(profile.case for profile in _OF_CASES.values())]  # noqa: UP007 - not known before
"""The type of a case, of whatever profile."""


def profile_of(case: Case) -> AnyProfile:
    """Return the profile of a case."""
    return _OF_CASES[str(case.__struct_config__.tag)]


def in_full(profile: AnyProfile) -> AnyProfile:
    """Return a profile as it is when all is judged that `perdure check` can judge: by crashes too, if it has any."""
    return WITH_CRASHES.get(profile.name, profile)


def ways_to_judge(identity: str) -> str:
    """Return which commands judge a requirement, as one clause; or what is known of it if none does."""
    for name, profile in PROFILES.items():
        if identity in {requirement.id for requirement in profile.requirements()}:
            return f"`perdure check {name}` judges it"
        if identity in {requirement.id for requirement in in_full(profile).requirements()}:
            return f"`perdure check {name} --crash` judges it"
        if identity in {requirement.id for requirement in in_full(profile).reserved()}:
            return "it is reserved, and nothing judges it yet"
    if identity in {requirement.id for requirement in requirements_of(CRASH.pages)}:
        return "`perdure crash` judges it, and takes no expected failures"
    if identity in requirements():
        return "`perdure selftest` judges perdure itself by it"
    return "`perdure explain` lists those there are"
