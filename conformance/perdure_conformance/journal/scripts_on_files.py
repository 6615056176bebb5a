"""Sequences for those who claim a file format: what files hold, and what is made of hurt ones.

Each reaches the requirements of both formats; whichever is claimed judges.
"""

from __future__ import annotations

from collections.abc import Callable

from perdure_conformance.journal.operations import (
    Append,
    Clear,
    Damage,
    Interrupt,
    LoadSnapshot,
    Obstruct,
    Operation,
    ReadFile,
    RecordSpec,
    Reopen,
    SaveSnapshot,
)
from perdure_conformance.journal.scripts import LETTERS, ODD_TEXTS, Script, append, event, load

_FILE = ("JRN-030", "JRN-033")
_DAMAGE = ("JRN-031", "JRN-036")
_CUT_SHORT = ("JRN-032", "JRN-034")
_CUT_SHORT_AND_ON = (*_CUT_SHORT, "JRN-035")

_OF_A_FRAME = (0, 2, 4, 6, 7, 8, 11, 12, 40, 300)
"""Bytes of a frame: its letters, its length, its checksum, its payload; as bytes of a line, all over it."""

_THREE = (append(1, 1), append(2, 2), append(3, 3))


def _alike(runs: int, operations: Callable[[int], tuple[Operation, ...]]) -> tuple[Operation, ...]:
    """Return the same operations on each of so many runs."""
    return tuple(operation for run in range(runs) for operation in operations(run))


def _damaged(*damages: Damage) -> tuple[Operation, ...]:
    """Return three records in a run for each damage, the damages, and what is asked afterwards."""
    return (
        *_alike(len(damages), lambda run: (append(1, 1, run=run), append(2, 2, run=run), append(3, 3, run=run))),
        *damages,
        *_alike(
            len(damages),
            lambda run: (load(run=run), load(run=run, from_sequence=3), append(4, 4, run=run), append(3, 5, run=run)),
        ),
    )


def _flips(record: int) -> tuple[Damage, ...]:
    return tuple(
        Damage(run=run, how="flip", record=record, offset=offset, size=1 << run % 8)
        for run, offset in enumerate(_OF_A_FRAME)
    )


def _cut_short(*kept: tuple[int, int]) -> tuple[Operation, ...]:
    """Return two records a run, an append that is cut short after so many bytes and some zeros, and what comes then."""
    return (
        *_alike(len(kept), lambda run: (append(1, 1, run=run), append(2, 2, run=run))),
        *(
            Interrupt(run=run, records=(event(3, "never acknowledged"),), kept_bytes=many, zeros=zeros)
            for run, (many, zeros) in enumerate(kept)
        ),
        *_alike(
            len(kept),
            lambda run: (
                load(run=run),
                append(4, 9, run=run),
                append(3, 4, run=run),
                ReadFile(run=run),
                load(run=run),
                append(4, 5, run=run),
                load(run=run),
            ),
        ),
        Reopen(),
        *_alike(len(kept), lambda run: (load(run=run),)),
    )


_TORN = tuple((kept, 0) for kept in (1, 2, 11, 12, 13, 100, 300, 2**20))
_ZEROS = tuple((kept, zeros) for kept in (0, 50, 2**20) for zeros in (1, 12, 511, 4_096))

