"""A deliberately dumb kernel: the same histories as `perdure.kernel`, by looking at everything again each time.

It keeps a run as plain dictionaries and lists, and works out who reaches whom, what is due, what is released and what
is to be closed by going through all nodes and all edges after each event. It has no counters, no agenda, no
condensation kept for later and no sharing. It is written from the words of the specification alone, in the order in
which they stand there, and is for graphs of a few nodes.

It writes the words of version 5 in every version: version 1 says the same in three events of its own.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterable
from typing import Any, Final

import msgspec
from msgspec import UNSET

from perdure.kernel import commands as c
from perdure.kernel import events as e
from perdure.kernel.outcomes import ChangesRequested, Outcome, Succeeded, Unsuccessful
from perdure.kernel.specification import Exponential, Fixed, RetryPolicy, Specification, covered_by_hash
from perdure.kernel.validation.validator import validate
from perdure.kernel.values import canonical_json, digest, nesting

LATEST: Final = 2**53 - 1
LIVE: Final = ("ready", "running", "waiting", "retry_pending")
ACTIVE: Final = ("running", "waiting")
TERMINAL: Final = ("succeeded", "failed", "blocked", "cancelled", "skipped")
DUE_ORDER: Final = ("elapsed", "attempt", "signal_wait", "timer", "retry")
BY_THE_KERNEL: Final = "(the kernel's own words)"
"""The reason of an outcome that the kernel writes: its words are free."""

Events = list[Any]
Codes = set[str]


class BatchEnded(Exception):
    """A run fact was written, and a batch ends with it."""


def plain(outcome: Outcome) -> bytes:
    return canonical_json(msgspec.to_builtins(outcome))


def by_kernel(kind: Any) -> Outcome:
    return Unsuccessful(kind=kind, reason=BY_THE_KERNEL)


class DumbRun:
    """One run. `answer` says what a command gives; `commit` lets it happen."""

    def __init__(self) -> None:
        self.exists = False
        self.version = 5
        self.status = "running"
        self.sequence = 0
        self.now = 0
        self.attempts_used = 0
        self.transitions_used = 0
        self.last_outcome: int | None = None
        self.nodes: dict[str, dict[str, Any]] = {}
        self.attempts: dict[str, dict[str, Any]] = {}
        self.child_runs: set[str] = set()
        self.outcomes: dict[int, Outcome] = {}
        self.signals: dict[str, str] = {}
        self.recovery: tuple[str, int, bool] | None = None
        self.batch: Events = []

    # What a command gives.

    def answer(self, command: Any, version: int = 5) -> tuple[Events, Codes, DumbRun]:
        """Return the events of a command, or the codes of which any is right, and the run as it is after them."""
        codes = self.refusals(command)
        if codes:
            return [], codes, self
        after = self.copy()
        after.version = version
        after.batch = []
        with contextlib.suppress(BatchEnded):
            after.perform(command)
        if not after.batch:
            return [], {"no_effect"}, self
        return after.batch, set(), after

    def copy(self) -> DumbRun:
        other = DumbRun()
        for name, value in vars(self).items():
            setattr(other, name, value.copy() if isinstance(value, dict | set) else value)
        other.nodes = {name: {**node, "queue": list(node["queue"])} for name, node in self.nodes.items()}
        other.attempts = {name: dict(attempt) for name, attempt in self.attempts.items()}
        return other

    def perform(self, command: Any) -> None:  # noqa: C901, PLR0912 - one case a command
        match command:
            case c.CreateRun():
                self.create(command)
            case c.StartNode():
                self.start(command)
            case c.CompleteAttempt():
                self.end(command.node, command.attempt_id, command.outcome)
            case c.CompleteChild():
                self.write(e.ChildCompleted(**fields(command)))
                self.attempts[command.attempt_id]["child"] = child_answer(command)
                self.end(command.node, command.attempt_id, self.child_outcome(command))
            case c.OpenSignalWait():
                self.write(e.SignalWaitOpened(**fields(command)))
                self.nodes[command.node].update(status="waiting", wait=("signal_wait", command))
            case c.OpenTimerWait():
                self.write(e.TimerWaitOpened(**fields(command)))
                self.nodes[command.node].update(status="waiting", wait=("timer", command))
            case c.DeliverSignal():
                self.deliver(command)
            case c.AdvanceTime():
                self.advance(command.now_ms)
            case c.RequestCancellation():
                self.cancel(command)
            case c.AcquireRecovery():
                self.write(e.RecoveryAcquired(**fields(command)))
                self.recovery = (command.owner, command.epoch, True)
            case c.ReleaseRecovery():
                self.write(e.RecoveryReleased(**fields(command)))
                self.recovery = (command.owner, command.epoch, False)
            case c.Settle():
                self.settle()
            case _:
                raise AssertionError(command)

    def write(self, event: Any) -> None:
        """Add an event to the batch, unless it would exceed a budget: then the run fails."""
        budgets = self.specification.budgets
        charged = charge(event)
        if self.version >= 4:
            if charged == "attempts" and self.attempts_used + 1 > budgets.max_attempts:
                self.exhaust("attempts", budgets.max_attempts, self.attempts_used)
            if charged == "transitions" and self.transitions_used + 1 > budgets.max_transitions:
                self.exhaust("transitions", budgets.max_transitions, self.transitions_used)
        self.attempts_used += charged == "attempts"
        self.transitions_used += charged == "transitions"
        self.sequence += 1
        self.batch.append(event)

    def exhaust(self, budget: Any, limit: int, usage: int) -> None:
        self.write(e.BudgetExhausted(budget=budget, limit=limit, usage=usage, last_outcome=self.last_outcome))
        self.finish("failed")

    def finish(self, status: str) -> None:
        facts = {
            "completed": e.RunCompleted,
            "failed": e.RunFailed,
            "blocked": e.RunBlocked,
            "cancelled": e.RunCancelled,
        }
        self.write(facts[status]())
        self.status = status
        raise BatchEnded

    # The graph, gone through anew each time.

    def learn(self, specification: Specification) -> None:
        """Take down the graph in lists of names."""
        self.specification = specification
        self.names = [str(node.id) for node in specification.nodes]
        self.node = {str(node.id): node for node in specification.nodes}
        self.edges = [(str(edge.source), str(edge.target), edge.when) for edge in specification.edges]
        self.arrows = [(source, target) for source, target, _ in self.edges]
        self.arrows += [(str(name), str(node.id)) for node in specification.nodes for name in node.dependencies]
        self.order = self.closing_order()

    def entered(self, name: str) -> bool:
        return any(target == name for _, target, _ in self.edges)

    def reached(self, starts: Iterable[str]) -> set[str]:
        """Return what a path of at least one arrow leads to from one of the starts."""
        found: set[str] = set()
        border = set(starts)
        while border:
            border = {target for source, target in self.arrows if source in border} - found
            found |= border
        return found

    def reached_by_edge(self, starts: Iterable[str]) -> set[str]:
        """Return what a path leads to whose last arrow is an edge."""
        before = set(starts) | self.reached(starts)
        return {target for source, target, _ in self.edges if source in before}

    def closing_order(self) -> list[list[str]]:
        """Return the components in their order: no component before one that leads to it, else by the first member."""
        reach = {name: self.reached([name]) for name in self.names}
        parts: list[list[str]] = []
        for name in self.names:
            if not any(name in part for part in parts):
                parts.append([name] + [m for m in self.names if m != name and m in reach[name] and name in reach[m]])
        taken: list[list[str]] = []
        while len(taken) < len(parts):
            taken.append(next(part for part in parts if part not in taken and self.is_free(part, parts, taken, reach)))
        return [sorted(part, key=self.names.index) for part in taken]

    def is_free(
        self, part: list[str], parts: list[list[str]], taken: list[list[str]], reach: dict[str, set[str]]
    ) -> bool:
        others = [other for other in parts if other is not part and other not in taken]
        return not any(part[0] in reach[other[0]] for other in others)

    def live(self) -> list[str]:
        return [name for name in self.names if self.nodes[name]["status"] in LIVE]

    def statuses(self, names: Iterable[Any]) -> list[str]:
        return [self.nodes[name]["status"] for name in names]

    # Creation.

    def create(self, command: c.CreateRun) -> None:
        content_hash = digest(covered_by_hash(command.specification))
        document = {**command.specification, "content_hash": content_hash}
        specification = validate(document).specification
        assert specification is not None
        self.learn(specification)
        self.exists = True
        self.created = (command.run_id, content_hash, canonical_json(command.input), tuple(command.ancestors))
        self.run_id, self.input, self.ancestors = command.run_id, command.input, command.ancestors
        for name in self.names:
            self.nodes[name] = {
                "status": "pending",
                "activations": 0,
                "activation": None,
                "queue": [],
                "attempts": 0,
                "attempt_id": None,
                "child_run_id": None,
                "deadline": None,
                "wait": None,
                "retry": None,
                "outcome": None,
                "closed": False,
                "left": False,
                "latched": not self.node[name].dependencies,
                "pinned": {},
            }
        self.write(
            e.RunCreated(
                run_id=command.run_id,
                specification=document,
                content_hash=content_hash,
                input=command.input,
                ancestors=command.ancestors,
            )
        )
        given = specification.initial_nodes
        free = [name for name in self.names if not self.node[name].dependencies and not self.entered(name)]
        for name in self.names:
            if name in (free if given is None else given):
                self.ready(name, "initial")

    def ready(self, name: str, cause: Any) -> None:
        self.write(e.NodeReady(node=name, cause=cause))  # type: ignore[arg-type]
        node = self.nodes[name]
        if cause == "queued":
            node["queue"].sort()
            self.begin(name, node["queue"].pop(0))
        else:
            node["activations"] += 1
            self.begin(name, None)

    def begin(self, name: str, activation: tuple[int, int] | None) -> None:
        self.nodes[name].update(status="ready", activation=activation, attempts=0)

    # Attempts.

    def start(self, command: c.StartNode) -> None:
        node = self.nodes[command.node]
        policy = self.policy(command.node)
        deadline = None
        if policy.attempt_deadline_ms is not None and self.version >= 4:
            deadline = min(self.now + policy.attempt_deadline_ms, LATEST)
        common: Any = {
            "node": command.node,
            "attempt_id": command.attempt_id,
            "attempt": node["attempts"] + 1,
            "deadline_ms": deadline,
        }
        if command.child_run_id is None:
            self.write(e.NodeStarted(**common))
        else:
            self.write(e.ChildStarted(child_run_id=command.child_run_id, **common))
            self.child_runs.add(command.child_run_id)
        node.update(status="running", attempt_id=command.attempt_id, child_run_id=command.child_run_id)
        node.update(deadline=deadline, attempts=node["attempts"] + 1)
        self.attempts[command.attempt_id] = {"node": command.node, "outcome": None, "child": None}
        if self.lacks_input(command.node):
            self.end(command.node, command.attempt_id, by_kernel("permanent_failure"))

    def lacks_input(self, name: str) -> bool:
        for reference in self.node[name].input_mapping.values():
            wanted = msgspec.to_builtins(reference)
            if "run_input" in wanted:
                if wanted["run_input"] not in self.input:
                    return True
                continue
            output = getattr(self.outcomes.get(self.mapped(name, wanted["node"]) or 0), "output", UNSET)
            if not isinstance(output, dict) or wanted["output"] not in output:
                return True
        return False

    def mapped(self, name: str, source: str) -> int | None:
        """Return the sequence of the outcome that a node takes a value of another one from."""
        node = self.nodes[name]
        if node["activation"] is not None and self.edges[node["activation"][1]][0] == source:
            return int(node["activation"][0])
        found = node["pinned"] if source in self.node[name].dependencies else {source: self.nodes[source]["outcome"]}
        return found.get(source)

    def policy(self, name: str) -> RetryPolicy:
        return self.node[name].retry or RetryPolicy()

    def child_outcome(self, command: c.CompleteChild) -> Outcome:
        child = self.node[command.node].child
        assert child is not None
        if command.result == "completed":
            if any(theirs not in command.output for theirs in child.outputs.values()):
                return by_kernel("permanent_failure")
            output = {str(ours): command.output[theirs] for ours, theirs in child.outputs.items()}
            if len(canonical_json(output)) > 65536:
                return by_kernel("permanent_failure")
            return Succeeded(kind="succeeded", output=output)
        if child.policy == "require_success" or command.result == "failed":
            return by_kernel("permanent_failure")
        return by_kernel(command.result)

    def end(self, name: str, attempt_id: str | None, outcome: Outcome) -> None:
        """Commit the outcome of an attempt, with all its consequences."""
        self.commit_outcome(name, attempt_id, outcome)
        node, policy, kind = self.nodes[name], self.policy(name), outcome.kind
        is_tried_again = kind == "retryable_failure" or (kind == "permanent_failure" and kind in policy.classes)
        if self.version < 4 and kind == "retryable_failure":
            node["status"] = "retry_pending"
            return
        if self.version >= 4 and is_tried_again and node["attempts"] < policy.max_attempts:
            node["status"] = "retry_pending"
            self.retry(name)
            return
        node["status"] = {"retryable_failure": "failed", "permanent_failure": "failed"}.get(kind, kind)
        self.judge()
        if self.version == 1 and kind != "succeeded":
            self.finish("blocked" if kind == "blocked" else "failed")
        if self.version >= 4 and is_tried_again:
            self.write(
                e.NodeTerminated(
                    node=name,  # type: ignore[arg-type]
                    reason="attempts_exhausted",
                    limit=policy.max_attempts,
                    usage=node["attempts"],
                )
            )
            self.judge()
        self.fire(name, node["outcome"], outcome)
        self.follow()

    def commit_outcome(self, name: str, attempt_id: Any, outcome: Outcome) -> None:
        self.write(e.NodeOutcomeCommitted(node=name, attempt_id=attempt_id, outcome=outcome))  # type: ignore[arg-type]
        self.outcomes[self.sequence] = outcome
        self.last_outcome = self.sequence
        if attempt_id is not None:
            self.attempts[attempt_id]["outcome"] = self.sequence
        self.nodes[name].update(attempt_id=None, child_run_id=None, deadline=None, wait=None, retry=None)
        self.nodes[name]["outcome"] = self.sequence

    def retry(self, name: str) -> None:
        policy, node = self.policy(name), self.nodes[name]
        following = node["attempts"] + 1
        deadline = min(self.now + delay(policy.backoff, following) + self.jitter(name, following), LATEST)
        self.write(e.RetryScheduled(node=name, next_attempt=following, deadline_ms=deadline))  # type: ignore[arg-type]
        node["retry"] = deadline
        if self.now >= deadline:
            self.release_retry(name)

    def release_retry(self, name: str) -> None:
        following = self.nodes[name]["attempts"] + 1
        self.write(e.RetryReleased(node=name, next_attempt=following))  # type: ignore[arg-type]
        self.nodes[name].update(status="ready", retry=None)

    def jitter(self, name: str, following: int) -> int:
        jitter = self.policy(name).jitter
        if jitter is None:
            return 0
        number = 14695981039346656037
        for byte in f"{jitter.seed}\0{self.run_id}\0{name}\0{following}".encode():
            number = ((number ^ byte) * 1099511628211) % 2**64
        return number % (jitter.maximum_ms + 1)

    # Consequences.

    def judge(self) -> None:
        """Set the latch of each node whose dependency policy is satisfied now."""
        for name in self.names:
            node = self.nodes[name]
            if node["latched"] or node["closed"]:
                continue
            statuses = self.statuses(self.node[name].dependencies)
            match self.node[name].dependency_policy:
                case "all_succeeded":
                    is_satisfied = all(status == "succeeded" for status in statuses)
                case "all_completed":
                    is_satisfied = all(status in TERMINAL for status in statuses)
                case "any_succeeded":
                    is_satisfied = "succeeded" in statuses
            if is_satisfied:
                node["latched"] = True
                node["pinned"] = {str(p): self.nodes[p]["outcome"] for p in self.node[name].dependencies}

    def fire(self, name: str, sequence: int, outcome: Outcome) -> None:
        if self.version < 3:
            return
        for position, (source, target, predicate) in enumerate(self.edges):
            node, limit = self.nodes[target], self.node[target].max_activations
            is_full = limit is not None and node["activations"] >= limit
            if source != name or not follows(predicate, outcome) or node["closed"] or is_full:
                continue
            self.write(e.TransitionActivated(edge=position, source=name, source_sequence=sequence))  # type: ignore[arg-type]
            node["activations"] += 1
            if node["status"] not in LIVE and node["latched"] and not node["queue"]:
                self.begin(target, (sequence, position))
            else:
                node["queue"].append((sequence, position))

    def follow(self) -> None:
        """Release, close in rounds, and end the run if that is the end."""
        self.release()
        while self.close_round():
            self.release()
        self.leave()
        if all(status in TERMINAL for status in self.statuses(self.names)):
            statuses = self.statuses(self.names)
            self.finish(next((word for word in ("failed", "blocked", "cancelled") if word in statuses), "completed"))

    def leave(self) -> None:
        """In versions without an event to terminate a node, leave to Settle what they cannot end."""
        reached = self.reached(self.live())
        for name in self.names:
            if self.version < 4 and self.nodes[name]["status"] == "changes_requested" and name not in reached:
                self.nodes[name]["left"] = True

    def release(self) -> None:
        for name in self.names:
            node = self.nodes[name]
            waits = self.node[name].dependencies and not self.entered(name)
            if waits and node["latched"] and node["status"] == "pending" and not node["activations"]:
                self.ready(name, "dependencies")
        for name in self.names:
            node = self.nodes[name]
            if node["queue"] and node["latched"] and node["status"] not in LIVE and not node["closed"]:
                self.ready(name, "queued")

    def close_round(self) -> bool:
        for part in self.order:
            closable = [name for name in part if self.is_closable(name)]
            for name in closable:
                self.close(name)
            if closable:
                return True
        return False

    def is_closable(self, name: str) -> bool:
        node = self.nodes[name]
        if self.version == 1:
            return False
        if node["status"] == "changes_requested":
            return self.version >= 4 and not node["left"] and name not in self.reached(self.live())
        if node["status"] != "pending":
            return False
        if self.is_impossible(name):
            return True
        return self.entered(name) and node["latched"] and not node["queue"] and name not in self.reached(self.live())

    def is_impossible(self, name: str) -> bool:
        prerequisites = [str(p) for p in self.node[name].dependencies]
        if self.nodes[name]["latched"] or any(status not in TERMINAL for status in self.statuses(prerequisites)):
            return False
        hopeful = self.reached_by_edge(self.live())
        return not any(self.nodes[p]["status"] != "succeeded" and p in hopeful for p in prerequisites)

    def close(self, name: str) -> None:
        node = self.nodes[name]
        if node["status"] == "changes_requested":
            self.write(e.NodeTerminated(node=name, reason="no_correction"))  # type: ignore[arg-type]
            node["status"] = "failed"
        else:
            statuses = self.statuses(self.node[name].dependencies)
            kind = "skipped"
            if not node["latched"]:
                kind = next((word for word in ("cancelled", "blocked") if word in statuses), "skipped")
            self.commit_outcome(name, None, by_kernel(kind))
            node.update(status=kind, closed=True, queue=[])
        self.judge()

    def settle(self) -> None:
        for name in self.names:
            self.nodes[name]["left"] = False
        for name in self.names:
            if self.nodes[name]["status"] == "retry_pending" and self.nodes[name]["retry"] is None:
                self.retry(name)
        self.follow()

    # Signals, time and cancellation.

    def deliver(self, command: c.DeliverSignal) -> None:
        node = self.nodes[command.node]
        wait = node["wait"][1]
        common: Any = {"node": command.node, "attempt_id": node["attempt_id"], "signal_id": command.signal_id}
        if wait.name != command.name or wait.token_sha256 != command.token_sha256:
            reason: Any = "wrong_name" if wait.name != command.name else "wrong_token"
            self.write(e.SignalRejected(reason=reason, **common))
            self.signals[command.signal_id] = reason
            return
        self.write(e.SignalAccepted(name=command.name, payload=command.payload, **common))
        self.signals[command.signal_id] = "accepted"
        node.update(status="running", wait=None)

    def due(self, now: int) -> list[tuple[int, int, int]]:
        """Return deadline, kind and node of all that is due, in order."""
        found = []
        limit = self.specification.budgets.max_elapsed_ms
        if limit is not None:
            found.append((limit, "elapsed", 0))
        for position, name in enumerate(self.names):
            node = self.nodes[name]
            if node["status"] in ACTIVE and node["deadline"] is not None:
                found.append((node["deadline"], "attempt", position))
            if node["status"] == "waiting" and node["wait"][1].deadline_ms is not None:
                found.append((node["wait"][1].deadline_ms, node["wait"][0], position))
            if node["status"] == "retry_pending" and node["retry"] is not None:
                found.append((node["retry"], "retry", position))
        return sorted((when, DUE_ORDER.index(kind), position) for when, kind, position in found if now >= when)

    def advance(self, now: int) -> None:
        self.write(e.VirtualTimeAdvanced(now_ms=now))
        self.now = now
        while self.due(now):
            deadline, kind, position = self.due(now)[0]
            self.happen(deadline, DUE_ORDER[kind], self.names[position])

    def happen(self, deadline: int, kind: str, name: str) -> None:
        node = self.nodes[name]
        attempt_id = node["attempt_id"]
        common: Any = {"node": name, "attempt_id": attempt_id, "deadline_ms": deadline}
        match kind:
            case "elapsed":
                self.exhaust("elapsed", deadline, self.now)
            case "attempt":
                self.write(e.AttemptDeadlineExpired(**common))
                self.end(name, attempt_id, by_kernel("retryable_failure"))
            case "signal_wait":
                self.write(e.SignalExpired(**common))
                self.end(name, attempt_id, by_kernel("retryable_failure"))
            case "timer":
                self.write(e.TimerFired(**common))
                node.update(status="running", wait=None)
            case _:
                self.release_retry(name)

    def cancel(self, command: c.RequestCancellation) -> None:
        targets = tuple(
            e.CancelTarget(node=name, attempt_id=node["attempt_id"], child_run_id=node["child_run_id"])  # type: ignore[arg-type]
            for name, node in self.nodes.items()
            if node["status"] in ACTIVE
        )
        self.write(e.CancellationRequested(now_ms=self.now, policy="cascade", targets=targets, **fields(command)))
        for name in self.names:
            if self.nodes[name]["status"] not in TERMINAL:
                self.commit_outcome(name, self.nodes[name]["attempt_id"], by_kernel("cancelled"))
                self.nodes[name]["status"] = "cancelled"
        self.finish("cancelled")

    # Why a command gives nothing.

    def refusals(self, command: Any) -> Codes:
        """Return the codes of which any is right, or none if the command is allowed."""
        if isinstance(command, c.CreateRun):
            return self.refusals_of_creation(command)
        if not self.exists:
            return {"no_run"}
        repeated = self.repeated(command)
        if repeated:
            return {repeated}
        if self.status != "running":
            return {"run_terminal"}
        found = {"over_limit"} if is_too_large(command) else set()
        if hasattr(command, "node") and command.node not in self.nodes:
            return found | {"unknown_node"}
        return found | {code for code, applies in self.reasons(command).items() if applies}

    def refusals_of_creation(self, command: c.CreateRun) -> Codes:
        if self.exists:
            content_hash = digest(covered_by_hash(command.specification))
            asked = (command.run_id, content_hash, canonical_json(command.input), tuple(command.ancestors))
            return {"already_created" if asked == self.created else "run_conflict"}
        document = copy.deepcopy(dict(command.specification))
        specification = validate(document).specification
        found = set()
        if specification is None:
            return {"invalid_specification"}
        if set(specification.inputs) != set(command.input):
            found.add("invalid_input")
        family = [*command.ancestors, command.run_id]
        if len(set(family)) != len(family):
            found.add("invalid_ancestors")
        return found

    def repeated(self, command: Any) -> str | None:
        if isinstance(command, c.DeliverSignal) and command.signal_id in self.signals:
            return "already_consumed"
        if not isinstance(command, c.CompleteAttempt | c.CompleteChild):
            return None
        attempt = self.attempts.get(command.attempt_id)
        if attempt is None or attempt["outcome"] is None:
            return None
        if isinstance(command, c.CompleteChild):
            is_same = attempt["child"] == child_answer(command)
        else:
            is_same = plain(self.outcomes[attempt["outcome"]]) == plain(command.outcome)
        return "already_committed" if is_same and attempt["node"] == command.node else "conflicting_outcome"

    def reasons(self, command: Any) -> dict[str, bool]:
        match command:
            case c.StartNode():
                return self.reasons_against_start(command)
            case c.CompleteAttempt():
                reasons = self.reasons_against_attempt(command) | self.reasons_against_handling(command)
                return reasons | {"invalid_outcome": command.outcome.kind == "skipped"}
            case c.CompleteChild():
                is_other = self.nodes[command.node]["child_run_id"] != command.child_run_id
                reasons = self.reasons_against_attempt(command)
                return {
                    "not_a_child": self.node[command.node].child is None,
                    "not_active": reasons["not_active"] or is_other,
                    "attempt_due": reasons["attempt_due"],
                }
            case c.OpenSignalWait() | c.OpenTimerWait():
                reasons = self.reasons_against_attempt(command) | self.reasons_against_handling(command)
                is_declared = isinstance(command, c.OpenTimerWait) or command.name in self.node[command.node].signals
                is_past = command.deadline_ms is not None and command.deadline_ms <= self.now
                return reasons | {"undeclared_signal": not is_declared, "deadline_passed": is_past}
            case c.DeliverSignal():
                return {"no_open_wait": not self.takes_signals(command.node)}
            case c.AdvanceTime():
                is_idle = command.now_ms == self.now and not self.due(self.now)
                return {"time_went_back": command.now_ms < self.now, "no_effect": is_idle}
            case c.AcquireRecovery():
                return {"stale_epoch": self.recovery is not None and command.epoch <= self.recovery[1]}
            case c.ReleaseRecovery():
                return {"wrong_owner": self.recovery != (command.owner, command.epoch, True)}
            case _:
                return {}

    def reasons_against_start(self, command: c.StartNode) -> dict[str, bool]:
        is_child = self.node[command.node].child is not None
        used = {self.run_id, *self.ancestors, *self.child_runs}
        return {
            "not_ready": self.nodes[command.node]["status"] != "ready",
            "attempt_id_used": command.attempt_id in self.attempts,
            "child_run_id_needed": is_child and command.child_run_id is None,
            "not_a_child": not is_child and command.child_run_id is not None,
            "child_run_id_used": command.child_run_id in used,
        }

    def reasons_against_attempt(self, command: Any) -> dict[str, bool]:
        node = self.nodes[command.node]
        is_active = node["status"] == "running" and node["attempt_id"] == command.attempt_id
        return {"not_active": not is_active, "attempt_due": self.is_attempt_due(command.node)}

    def reasons_against_handling(self, command: Any) -> dict[str, bool]:
        return {"is_a_child": self.node[command.node].child is not None}

    def is_attempt_due(self, name: str) -> bool:
        node = self.nodes[name]
        return node["status"] in ACTIVE and node["deadline"] is not None and self.now >= node["deadline"]

    def takes_signals(self, name: str) -> bool:
        wait = self.nodes[name]["wait"]
        if wait is None or wait[0] != "signal_wait" or self.is_attempt_due(name):
            return False
        return wait[1].deadline_ms is None or self.now < wait[1].deadline_ms


def fields(command: Any) -> dict[str, Any]:
    return {name: getattr(command, name) for name in command.__struct_fields__}


def child_answer(command: c.CompleteChild) -> tuple[str, str, str, bytes]:
    return (command.node, command.child_run_id, command.result, canonical_json(command.output))


def charge(event: Any) -> str | None:
    match event:
        case e.NodeStarted() | e.ChildStarted():
            return "attempts"
        case e.NodeReady(cause="initial" | "dependencies"):
            return "transitions"
        case e.TransitionActivated() | e.RetryScheduled() | e.RetryReleased():
            return "transitions"
        case _:
            return None


def delay(backoff: Any, following: int) -> int:
    match backoff:
        case Fixed(delay_ms=fixed):
            return int(fixed)
        case Exponential(initial_ms=initial, multiplier=multiplier, maximum_ms=maximum):
            return int(min(initial * multiplier ** (following - 2), maximum))
        case _:
            return 0


def follows(predicate: Any, outcome: Outcome) -> bool:
    """Tell whether an edge follows an outcome."""
    if predicate == "any":
        return True
    wanted = msgspec.to_builtins(predicate)
    if "outcome" in wanted:
        return bool(wanted["outcome"] == outcome.kind)
    output = getattr(outcome, "output", UNSET)
    if not isinstance(output, dict) or wanted["field"] not in output:
        return False
    one, other = output[wanted["field"]], wanted["equals"]
    return isinstance(one, bool) == isinstance(other, bool) and (one == other)


def is_too_large(command: Any) -> bool:
    outcome = getattr(command, "outcome", None)
    reason = getattr(command, "reason", getattr(outcome, "reason", ""))
    if len(reason.encode()) > 4096:
        return True
    numbers = [(name, getattr(command, name, None)) for name in ("now_ms", "deadline_ms", "epoch")]
    if any(number is not None and not (name == "epoch") <= number <= LATEST for name, number in numbers):
        return True
    output = getattr(outcome, "output", UNSET) if isinstance(outcome, Succeeded | ChangesRequested) else UNSET
    values: list[Any] = [output, getattr(command, "output", None), getattr(command, "payload", None)]
    if any(nesting(value) > 90 for value in values):
        return True
    if output is not UNSET and len(canonical_json(output)) > 65536:
        return True
    if isinstance(command, c.CompleteChild) and len(canonical_json(command.output)) > 983040:
        return True
    payload = getattr(command, "payload", None)
    return len(canonical_json(payload)) > 65536
