"""Files of expected failures: an array, in JSON or YAML, with an entry for each requirement that is known to be broken.

    - requirement: JRN-007
      reason: The loser of a race is kept until the nightly repair.
    - requirement: JRN-015
      link: https://tracker.example/412
      actual: {refused: event_id_conflict}

Source: "Verdicts" of the conformance design; TOL-014.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from perdure_conformance.handwritten import read_as, refusal
from perdure_conformance.lint.files import Text
from perdure_conformance.profiles import in_full, ways_to_judge
from perdure_conformance.suite import AnyProfile
from perdure_conformance.terms import Entry, Expected

_ADVICE: Final = "Each entry names one requirement, by its whole id, with a reason or a link."


def expected_in(text: Text, profile: AnyProfile) -> Mapping[str, Expected]:
    """Read a file of expected failures, which serves all checks of a profile. Raises `FileRefused`."""
    known = {requirement.id for requirement in in_full(profile).requirements()}
    found, source = read_as(tuple[Entry, ...], text, _ADVICE)
    assert isinstance(found, tuple)
    places = source.locate(f"/{index}" for index in range(len(found)))
    expected: dict[str, Expected] = {}
    for index, entry in enumerate(found):
        place = f"{text.name}:{places[f'/{index}'].line}"
        if not (entry.reason or "").strip() and entry.link is None:
            raise refusal(text, source, f"/{index}", f"The entry says neither why nor where that is told. {_ADVICE}")
        if entry.requirement not in known:
            told = (
                f"{entry.requirement} is no requirement that is judged here: {ways_to_judge(entry.requirement)}; "
                "remove the entry, or mend its id."
            )
            raise refusal(text, source, f"/{index}/requirement", told)
        if entry.requirement in expected:
            first = expected[entry.requirement].place
            told = f"{entry.requirement} stands in {first} already: keep one of the two."
            raise refusal(text, source, f"/{index}/requirement", told)
        expected[entry.requirement] = Expected(entry, place)
    return expected
