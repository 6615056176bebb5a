"""The kinds of check that a stored history is put to, and which of them each code of a fault belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

Check = Literal["framing", "form", "checksum", "version", "linkage", "batches", "rules", "end"]

CHECKS: Final[Mapping[Check, str]] = {
    "framing": "the file around the records: nothing in it but whole lines, frames or rows",
    "form": "each record: strict JSON in canonical form, its members, its limits",
    "checksum": "each record: the checksum over its stored bytes; of frames, the CRC too",
    "version": "each record: a version, an event and members that are known",
    "linkage": "the order: one run, sequences without a gap, no event id twice, each record at its place in its batch",
    "batches": "each batch: it is whole",
    "rules": "each event: it is what the state owes, or begins the batch of a command that is allowed",
    "end": "the end: the record that --head pins is there",
}
"""What each kind of check looks at, in words."""

_OF_CODES: Final[Mapping[Check, tuple[str, ...]]] = {
    "framing": (
        "torn_tail",
        "unended_line",
        "unknown_format",
        "cut_frame",
        "not_a_frame",
        "wrong_length",
        "trailing_bytes",
        "damaged_database",
    ),
    "form": ("not_json", "not_canonical", "wrong_structure", "over_limit"),
    "checksum": ("wrong_crc", "wrong_checksum"),
    "version": ("unknown_version", "unknown_type", "unknown_member", "version_went_down"),
    "linkage": (
        "gap",
        "wrong_run",
        "event_id_used",
        "wrong_batch",
        "wrong_row",
        "wrong_position",
        "wrong_event_id",
        "wrong_record",
        "wrong_specification",
        "inside_batch",
    ),
    "batches": ("incomplete_batch",),
    "end": ("not_the_head",),
}
_CHECKS_OF: Final = {code: check for check, codes in _OF_CODES.items() for code in codes}


def check_of(code: str) -> Check:
    """Return the kind of check that finds a fault; a code of an event or a command is one of the rules."""
    return _CHECKS_OF.get(code, "rules")
