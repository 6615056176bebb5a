"""One short sequence for each rule, with its accepted twin one edit away. A script is data.

A script says which requirements it is there to reach. What is right at each step is not written here: the world knows.
"""

from __future__ import annotations

from dataclasses import dataclass

from perdure_conformance.journal.operations import (
    Acquire,
    Append,
    Crash,
    Letter,
    Load,
    LoadSnapshot,
    Operation,
    Race,
    RecordSpec,
    Release,
    Renew,
    Reopen,
    SaveSnapshot,
    handles_of,
)

ODD_TEXTS = (
    "NUL \u0000, and its picture \u2400",
    "line separators \u2028 \u2029, CR \r, LF \n, tab \t",
    "emoji \U0001f600, a family \U0001f468\u200d\U0001f469\u200d\U0001f467, a flag \U0001f1ea\U0001f1fa",
    "composed \u00e9, decomposed e\u0301, ligature \ufb01, full width \uff11",
    "right to left \u202e\u05d0\u05d1, byte order mark \ufeff, replacement \ufffd, last \U0010ffff",
    "quotes ' \" ` \\ / and what injects: '); DROP TABLE records; -- ${x} %s {0} </script>",
    '{"looks": "like", "json": [1.0, 1e2, null]}',
    "  spaces at both ends  ",
    "\u007f delete, \u0085 next line, \u00a0 no-break space, \u00ad soft hyphen",
)
"""Text that stores, drivers and encoders are known to lose, change or refuse."""

MALFORMED_EVENT_IDS = (
    "",
    "not-a-uuid",
    "018F3A5C-0000-7000-8000-0000000000E1",
    "018f3a5c-0000-7000-8000-0000000000e1\n",
    " 018f3a5c-0000-7000-8000-0000000000e1",
    "{018f3a5c-0000-7000-8000-0000000000e1}",
    "018f3a5c00007000800000000000e1",
    "018f3a5c-0000-7000-8000-0000000000g1",
)
"""Event ids that are no canonical lowercase UUID text."""

UNUSUAL_EVENT_IDS = (
    "00000000-0000-0000-0000-000000000000",
    "018f3a5c-0000-f000-0000-0000000000e1",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
)
"""Canonical UUID text of versions and variants that nobody makes."""

LETTERS: tuple[Letter, ...] = ("\u00e9", "\u20ac", "\U0001f600")
"""Letters of which each counts as another number of bytes, characters and units of UTF-16."""

SIZES_BYTES = (4_095, 4_096, 4_097, 65_535, 65_536, 65_537, 200_000)
"""Sizes at which buffers end."""


@dataclass(frozen=True, slots=True)
class Script:
    """A named sequence of operations."""

    name: str
    reaches: tuple[str, ...]
    operations: tuple[Operation, ...]
    alone: bool = False
    """Whether it needs a process of its own to be killed, or siblings."""

    @property
    def takes_several(self) -> bool:
        """Whether something in it is done on another handle than the first."""
        return any(any(handles_of(operation)) for operation in self.operations)

    @property
    def depends_on_timing(self) -> bool:
        """Whether something in it happens at the same time."""
        return any(isinstance(operation, Race) for operation in self.operations)


def event(number: int, text: str = "", body_bytes: int = 0, padding: Letter = "x") -> RecordSpec:
    """Return a valid record of the event of this number."""
    return RecordSpec(event=number, text=text, body_bytes=body_bytes, padding=padding)


def append(at: int, *events: int | RecordSpec, run: int = 0, grant: int | None = None, handle: int = 0) -> Append:
    """Return an append of these events at a position."""
    records = tuple(event(item) if isinstance(item, int) else item for item in events)
    return Append(run=run, expected_next=at, records=records, grant=grant, handle=handle)


def load(run: int = 0, from_sequence: int = 1, limit: int = 1_000, handle: int = 0) -> Load:
    """Return a load of a run to its end."""
    return Load(run=run, from_sequence=from_sequence, limit=limit, handle=handle)


