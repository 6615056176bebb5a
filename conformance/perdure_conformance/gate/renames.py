"""What went while an alike one came: told as a likely rename, the same way of members, types of events and nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from itertools import product
from typing import Final, TypeVar

Named = TypeVar("Named")

_ALIKE: Final = 0.75
"""How much of two names has to be the same, by the ratio of `difflib`, for them to be alike."""


def likely_renames(
    before: Mapping[str, Named],
    after: Mapping[str, Named],
    are_same: Callable[[Named, Named], bool],
    may_be_same: Callable[[Named, Named], bool] = lambda _, __: True,
) -> dict[str, str]:
    """Return the names that went, each with the one that came in its place, if one did, and each of those once.

    In its place came what is the same under another name; else what has an alike name and may be the same, though it
    was changed as well. The most alike come first.
    """
    likely = []
    for name, other in product(before.keys() - after.keys(), after.keys() - before.keys()):
        is_same = are_same(before[name], after[other])
        ratio = SequenceMatcher(None, name, other, autojunk=False).ratio()
        if is_same or (ratio >= _ALIKE and may_be_same(before[name], after[other])):
            likely.append((is_same, ratio, name, other))
    found: dict[str, str] = {}
    for _, _, name, other in sorted(likely, reverse=True):
        if name not in found and other not in found.values():
            found[name] = other
    return found
