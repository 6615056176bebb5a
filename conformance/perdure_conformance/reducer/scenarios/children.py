"""Children: CHD-009 to CHD-014.

A node Z that is ready keeps a run from ending.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from perdure.kernel.commands import token_digest
from perdure_conformance.reducer.histories import (
    RUN,
    Document,
    Fact,
    Value,
    advanced,
    attempt,
    child,
    child_started,
    complete,
    complete_child,
    create,
    created,
    ended,
    fact,
    history,
    node,
    ready,
    released,
    retry,
    run_id,
    start,
    started,
    waits,
    waits_until,
)
from perdure_conformance.reducer.playing import Run
from perdure_conformance.reducer.scenarios.batches import brings
from perdure_conformance.reducer.scenarios.scenario import (
    NOTHING_YET,
    Scenario,
    accepted,
    gives,
    refused,
    rejects,
    scenario,
    unfinished,
)

_GIVES: Final[Fact] = {name: {"node": "x", "output": name} for name in ("x", "y")}
_SUB: Final[Document] = {"nodes": [node("x", outputs=["x", "y"])], "outputs": _GIVES}
_CATALOG: Final[Document] = {"sub@1": _SUB}
_LIMIT: Final = 65_536
_FAILURES: Final = ("failed", "blocked", "cancelled")


def _runs(name: str, *dependencies: str, policy: str = "propagate", **members: Value) -> Document:
    """Return a node whose work is a child run; `outputs` are the child's."""
    outputs = {"outputs": members.pop("outputs")} if "outputs" in members else {}
    return node(name, *dependencies, child={"workflow": "sub@1", "policy": policy, **outputs}, **members)


def _of(*nodes: str | Document, version: int = 5, **members: Value) -> Run:
    return Run([*nodes, "Z"], version=version, children=_CATALOG, **members)


def _completed(
    name: str, number: int, child_number: int, result: str = "completed", output: Fact | None = None
) -> Fact:
    """Return that a child run ended."""
    return fact(
        "ChildCompleted",
        node=name,
        attempt_id=attempt(number),
        child_run_id=child(child_number),
        result=result,
        output=output or {},
    )


# CHD-009


def child_runs_have_ids_of_their_own() -> Iterator[Scenario]:
    """CHD-009."""
    ancestors = [run_id(7), run_id(8), run_id(9)]
    run = _of(_runs("C"), creation={"ancestors": ancestors})
    past, right = run.past, child_started("C", 1, 1)
    for name, taken in (
        ("the run itself", RUN),
        ("its outermost ancestor", ancestors[0]),
        ("an ancestor between", ancestors[1]),
        ("its parent", ancestors[2]),
    ):
        yield scenario(
            "CHD-009",
            f"a child run has the id of {name}",
            refused(past + {**right, "child_run_id": taken}),
            rejects(past, start("C", 1, child_run_id=taken), "child_run_id_used"),
            *brings(past, right),
            *brings(past, {**right, "child_run_id": run_id(6)}),
        )
    run = _of(_runs("C"), _runs("E"))
    run.start("C")
    past = run.past
    run.child_ends("C")
    for name, before in (("runs", past), ("has ended", run.past)):
        yield scenario(
            "CHD-009",
            f"a child run has the id of that of another node, which {name}",
            refused(before + child_started("E", 2, 1)),
            rejects(before, start("E", 2, child_run_id=child(1)), "child_run_id_used"),
            *brings(before, child_started("E", 2, 2)),
        )
    run = _of(_runs("C", retry={"classes": ["permanent_failure"]}))
    run.start("C")
    run.child_ends("C", "failed")
    past = run.past
    yield scenario(
        "CHD-009",
        "each attempt is a child run of its own",
        refused(past + child_started("C", 2, 1, 2)),
        rejects(past, start("C", 2, child_run_id=child(1)), "child_run_id_used"),
        *brings(past, child_started("C", 2, 2, 2)),
    )
    run.start("C")
    run.child_ends("C", "failed")
    past = run.past
    yield scenario(
        "CHD-009",
        "the third child run has the id of the first",
        refused(past + child_started("C", 3, 1, 3)),
        refused(past + child_started("C", 3, 2, 3)),
        *brings(past, child_started("C", 3, 3, 3)),
    )
    run = Run([_runs("C"), "T", "Z"], ["T>C"], children=_CATALOG, initial_nodes=["C", "T", "Z"])
    run.start("C")
    run.child_ends("C")
    run.run("T")
    past = run.past
    yield scenario(
        "CHD-009",
        "each activation is a child run of its own",
        refused(past + child_started("C", 3, 1)),
        rejects(past, start("C", 3, child_run_id=child(1)), "child_run_id_used"),
        *brings(past, child_started("C", 3, 2)),
    )
    run = _of(_runs("C"), _runs("E"), version=3)
    run.start("C")
    past = run.past
    yield scenario(
        "CHD-009",
        "a child run has the id of another one, in version 3",
        refused(past + child_started("E", 2, 1)),
        refused(past + {**child_started("E", 2, 1), "child_run_id": RUN}),
        accepted(past + child_started("E", 2, 2)),
    )