_THREE = append(1, 1, 2, 3)


def _sharing(what: str, compared: str, *, alone: bool) -> tuple[Script, ...]:
    """Return what two handles do with one run: two of one process, or two processes."""
    return (
        Script(
            f"two {what} take turns",
            (compared, "JRN-020"),
            (
                append(1, 1),
                append(2, 2, handle=1),
                append(2, 3),
                append(3, 3),
                append(4, 4, handle=1),
                load(),
                load(handle=1),
            ),
            alone=alone,
        ),
        Script(
            f"the one of two {what} that has not looked loses",
            (compared,),
            (
                append(1, 1),
                load(handle=1),
                append(2, 2),
                append(2, 3, handle=1),
                append(3, 3, handle=1),
                load(),
            ),
            alone=alone,
        ),
        Script(
            f"the other of two {what} sees at once",
            ("JRN-020",),
            (load(handle=1), append(1, 1), load(handle=1), append(2, 2), load(handle=1)),
            alone=alone,
        ),
        Script(
            f"an id that the other of two {what} stored",
            ("JRN-009",),
            (
                append(1, 1),
                append(2, 2, handle=1),
                append(3, 2),
                append(3, 3),
                append(4, 3, handle=1),
                load(handle=1),
            ),
            alone=alone,
        ),
    )


