"""Records that come back from a journal, JRN-040 to JRN-051: each right one, and with one thing that is wrong."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

from perdure.kernel.values import digest
from perdure_conformance.reducer.histories import RUN, acquired, advanced, node, run_id, run_is, started
from perdure_conformance.reducer.kept import GONE, Kept, envelope_of, event_id, kept, with_members
from perdure_conformance.reducer.playing import Run
from perdure_conformance.reducer.scenarios.scenario import Scenario, refuses, restores, scenario

OTHER_RUN: Final = run_id(2)
LETTERS: Final = 0xABCDEF
"""An identity with letters in it, which is another text in capitals."""

TEXT: Final = "plain"
ODD: Final = "NUL \0, U+2028 \u2028, \U0001f600, e\u0301, \ufeff"


def a_run(text: str = TEXT, name: str = RUN) -> Run:
    """Return a run under way: record 3 is a batch of its own, and so is 7."""
    run = Run([node("A", outputs=["text"]), node("B", "A")], creation={"run_id": name})
    run.advance(5)
    run.start("A")
    run.end("A", "succeeded", {"text": text})
    run.write(acquired(1, 1))
    run.start("B")
    return run


OUTCOME: Final = 5
"""The record whose event has the text, first of its batch of two."""
ALONE: Final = 7
"""A record without which the others are a history too."""
LAST: Final = 8


def _right() -> Kept:
    return kept(a_run().past)


def _spelt(found: Kept, text: str) -> Kept:
    """Return it with something else in the place of the text of the outcome, and the checksum of just these bytes."""

    def edit(body: str) -> str:
        before, _, after = body.partition('"checksum":"')
        rest = after[64:].removeprefix('",')
        unsealed = (before + rest).replace(f'"{TEXT}"', text)
        return unsealed.replace(before, f'{before}"checksum":"{hashlib.sha256(unsealed.encode()).hexdigest()}",', 1)

    return found.saying(OUTCOME, edit)


def bodies_are_strict_json() -> Iterator[Scenario]:
    """JRN-040."""
    right = _right()
    yield scenario(
        "JRN-040",
        "a record with a key twice",
        restores(right),
        refuses(right.saying(4, lambda body: body.replace('"sequence":4', '"sequence":4,"sequence":4')), 4),
        refuses(right.saying(OUTCOME, lambda body: body.replace('{"text"', '{"text":1,"text"')), OUTCOME),
    )
    yield scenario(
        "JRN-040",
        "records with more than a value",
        refuses(right.saying(LAST, lambda body: body + body), LAST),
        refuses(right.saying(LAST, lambda body: body[:-1]), LAST),
        refuses(right.saying(LAST, lambda _: "{}x"), LAST),
        restores(right),
    )
    yield scenario(
        "JRN-040",
        "records with what is no number or no text",
        refuses(_spelt(right, "NaN"), OUTCOME),
        refuses(_spelt(right, "-Infinity"), OUTCOME),
        refuses(_spelt(right, '"\\ud800"'), OUTCOME),
        restores(right),
    )
    odd = kept(a_run(ODD).past)
    yield scenario(
        "JRN-040",
        "a record with odd text that is text",
        restores(odd),
        refuses(odd.saying(OUTCOME, lambda body: body.replace("\\u0000", "\\ud800")), OUTCOME),
    )


def bodies_are_canonical() -> Iterator[Scenario]:
    """JRN-041."""
    right = _right()
    yield scenario(
        "JRN-041",
        "records that say the same in other bytes",
        restores(right),
        refuses(right.saying(3, lambda body: body.replace('"now_ms":5', '"now_ms": 5')), 3),
        refuses(right.saying(3, lambda body: body.replace('"now_ms":5', '"now_ms":5.0')), 3),
        refuses(right.saying(1, lambda body: body.replace('"run_id"', '"\\u0072un_id"')), 1),
        refuses(right.saying(LAST, lambda body: body + "\n"), LAST),
        refuses(right.saying(LAST, _with_the_last_member_first), LAST),
    )


def _with_the_last_member_first(body: str) -> str:
    head, _, last = body[1:-1].rpartition(",")
    return f"{{{last},{head}}}"


def checksums_fit() -> Iterator[Scenario]:
    """JRN-042."""
    right = _right()
    record = right.record(OUTCOME)
    of_the_event = digest(record["event"])
    without_its_place = digest({name: record[name] for name in record if name not in {"checksum", "batch_index"}})
    yield scenario(
        "JRN-042",
        "records whose content was changed",
        refuses(right.saying(OUTCOME, lambda body: body.replace(TEXT, "other")), OUTCOME),
        refuses(right.saying(ALONE, lambda body: body.replace('"epoch":1', '"epoch":2')), ALONE),
        refuses(right.saying(1, lambda body: body.replace('"workflow_version":1', '"workflow_version":2')), 1),
        restores(right),
    )
    yield scenario(
        "JRN-042",
        "checksums of something else",
        refuses(_with_checksum(right, OUTCOME, of_the_event), OUTCOME),
        refuses(_with_checksum(right, OUTCOME, without_its_place), OUTCOME),
        refuses(_with_checksum(right, OUTCOME, "0" * 64), OUTCOME),
        restores(right),
    )


def _with_checksum(found: Kept, at: int, checksum: str) -> Kept:
    return found.saying(at, lambda body: body.replace(found.record(at)["checksum"], checksum))


def records_have_their_members() -> Iterator[Scenario]:
    """JRN-043."""
    right = _right()
    yield scenario(
        "JRN-043",
        "records with a member more or less",
        restores(right),
        refuses(right.but(ALONE, note="x"), ALONE, "incompatible"),
        refuses(right.but(ALONE, batch_size=GONE), ALONE),
        refuses(right.but(ALONE, batch_index="0"), ALONE),
        refuses(right.but(ALONE, event=[]), ALONE),
    )
    yield scenario(
        "JRN-043",
        "records in a version that nobody knows",
        refuses(right.but(LAST, schema_version=6), LAST, "incompatible"),
        refuses(right.but(ALONE, schema_version=6), ALONE, "incompatible"),
        refuses(right.but(ALONE, schema_version=0), ALONE, "incompatible"),
        restores(right),
    )
    event, run = event_id(LETTERS), run_id(LETTERS)
    lettered = kept(a_run(name=run).past, run).but(LAST, event_id=event)
    yield scenario(
        "JRN-043",
        "records with an id in capitals",
        restores(lettered),
        refuses(lettered.but(LAST, event_id=event.upper()).labelled(LAST, event_id=event), LAST),
        refuses(lettered.but(ALONE, run_id=run.upper()), ALONE),
    )


def records_are_those_of_their_envelopes() -> Iterator[Scenario]:
    """JRN-044."""
    right = _right()
    yield scenario(
        "JRN-044",
        "envelopes that say something else than their records",
        refuses(right.labelled(ALONE, event_id=event_id(99)), ALONE),
        refuses(right.labelled(LAST, sequence=LAST + 1), LAST),
        refuses(right.labelled(4, sequence=3), 4),
        restores(right),
    )


def nothing_is_missing() -> Iterator[Scenario]:
    """JRN-045."""
    right = _right()
    yield scenario(
        "JRN-045",
        "a record that is missing",
        refuses(right.without(ALONE), ALONE),
        refuses(right.without(3), 3),
        refuses(right.without(1), 1),
        restores(right),
    )
    yield scenario(
        "JRN-045",
        "records that stand twice, or in another order",
        refuses(right.instead(ALONE, right.records[ALONE - 1], right.records[ALONE - 1]), ALONE + 1),
        refuses(right.swapped(ALONE), ALONE),
        refuses(right.swapped(2), 2),
        restores(right),
    )


def records_are_of_their_run() -> Iterator[Scenario]:
    """JRN-046."""
    right = _right()
    other = Kept(right.past, right.records, run_id=OTHER_RUN)
    yield scenario(
        "JRN-046",
        "records of another run",
        restores(right),
        refuses(right.but(ALONE, run_id=OTHER_RUN), ALONE),
        refuses(right.but(LAST, run_id=OTHER_RUN), LAST),
        refuses(other, 1),
    )
    creation = right.record(1)["event"]
    yield scenario(
        "JRN-046",
        "a record that creates another run",
        refuses(right.but(1, event={**creation, "run_id": OTHER_RUN}), 1),
        restores(right),
    )


def event_ids_stand_once() -> Iterator[Scenario]:
    """JRN-047."""
    right = _right()
    yield scenario(
        "JRN-047",
        "an event id that stands twice",
        refuses(right.but(LAST, event_id=event_id(2)), LAST),
        refuses(right.but(ALONE, event_id=event_id(1)), ALONE),
        refuses(right.but(LAST, event_id=event_id(ALONE)), LAST),
        restores(right.but(LAST, event_id=event_id(99))),
    )


def batches_are_whole() -> Iterator[Scenario]:
    """JRN-048."""
    right = _right()
    yield scenario(
        "JRN-048",
        "batches of another size",
        restores(right),
        refuses(right.in_batches(2), ALONE + 1),
        refuses(right.until(6).in_batches(1, 1), OUTCOME),
        refuses(right.until(6).but(OUTCOME, batch_size=3), 6),
        refuses(right.but(ALONE, batch_index=1, batch_size=2), ALONE),
        refuses(right.until(6).but(6, batch_index=0), 6),
    )
    three = kept(Run([node("A"), node("B")]).past + advanced(5))
    yield scenario(
        "JRN-048",
        "batches whose records say different sizes",
        restores(three),
        *(refuses(three.but(at, batch_size=size), at) for at in (2, 3) for size in (2, 4)),
        refuses(right.but(6, batch_size=1), 6),
        refuses(right.but(6, batch_size=3), 6),
    )


def the_last_batch_is_complete() -> Iterator[Scenario]:
    """JRN-049."""
    right = _right()
    yield scenario(
        "JRN-049",
        "a history that is cut inside a batch",
        refuses(right.until(OUTCOME), OUTCOME + 1),
        refuses(right.until(1), 2),
        restores(right.until(4), 4),
        restores(right.until(6), 6),
    )


def events_can_have_happened() -> Iterator[Scenario]:
    """JRN-050."""
    run = Run("A")
    run.run("A")
    ended = run.past
    yield scenario(
        "JRN-050",
        "a second run fact in a record",
        refuses(kept(ended + run_is("failed")), len(ended) + 1),
        refuses(kept(ended + run_is("completed")), len(ended) + 1),
        restores(kept(ended)),
    )
    right = a_run().past
    yield scenario(
        "JRN-050",
        "a record whose event cannot be",
        refuses(kept(right + started("A", 9)), LAST + 1),
        restores(kept(right + acquired(1, 2))),
    )


def the_place_is_told() -> Iterator[Scenario]:
    """JRN-051."""
    right = _right()
    older = right.record(LAST)
    yield scenario(
        "JRN-051",
        "where and how records are wrong",
        refuses(right.saying(2, lambda body: body.replace("A", "B")), 2),
        refuses(right.saying(LAST, lambda _: ""), LAST),
        refuses(right.without(4), 4),
        refuses(right.but(3, schema_version=9), 3, "incompatible"),
        refuses(right.instead(LAST, envelope_of(with_members(older, {"sequence": LAST + 4}))), LAST),
        refuses(right.but(3, run_id=OTHER_RUN).but(4, run_id=OTHER_RUN), 3),
        refuses(kept(right.past + started("A", 9)), LAST + 1),
        restores(right),
    )


SCENARIOS: Final = (
    bodies_are_strict_json,
    bodies_are_canonical,
    checksums_fit,
    records_have_their_members,
    records_are_those_of_their_envelopes,
    nothing_is_missing,
    records_are_of_their_run,
    event_ids_stand_once,
    batches_are_whole,
    the_last_batch_is_complete,
    events_can_have_happened,
    the_place_is_told,
)