# CHD-010


def ancestors_are_different() -> Iterator[Scenario]:
    """CHD-010."""
    document = _of("A").document
    one, two, three = run_id(7), run_id(8), run_id(9)
    for name, wrong, right in (
        ("the run is its own parent", [RUN], [one]),
        ("the run is one of several ancestors", [one, RUN, two], [one, three, two]),
        ("the run is its own outermost ancestor", [RUN, one], [two, one]),
        ("an ancestor stands twice, one after the other", [one, one], [one, two]),
        ("an ancestor stands twice, with others between", [one, two, three, one], [one, two, three]),
    ):
        yield scenario(
            "CHD-010",
            name,
            refused(history(created(document, ancestors=wrong))),
            rejects(NOTHING_YET, create(document, input={}, ancestors=wrong), "invalid_ancestors"),
            unfinished(history(created(document, ancestors=right))),
            accepted(history(created(document, ancestors=right), ready("A"), ready("Z"))),
            gives(
                NOTHING_YET,
                create(document, input={}, ancestors=right),
                "RunCreated",
                "NodeReady A initial",
                "NodeReady Z initial",
            ),
        )
    older = _of("A", version=3).document
    yield scenario(
        "CHD-010",
        "an ancestor stands twice, in version 3",
        refused(history(created(older, ancestors=[one, one]), version=3)),
        refused(history(created(older, ancestors=[RUN]), version=3)),
        unfinished(history(created(older, ancestors=[one, two]), version=3)),
        unfinished(history(created(older), version=3)),
    )


# CHD-011


