"""Random commands for a run, most of them allowed."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.model.dumb_kernel import ACTIVE, DumbRun
from tests.model.playing import outcome, uuid
from tests.model.random_documents import KINDS, VALUES

from perdure.kernel import commands as c
from perdure.kernel.outcomes import Outcome, Unsuccessful
from perdure.kernel.values import MAX_SAFE_INTEGER

TOKENS = ("secret", "guess")
TOO_LONG = Unsuccessful(kind="blocked", reason="x" * 5_000)
OWNERS = (uuid(901), uuid(902))


def of(kind: type[Any], **members: Any) -> Any:
    """Return a command; its members need no types of their own."""
    return kind(**members)


class Asker:
    """Asks random things of a run that it knows by the dumb kernel."""

    def __init__(self, random: Random, *, is_wild: bool = True, hurry: float = 0.6) -> None:
        self.random = random
        self.is_wild = is_wild
        self.hurry = hurry
        """How often something is started or ended rather than anything else."""
        self.luck = random.choice((0.2, 0.5, 0.8))
        """How often an attempt succeeds."""
        self.kinds = random.choice((KINDS, KINDS, tuple(random.sample(KINDS[1:], 2)), ("blocked", "cancelled")))
        """How it ends otherwise."""
        self.numbers = 1000
        self.asked: list[Any] = []

    def fresh(self) -> str:
        self.numbers += 1
        return uuid(self.numbers)

    def next(self, run: DumbRun, version: int = 5) -> Any:
        """Return a command that a runtime of a version could give."""
        if self.is_wild and self.random.random() < 0.15:
            command = self.wild(run, version)
        elif self.random.random() < self.hurry:
            command = self.work(run, version) or self.other(run, version)
        else:
            command = self.other(run, version)
        self.asked.append(command)
        return command

    def outcome(self, version: int) -> Outcome:
        kinds = ("succeeded", "permanent_failure", "blocked") if version == 1 else self.kinds
        kind: Any = "succeeded" if self.random.random() < self.luck else self.random.choice(kinds)
        if self.is_wild and self.random.random() < 0.01:
            too_much: Any = self.random.choice(("x" * 70_000, json.loads("[" * 91 + "]" * 91)))
            return outcome(kind, too_much) if kind == "succeeded" else Unsuccessful(kind="blocked", reason="x" * 5_000)
        fields = {"go": self.random.choice(VALUES), "r": 1}
        output = self.random.choice((None, fields, fields, {}, "text"))
        return outcome(kind, output)

    def work(self, run: DumbRun, version: int) -> Any:
        """Start what is ready, or end what is running."""
        ready = [name for name, node in run.nodes.items() if node["status"] == "ready"]
        running = [name for name, node in run.nodes.items() if node["status"] == "running"]
        if not ready and not running:
            return None
        name = self.random.choice(ready + running)
        if name in ready:
            child_run_id = self.fresh() if run.node[name].child is not None else None
            return of(c.StartNode, node=name, attempt_id=self.fresh(), child_run_id=child_run_id)
        return self.ending(run, name, version)

    def ending(self, run: DumbRun, name: str, version: int) -> Any:
        node = run.nodes[name]
        if run.node[name].child is None:
            return of(c.CompleteAttempt, node=name, attempt_id=node["attempt_id"], outcome=self.outcome(version))
        result = self.random.choice(("completed", "completed", "failed", "blocked", "cancelled"))
        output = self.random.choice(({"r": 1}, {"r": "x", "s": 2}, {}))
        common = {"node": name, "attempt_id": node["attempt_id"], "child_run_id": node["child_run_id"]}
        return of(c.CompleteChild, result=result, output=output, **common)

    def other(self, run: DumbRun, version: int) -> Any:
        """Let time go on, wait, deliver, and so on, as far as the version has it."""
        if version < 4:
            return self.work(run, version) or of(c.Settle)
        active = [name for name, node in run.nodes.items() if node["status"] in ACTIVE]
        roll = self.random.random()
        if version < 5 or roll < 0.35 or not active:
            if version >= 5 and roll > 0.9:
                return self.rare(run)
            return of(c.AdvanceTime, now_ms=self.time(run))
        if roll > 0.95:
            return self.rare(run)
        return self.waiting(run, self.random.choice(active))

    def time(self, run: DumbRun) -> int:
        deadlines = [deadline for deadline, _, _ in run.due(MAX_SAFE_INTEGER)]
        choices = [run.now + 1, run.now + self.random.randint(1, 30), *deadlines, *(d - 1 for d in deadlines)]
        return min(max(self.random.choice(choices), 0), MAX_SAFE_INTEGER)

    def waiting(self, run: DumbRun, name: str) -> Any:
        node = run.nodes[name]
        common = {"node": name, "attempt_id": node["attempt_id"]}
        deadline = min(run.now - run.now % 5 + self.random.choice((5, 5, 10, 6)), MAX_SAFE_INTEGER)
        deadline = max(deadline, min(run.now + 1, MAX_SAFE_INTEGER))
        if node["status"] == "waiting":
            right = node["wait"][1].name if node["wait"][0] == "signal_wait" else "s"
            return self.delivery(name, right if self.random.random() < 0.8 else "t")
        if not run.node[name].signals or self.random.random() < 0.4:
            return of(c.OpenTimerWait, deadline_ms=deadline, **common)
        token = c.token_digest("secret")
        limit = deadline if self.random.random() < 0.6 else None
        signal = self.random.choice(("s", "t"))
        return of(c.OpenSignalWait, name=signal, token_sha256=token, deadline_ms=limit, **common)

    def delivery(self, name: str, signal: str) -> Any:
        token = c.token_digest(self.random.choice(("secret", "secret", "secret", "guess")))
        signal_id = self.fresh() if self.random.random() < 0.9 else uuid(800 + self.random.randint(0, 2))
        return of(c.DeliverSignal, node=name, signal_id=signal_id, name=signal, token_sha256=token, payload={"x": 1})

    def rare(self, run: DumbRun) -> Any:
        epoch = run.recovery[1] if run.recovery else 0
        match self.random.randint(0, 4):
            case 0:
                return of(c.RequestCancellation, requester="somebody", reason="enough")
            case 1 | 2:
                return of(
                    c.AcquireRecovery,
                    owner=self.random.choice(OWNERS),
                    epoch=epoch + self.random.choice((0, 1, 2)) or 1,
                )
            case 3:
                owner = run.recovery[0] if run.recovery else OWNERS[0]
                return of(c.ReleaseRecovery, owner=owner, epoch=epoch + self.random.choice((0, 0, 1)) or 1)
            case _:
                return of(c.Settle)

    def wild(self, run: DumbRun, version: int) -> Any:
        """Ask something that is seldom allowed: the same again, a part of it changed, or anything of any node."""
        if self.asked and self.random.random() < 0.5:
            again = self.random.choice(self.asked[:1] + self.asked[-8:])
            return again if self.random.random() < 0.5 else self.changed(run, again)
        name = self.random.choice([*run.nodes, "nobody"])
        attempt_id = self.random.choice([*run.attempts, uuid(999)])
        child_run_id = self.random.choice([None, *sorted(run.child_runs), uuid(1), uuid(2), self.fresh()])
        common = {"node": name, "attempt_id": attempt_id}
        time = self.random.choice((0, run.now, run.now + 1, MAX_SAFE_INTEGER, MAX_SAFE_INTEGER + 1, -1))
        token = c.token_digest("secret")
        choices = [
            of(
                c.StartNode,
                node=name,
                attempt_id=self.random.choice((attempt_id, self.fresh())),
                child_run_id=child_run_id,
            ),
            of(c.CompleteAttempt, outcome=self.outcome(version), **common),
        ]
        if version >= 2:
            choices.append(of(c.CompleteAttempt, outcome=outcome("skipped"), **common))
        if version >= 3:
            choices.append(
                of(c.CompleteChild, child_run_id=child_run_id or uuid(3), result="completed", output={"r": 1}, **common)
            )
        if version >= 4:
            choices += [of(c.AdvanceTime, now_ms=time), of(c.Settle)]
        if version >= 5:
            choices += [
                of(c.OpenTimerWait, deadline_ms=time, **common),
                of(c.OpenSignalWait, name=self.random.choice("stz"), token_sha256=token, deadline_ms=time, **common),
                self.delivery(name, self.random.choice("st")),
            ]
        return self.random.choice(choices)

    def changed(self, run: DumbRun, command: Any) -> Any:
        """Return a command that differs in one member."""
        others: dict[str, Any] = {
            "node": self.random.choice([*run.nodes, "nobody"]),
            "attempt_id": self.random.choice([*run.attempts, uuid(999)]),
            "child_run_id": self.random.choice([*sorted(run.child_runs), uuid(1), self.fresh()]),
            "output": {"r": 2},
            "result": "blocked",
            "signal_id": self.fresh(),
            "owner": OWNERS[1],
            "requester": "else",
            "run_id": uuid(5),
            "ancestors": (uuid(6),),
            "input": {"ticket": True},
        }
        members = {name: getattr(command, name) for name in command.__struct_fields__}
        usable = [name for name in members if name in others]
        if not usable:
            return command
        name = self.random.choice(usable)
        return type(command)(**{**members, name: others[name]})
