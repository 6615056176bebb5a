"""Problems: what is wrong with a document, where, and how to mend it.

All that is wrong is collected, up to a limit, before anybody is told.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Final, Literal

import msgspec

from perdure.kernel.values import JsonValue

MAX_PROBLEMS: Final = 1_000
"""So many problems are kept; the others are counted."""

_SUGGESTIONS_PER_DOCUMENT, _NAMES_COMPARED, _LENGTHS_COMPARED, _LONGEST = (
    20,
    50,
    3,
    128,
)  # Looking for what was meant is slow.

MAX_LISTED: Final = 12

Severity = Literal["error", "warning"]


class Correction(msgspec.Struct, frozen=True, kw_only=True):
    """A change that certainly mends a problem: the value at `pointer` becomes `value`, or goes if `remove` is set."""

    pointer: str
    value: JsonValue = None
    remove: bool = False


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One problem of a document."""

    code: str
    """What is wrong, as one of the codes of `docs/spec/specification.md`."""
    pointer: str
    """Where, as a JSON Pointer (RFC 6901)."""
    sentence: str
    """What is wrong and how to mend it, for people."""
    severity: Severity = "error"
    at_key: bool = False
    """Whether the key of the place is meant, and not its value."""
    witness: JsonValue = None
    """An outcome that shows it, if there is one."""
    correction: Correction | None = None
    """The change that mends it, if that is certain."""
    other: str | None = None
    """The JSON Pointer of the other place that the sentence names, if there is one."""


class Problems:
    """What has been found so far."""

    def __init__(self) -> None:
        self.kept: list[Problem] = []
        self.omitted = 0
        """How many were found beyond those that are kept."""
        self.errors = 0
        self._suggestions_left = _SUGGESTIONS_PER_DOCUMENT

    def error(
        self,
        code: str,
        pointer: str,
        sentence: str,
        *,
        at_key: bool = False,
        witness: JsonValue = None,
        correction: Correction | None = None,
        other: str | None = None,
    ) -> None:
        """Note a problem that refuses the document."""
        self.errors += 1
        self._keep(
            Problem(
                code=code,
                pointer=pointer,
                sentence=sentence,
                at_key=at_key,
                witness=witness,
                correction=correction,
                other=other,
            )
        )

    def warning(
        self, code: str, pointer: str, sentence: str, *, correction: Correction | None = None, other: str | None = None
    ) -> None:
        """Note a problem that does not refuse the document."""
        self._keep(
            Problem(
                code=code, pointer=pointer, sentence=sentence, severity="warning", correction=correction, other=other
            )
        )

    def retold(self, code: str, pointer: str, sentence: str) -> None:
        """Give a problem that is kept another sentence: one that knows more of the document."""
        for position, problem in enumerate(self.kept):
            if (problem.code, problem.pointer) == (code, pointer):
                self.kept[position] = msgspec.structs.replace(problem, sentence=sentence)

    def may_search(self, names: int) -> bool:
        """Tell whether so many names may be searched for what was meant: a few times in a document."""
        if not self._suggestions_left or names > 1_000 * _NAMES_COMPARED:
            return False
        self._suggestions_left -= 1
        return True

    def meant(self, word: str, names: Collection[str], *, otherwise: str) -> str:
        """Return how to mend a wrong word: by the name that was probably meant, or `otherwise`."""
        if len(word) > _LONGEST or not self.may_search(len(names)):
            return otherwise
        alike = [name for name in names if abs(len(name) - len(word)) <= _LENGTHS_COMPARED]
        close = difflib.get_close_matches(word, alike[:_NAMES_COMPARED], n=1)
        return f"did you mean {quoted(close[0])}?" if close else otherwise

    def _keep(self, problem: Problem) -> None:
        if len(self.kept) < MAX_PROBLEMS:
            self.kept.append(problem)
        else:
            self.omitted += 1


def quoted(text: str, most: int = 80) -> str:
    """Return foreign text for a sentence: short, in ASCII, between back quotes."""
    harmless = ascii(text[: most + 1])[1:-1]
    return f"`{harmless}`" if len(harmless) <= most else f"`{harmless[: most - 3]}…`"


def listed(words: Collection[str]) -> str:
    """Return words for a sentence, at most `MAX_LISTED` of them."""
    shown = ", ".join(quoted(word) for word in islice(words, MAX_LISTED))
    return shown if len(words) <= MAX_LISTED else f"{shown}, …"


def path(names: Sequence[str]) -> str:
    """Return names for a sentence, one leading to the next; of a long path its two ends."""
    shown = [quoted(name) for name in (names if len(names) <= 9 else [*names[:4], *names[-4:]])]
    return " → ".join(shown if len(names) <= 9 else [*shown[:4], "…", *shown[4:]])


def pointer_token(key: str) -> str:
    """Return a key as one step of a JSON Pointer."""
    return key.replace("~", "~0").replace("/", "~1")