def a_child_run_ends_its_attempt() -> Iterator[Scenario]:
    """CHD-011."""
    run = _of(_runs("C"), _runs("E"), "H")
    run.start("C")
    run.start("E")
    run.start("H")
    past, right = run.past, _completed("C", 1, 1)
    yield scenario(
        "CHD-011",
        "the end of a child run names its node, its attempt and itself",
        refused(past + _completed("C", 2, 1)),
        refused(past + _completed("C", 1, 2)),
        refused(past + _completed("C", 2, 2)),
        refused(past + _completed("E", 1, 1)),
        refused(past + _completed("H", 3, 1)),
        refused(past + _completed("C", 9, 1)),
        refused(past + _completed("C", 1, 9)),
        refused(past + {**right, "child_run_id": RUN}),
        refused(past + {**right, "node": "nobody"}),
        unfinished(past + right),
        *brings(past, right, ended("C", 1, output={})),
        *brings(past, _completed("E", 2, 2), ended("E", 2, output={})),
    )
    yield scenario(
        "CHD-011",
        "a command that ends a child run names its node, its attempt and itself",
        rejects(past, complete_child("C", 2, 1), "not_active"),
        rejects(past, complete_child("C", 1, 2), "not_active"),
        rejects(past, complete_child("E", 1, 1), "not_active"),
        gives(past, complete_child("C", 1, 1), "ChildCompleted C", "NodeOutcomeCommitted C succeeded"),
    )
    yield scenario(
        "CHD-011",
        "the outcome of this attempt follows at once",
        refused(past.plus(right, ended("E", 2, output={}))),
        refused(past.plus(right, ended("C", 2, output={}))),
        refused(past.plus(right, ended("C", None, output={}))),
        refused(past.plus(right, ended("H", 3))),
        refused(past.plus(right, started("Z", 4))),
        refused(past.plus(right, right)),
        refused(past.plus(right, _completed("E", 2, 2))),
        accepted(past.plus(right, ended("C", 1, output={}))),
    )
    yield scenario(
        "CHD-011",
        "a child run ends once",
        refused(past.plus(right, ended("C", 1, output={}), right)),
        refused(past.plus(right, ended("C", 1, output={}), ended("C", 1, output={}))),
        accepted(past.plus(right, ended("C", 1, output={}), _completed("E", 2, 2), ended("E", 2, output={}))),
    )


def a_child_has_no_other_outcome() -> Iterator[Scenario]:
    """CHD-011."""
    run = _of(_runs("C"), node("H", signals=["go"]))
    run.start("C")
    run.start("H")
    past = run.past
    for kind in ("succeeded", "changes_requested", "retryable_failure", "permanent_failure", "blocked", "cancelled"):
        output: Fact | None = {} if kind == "succeeded" else None
        yield scenario(
            "CHD-011",
            f"a child's node ends with {kind}, and no child run has ended",
            refused(past + ended("C", 1, kind, output)),
            rejects(past, complete("C", 1, kind, output), "is_a_child"),
            accepted(past + ended("H", 2, "cancelled")),
            accepted(past.plus(_completed("C", 1, 1), ended("C", 1, output={}))),
        )
    opens = fact("OpenSignalWait", node="C", attempt_id=attempt(1), name="go", token_sha256=token_digest("secret"))
    opens_timer = fact("OpenTimerWait", node="C", attempt_id=attempt(1), deadline_ms=5)
    yield scenario(
        "CHD-011",
        "a child's node waits",
        refused(past + waits("C", 1, "go")),
        refused(past + waits_until("C", 1, 5)),
        rejects(past, opens, "is_a_child", "undeclared_signal"),
        rejects(past, opens_timer, "is_a_child"),
        accepted(past + waits("H", 2, "go")),
        accepted(past + waits_until("H", 2, 5)),
        gives(past, {**opens_timer, "node": "H", "attempt_id": attempt(2)}, "TimerWaitOpened H"),
    )


def a_child_run_that_is_no_longer_active() -> Iterator[Scenario]:
    """CHD-011."""
    run = _of(_runs("C", retry={"attempt_deadline_ms": 5}))
    run.start("C")
    past = run.past
    expired = fact("AttemptDeadlineExpired", node="C", attempt_id=attempt(1), deadline_ms=5)
    batch = (
        advanced(5),
        expired,
        ended("C", 1, "retryable_failure"),
        retry("C", 2, 5),
        released("C", 2),
    )
    again = past.plus(*batch, child_started("C", 2, 2, 2, deadline_ms=10))
    yield scenario(
        "CHD-011",
        "a child run whose attempt has expired",
        *brings(past, *batch),
        refused(past.plus(*batch, _completed("C", 1, 1))),
        refused(again + _completed("C", 1, 1)),
        refused(again + _completed("C", 2, 1)),
        refused(again + _completed("C", 1, 2)),
        rejects(again, complete_child("C", 2, 1), "not_active"),
        *brings(again, _completed("C", 2, 2), ended("C", 2, output={})),
    )
    run = _of(_runs("C"))
    yield scenario(
        "CHD-011",
        "a child run that has not started",
        refused(run.past + _completed("C", 1, 1)),
        rejects(run.past, complete_child("C", 1, 1), "not_active"),
        accepted(run.past.plus(child_started("C", 1, 1), _completed("C", 1, 1), ended("C", 1, output={}))),
    )
    run = _of(_runs("C"), version=3)
    run.start("C")
    past = run.past
    yield scenario(
        "CHD-011",
        "the end of a child run, in version 3",
        refused(past + ended("C", 1, output={})),
        refused(past + _completed("C", 1, 2)),
        unfinished(past + _completed("C", 1, 1)),
        accepted(past.plus(_completed("C", 1, 1), ended("C", 1, output={}))),
    )