SCRIPTS: tuple[Script, ...] = (
    Script("append and load", ("JRN-001", "JRN-003"), (append(1, 1), append(2, 2, 3), load())),
    Script("load from each position", ("JRN-003",), (_THREE, *(load(from_sequence=at) for at in (1, 2, 3, 4, 5)))),
    Script(
        "odd text comes back byte for byte",
        ("JRN-002",),
        (*(append(at, event(at, text)) for at, text in enumerate(ODD_TEXTS, 1)), load()),
    ),
    Script(
        "odd text in one batch",
        ("JRN-002",),
        (append(1, *(event(number, text) for number, text in enumerate(ODD_TEXTS, 1))), load()),
    ),
    Script(
        "sizes at which buffers end",
        ("JRN-002",),
        (*(append(at, event(at, body_bytes=size)) for at, size in enumerate(SIZES_BYTES, 1)), load()),
    ),
    Script(
        "characters across the borders of buffers",
        ("JRN-002",),
        (
            append(1, event(1, "x")),
            *(append(2 + at, event(2 + at, "x" * at + "\U0001f600" * 1_020)) for at in range(4)),
            append(6, *(event(6 + at, "x" * at + "\u20ac" * 1_360) for at in range(3))),
            append(9, event(9, "\u00e9" * 2_040), event(10, "x" + "\u00e9" * 2_040)),
            load(),
        ),
    ),
    Script(
        "canonical form is kept",
        ("JRN-002",),
        (
            append(1, RecordSpec(event=1, awkward="keys")),
            append(2, RecordSpec(event=2, awkward="numbers")),
            load(),
            Reopen(),
            load(),
        ),
    ),
    Script("a position that is past", ("JRN-004", "JRN-005"), (append(1, 1), append(2, 2), append(2, 3), append(3, 3))),
    Script(
        "a batch over the end",
        ("JRN-004", "JRN-005"),
        (append(1, 1, 2), append(2, 3, 4), load(), append(1, 5, 6, 7), load(), append(3, 3, 4), load()),
    ),
    Script(
        "positions in a run that has grown",
        ("JRN-004", "JRN-005", "JRN-006"),
        (
            *(append(at, at) for at in range(1, 10)),
            append(10, 10, 11, 12),
            append(1, 20),
            append(12, 21),
            append(14, 22),
            append(20, 23, 24),
            append(13, 25),
            load(limit=5),
        ),
    ),
    Script(
        "a position that is far away",
        ("JRN-004", "JRN-005"),
        (append(1, 1), *(append(at, 2) for at in (2**31, 2**32 + 1, 2**53 - 1)), append(2, 2), load()),
    ),
    Script("a position that is to come", ("JRN-004", "JRN-005"), (append(1, 1), append(3, 2), append(2, 2))),
    Script("a new run does not start at 2", ("JRN-004", "JRN-005"), (append(2, 1), append(1, 1))),
    Script("1 is not anywhere", ("JRN-006", "JRN-005"), (append(1, 1), append(1, 2), append(2, 2), append(1, 3))),
    Script("a refused append leaves nothing", ("JRN-007",), (append(1, 1), append(3, 2), load(), append(2, 2), load())),
    Script(
        "the loser of a race leaves nothing", ("JRN-007",), (append(1, 1), append(1, 2), load(), append(2, 2), load())
    ),
    Script("an exact replay at the end", ("JRN-008",), (append(1, 1), append(1, 1), load(), append(2, 2))),
    Script(
        "an exact replay after the run has grown",
        ("JRN-008",),
        (append(1, 1), append(2, 2, 3), append(4, 4), append(1, 1), append(2, 2, 3), load(), append(5, 5)),
    ),
    Script(
        "a replay from before a long batch",
        ("JRN-008", "JRN-009"),
        (append(1, 1), append(2, *range(2, 32)), append(1, 1), append(32, event(1)), load(), load(limit=7)),
    ),
    Script(
        "a long history replayed from its start",
        ("JRN-008", "JRN-009"),
        (*(append(at, at) for at in range(1, 41)), append(1, 1), append(2, event(1)), load(limit=7)),
    ),
    Script(
        "the same id with other bytes", ("JRN-009",), (append(1, 1), append(1, event(1, "other")), load(), append(2, 2))
    ),
    Script("the same id at the right position", ("JRN-009",), (append(1, 1), append(2, 1), load(), append(2, 2))),
    Script(
        "the same id with other bytes, equally many",
        ("JRN-009",),
        (append(1, event(1, "aaaa")), append(1, event(1, "bbbb")), load(), append(2, 2)),
    ),
    Script(
        "a replay that differs in the middle",
        ("JRN-009",),
        (append(1, 1, 2, 3), append(1, event(1), event(2, "other"), event(3)), load(), append(4, 4)),
    ),
    Script(
        "a replay that differs in its last record",
        ("JRN-009", "JRN-008"),
        (append(1, 1, 2), append(1, event(1), event(2, "other")), append(1, 1, 2), load(), append(3, 3)),
    ),
    Script(
        "a replay with a new record behind it",
        ("JRN-009",),
        (
            append(1, 1, 2),
            append(1, RecordSpec(event=1, batch=(0, 2)), RecordSpec(event=2, batch=(1, 2)), 3),
            load(),
            append(3, 3),
            load(),
        ),
    ),
    Script(
        "a batch that is partly stored",
        ("JRN-009",),
        (append(1, 1), append(2, 2, 1), append(2, 1, 2), load(), append(2, 2, 3)),
    ),
    Script("the same event in two runs", ("JRN-010",), (append(1, 1), append(1, 1, run=1), load(), load(run=1))),
    Script(
        "two runs side by side",
        ("JRN-011",),
        (load(run=1), append(1, 1), append(2, 2), load(run=1), append(1, 3, run=1), load(), load(run=1), load(run=2)),
    ),
    Script("an empty batch", ("JRN-012",), (Append(run=0, expected_next=1, records=()), append(1, 1))),
    Script(
        "sequences that are not dense",
        ("JRN-012",),
        (
            append(1, RecordSpec(event=1, sequence=2)),
            append(1, event(1), RecordSpec(event=2, sequence=3)),
            append(1, event(1), RecordSpec(event=2, sequence=1)),
            append(1, event(1), RecordSpec(event=2, sequence=9), event(3)),
            append(1, event(1), RecordSpec(event=2, sequence=3), RecordSpec(event=3, sequence=2), event(4)),
            append(1, event(1), event(2)),
            load(),
        ),
    ),
    Script(
        "malformed event ids",
        ("JRN-012",),
        (*(append(1, RecordSpec(event=1, event_id=text)) for text in MALFORMED_EVENT_IDS), append(1, 1), load()),
    ),
    Script("an event id twice in a batch", ("JRN-012",), (append(1, 1, 1), append(1, 1, 2), load())),
    Script("an empty body", ("JRN-012",), (append(1, RecordSpec(event=1, empty_body=True)), append(1, 1), load())),
    Script(
        "event ids of any version",
        ("JRN-001",),
        (*(append(at, RecordSpec(event=at, event_id=text)) for at, text in enumerate(UNUSUAL_EVENT_IDS, 1)), load()),
    ),
    Script(
        "malformed in the middle of a batch",
        ("JRN-012", "JRN-015"),
        (append(1, event(1), RecordSpec(event=2, empty_body=True)), load(), append(1, 1, 2)),
    ),
    Script(
        "malformed and out of place",
        ("JRN-013",),
        (append(1, 1), append(3, RecordSpec(event=2, empty_body=True)), append(2, 2)),
    ),
    Script(
        "malformed and a known id",
        ("JRN-013",),
        (append(1, 1), append(2, event(2), RecordSpec(event=1, sequence=9)), append(2, 2)),
    ),
    Script(
        "a known id and out of place",
        ("JRN-013",),
        (append(1, 1), append(5, 1), append(1, event(1, "other")), append(2, 2)),
    ),
    Script("a thousand records", ("JRN-014",), (append(1, *range(1, 1_001)), load(limit=300))),
    Script(
        "a thousand records and some more",
        ("JRN-008", "JRN-009", "JRN-016", "JRN-021"),
        (
            append(1, 1),
            append(2, *range(2, 1_002)),
            append(1, 1),
            append(2, *range(2, 1_002)),
            append(1_002, event(1, "other")),
            append(1_002, *range(1_002, 1_050)),
            load(limit=1_000),
            load(limit=2_000),
            Reopen(),
            load(limit=700),
        ),
    ),
    Script(
        "a thousand records over kill -9",
        ("JRN-017",),
        (append(1, *range(1, 1_001)), append(1_001, event(1_001, body_bytes=200_000)), Crash(), load()),
        alone=True,
    ),
    Script(
        "two hundred records, the last one known",
        ("JRN-015",),
        (append(1, 1), append(2, *range(2, 201), 1), load(), append(2, 2), load()),
    ),
    Script(
        "many runs, and back to the first",
        ("JRN-011", "JRN-008"),
        (
            append(1, 1),
            *(append(1, run, run=run) for run in range(1, 80)),
            append(1, 1),
            append(2, 100),
            load(),
            load(run=40),
        ),
    ),
    Script(
        "runs whose ids differ in one place",
        ("JRN-011",),
        tuple(
            operation
            for run in (0, 2, 1, 3)
            for operation in (load(run=run), append(1, 2 * run, 2 * run + 2, run=run), load(run=run))
        ),
    ),
    Script(
        "events whose ids differ in one place",
        ("JRN-001",),
        (append(1, 2), append(2, 4), append(3, 1), append(4, 3), append(5, 6, 8, 5, 7), load()),
    ),
    Script("a mebibyte in one record", ("JRN-014",), (append(1, event(1, body_bytes=2**20)), append(2, 2), load())),
    Script(
        "a mebibyte of letters beyond ASCII",
        ("JRN-014",),
        tuple(
            operation
            for run, letter in enumerate(LETTERS)
            for operation in (
                append(1, event(1, body_bytes=2**19, padding=letter), event(2, body_bytes=2**19), run=run),
                append(3, event(3, body_bytes=2**20, padding=letter), run=run),
                append(4, 4, run=run),
                load(run=run, from_sequence=4),  # Whoever escapes such letters has no room for the others in a line.
            )
        ),
    ),
    Script(
        "a batch refused for its last record",
        ("JRN-015",),
        (append(1, 1), append(2, 2, 3, 1), load(), append(2, 2, 3), load()),
    ),
    Script(
        "a batch refused for its first record",
        ("JRN-015",),
        (append(1, 1), append(2, 1, 2, 3), load(), append(2, 2, 3), load()),
    ),
    Script(
        "reopen and go on",
        ("JRN-016",),
        (append(1, 1), append(2, 2, 3), Reopen(), load(), append(4, 4), Reopen(), load()),
    ),
    Script(
        "what was refused before a reopen",
        ("JRN-016", "JRN-007", "JRN-015"),
        (append(1, 1), append(1, 2), append(5, 3, 4), append(1, 5, 6), append(2, 1), Reopen(), load(), append(2, 2)),
    ),
    Script("reopen and compare", ("JRN-016",), (append(1, 1), Reopen(), append(1, 2), append(2, 2))),
    Script(
        "two runs over a reopen",
        ("JRN-016",),
        (append(1, 1), append(1, 2, run=1), Reopen(), load(), load(run=1), append(2, 3, run=1)),
    ),
    Script(
        "odd text over a reopen",
        ("JRN-002",),
        (append(1, *(event(number, text) for number, text in enumerate(ODD_TEXTS, 1))), Reopen(), load()),
    ),
    Script(
        "replays and conflicts after a reopen",
        ("JRN-023",),
        (append(1, 1), append(2, 2), Reopen(), append(1, 1), append(3, 2), append(3, 3), load()),
    ),
    Script(
        "a run longer than a line",
        ("JRN-021", "JRN-003"),
        (*(append(at, event(at, body_bytes=2**20)) for at in (1, 2, 3)), load()),
    ),
    Script(
        "pages of every size",
        ("JRN-021",),
        (
            append(1, 1, 2, 3, 4, 5),
            *(load(limit=limit) for limit in (1, 2, 3, 4, 5, 6)),
            load(from_sequence=2, limit=2),
        ),
    ),
    Script(
        "pages from the middle",
        ("JRN-021", "JRN-003"),
        (
            append(1, *range(1, 13)),
            load(from_sequence=7, limit=2),
            load(from_sequence=5, limit=4),
            load(from_sequence=12),
        ),
    ),
    Script(
        "pages across batches",
        ("JRN-021",),
        (append(1, 1), append(2, 2, 3), append(4, 4, 5, 6), *(load(limit=limit) for limit in (1, 2, 3))),
    ),
    Script(
        "kill -9 and go on",
        ("JRN-017",),
        (append(1, 1), append(2, 2, 3), Crash(), load(), append(4, 4), Crash(), load()),
        alone=True,
    ),
    Script(
        "kill -9 at once",
        ("JRN-017",),
        (append(1, 1), Crash(), append(2, 2), Crash(), append(3, 3), load()),
        alone=True,
    ),
    Script("kill -9 and compare", ("JRN-017",), (append(1, 1), Crash(), append(1, 2), append(2, 2)), alone=True),
    Script(
        "a long run replayed after kill -9",
        ("JRN-023", "JRN-017"),
        (
            append(1, *range(1, 13)),
            append(13, 13),
            append(14, 14),
            Crash(),
            append(1, *range(1, 13)),
            append(13, 13),
            append(15, 2),
            append(15, 15),
            load(),
        ),
        alone=True,
    ),
    Script(
        "replays and conflicts after kill -9",
        ("JRN-023",),
        (append(1, 1), append(2, 2), Crash(), append(1, 1), append(3, 2), append(3, 3), load()),
        alone=True,
    ),
    Script(
        "what was refused before kill -9",
        ("JRN-017", "JRN-007", "JRN-015"),
        (
            append(1, 1),
            append(1, 2),
            append(5, 3, 4),
            append(1, 5, 6),
            append(2, 1),
            Crash(),
            load(),
            append(2, 2),
            load(),
        ),
        alone=True,
    ),
    Script(
        "a replay on another handle",
        ("JRN-018", "JRN-008"),
        (append(1, 1), append(1, 1, handle=1), append(2, 1, handle=1), append(2, 2, handle=1)),
    ),
    *_sharing("handles", "JRN-018", alone=False),
    *_sharing("processes", "JRN-019", alone=True),
)
"""Every script about records."""


