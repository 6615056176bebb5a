"""Results: how a simulated run ended, as words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from perdure.kernel.mapping import run_output
from perdure.kernel.records import document_of
from perdure.kernel.state import LIVE, State
from perdure_conformance.histories import inspection
from perdure_conformance.histories.verification import counted
from perdure_conformance.histories.words import Remark, Row, one_line, table, value_in_words
from perdure_conformance.lint.document import name_of
from perdure_conformance.simulation.player import End, Player

SIMULATE_VERSION: Final = 1

_BUSIEST: Final = 3


@dataclass(frozen=True, slots=True)
class Result:
    """A run, and why it was played no further."""

    file: str
    seed: int
    player: Player
    end: End
    fault: str
    """What happened otherwise than a script says."""
    notes: tuple[str, ...]


def sentence(result: Result) -> str:
    """Return why the simulation is over, as one sentence."""
    state = result.player.state
    match result.end:
        case "ended":
            return f"The run is {state.status}."
        case "max_events":
            told = (
                f"Stopped after {counted(state.sequence, 'event')}, as --max-events {result.player.bounds.max_events}"
            )
            return f"{told} says; the run has not ended: {_busiest(state)}."
        case "until":
            return f"Stopped at {state.now_ms:,} ms, as --until says; the run has not ended."
        case "script":
            return "The script is done, and --stop says to go no further; the run has not ended."
        case "refused":
            return result.fault or "The kernel refused what was to come by itself."
        case "stands_still":
            return f"Nothing comes by itself any more, and the run has not ended: {_idle(state)}."


def _busiest(state: State) -> str:
    counts = [(node.activations, -position) for position, node in sorted(state.nodes.items()) if node.activations]
    most = sorted(counts, reverse=True)[:_BUSIEST]
    told = ", ".join(f"{state.name(-position)} ({count:,})" for count, position in most)
    return f"the nodes with most activations are {told}; a loop without `max_activations` may go on for ever"


def _idle(state: State) -> str:
    live = [state.name(position) for position, node in sorted(state.nodes.items()) if node.status in LIVE]
    shown = ", ".join(one_line(name, 40) for name in live[:_BUSIEST])
    more = f" and {len(live) - _BUSIEST:,} more" if len(live) > _BUSIEST else ""
    return f"{shown}{more} {'hangs' if len(live) == 1 else 'hang'}, without a deadline"


def in_words(result: Result) -> Iterator[str]:
    """Yield the history, one line an event, and what it came to."""
    player = result.player
    state = player.state
    yield f"run {player.run_id}  {inspection.workflow_of(state)}  seed {result.seed}"
    yield ""
    yield from table(player.rows, state.plan)
    yield ""
    yield from inspection.node_table(state)
    yield ""
    heading = f"RUN {state.status.upper()}" if state.status != "running" else "NOT ENDED (running)"
    events, batches = counted(state.sequence, "event"), counted(len(player.batches), "batch", "batches")
    yield f"{heading}  {events} in {batches}, at {state.now_ms:,} ms"
    if result.end != "ended":
        yield one_line(sentence(result))
    if state.plan.specification.outputs:
        yield f"output   {value_in_words(run_output(state), 1_000)}"
    for note in result.notes:
        yield f"note     {one_line(note)}"


def document(result: Result, exit_code: int) -> dict[str, object]:
    """Return the history and what it came to as JSON."""
    player = result.player
    state = player.state
    times = {row.sequence: row.now_ms for row in player.rows if isinstance(row, Row)}
    return {
        "simulate_version": SIMULATE_VERSION,
        "file": name_of(result.file),
        "exit_code": exit_code,
        "run_id": player.run_id,
        "seed": result.seed,
        "end": result.end,
        "sentence": sentence(result),
        "status": state.status,
        "output": run_output(state),
        "batches": [
            {
                "command": type(batch.command).__name__,
                "events": [
                    {
                        "sequence": batch.sequence + index,
                        "now_ms": times[batch.sequence + index],
                        "event": document_of(event),
                    }
                    for index, event in enumerate(batch.events)
                ],
            }
            for batch in player.batches
        ],
        "refused": [row.text for row in player.rows if isinstance(row, Remark)],
        "fired": {str(edge): count for edge, count in sorted(player.fired.items())},
        "state": inspection.document(state),
        "notes": list(result.notes),
    }


def notes(missing: Sequence[str], unused: dict[int, int], player: Player) -> tuple[str, ...]:
    """Return what was made up, what was said in vain, and which edges were stopped."""
    state = player.state
    found = [f"nobody gave the input {name}: its own name stands for it" for name in missing]
    for position, count in unused.items():
        what = counted(count, "outcome")
        found.append(f"{what} of {state.name(position)} {'was' if count == 1 else 'were'} said and not used")
    for number, count in sorted(player.stopped.items()):
        edge, most = state.plan.edges[number], state.node(state.plan.targets[number]).max_activations
        what = f"edge {number}, {edge.source} → {edge.target}, was stopped {counted(count, 'time')}"
        found.append(f"{what}: {edge.target} has no more than {counted(most or 0, 'activation')} (`max_activations`)")
    return tuple(found)