# CHD-012


def a_result_becomes_an_outcome() -> Iterator[Scenario]:
    """CHD-012."""
    propagated = {"failed": "permanent_failure", "blocked": "blocked", "cancelled": "cancelled"}
    for policy in ("propagate", "require_success"):
        for result in ("completed", *_FAILURES):
            failure = propagated.get(result) if policy == "propagate" else "permanent_failure"
            right = failure if result != "completed" and failure is not None else "succeeded"
            run = _of(_runs("C", policy=policy))
            run.start("C")
            over = run.past + _completed("C", 1, 1, result)
            kinds = ("succeeded", "changes_requested", "retryable_failure", "permanent_failure", "blocked", "cancelled",
                     "skipped")  # fmt: skip
            output: Fact | None = {} if right == "succeeded" else None
            yield scenario(
                "CHD-012",
                f"a child run is {result}, under {policy}: {right}",
                *(refused(over + ended("C", 1, kind)) for kind in kinds if kind not in {right, "succeeded"}),
                *([] if right == "succeeded" else [refused(over + ended("C", 1, output={}))]),
                accepted(over + ended("C", 1, right, output, "" if right == "succeeded" else "any reason")),
                *brings(run.past, _completed("C", 1, 1, result), ended("C", 1, right, output)),
            )
    for policy in ("propagate", "require_success"):
        run = _of(_runs("C", policy=policy, outputs={"a": "x"}))
        run.start("C")
        past = run.past
        yield scenario(
            "CHD-012",
            f"a child run that did not complete has an output, under {policy}",
            *(refused(past.plus(_completed("C", 1, 1, result, {"x": 1}), ended("C", 1, output={"a": 1})))
              for result in _FAILURES),
            *(side for result in _FAILURES for side in brings(
                past,
                _completed("C", 1, 1, result, {"x": 1}),
                ended("C", 1, propagated[result] if policy == "propagate" else "permanent_failure"),
            )),
            *brings(past, _completed("C", 1, 1, output={"x": 1}), ended("C", 1, output={"a": 1})),
        )  # fmt: skip
    run = _of(_runs("C", outputs={"a": "x"}))
    run.start("C")
    past = run.past
    yield scenario(
        "CHD-012",
        "a child run that did not complete lacks an output, and is what it is",
        refused(past.plus(_completed("C", 1, 1, "blocked"), ended("C", 1, "permanent_failure"))),
        *brings(past, _completed("C", 1, 1, "blocked"), ended("C", 1, "blocked")),
        *brings(past, _completed("C", 1, 1, "cancelled"), ended("C", 1, "cancelled")),
    )
    run = _of(_runs("C", policy="require_success"), version=3)
    run.start("C")
    past = run.past
    yield scenario(
        "CHD-012",
        "a child run is blocked, under require_success, in version 3",
        refused(past.plus(_completed("C", 1, 1, "blocked"), ended("C", 1, "blocked"))),
        accepted(past.plus(_completed("C", 1, 1, "blocked"), ended("C", 1, "permanent_failure"))),
    )


# CHD-013


