"""Scripts: steps done one after the other. What the kernel refuses, and the script does not foresee, ends it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from perdure.kernel.commands import (
    AdvanceTime,
    AnyCommand,
    CompleteAttempt,
    CompleteChild,
    DeliverSignal,
    OpenSignalWait,
    OpenTimerWait,
    RequestCancellation,
    token_digest,
)
from perdure.kernel.identity import NodeId, SignalId
from perdure_conformance.histories.words import Remark
from perdure_conformance.simulation.outcomes import RESULTS, Answer, child_output, outcome_of
from perdure_conformance.simulation.player import End, Player
from perdure_conformance.simulation.steps import (
    Advance,
    Cancel,
    Child,
    Complete,
    Deliver,
    Reach,
    Run,
    Start,
    Step,
    Wait,
)


class Script:
    """A script that is played."""

    def __init__(self, player: Player, steps: Sequence[Step]) -> None:
        self._player = player
        self._steps = steps
        self._deliveries: dict[str, SignalId] = {}
        self.fault = ""
        """What happened otherwise than the script says, as one sentence; mostly empty."""

    def play(self) -> End | None:
        """Do all steps, as far as they go; None if they are done."""
        for number, step in enumerate(self._steps, start=1):
            end = self._reach(number, step) if isinstance(step, Reach) else self._do(number, step)
            if end is not None:
                return end
        return None

    def _reach(self, number: int, step: Reach) -> End | None:
        position = self._player.state.position(step.reach)
        if position is None:
            self.fault = f"Step {number}: there is no node {step.reach}."
            return "refused"
        end = self._player.play(position)
        if end is None or end in {"max_events", "until"}:
            return end
        self.fault = f"Step {number}: {step.reach} was not reached; it is {self._player.state.nodes[position].status}."
        return "refused"

    def _do(self, number: int, step: Step) -> End | None:
        assert not isinstance(step, Reach)
        if self._player.state.sequence >= self._player.bounds.max_events:
            return "max_events"
        commands = [self._player.start(step.run)] if isinstance(step, Run) else [self._command(step)]
        done = all(self._player.do(command) for command in commands)
        if done and isinstance(step, Run) and self._is_running(step.run):
            done = self._player.do(self._end(step))
        if done and isinstance(step, Wait):
            self._player.tokens[self._player.state.plan.positions[step.wait]] = step.token
        answer = None if done else self._player.answer
        if answer is not None:
            self._player.rows.append(Remark(f"step {number} is refused: {answer.code}: {answer.sentence}"))
        code = None if answer is None else answer.code
        if code == step.refused:
            return None
        if answer is None:
            self.fault = f"Step {number} was to be refused with {step.refused}, and was not."
        else:
            foreseen = "" if step.refused is None else f", and not with {step.refused}"
            self.fault = f"Step {number} was refused with {answer.code}{foreseen}: {answer.sentence}."
        return "refused"

    def _is_running(self, name: NodeId) -> bool:
        position = self._player.state.position(name)
        return position is not None and self._player.state.nodes[position].status == "running"

    def _end(self, step: Run) -> AnyCommand:
        position = self._player.state.plan.positions[step.run]
        is_child = self._player.state.node(position).child is not None
        return self._player.end(position, Answer("completed" if is_child else step.outcome, step.output), step.reason)

    def _command(self, step: Step) -> AnyCommand:
        match step:
            case Start(start=name):
                return self._player.start(name)
            case Complete():
                return self._complete(step)
            case Child():
                return self._child(step)
            case Wait():
                return self._wait(step)
            case Deliver():
                return self._deliver(step)
            case Advance(advance_to_ms=now_ms):
                return AdvanceTime(now_ms=now_ms)
            case Cancel(cancel=reason, requester=requester):
                return RequestCancellation(requester=requester, reason=reason)
            case Run() | Reach():
                raise AssertionError("not one command")
            case _:
                assert_never(step)

    def _complete(self, step: Complete) -> CompleteAttempt:
        position = self._player.state.position(step.complete)
        attempt_id, _ = self._player.attempt_of(position)
        answer = Answer(step.outcome, {} if position is None else step.output)
        outcome = outcome_of(self._player.state.plan, position or 0, answer, step.reason)
        return CompleteAttempt(node=step.complete, attempt_id=attempt_id, outcome=outcome)

    def _child(self, step: Child) -> CompleteChild:
        position = self._player.state.position(step.child)
        attempt_id, child_run_id = self._player.attempt_of(position)
        is_child = position is not None and self._player.state.node(position).child is not None
        answer = Answer(step.result, step.output if is_child else {})
        return CompleteChild(
            node=step.child,
            attempt_id=attempt_id,
            child_run_id=child_run_id,
            result=RESULTS[step.result],
            output=child_output(self._player.state.plan, position or 0, answer),
        )

    def _wait(self, step: Wait) -> OpenSignalWait | OpenTimerWait:
        position = self._player.state.position(step.wait)
        attempt_id, _ = self._player.attempt_of(position)
        if step.signal is None:
            return OpenTimerWait(node=step.wait, attempt_id=attempt_id, deadline_ms=step.until_ms or 0)
        return OpenSignalWait(
            node=step.wait,
            attempt_id=attempt_id,
            name=step.signal,
            token_sha256=token_digest(step.token),
            deadline_ms=step.until_ms,
        )

    def _deliver(self, step: Deliver) -> DeliverSignal:
        signal_id = SignalId(self._player.fresh())
        if step.delivery:
            signal_id = self._deliveries.setdefault(step.delivery, signal_id)
        return DeliverSignal(
            node=step.to,
            signal_id=signal_id,
            name=step.deliver,
            token_sha256=token_digest(step.token),
            payload=step.payload,
        )