FILE_SCRIPTS: tuple[Script, ...] = (
    Script(
        "the file of a run",
        _FILE,
        (
            append(1, 1),
            ReadFile(run=0),
            append(2, 2, 3),
            ReadFile(run=0),
            append(3, 9),
            append(1, 1),
            append(4, *(event(4 + number, text) for number, text in enumerate(ODD_TEXTS))),
            ReadFile(run=0),
            Reopen(),
            ReadFile(run=0),
        ),
    ),
    Script(
        "the file of a run with long records",
        _FILE,
        (append(1, event(1, body_bytes=4_097)), append(2, event(2, body_bytes=65_536)), ReadFile(run=0), load()),
    ),
    Script("bits flipped in the last record", _DAMAGE, _damaged(*_flips(0))),
    Script("bits flipped in a record before", _DAMAGE, _damaged(*_flips(1))),
    Script("bits flipped in the first record", _DAMAGE, _damaged(*_flips(2))),
    Script(
        "the last byte of a record changed",
        _DAMAGE,
        _damaged(*(Damage(run=run, how="flip", record=run, offset=2**21 - 1, size=7) for run in range(3))),
    ),
    Script(
        "a record of a batch changed",
        _DAMAGE,
        (
            append(1, 1),
            append(2, 2, 3, 4),
            Damage(run=0, how="flip", record=1, offset=100, size=2),
            load(),
            load(limit=1),
            append(5, 5),
        ),
    ),
    Script(
        "a file that was cut",
        ("JRN-031",),
        _damaged(*(Damage(run=run, how="cut", offset=offset) for run, offset in enumerate(_OF_A_FRAME[1:]))),
    ),
    Script(
        "a file that was cut before its last record",
        ("JRN-031",),
        _damaged(*(Damage(run=run, how="cut", record=1, offset=offset) for run, offset in enumerate((1, 5, 9, 200)))),
    ),
    Script(
        "a batch of which frames are missing",
        ("JRN-031",),
        (
            append(1, 1),
            append(2, 2, 3, 4),
            append(1, 5, 6, run=1),
            Damage(run=0, how="cut"),
            Damage(run=1, how="cut"),
            load(),
            append(4, 9),
            load(run=1),
        ),
    ),
    Script(
        "zeros behind the last frame",
        ("JRN-031",),
        _damaged(*(Damage(run=run, how="zeros", size=size) for run, size in enumerate((1, 4, 8, 12, 13, 4_096)))),
    ),
    Script(
        "a frame that was overwritten with zeros",
        ("JRN-031",),
        _damaged(
            *(
                Damage(run=run, how="erase", record=run % 3, offset=0, size=size)
                for run, size in enumerate((12, 9, 2_000))
            )
        ),
    ),
    Script("an append cut short", _CUT_SHORT_AND_ON, _cut_short(*_TORN)),
    Script("an append cut short, and zeros", _CUT_SHORT_AND_ON, _cut_short(*_ZEROS)),
    Script(
        "a batch cut short after its first line",
        _CUT_SHORT_AND_ON,
        (
            *_THREE,
            Interrupt(run=0, records=(event(4), event(5), event(6)), kept_bytes=700),
            load(),
            append(5, 9),
            append(4, 5),
            ReadFile(run=0),
            append(5, 6),
            load(),
        ),
    ),
    Script(
        "cut short, and sent again",
        _CUT_SHORT_AND_ON,
        (
            *_THREE,
            Interrupt(run=0, records=(event(4),), kept_bytes=90),
            append(4, 4),
            append(4, 4),
            load(),
            Reopen(),
            load(),
        ),
    ),
    Script(
        "cut short again and again",
        _CUT_SHORT_AND_ON,
        (
            *(
                operation
                for at in range(1, 6)
                for operation in (
                    append(at, at),
                    Interrupt(run=0, records=(event(100 + at, "x" * at),), kept_bytes=50 * at, zeros=at % 2),
                )
            ),
            append(6, 6),
            load(),
            ReadFile(run=0),
        ),
    ),
    Script(
        "a run that cannot be read for a time",
        ("JRN-037",),
        (
            *_THREE,
            append(1, 7, run=1),
            Obstruct(run=0),
            load(),
            load(from_sequence=3),
            load(run=1),
            append(4, 4),
            append(1, 5),
            Clear(run=0),
            ReadFile(run=0),
            load(),
            append(4, 4),
            load(),
        ),
    ),
    Script(
        "a damaged snapshot",
        ("SNP-003",),
        tuple(
            operation
            for run, damage in enumerate(
                (
                    *(Damage(run=0, how="flip", offset=offset, size=1, snapshot=True) for offset in _OF_A_FRAME),
                    *(Damage(run=0, how="cut", offset=offset, snapshot=True) for offset in (0, 3, 12, 60)),
                    Damage(run=0, how="zeros", size=16, snapshot=True),
                )
            )
            for operation in (
                append(1, 1, run=run),
                SaveSnapshot(run=run, sequence=1, text="one"),
                LoadSnapshot(run=run),
                Damage(run=run, how=damage.how, offset=damage.offset, size=damage.size, snapshot=True),
                LoadSnapshot(run=run),
                SaveSnapshot(run=run, sequence=1, text="anew"),
                LoadSnapshot(run=run),
            )
        ),
    ),
)
"""Every script about files."""