def an_output_is_what_is_taken() -> Iterator[Scenario]:
    """CHD-013."""
    run = _of(_runs("C", outputs={"a": "x"}))
    run.start("C")
    several = _completed("C", 1, 1, output={"x": 1, "y": 2, "z": 3})
    over = run.past + several
    yield scenario(
        "CHD-013",
        "one field is taken of several",
        refused(over + ended("C", 1)),
        refused(over + ended("C", 1, output={})),
        refused(over + ended("C", 1, output={"x": 1})),
        refused(over + ended("C", 1, output={"x": 1, "y": 2, "z": 3})),
        refused(over + ended("C", 1, output={"a": 1, "x": 1})),
        refused(over + ended("C", 1, output={"a": 1, "y": 2})),
        refused(over + ended("C", 1, output={"a": 1, "b": None})),
        refused(over + ended("C", 1, output={"a": 2})),
        refused(over + ended("C", 1, output={"a": "1"})),
        refused(over + ended("C", 1, output=1)),
        refused(over + ended("C", 1, output=[1])),
        accepted(over + ended("C", 1, output={"a": 1})),
        *brings(run.past, several, ended("C", 1, output={"a": 1})),
    )
    run = _of(_runs("C"))
    run.start("C")
    over = run.past + _completed("C", 1, 1, output={"x": 1})
    yield scenario(
        "CHD-013",
        "no field is taken",
        refused(over + ended("C", 1, output={"x": 1})),
        refused(over + ended("C", 1)),
        refused(over + ended("C", 1, output=1)),
        accepted(over + ended("C", 1, output={})),
    )
    run = _of(_runs("C", outputs={"x": "y", "y": "x", "z": "x"}))
    run.start("C")
    over = run.past + _completed("C", 1, 1, output={"x": 1, "y": 2})
    yield scenario(
        "CHD-013",
        "fields change their names, and one is taken twice",
        refused(over + ended("C", 1, output={"x": 1, "y": 2, "z": 1})),
        refused(over + ended("C", 1, output={"x": 2, "y": 1})),
        accepted(over + ended("C", 1, output={"x": 2, "y": 1, "z": 1})),
    )
    run = _of(_runs("C", outputs={"a": "x"}))
    run.start("C")
    values: tuple[Value, ...] = (None, False, 0, "", [], {}, {"x": {"a": [1, None]}}, "\u0000\u2028")
    for value in values:
        past, end = run.past, _completed("C", 1, 1, output={"x": value})
        yield scenario(
            "CHD-013",
            f"a value is taken as it is: {value!a}",
            refused(past.plus(end, ended("C", 1, output={}))),
            refused(past.plus(end, ended("C", 1, "permanent_failure"))),
            refused(past.plus(end, ended("C", 1, output={"a": "another"}))),
            *brings(past, end, ended("C", 1, output={"a": value})),
        )
    mapping = {"v": {"node": "C", "output": "a"}}
    run = _of(_runs("C", outputs={"a": "x"}), node("D", "C", input_mapping=mapping))
    run.start("C")
    run.child_ends("C", x=7)
    past = run.past
    yield scenario(
        "CHD-013",
        "what was taken is given to the next node",
        refused(past.plus(started("D", 2), ended("D", 2, "permanent_failure"), started("D", 3))),
        *brings(past, started("D", 2), state={"/nodes/D/active/input": {"v": 7}}),
    )


# CHD-014


