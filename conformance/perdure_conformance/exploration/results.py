"""Results: what an exploration found, as words and as JSON, whose schema is `schemas/explore-1.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from rich.table import Table
from rich.text import Text

from perdure.kernel.state import RunStatus, Status
from perdure.kernel.validation.validator import validate
from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.exploration.canonical import BUDGETS, Budget
from perdure_conformance.exploration.exploring import Exploration, Verdict, explored
from perdure_conformance.exploration.search import Bound, Bounds, Closed, Ended, Exhausted, Fired, Goal, Started, Stuck
from perdure_conformance.exploration.witnesses import Witness, witness
from perdure_conformance.histories.verification import counted
from perdure_conformance.histories.words import one_line, value_in_words
from perdure_conformance.lint.document import name_of
from perdure_conformance.lint.drawing import predicate_in_words
from perdure_conformance.simulation.steps import Advance, Child, Complete, Deliver, Start, Step, Wait
from perdure_conformance.verdict import CONFORMANT, INTERRUPTED, NO_VERDICT, NOT_CONFORMANT

EXPLORE_VERSION: Final = 1

ENDS: Final[tuple[RunStatus, ...]] = tuple(status for status in get_args(RunStatus) if status != "running")
CLOSED: Final[tuple[Status, ...]] = ("succeeded", "failed", "blocked", "cancelled", "skipped")
_WITH_WAY: Final = frozenset({"blocked", "skipped"})
"""Ends of a node to which the way is told: in these, it may never have run."""

BY_REQUEST: Final = ({"cancel": "enough"},)
"""What ends any run at any time, and is not explored for that reason."""

MAX_SCRIPT: Final = 1_000
"""Longer scripts are not in the document; `--scripts` writes them."""
_SHOWN_STEPS: Final = 5
_SHOWN_NAMES: Final = 12


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of something, with the way to it if it was reached and is not too far away."""

    goal: Goal
    verdict: Verdict
    way: Witness | None


@dataclass(frozen=True, slots=True)
class Result:
    """An exploration, and the ways to all of which the way is told."""

    file: str
    content_hash: str
    exploration: Exploration
    ends: tuple[Known, ...]
    budgets: Mapping[Budget, Known | None]
    """None of one that has no limit."""
    started: tuple[Known, ...]
    closed: Mapping[tuple[int, Status], Known]
    fired: tuple[Known, ...]
    stuck: Known

    @property
    def findings(self) -> tuple[str, ...]:
        """What is wrong, a sentence each."""
        nodes = self.exploration.plan.nodes
        never = [nodes[number].id for number, known in enumerate(self.started) if known.verdict == "unreachable"]
        found = [f"No run ever starts {_names(never)}."] if never else []
        if self.stuck.verdict == "reached":
            found.append("A run can come to a state from which nothing leads on, and which is no end.")
        refusals = self.exploration.found.refusals
        return (*found, *(f"The kernel refuses what it should accept: {refused}." for refused in refusals[:1]))

    @property
    def exit_code(self) -> int:
        """What the command comes to."""
        if self.exploration.stopped_by == "interrupted":
            return INTERRUPTED
        if self.findings:
            return NOT_CONFORMANT
        return CONFORMANT if self.exploration.is_complete else NO_VERDICT


def result_of(file: str, content_hash: str, exploration: Exploration) -> Result:
    """Work out the ways to everything that was reached."""

    def known(goal: Goal, *, with_way: bool = True) -> Known:
        verdict = exploration.verdict(goal)
        return Known(goal, verdict, witness(exploration, goal) if with_way and verdict == "reached" else None)

    positions = range(len(exploration.plan.nodes))
    return Result(
        file=file,
        content_hash=content_hash,
        exploration=exploration,
        ends=tuple(known(Ended(status)) for status in ENDS),
        budgets={each: None if _limit(exploration, each) is None else known(Exhausted(each)) for each in BUDGETS},
        started=tuple(known(Started(position)) for position in positions),
        closed={
            (position, status): known(Closed(position, status), with_way=status in _WITH_WAY)
            for position in positions
            for status in CLOSED
        },
        fired=tuple(known(Fired(edge), with_way=False) for edge in range(len(exploration.plan.edges))),
        stuck=known(Stuck()),
    )


def told(value: JsonObject, max_states: int) -> dict[str, object]:
    """Explore a valid specification, and say what `perdure explore --json` says."""
    found = validate(value)
    assert found.specification is not None
    exploration = explored(value, found.specification, Bounds(max_states))
    return document(result_of("-", found.content_hash or "", exploration))