LIMIT_SCRIPTS: tuple[Script, ...] = (
    Script(
        "more records than declared",
        ("JRN-026",),
        (
            append(1, 1),
            append(2, *range(2, 1_003)),
            append(2, *range(2, 1_503)),
            load(),
            append(2, *range(2, 1_002)),
            load(),
        ),
    ),
    Script(
        "more bytes than declared",
        ("JRN-026",),
        (
            append(1, 1),
            append(2, event(2, body_bytes=2**20 + 1)),
            append(2, event(2, body_bytes=2**19), event(3, body_bytes=2**20)),
            append(2, event(2, body_bytes=3 * 2**19 + 1)),
            load(),
            append(2, event(2, body_bytes=2**20)),
            load(),
        ),
    ),
    Script(
        "more bytes than declared, in fewer characters",
        ("JRN-026",),
        tuple(
            operation
            for run, letter in enumerate(LETTERS)
            for operation in (
                append(1, 1, run=run),
                append(2, event(2, body_bytes=2**20 + 1, padding=letter), run=run),
                append(2, *(event(at, body_bytes=2**19 + 1, padding=letter) for at in (2, 3, 4)), run=run),
                load(run=run),
                append(2, 2, run=run),
            )
        ),
    ),
    Script(
        "malformed comes before too large",
        ("JRN-013", "JRN-026"),
        (
            append(1, *range(1, 1_501), RecordSpec(event=1, empty_body=True)),
            append(1, 1),
            append(7, *range(2, 1_503)),
            append(2, 1, *range(2, 1_503)),
            append(2, 2),
        ),
    ),
    Script(
        "a snapshot larger than declared",
        ("SNP-004",),
        (
            append(1, 1, 2),
            SaveSnapshot(run=0, sequence=1, text="one"),
            SaveSnapshot(run=0, sequence=2, text="", body_bytes=2**20 + 1),
            SaveSnapshot(run=0, sequence=2, text="", body_bytes=3 * 2**19 + 1),
            LoadSnapshot(run=0),
            SaveSnapshot(run=0, sequence=2, text="", body_bytes=2**20),
            LoadSnapshot(run=0),
        ),
    ),
    Script(
        "a snapshot larger than declared, in fewer characters",
        ("SNP-004",),
        tuple(
            operation
            for run, letter in enumerate(LETTERS)
            for operation in (
                append(1, 1, 2, run=run),
                SaveSnapshot(run=run, sequence=1, text="one"),
                SaveSnapshot(run=run, sequence=2, text="", body_bytes=2**20 + 1, padding=letter),
                SaveSnapshot(run=run, sequence=2, text="", body_bytes=3 * 2**19 + 1, padding=letter),
                LoadSnapshot(run=run),
                SaveSnapshot(run=run, sequence=2, text="", body_bytes=2**20, padding=letter),
            )
        ),
    ),
)
"""Every script about what is too large."""

assert all(isinstance(script.operations[0], Append) for script in FILE_SCRIPTS)  # A file is hurt only when it is there.