def an_output_lacks_a_field() -> Iterator[Scenario]:
    """CHD-014."""
    run = _of(_runs("C", outputs={"a": "x", "b": "y"}))
    run.start("C")
    past = run.past
    lacking: tuple[tuple[str, Fact], ...] = (
        ("one of two", {"x": 1}),
        ("the other", {"y": 1}),
        ("both", {}),
        ("all but one", {"a": 1, "b": 2, "x": 3}),
    )
    for name, output in lacking:
        end = _completed("C", 1, 1, output=output)
        over = past + end
        taken = {mine: output[its] for mine, its in (("a", "x"), ("b", "y")) if its in output}
        yield scenario(
            "CHD-014",
            f"a completed child run lacks fields that are taken: {name}",
            refused(over + ended("C", 1, output=taken)),
            refused(over + ended("C", 1, output={"a": None, "b": None, **taken})),
            refused(over + ended("C", 1, "retryable_failure")),
            refused(over + ended("C", 1, "blocked")),
            *brings(past, end, ended("C", 1, "permanent_failure")),
            *brings(past, _completed("C", 1, 1, output={"x": 1, "y": 2}), ended("C", 1, output={"a": 1, "b": 2})),
        )
    run = _of(_runs("C", policy="require_success", outputs={"a": "x"}))
    run.start("C")
    past = run.past
    yield scenario(
        "CHD-014",
        "a field is null, and is there",
        refused(past.plus(_completed("C", 1, 1, output={"x": None}), ended("C", 1, "permanent_failure"))),
        *brings(past, _completed("C", 1, 1, output={"x": None}), ended("C", 1, output={"a": None})),
        *brings(past, _completed("C", 1, 1, output={"y": None}), ended("C", 1, "permanent_failure")),
    )
    run = _of(_runs("C", outputs={"a": "x"}, retry={"classes": ["permanent_failure"]}))
    run.start("C")
    past = run.past
    yield scenario(
        "CHD-014",
        "a field that is missing is a failure like others: it is tried again",
        refused(past.plus(_completed("C", 1, 1), ended("C", 1, output={}))),
        *brings(past, _completed("C", 1, 1), ended("C", 1, "permanent_failure"), retry("C", 2, 0), released("C", 2)),
    )


def an_output_is_too_large() -> Iterator[Scenario]:
    """CHD-014."""
    around = len('{"a":""}')
    run = _of(_runs("C", outputs={"a": "x"}))
    run.start("C")
    past = run.past
    for name, fits in (
        ("letters", "x" * (_LIMIT - around)),
        ("characters of two bytes", "\u00e9" * ((_LIMIT - around) // 2)),
        ("characters that are written longer", "\n" * ((_LIMIT - around) // 2)),
    ):
        large = _completed("C", 1, 1, output={"x": fits + "x"})
        yield scenario(
            "CHD-014",
            f"what is taken is as large as may be, and by one byte larger: {name}",
            refused(past.plus(large, ended("C", 1, output={"a": fits}))),
            refused(past.plus(large, ended("C", 1, output={}))),
            *brings(past, large, ended("C", 1, "permanent_failure")),
            refused(past.plus(_completed("C", 1, 1, output={"x": fits}), ended("C", 1, "permanent_failure"))),
            *brings(past, _completed("C", 1, 1, output={"x": fits}), ended("C", 1, output={"a": fits})),
        )
    much = {"x": 1, "y": "x" * (2 * _LIMIT)}
    yield scenario(
        "CHD-014",
        "what is not taken may be large",
        refused(past.plus(_completed("C", 1, 1, output=much), ended("C", 1, "permanent_failure"))),
        *brings(past, _completed("C", 1, 1, output=much), ended("C", 1, output={"a": 1})),
    )
    run = _of(_runs("C", outputs={"a": "x", "b": "x"}))
    run.start("C")
    half = "x" * (_LIMIT // 2)
    yield scenario(
        "CHD-014",
        "what is taken twice counts twice",
        *brings(run.past, _completed("C", 1, 1, output={"x": half}), ended("C", 1, "permanent_failure")),
        *brings(
            run.past,
            _completed("C", 1, 1, output={"x": half[:-9]}),
            ended("C", 1, output={"a": half[:-9], "b": half[:-9]}),
        ),
    )


SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = (
    child_runs_have_ids_of_their_own,
    ancestors_are_different,
    a_child_run_ends_its_attempt,
    a_child_has_no_other_outcome,
    a_child_run_that_is_no_longer_active,
    a_result_becomes_an_outcome,
    an_output_is_what_is_taken,
    an_output_lacks_a_field,
    an_output_is_too_large,
)