def ways(result: Result) -> Iterator[tuple[str, Witness]]:
    """Yield every way that is told, with a name for its file."""
    nodes = result.exploration.plan.nodes
    for end, known in zip(ENDS, result.ends, strict=True):
        if known.way is not None:
            yield end, known.way
    for budget, exhausted in result.budgets.items():
        if exhausted is not None and exhausted.way is not None:
            yield f"budget-{budget}", exhausted.way
    for position, known in enumerate(result.started):
        if known.way is not None:
            yield f"start-{nodes[position].id}", known.way
    for (position, status), known in result.closed.items():
        if known.way is not None:
            yield f"{status}-{nodes[position].id}", known.way
    if result.stuck.way is not None:
        yield "dead-end", result.stuck.way


_STOPPED: Final[Mapping[Bound, str]] = {
    "states": "--max-states",
    "time": "--time-limit",
    "memory": "--memory",
    "interrupted": "the interruption",
}


def sentence(result: Result) -> str:
    """Return what the exploration comes to, as one sentence."""
    exploration = result.exploration
    if exploration.stopped_by is not None:
        told = f"Stopped by {_STOPPED[exploration.stopped_by]}: what is not found so far may be possible all the same."
    elif exploration.left_out:
        told = (
            f"{_names(exploration.left_out)} may give more outputs than were tried: what is not found may be possible."
        )
    else:
        told = "Every state was seen."
    return " ".join([*result.findings, told])


def notes(result: Result) -> Iterator[str]:
    """Yield what else has to be known to understand what was found."""
    exploration = result.exploration
    yield "A request to cancel ends any run at any time, and is not explored."
    if any(node.child is not None for node in exploration.plan.nodes):
        yield "A child run may end in every way; what happens in it is not explored."
    if not exploration.is_exact:
        yield (
            "How long things take decides here what is possible: time went on only to what was due, and what is not "
            "found so far may be possible at other times; what is never is not at any."
        )
    if any(exploration.verdict(Exhausted(each)) == "not_found" for each in ("attempts", "transitions")):
        yield "Of a budget that is not found to be used up, it is not known whether it can be before the run has ended."


# As JSON.


def document(result: Result) -> dict[str, object]:
    """Return everything as JSON."""
    exploration = result.exploration
    plan, found, bounds = exploration.plan, exploration.found, exploration.bounds
    memory = bounds.memory_bytes
    return {
        "explore_version": EXPLORE_VERSION,
        "file": name_of(result.file),
        "workflow": f"{plan.specification.workflow_id}@{plan.specification.workflow_version}",
        "content_hash": result.content_hash,
        "exit_code": result.exit_code,
        "sentence": sentence(result),
        "complete": exploration.is_complete,
        "stopped_by": exploration.stopped_by,
        "bounds": {
            "max_states": bounds.max_states,
            "time_limit_s": bounds.time_limit_s,
            "memory_mib": None if memory is None else memory // 2**20,
        },
        "reduced": exploration.is_reduced,
        "counts": {"states": found.states, "ended": found.ended, "commands": found.commands},
        "results": [{"result": end, **_known(known)} for end, known in zip(ENDS, result.ends, strict=True)],
        "budgets": [
            {"budget": budget, "limit": _limit(exploration, budget), **_known(known)}
            for budget, known in result.budgets.items()
            if known is not None
        ],
        "nodes": [
            {
                "node": node.id,
                "started": _known(result.started[position]),
                "ends": [{"status": status, **_known(result.closed[position, status])} for status in CLOSED],
            }
            for position, node in enumerate(plan.nodes)
        ],
        "edges": [
            {"edge": number, "from": edge.source, "to": edge.target, "verdict": result.fired[number].verdict}
            for number, edge in enumerate(plan.edges)
        ],
        "dead_end": _known(result.stuck),
        "cancelled_by_request": list(BY_REQUEST),
        "notes": list(notes(result)),
    }


def _limit(exploration: Exploration, budget: Budget) -> int | None:
    budgets = exploration.plan.specification.budgets
    return {
        "attempts": budgets.max_attempts,
        "transitions": budgets.max_transitions,
        "elapsed": budgets.max_elapsed_ms,
    }[budget]


