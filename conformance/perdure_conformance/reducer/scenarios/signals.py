"""Signals: SIG-001 to SIG-010."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from perdure.kernel.commands import token_digest
from perdure_conformance.reducer.histories import (
    Document,
    Fact,
    Value,
    accepts,
    acquired,
    advance,
    advanced,
    attempt,
    complete,
    deliver,
    ended,
    fact,
    given_up,
    node,
    retry,
    run_id,
    signal,
    started,
    waits,
    waits_until,
)
from perdure_conformance.reducer.playing import Run
from perdure_conformance.reducer.scenarios.scenario import (
    Scenario,
    accepted,
    gives,
    refused,
    rejects,
    scenario,
    unfinished,
)

_DIGEST: Final = token_digest("secret")


def _waiting(name: str = "A", **policy: Value) -> Document:
    """Return a node that may wait for `go` and `stop`."""
    backoff = {"kind": "fixed", "delay_ms": 90}
    return node(name, signals=["go", "stop"], retry={"backoff": backoff, **policy})


def _rejected(name: str, number: int, signal_number: int, reason: str) -> Fact:
    """Return that a delivery was rejected."""
    common = {"node": name, "attempt_id": attempt(number), "signal_id": signal(signal_number)}
    return fact("SignalRejected", **common, reason=reason)


def _expired(name: str, number: int, deadline_ms: int) -> Fact:
    """Return that a wait expired."""
    return fact("SignalExpired", node=name, attempt_id=attempt(number), deadline_ms=deadline_ms)


def _wait(name: str, number: int, signal_name: str, **members: Value) -> Fact:
    """Ask for a wait."""
    common = {"node": name, "attempt_id": attempt(number), "name": signal_name}
    return fact("OpenSignalWait", **common, token_sha256=_DIGEST, **members)


def _wait_until(name: str, number: int, deadline_ms: int) -> Fact:
    """Ask for a wait for a time."""
    return fact("OpenTimerWait", node=name, attempt_id=attempt(number), deadline_ms=deadline_ms)


def _parked(creation: Document | None = None, **members: Value) -> Run:
    """Return a run of A, which waits for `go`, and B, which is ready; both may wait."""
    run = Run([_waiting(), _waiting("B")], creation=creation)
    run.start("A")
    run.wait("A", "go", **members)
    return run


# Waits


def a_token_has_no_place() -> Iterator[Scenario]:
    """SIG-001."""
    run = Run([_waiting()])
    run.start("A")
    opened = run.past + waits("A", 1, "go")
    yield scenario(
        "SIG-001",
        "a wait with its token",
        refused(opened.but(-1, token="secret"), kind="incompatible"),  # noqa: S106
        refused(opened.but(-1, token="secret", token_sha256=...), kind="incompatible"),  # noqa: S106
        accepted(opened, {"/nodes/A/active/wait/token_sha256": _DIGEST}),
    )
    given = opened + accepts("A", 1, 1, "go")
    yield scenario(
        "SIG-001",
        "a signal with its token",
        refused(given.but(-1, token="secret"), kind="incompatible"),  # noqa: S106
        refused(given.but(-1, token_sha256=_DIGEST), kind="incompatible"),
        accepted(given),
    )
    turned_away = opened + _rejected("A", 1, 1, "wrong_token")
    yield scenario(
        "SIG-001",
        "a rejected delivery with its token",
        refused(turned_away.but(-1, token="guess"), kind="incompatible"),  # noqa: S106
        refused(turned_away.but(-1, token_sha256=_DIGEST), kind="incompatible"),
        accepted(turned_away),
    )
    yield scenario(
        "SIG-001",
        "what is no digest in the place of one",
        refused(opened.but(-1, token_sha256="secret")),  # noqa: S106
        refused(opened.but(-1, token_sha256="")),
        refused(opened.but(-1, token_sha256=_DIGEST.upper())),
        refused(opened.but(-1, token_sha256=_DIGEST[:-1])),
        refused(opened.but(-1, token_sha256=f"{_DIGEST}\n")),
        refused(opened.but(-1, token_sha256=None)),
        accepted(opened.but(-1, token_sha256="0" * 64)),
    )


def a_running_node_waits_for_a_signal_that_it_declares() -> Iterator[Scenario]:
    """SIG-002."""
    run = Run([node("A", signals=["go"]), node("B", signals=["stop"]), "C"])
    before = run.past
    run.start("A")
    run.start("C")
    opened = run.past + waits("A", 1, "go")
    yield scenario(
        "SIG-002",
        "a wait for a name that the node does not declare",
        refused(run.past + waits("A", 1, "stop")),
        refused(run.past + waits("A", 1, "Go")),
        refused(run.past + waits("A", 1, "g")),
        refused(run.past + waits("C", 2, "go")),
        accepted(opened),
        rejects(run.past, _wait("A", 1, "stop"), "undeclared_signal"),
        rejects(run.past, _wait("C", 2, "go"), "undeclared_signal"),
        gives(run.past, _wait("A", 1, "go"), "SignalWaitOpened A"),
        gives(run.past, _wait("A", 1, "go", deadline_ms=9), "SignalWaitOpened A"),
    )
    yield scenario(
        "SIG-002",
        "a wait of a node that does not run, or of another attempt",
        refused(before + waits("A", 1, "go")),
        refused(run.past + waits("B", 1, "stop")),
        refused(run.past + waits("A", 2, "go")),
        refused(run.past.plus(ended("A", 1), waits("A", 1, "go"))),
        accepted(opened),
        rejects(before, _wait("A", 1, "go"), "not_active"),
        rejects(run.past, _wait("A", 2, "go"), "not_active"),
    )
    yield scenario(
        "SIG-002",
        "the attempt stays the same",
        accepted(
            opened,
            {
                "/nodes/A/status": "waiting",
                "/nodes/A/attempts": 1,
                "/nodes/A/active/attempt_id": attempt(1),
                "/nodes/A/active/wait/name": "go",
            },
        ),
        accepted(run.past, {"/nodes/A/status": "running", "/nodes/A/active/wait": None}),
    )


def a_node_has_one_wait() -> Iterator[Scenario]:
    """SIG-003."""
    run = _parked()
    timer = Run([_waiting()])
    timer.start("A")
    timer.wait_until("A", 9)
    for name, parked in (("a signal", run.past), ("a time", timer.past)):
        yield scenario(
            "SIG-003",
            f"a node that waits for {name} opens another wait",
            refused(parked + waits("A", 1, "go")),
            refused(parked + waits("A", 1, "stop")),
            refused(parked + waits_until("A", 1, 10)),
            accepted(parked + acquired(1, 1)),
            rejects(parked, _wait("A", 1, "stop"), "not_active"),
            rejects(parked, _wait_until("A", 1, 10), "not_active"),
        )
        yield scenario(
            "SIG-003",
            f"a node that waits for {name} commits an outcome",
            refused(parked + ended("A", 1)),
            refused(parked + ended("A", 1, "retryable_failure")),
            refused(parked + ended("A", 1, "cancelled")),
            accepted(parked + advanced(1)),
            rejects(parked, complete("A", 1), "not_active"),
        )
    run.accept("A", "go")
    yield scenario(
        "SIG-003",
        "after a signal a node may wait again, and end",
        accepted(run.past + waits("A", 1, "stop")),
        accepted(run.past + waits_until("A", 1, 10)),
        accepted(run.past + ended("A", 1)),
        refused(run.past.plus(waits("A", 1, "stop"), waits("A", 1, "go"))),
        gives(run.past, _wait("A", 1, "stop"), "SignalWaitOpened A"),
    )
    run = _parked()
    run.start("B")
    yield scenario(
        "SIG-003",
        "two nodes wait at one time",
        refused(run.past.plus(waits("B", 2, "go"), waits("B", 2, "go"))),
        accepted(run.past + waits("B", 2, "go")),
    )


# Deliveries


def a_right_delivery_is_accepted() -> Iterator[Scenario]:
    """SIG-004."""
    run = _parked()
    run.start("B")
    yield scenario(
        "SIG-004",
        "a signal for another attempt, of another name, to another node",
        refused(run.past + accepts("A", 2, 1, "go")),
        refused(run.past + accepts("A", 3, 1, "go")),
        refused(run.past + accepts("A", 1, 1, "stop")),
        refused(run.past + accepts("B", 1, 1, "go")),
        refused(run.past + accepts("B", 2, 1, "go")),
        accepted(run.past + accepts("A", 1, 1, "go")),
    )
    yield scenario(
        "SIG-004",
        "an accepted signal closes the wait, and the attempt goes on",
        accepted(
            run.past + accepts("A", 1, 1, "go"),
            {
                "/nodes/A/status": "running",
                "/nodes/A/active/wait": None,
                "/nodes/A/active/attempt_id": attempt(1),
                "/nodes/A/attempts": 1,
            },
        ),
        accepted(run.past.plus(accepts("A", 1, 1, "go", payload={"x": 1}), ended("A", 1))),
        refused(run.past + ended("A", 1)),
        refused(run.past.plus(accepts("A", 1, 1, "go"), started("A", 3, 2))),
    )
    yield scenario(
        "SIG-004",
        "what right and wrong deliveries give",
        gives(run.past, deliver("A", 1, "go"), "SignalAccepted A"),
        gives(run.past, deliver("A", 1, "go", payload=[None, 1]), "SignalAccepted A"),
        gives(run.past, deliver("A", 1, "stop"), "SignalRejected A"),
        gives(run.past, deliver("A", 1, "go", "Secret"), "SignalRejected A"),
    )
    run.wait("B", "go", token="other")  # noqa: S106
    yield scenario(
        "SIG-004",
        "each of two waits has its own token",
        gives(run.past, deliver("B", 1, "go", "other"), "SignalAccepted B"),
        gives(run.past, deliver("B", 1, "go", "secret"), "SignalRejected B"),
        gives(run.past, deliver("A", 1, "go", "secret"), "SignalAccepted A"),
        gives(run.past, deliver("A", 1, "go", "other"), "SignalRejected A"),
    )
    run = Run([_waiting()])
    run.start("A")
    run.wait("A", "go")
    run.accept("A", "go")
    run.wait("A", "go", token="second")  # noqa: S106
    yield scenario(
        "SIG-004",
        "a later wait has a token of its own",
        gives(run.past, deliver("A", 2, "go", "second"), "SignalAccepted A"),
        gives(run.past, deliver("A", 2, "go", "secret"), "SignalRejected A"),
    )
    run = _parked(deadline_ms=9)
    yield scenario(
        "SIG-004",
        "a signal just before the deadline of the wait",
        accepted(run.past.plus(advanced(8), accepts("A", 1, 1, "go"))),
        gives(run.past + advanced(8), deliver("A", 1, "go"), "SignalAccepted A"),
    )


def a_wrong_delivery_leaves_the_wait_open() -> Iterator[Scenario]:
    """SIG-005."""
    run = _parked()
    for reason in ("wrong_name", "wrong_token"):
        turned_away = run.past + _rejected("A", 1, 1, reason)
        yield scenario(
            "SIG-005",
            f"after a delivery was rejected as {reason}",
            refused(turned_away + ended("A", 1)),
            refused(turned_away + waits("A", 1, "stop")),
            refused(turned_away + accepts("A", 1, 2, "stop")),
            accepted(turned_away, {"/nodes/A/status": "waiting", "/nodes/A/active/wait/name": "go"}),
            accepted(turned_away + accepts("A", 1, 2, "go")),
            gives(turned_away, deliver("A", 2, "go"), "SignalAccepted A"),
            rejects(turned_away, deliver("A", 1, "go"), "already_consumed", disposition=reason),
        )
    yield scenario(
        "SIG-005",
        "a delivery that is rejected for another attempt, at no wait, for another reason",
        refused(run.past + _rejected("A", 2, 1, "wrong_token")),
        refused(run.past + _rejected("B", 1, 1, "wrong_token")),
        refused(run.past + _rejected("A", 1, 1, "too_late")),
        refused(run.past + _rejected("A", 1, 1, "accepted")),
        accepted(run.past + _rejected("A", 1, 1, "wrong_token")),
    )
    running = run.past.until(-1)
    yield scenario(
        "SIG-005",
        "a delivery to a node that runs or is ready is not rejected by an event",
        refused(running + _rejected("A", 1, 1, "wrong_name")),
        refused(run.past.plus(accepts("A", 1, 1, "go"), _rejected("A", 1, 2, "wrong_name"))),
        refused(running.until(-1) + _rejected("A", 1, 1, "wrong_name")),
        accepted(run.past + _rejected("A", 1, 1, "wrong_name")),
    )
    yield scenario(
        "SIG-005",
        "another name, another digest, and both: the name is looked at first",
        gives(run.past, deliver("A", 1, "stop"), "SignalRejected A"),
        gives(run.past, deliver("A", 1, "go", "guess"), "SignalRejected A"),
        gives(run.past, deliver("A", 1, "stop", "guess"), "SignalRejected A"),
        gives(run.past, deliver("A", 1, "undeclared", "guess"), "SignalRejected A"),
        gives(run.past, deliver("A", 1, "go"), "SignalAccepted A"),
    )


def names_and_digests_are_compared_whole() -> Iterator[Scenario]:
    """SIG-005."""
    run = _parked()
    right = deliver("A", 1, "go")
    for position in (0, 1, 31, 32, 47, 63):
        digit = "0" if _DIGEST[position] != "0" else "1"
        similar = f"{_DIGEST[:position]}{digit}{_DIGEST[position + 1 :]}"
        yield scenario(
            "SIG-005",
            f"a digest that differs in digit {position + 1} alone",
            gives(run.past, {**right, "token_sha256": similar}, "SignalRejected A"),
            gives(run.past, right, "SignalAccepted A"),
        )
    for waited, other in (("s", "S"), ("S", "s"), ("go", "g"), ("g", "go"), ("go", "go_"), ("go", "og")):
        run = Run([node("A", signals=[waited, other])])
        run.start("A")
        run.wait("A", waited)
        yield scenario(
            "SIG-005",
            f"the name {other} where {waited} is waited for",
            gives(run.past, deliver("A", 1, other), "SignalRejected A"),
            gives(run.past, deliver("A", 1, waited), "SignalAccepted A"),
            refused(run.past + accepts("A", 1, 1, other)),
            rejects(
                run.past + _rejected("A", 1, 1, "wrong_name"),
                deliver("A", 1, waited),
                "already_consumed",
                disposition="wrong_name",
            ),
        )


def without_an_open_wait_nothing_is_delivered() -> Iterator[Scenario]:
    """SIG-006."""
    run = _parked(deadline_ms=9)
    ready = run.past.until(3)
    running = run.past.until(-1)
    over = run.past.plus(accepts("A", 1, 1, "go"), ended("A", 1))
    timer = running + waits_until("A", 1, 5)
    for name, past, number in (
        ("a node that is ready", ready, 1),
        ("a node that runs", running, 1),
        ("a node that had its signal", run.past + accepts("A", 1, 9, "go"), 1),
        ("a node that waits for a time", timer, 1),
        ("a node that has ended", over, 2),
        (
            "a node whose wait expired",
            run.past.plus(advanced(9), _expired("A", 1, 9), ended("A", 1, "retryable_failure"), retry("A", 2, 99)),
            1,
        ),
    ):
        yield scenario(
            "SIG-006",
            f"a delivery to {name}",
            refused(past + accepts("A", 1, number, "go")),
            refused(past + _rejected("A", 1, number, "wrong_token")),
            rejects(past, deliver("A", number, "go"), "no_open_wait"),
            rejects(past, deliver("A", number, "stop", "guess"), "no_open_wait"),
            gives(run.past, deliver("A", 3, "go"), "SignalAccepted A"),
        )
    yield scenario(
        "SIG-006",
        "a delivery to a wait that is due",
        refused(run.past.plus(advanced(9), accepts("A", 1, 1, "go"))),
        refused(run.past.plus(advanced(9), _rejected("A", 1, 1, "wrong_token"))),
        accepted(run.past.plus(advanced(8), accepts("A", 1, 1, "go"))),
    )
    run = Run([_waiting(attempt_deadline_ms=5)])
    run.start("A")
    run.wait("A", "go")
    yield scenario(
        "SIG-006",
        "a delivery to an attempt that is due",
        refused(run.past.plus(advanced(5), accepts("A", 1, 1, "go"))),
        accepted(run.past.plus(advanced(4), accepts("A", 1, 1, "go"))),
    )
    run = _parked()
    yield scenario(
        "SIG-006",
        "what was delivered to the wrong node or too early may be delivered again",
        rejects(run.past, deliver("B", 1, "go"), "no_open_wait"),
        gives(run.past, deliver("A", 1, "go"), "SignalAccepted A"),
        accepted(run.past, {"/signals": None}),
    )


def an_id_is_consumed_once() -> Iterator[Scenario]:
    """SIG-007."""
    run = _parked()
    run.start("B")
    run.wait("B", "go")
    for name, past, first in (
        ("accepted", run.past.plus(accepts("A", 1, 1, "go"), waits("A", 1, "go")), "accepted"),
        ("rejected for its name", run.past + _rejected("A", 1, 1, "wrong_name"), "wrong_name"),
        ("rejected for its token", run.past + _rejected("A", 1, 1, "wrong_token"), "wrong_token"),
    ):
        yield scenario(
            "SIG-007",
            f"a delivery is repeated that was {name}",
            refused(past + accepts("A", 1, 1, "go")),
            refused(past + _rejected("A", 1, 1, "wrong_name")),
            refused(past + accepts("B", 2, 1, "go")),
            refused(past + _rejected("B", 2, 1, "wrong_token")),
            accepted(past + accepts("A", 1, 2, "go")),
            accepted(past + accepts("B", 2, 2, "go")),
            accepted(past, {f"/signals/{signal(1)}": first}),
        )
        yield scenario(
            "SIG-007",
            f"a delivery is asked for again that was {name}",
            rejects(past, deliver("A", 1, "go"), "already_consumed", disposition=first),
            rejects(past, deliver("A", 1, "go", payload=7), "already_consumed", disposition=first),
            rejects(past, deliver("A", 1, "stop", "guess"), "already_consumed", disposition=first),
            rejects(past, deliver("B", 1, "go"), "already_consumed", disposition=first),
            rejects(past, deliver("B", 1, "go", "guess"), "already_consumed", disposition=first),
            gives(past, deliver("A", 2, "go"), "SignalAccepted A"),
        )


def an_id_stays_consumed() -> Iterator[Scenario]:
    """SIG-007."""
    run = Run([_waiting(backoff={"kind": "immediate"})])
    run.start("A")
    run.wait("A", "go")
    run.accept("A", "go")
    given = run.past
    run.end("A", "retryable_failure")
    run.start("A")
    again = run.past
    run.wait("A", "go")
    yield scenario(
        "SIG-007",
        "one signal and two waits of one name, in two attempts",
        refused(run.past + accepts("A", 2, 1, "go")),
        accepted(run.past + accepts("A", 2, 2, "go")),
        rejects(run.past, deliver("A", 1, "go"), "already_consumed", disposition="accepted"),
        rejects(again, deliver("A", 1, "go"), "already_consumed", disposition="accepted"),
        rejects(given, deliver("A", 1, "go"), "already_consumed", disposition="accepted"),
    )
    run.accept("A", "go")
    run.end("A")
    yield scenario(
        "SIG-007",
        "a delivery is asked for again when the run has ended",
        rejects(run.past, deliver("A", 1, "go"), "already_consumed", disposition="accepted"),
        rejects(run.past, deliver("A", 2, "go"), "already_consumed", disposition="accepted"),
        rejects(run.past, deliver("A", 3, "go"), "run_terminal"),
    )
    for first, told in (
        ("accepted", accepts("A", 1, 1, "go")),
        ("wrong_token", _rejected("A", 1, 1, "wrong_token")),
    ):
        opening = [waits("A", 1, "go")] if first == "accepted" else []
        past = _parked().past + told
        for name, resumed in (
            ("a run is taken over", past.plus(acquired(1, 1), *opening)),
            ("a run is taken over twice", past.plus(acquired(1, 1), given_up(1, 1), acquired(2, 2), *opening)),
            ("time goes on", past.plus(advanced(9), *opening)),
            ("another node waits and has its own", past.plus(*opening, started("B", 2), waits("B", 2, "go"))),
        ):
            yield scenario(
                "SIG-007",
                f"{name} after a delivery was told as {first}",
                refused(resumed + accepts("A", 1, 1, "go")),
                refused(resumed + _rejected("A", 1, 1, "wrong_token")),
                accepted(resumed + accepts("A", 1, 2, "go")),
                rejects(resumed, deliver("A", 1, "go"), "already_consumed", disposition=first),
            )
    here, there = _parked(), _parked(creation={"run_id": run_id(2)})
    yield scenario(
        "SIG-007",
        "two runs each use one id",
        accepted(here.past + accepts("A", 1, 71, "go")),
        accepted(there.past + accepts("A", 1, 71, "go")),
        refused(there.past.plus(accepts("A", 1, 71, "go"), waits("A", 1, "go"), accepts("A", 1, 71, "go"))),
    )
    run = _parked()
    yield scenario(
        "SIG-007",
        "another run knows nothing of it",
        rejects(run.past + accepts("A", 1, 1, "go"), deliver("A", 1, "go"), "already_consumed", disposition="accepted"),
        gives(run.past, deliver("A", 1, "go"), "SignalAccepted A"),
    )


def two_ids_are_two_deliveries() -> Iterator[Scenario]:
    """SIG-008."""
    run = _parked()
    run.advance(5)
    once = run.past.plus(accepts("A", 1, 1, "go", payload=1), waits("A", 1, "go"))
    yield scenario(
        "SIG-008",
        "two signals of one name, one payload and one time",
        refused(once + accepts("A", 1, 1, "go", payload=1)),
        accepted(
            once + accepts("A", 1, 2, "go", payload=1),
            {"/signals": {signal(1): "accepted", signal(2): "accepted"}},
        ),
        gives(once, deliver("A", 2, "go", payload=1), "SignalAccepted A"),
        rejects(once, deliver("A", 1, "go", payload=1), "already_consumed", disposition="accepted"),
    )
    for name, payload in (("a payload", {"x": [1]}), ("no payload", None)):
        members = {} if payload is None else {"payload": payload}
        both = run.past.plus(
            accepts("A", 1, 1, "go", **members), waits("A", 1, "go"), accepts("A", 1, 2, "go", **members)
        )
        yield scenario(
            "SIG-008",
            f"an attempt is given both of two equal signals with {name}",
            accepted(
                both,
                {"/nodes/A/active/resolved": (_received(1, "go", **members), _received(2, "go", **members))},
            ),
            accepted(both.until(-2), {"/nodes/A/active/resolved": (_received(1, "go", **members),)}),
        )
    running = run.past + accepts("A", 1, 1, "go", payload=1)
    yield scenario(
        "SIG-008",
        "a second signal to a node that does not wait any more is not the first",
        rejects(running, deliver("A", 2, "go", payload=1), "no_open_wait"),
        rejects(running, deliver("A", 1, "go", payload=1), "already_consumed", disposition="accepted"),
    )
    refused_once = run.past + _rejected("A", 1, 1, "wrong_token")
    yield scenario(
        "SIG-008",
        "two deliveries with one wrong token at one time",
        refused(refused_once + _rejected("A", 1, 1, "wrong_token")),
        accepted(refused_once + _rejected("A", 1, 2, "wrong_token")),
        gives(refused_once, deliver("A", 2, "go", "guess"), "SignalRejected A"),
    )


def _received(number: int, name: str, **members: Value) -> Document:
    """Return a signal as it is told in a state."""
    return {"kind": "signal", "signal_id": signal(number), "name": name, **members}


def an_attempt_has_all_its_signals_in_order() -> Iterator[Scenario]:
    """SIG-009."""
    run = Run([_waiting(backoff={"kind": "immediate"})])
    run.start("A")
    past = run.past.plus(
        waits("A", 1, "stop"),
        accepts("A", 1, 2, "stop", payload={"x": [1]}),
        waits("A", 1, "go"),
        _rejected("A", 1, 3, "wrong_token"),
        accepts("A", 1, 1, "go", payload="second"),
    )
    both = (_received(2, "stop", payload={"x": [1]}), _received(1, "go", payload="second"))
    yield scenario(
        "SIG-009",
        "two signals, in the order in which they were accepted",
        accepted(past, {"/nodes/A/active/resolved": both}),
        accepted(past.until(-3), {"/nodes/A/active/resolved": both[:1]}),
        accepted(run.past, {"/nodes/A/active/resolved": None}),
    )
    named = run.past.plus(
        waits("A", 1, "go"),
        accepts("A", 1, 2, "go", payload=1),
        waits("A", 1, "stop"),
        accepts("A", 1, 3, "stop", payload=1),
        waits("A", 1, "go"),
        accepts("A", 1, 1, "go", payload=2),
    )
    all_three = (_received(2, "go", payload=1), _received(3, "stop", payload=1), _received(1, "go", payload=2))
    yield scenario(
        "SIG-009",
        "two signals of one name with another between them",
        accepted(named, {"/nodes/A/active/resolved": all_three}),
        accepted(named.until(-2), {"/nodes/A/active/resolved": all_three[:2]}),
    )
    again = past.plus(
        ended("A", 1, "retryable_failure"), retry("A", 2, 0), fact("RetryReleased", node="A", next_attempt=2)
    )
    yield scenario(
        "SIG-009",
        "a later attempt begins with none",
        accepted(again + started("A", 2, 2), {"/nodes/A/active/resolved": None}),
        accepted(
            again.plus(started("A", 2, 2), waits("A", 2, "go"), accepts("A", 2, 4, "go", payload="third")),
            {"/nodes/A/active/resolved": (_received(4, "go", payload="third"),)},
        ),
    )
    run = _parked()
    run.start("B")
    run.wait("B", "go")
    yield scenario(
        "SIG-009",
        "each node has its own",
        accepted(
            run.past.plus(accepts("B", 2, 1, "go", payload=1), accepts("A", 1, 2, "go", payload=2)),
            {
                "/nodes/A/active/resolved": (_received(2, "go", payload=2),),
                "/nodes/B/active/resolved": (_received(1, "go", payload=1),),
            },
        ),
        accepted(
            run.past + accepts("B", 2, 1, "go", payload=1),
            {"/nodes/A/active/resolved": None, "/nodes/B/active/resolved": (_received(1, "go", payload=1),)},
        ),
    )


def a_wait_expires() -> Iterator[Scenario]:
    """SIG-010."""
    run = _parked(deadline_ms=9)
    due = run.past + advanced(12)
    yield scenario(
        "SIG-010",
        "a wait is due, and it does not expire, or another one",
        refused(due + acquired(1, 1)),
        refused(due + accepts("A", 1, 1, "go")),
        refused(due + _expired("A", 1, 12)),
        refused(due + _expired("A", 2, 9)),
        refused(due + _expired("B", 1, 9)),
        refused(due + fact("TimerFired", node="A", attempt_id=attempt(1), deadline_ms=9)),
        refused(due + fact("AttemptDeadlineExpired", node="A", attempt_id=attempt(1), deadline_ms=9)),
        unfinished(due),
        unfinished(due + _expired("A", 1, 9)),
    )
    gone = due + _expired("A", 1, 9)
    yield scenario(
        "SIG-010",
        "what the expiry of a wait brings",
        refused(gone + ended("A", 1)),
        refused(gone + ended("A", 1, "permanent_failure")),
        refused(gone + ended("A", 1, "cancelled")),
        refused(gone + ended("A", None, "retryable_failure")),
        refused(gone + accepts("A", 1, 1, "go")),
        refused(gone + retry("A", 2, 102)),
        unfinished(gone + ended("A", 1, "retryable_failure")),
    )
    yield scenario(
        "SIG-010",
        "just before the deadline of a wait, and at it",
        refused(run.past.plus(advanced(8), _expired("A", 1, 9))),
        accepted(run.past.plus(advanced(8), accepts("A", 1, 1, "go"))),
        refused(run.past.plus(advanced(9), accepts("A", 1, 1, "go"))),
        unfinished(run.past.plus(advanced(9), _expired("A", 1, 9))),
        gives(run.past, advance(8), "VirtualTimeAdvanced"),
        gives(
            run.past,
            advance(9),
            "VirtualTimeAdvanced",
            "SignalExpired A",
            "NodeOutcomeCommitted A retryable_failure",
            "RetryScheduled A",
        ),
    )
    over = run.past.plus(advanced(9), _expired("A", 1, 9), ended("A", 1, "retryable_failure"), retry("A", 2, 99))
    yield scenario(
        "SIG-010",
        "a wait that expired takes no delivery",
        refused(over + accepts("A", 1, 1, "go")),
        accepted(over, {"/nodes/A/status": "retry_pending", "/nodes/A/active": None}),
        rejects(over, deliver("A", 1, "go"), "no_open_wait"),
        rejects(over, complete("A", 1), "conflicting_outcome"),
    )
    again = over.plus(advanced(99), fact("RetryReleased", node="A", next_attempt=2))
    for name, past, number in (
        ("when its node is ready again", again, 1),
        ("when its node is ready again, for the attempt to come", again, 2),
        ("when its node has started again", again + started("A", 2, 2), 2),
        ("when its node waits for a time", again.plus(started("A", 2, 2), waits_until("A", 2, 120)), 2),
    ):
        yield scenario(
            "SIG-010",
            f"a wait that expired takes no delivery {name}",
            refused(past + accepts("A", number, 1, "go")),
            refused(past + _rejected("A", number, 1, "wrong_token")),
            accepted(past + acquired(1, 1)),
            rejects(past, deliver("A", 1, "go"), "no_open_wait"),
            rejects(past, deliver("A", 1, "go", "guess"), "no_open_wait"),
        )
    free = _parked()
    yield scenario(
        "SIG-010",
        "a wait without a deadline does not expire",
        refused(free.past.plus(advanced(2**53 - 1), _expired("A", 1, 2**53 - 1))),
        accepted(free.past.plus(advanced(2**53 - 1), accepts("A", 1, 1, "go"))),
        gives(free.past, advance(2**53 - 1), "VirtualTimeAdvanced"),
    )
    last = Run([_waiting(max_attempts=1)])
    last.start("A")
    last.wait("A", "go", deadline_ms=9)
    yield scenario(
        "SIG-010",
        "a wait of the last attempt expires",
        gives(
            last.past,
            advance(9),
            "VirtualTimeAdvanced",
            "SignalExpired A",
            "NodeOutcomeCommitted A retryable_failure",
            "NodeTerminated A attempts_exhausted",
            "RunFailed",
        ),
        gives(last.past, advance(8), "VirtualTimeAdvanced"),
    )


SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = (
    a_token_has_no_place,
    a_running_node_waits_for_a_signal_that_it_declares,
    a_node_has_one_wait,
    a_right_delivery_is_accepted,
    a_wrong_delivery_leaves_the_wait_open,
    names_and_digests_are_compared_whole,
    without_an_open_wait_nothing_is_delivered,
    an_id_is_consumed_once,
    an_id_stays_consumed,
    two_ids_are_two_deliveries,
    an_attempt_has_all_its_signals_in_order,
    a_wait_expires,
)