def _acquire(now_ms: int, ttl_ms: int = 10, run: int = 0, owner: int = 0, handle: int = 0) -> Acquire:
    return Acquire(run=run, ttl_ms=ttl_ms, now_ms=now_ms, owner=owner, handle=handle)


def _renewed_then(between: Reopen | Crash) -> tuple[Operation, ...]:
    return (
        _acquire(0),
        Renew(run=0, grant=0, ttl_ms=10, now_ms=5),
        between,
        _acquire(15, owner=1),
        Renew(run=0, grant=0, ttl_ms=10, now_ms=15),
        between,
        _acquire(25, owner=1),
        _acquire(26, owner=1),
    )


_TWO_GRANTS = (_acquire(0), Release(run=0, grant=0), _acquire(0, owner=1))

SNAPSHOT_AND_LEASE_SCRIPTS: tuple[Script, ...] = (
    Script(
        "snapshots, claimed or not",
        ("SNP-001", "SNP-002", "JRN-022"),
        (append(1, 1, 2, 3), LoadSnapshot(run=0), SaveSnapshot(run=0, sequence=2, text="two"), LoadSnapshot(run=0)),
    ),
    Script(
        "a later snapshot takes the place",
        ("SNP-001",),
        (
            append(1, 1, 2, 3),
            SaveSnapshot(run=0, sequence=1, text="one"),
            LoadSnapshot(run=0),
            SaveSnapshot(run=0, sequence=3, text=ODD_TEXTS[0]),
            LoadSnapshot(run=0),
            Reopen(),
            LoadSnapshot(run=0),
        ),
    ),
    Script(
        "an earlier snapshot after a later one",
        ("SNP-001",),
        (
            append(1, 1, 2, 3),
            SaveSnapshot(run=0, sequence=3, text="three"),
            SaveSnapshot(run=0, sequence=1, text="one"),
            LoadSnapshot(run=0),
        ),
    ),
    Script(
        "a snapshot stays while the run grows",
        ("SNP-001",),
        (append(1, 1), SaveSnapshot(run=0, sequence=1, text="one"), append(2, 2), load(), LoadSnapshot(run=0)),
    ),
    Script(
        "sizes of snapshots at which buffers end",
        ("SNP-001",),
        tuple(
            step
            for size in (*SIZES_BYTES, 2**20)
            for step in (SaveSnapshot(run=0, sequence=1, text="", body_bytes=size), LoadSnapshot(run=0))
        ),
    ),
    Script(
        "snapshots of two runs",
        ("SNP-001", "SNP-002"),
        (
            append(1, 1),
            append(1, 2, run=1),
            SaveSnapshot(run=0, sequence=1, text="run 0"),
            LoadSnapshot(run=1),
            SaveSnapshot(run=1, sequence=1, text="run 1"),
            LoadSnapshot(run=0),
            LoadSnapshot(run=1),
        ),
    ),
    Script(
        "snapshots of two runs over a reopen",
        ("SNP-001", "SNP-002"),
        (
            append(1, 1),
            append(1, 2, run=1),
            SaveSnapshot(run=0, sequence=1, text="run 0"),
            Reopen(),
            LoadSnapshot(run=1),
            LoadSnapshot(run=0),
        ),
    ),
    Script(
        "leases, claimed or not",
        ("LSE-001", "JRN-022"),
        (append(1, 1), *_TWO_GRANTS, Renew(run=0, grant=1, ttl_ms=10, now_ms=0)),
    ),
    Script(
        "held up to its last instant",
        ("LSE-002", "LSE-003", "LSE-006"),
        (_acquire(5), _acquire(5, owner=1), _acquire(15), _acquire(15, owner=1), _acquire(16, owner=1)),
    ),
    Script("held for its own owner too", ("LSE-002",), (_acquire(0), _acquire(1), _acquire(10), _acquire(11))),
    Script(
        "released at once",
        ("LSE-003", "LSE-001"),
        (_acquire(0), Release(run=0, grant=0), _acquire(0, owner=1), _acquire(1, owner=2)),
    ),
    Script("a lease without end", ("LSE-006",), (_acquire(2**53 - 5, ttl_ms=100), _acquire(2**53 - 1, owner=1))),
    Script(
        "epochs over a reopen",
        ("LSE-001",),
        (_acquire(0), Reopen(), _acquire(11), Release(run=0, grant=1), Reopen(), _acquire(11)),
    ),
    Script(
        "a lease over a reopen", ("LSE-002",), (_acquire(0), Reopen(), _acquire(10, owner=1), _acquire(11, owner=1))
    ),
    Script(
        "epochs over kill -9",
        ("LSE-001",),
        (_acquire(0), Crash(), _acquire(11), Release(run=0, grant=1), Crash(), _acquire(11)),
        alone=True,
    ),
    Script(
        "renewed in time",
        ("LSE-004", "LSE-002", "LSE-006"),
        (_acquire(0), Renew(run=0, grant=0, ttl_ms=10, now_ms=5), _acquire(15, owner=1), _acquire(16, owner=1)),
    ),
    Script("a renewal over a reopen", ("LSE-002", "LSE-004"), _renewed_then(Reopen())),
    Script("a renewal over kill -9", ("LSE-002", "LSE-004"), _renewed_then(Crash()), alone=True),
    *(
        Script(
            f"a renewal that another {what} meets",
            ("LSE-002",),
            (
                _acquire(0),
                Renew(run=0, grant=0, ttl_ms=10, now_ms=5),
                _acquire(15, owner=1, handle=1),
                _acquire(16, owner=1, handle=1),
            ),
            alone=alone,
        )
        for what, alone in (("handle", False), ("process", True))
    ),
    Script(
        "renewed after expiry",
        ("LSE-004", "LSE-002"),
        (_acquire(0), Renew(run=0, grant=0, ttl_ms=10, now_ms=50), _acquire(60, owner=1), _acquire(61, owner=1)),
    ),
    Script(
        "the former owner does not renew",
        ("LSE-005", "LSE-003"),
        (
            _acquire(0),
            _acquire(11, owner=1),
            Renew(run=0, grant=0, ttl_ms=100, now_ms=12),
            _acquire(22, owner=2),
            Renew(run=0, grant=2, ttl_ms=10, now_ms=23),
        ),
    ),
    Script(
        "a former owner releases nothing",
        ("LSE-002",),
        (_acquire(0), _acquire(11, owner=1), Release(run=0, grant=0), _acquire(12, owner=2), _acquire(22, owner=2)),
    ),
    Script(
        "released after it was renewed",
        ("LSE-003",),
        (_acquire(0), Renew(run=0, grant=0, ttl_ms=10, now_ms=5), Release(run=0, grant=0), _acquire(6, owner=1)),
    ),
    Script(
        "renewed for less",
        ("LSE-006", "LSE-003"),
        (_acquire(0, ttl_ms=100), Renew(run=0, grant=0, ttl_ms=10, now_ms=5), _acquire(16, owner=1)),
    ),
    Script(
        "renewed at its last instant",
        ("LSE-004", "LSE-002"),
        (_acquire(0), Renew(run=0, grant=0, ttl_ms=10, now_ms=10), _acquire(20, owner=1), _acquire(21, owner=1)),
    ),
    Script(
        "an epoch that was never granted does not renew",
        ("LSE-005", "LSE-003"),
        (
            _acquire(0),
            Renew(run=0, grant=0, ahead=1, ttl_ms=90, now_ms=5),
            Renew(run=0, grant=0, ttl_ms=10, now_ms=5),
            _acquire(16, owner=1),
        ),
    ),
    Script(
        "an append leaves the lease alone",
        ("LSE-002", "LSE-003"),
        (_acquire(0), append(1, 1, grant=0), _acquire(5, owner=1), append(2, 2, grant=0), _acquire(10), _acquire(11)),
    ),
    Script(
        "leases of two runs",
        ("LSE-003",),
        (_acquire(0), _acquire(0, run=1), Release(run=1, grant=0), _acquire(1, owner=1), _acquire(1, run=1)),
    ),
    Script(
        "a former epoch is fenced off",
        ("JRN-024",),
        (append(1, 1), *_TWO_GRANTS, append(2, 2, grant=0), append(2, 2), append(2, 2, grant=1), load()),
    ),
    Script(
        "fenced off after the release",
        ("JRN-024", "JRN-025"),
        (
            append(1, 1),
            *_TWO_GRANTS,
            Release(run=0, grant=1),
            append(2, 2, grant=0),
            append(2, 2),
            append(2, 2, grant=1),
        ),
    ),
    Script(
        "fenced off over a reopen",
        ("JRN-024",),
        (append(1, 1), *_TWO_GRANTS, Reopen(), append(2, 2, grant=0), append(2, 2, grant=1)),
    ),
    Script(
        "fenced off on another handle",
        ("JRN-024",),
        (append(1, 1), *_TWO_GRANTS, append(2, 2, grant=0, handle=1), append(2, 2, grant=1, handle=1)),
    ),
    *(
        Script(
            f"fenced off by a grant on another {what}",
            ("JRN-024",),
            (
                append(1, 1),
                _acquire(0),
                append(2, 2, grant=0),
                _acquire(11, owner=1, handle=1),
                append(3, 3, grant=0),
                append(3, 3),
                append(3, 3, grant=1, handle=1),
                load(),
            ),
            alone=alone,
        )
        for what, alone in (("handle", False), ("process", True))
    ),
    Script(
        "fenced off before anything is stored",
        ("JRN-024",),
        (*_TWO_GRANTS, append(1, 1, grant=0), append(1, 1, grant=1), load()),
    ),
    Script(
        "stale comes before replay and conflict",
        ("JRN-013",),
        (
            _acquire(0),
            append(1, 1, grant=0),
            Release(run=0, grant=0),
            _acquire(0),
            append(1, 1, grant=0),
            append(2, 1, grant=0),
            append(7, 2, grant=0),
            append(2, 2, grant=1),
        ),
    ),
    Script(
        "malformed comes before stale",
        ("JRN-013",),
        (*_TWO_GRANTS, append(1, RecordSpec(event=1, empty_body=True), grant=0), append(1, 1, grant=1)),
    ),
    Script(
        "a replay under a later epoch",
        ("JRN-008", "JRN-025"),
        (
            append(1, 1),
            _acquire(0),
            append(2, 2, grant=0),
            Release(run=0, grant=0),
            _acquire(0, owner=1),
            append(1, 1, grant=1),
            append(2, 2, grant=1),
            append(3, 3, grant=1),
            load(),
        ),
    ),
    Script(
        "an expired lease still appends",
        ("JRN-025",),
        (_acquire(0), append(1, 1, grant=0), Renew(run=0, grant=0, ttl_ms=0, now_ms=90), append(2, 2, grant=0), load()),
    ),
    Script(
        "an epoch above the highest is not stale",
        ("JRN-025",),
        (
            _acquire(0),
            Append(run=0, expected_next=1, records=(event(1),), grant=0, ahead=3),
            append(2, 2, grant=0),
            load(),
        ),
    ),
    Script(
        "a released lease still appends",
        ("JRN-025",),
        (_acquire(0), append(1, 1, grant=0), Release(run=0, grant=0), append(2, 2, grant=0), load()),
    ),
    Script(
        "the lease of another run fences nobody",
        ("JRN-025",),
        (*_TWO_GRANTS, append(1, 1, run=1), _acquire(0, run=1), append(2, 2, run=1, grant=0), append(1, 3, grant=1)),
    ),
)
"""Every script about snapshots and leases, and thereby about what is not claimed."""