def _known(known: Known) -> dict[str, object]:
    way = known.way
    told: JsonValue = None
    if way is not None:
        is_short = len(way.steps) <= MAX_SCRIPT
        told = {
            "commands": len(way.steps),
            "shortest": way.is_shortest,
            "script": list(way.document) if is_short else None,
        }
    return {"verdict": known.verdict, "way": told}


# As words.

_WORDS: Final[Mapping[Verdict, str]] = {"reached": "yes", "unreachable": "never", "not_found": "not found so far"}


def tables(result: Result) -> Iterator[Table]:
    """Yield what was found as tables."""
    ends = _table("a run can be", "", "commands", "by")
    for end, known in zip(ENDS, result.ends, strict=True):
        ends.add_row(end, *_cells(known))
    yield ends
    budgets = _table("a budget can be used up", "", "commands", "by")
    for budget, exhausted in result.budgets.items():
        if exhausted is not None:
            limit = _limit(result.exploration, budget)
            budgets.add_row(f"{budget}, {limit:,}{' ms' if budget == 'elapsed' else ''}", *_cells(exhausted))
    yield budgets
    nodes = _table("a node", "can start", "commands", "can end", "")
    for position, node in enumerate(result.exploration.plan.nodes):
        started = result.started[position]
        closed = [status for status in CLOSED if result.closed[position, status].verdict == "reached"]
        by = [
            f"{status}: {_in_short(way.steps)}"
            for status in closed
            if (way := result.closed[position, status].way) is not None
        ]
        name = Text(one_line(node.id, 40))
        nodes.add_row(name, *_cells(started)[:2], Text(", ".join(closed)), Text("\n".join(by)))
    yield nodes


def lines(result: Result) -> Iterator[str]:
    """Yield what does not stand in the tables."""
    exploration = result.exploration
    plan = exploration.plan
    for number, known in enumerate(result.fired):
        if known.verdict != "reached":
            edge = plan.edges[number]
            when = one_line(predicate_in_words(edge.when), 60)
            told = "never fires" if known.verdict == "unreachable" else "has not fired so far"
            yield f"edge {number}, {edge.source} → {edge.target} ({when}), {told}"
    if result.stuck.verdict == "reached":
        way = result.stuck.way
        yield f"dead end: {_in_short(way.steps) if way is not None else 'at once'}"
    found = exploration.found
    heading = "EXPLORED" if exploration.is_complete else "NOT ALL EXPLORED"
    states, ended = counted(found.states, "state"), counted(found.ended, "end")
    how = "" if exploration.is_reduced else ", without reduction"
    yield f"{heading}  {states}, {ended} among them, by {counted(found.commands, 'command')}{how}"
    yield sentence(result)
    for note in notes(result):
        yield f"note     {note}"


def _table(*columns: str) -> Table:
    table = Table(title=None, box=None, pad_edge=False, header_style="dim")
    for position, column in enumerate(columns):
        table.add_column(
            column, justify="right" if column == "commands" else "left", overflow="fold", no_wrap=not position
        )
    return table


def _cells(known: Known) -> tuple[str, str, Text]:
    if known.way is None:
        return _WORDS[known.verdict], "", Text("after too many to be looked for" if known.verdict == "reached" else "")
    more = "" if known.way.is_shortest else " or less"
    return _WORDS[known.verdict], f"{len(known.way.steps):,}{more}", Text(_in_short(known.way.steps))


def _in_short(steps: Sequence[Step]) -> str:
    told = [_step(step) for step in steps[:_SHOWN_STEPS]]
    left = len(steps) - _SHOWN_STEPS
    return "; ".join([*told, f"… {left:,} more"] if left > 0 else told)


def _step(step: Step) -> str:
    match step:
        case Start(start=name):
            return f"start {one_line(name, 40)}"
        case Complete(complete=name, outcome=outcome, output=output):
            shown = f" {value_in_words(output, 40)}" if isinstance(output, Mapping) else ""
            return f"{one_line(name, 40)} {outcome}{shown}"
        case Child(child=name, result=result):
            return f"{one_line(name, 40)} {result}"
        case Wait(wait=name, signal=signal):
            return f"{one_line(name, 40)} waits for {one_line(str(signal), 40)}"
        case Deliver(deliver=signal, to=name):
            return f"{one_line(signal, 40)} to {one_line(name, 40)}"
        case Advance(advance_to_ms=now_ms):
            return f"at {now_ms:,} ms"
        case _:
            raise AssertionError(step)


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(one_line(name, 40) for name in names[:_SHOWN_NAMES])
    more = len(names) - _SHOWN_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown
