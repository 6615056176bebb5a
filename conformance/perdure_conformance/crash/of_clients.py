"""Layer 4 as a campaign: several clients of a Python journal, switched at each call, and crashed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from perdure.journal.contract import Capabilities, DurabilityLevel
from perdure_conformance.crash import scheduling
from perdure_conformance.crash.cases import case_of, finding_of
from perdure_conformance.crash.findings import Found, Layer
from perdure_conformance.crash.replay import Replay, Workload
from perdure_conformance.crash.scheduling import REQUIREMENTS, SCHEDULES
from perdure_conformance.harness.connection import AdapterFault, Silence
from perdure_conformance.harness.targets import PythonTarget, Target
from perdure_conformance.suite import Judgement, Options, Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class OfClients:
    """A journal in Python that several clients share, each with a handle of its own."""

    at: DurabilityLevel | None = None
    """At which level it is judged; None for that which it claims."""
    workload: str = "append"
    appends: int = 4
    schedules: int = SCHEDULES

    @property
    def layers(self) -> Mapping[Layer, bool]:
        """The layers that there are, and whether each is tried."""
        return {"schedule": True}

    @property
    def not_there(self) -> tuple[str, ...]:
        """What this layer does not show."""
        return (
            "snapshots and leases; calls that fail; several processes",
            "threads that are switched between two calls: they are switched at calls of os and open, and at locks",
            "threads of the journal's own, and files that are changed by other ways than os and open: inconclusive",
        )

    def layers_of(self, requirement: str) -> tuple[Layer, ...]:
        """Return which layers judge a requirement; none if this one does not."""
        return ("schedule",) if requirement in REQUIREMENTS.values() else ()

    def is_claimed(self, requirement: str, claims: Capabilities) -> bool:
        """Tell whether several handles are claimed, and a level is claimed or asked for."""
        del requirement
        return scheduling.is_claimed(claims, self.at)

    def level(self, claims: Capabilities) -> str:
        """Return what it shows if nothing is wrong."""
        return f"several clients, durable at {self.at or claims.durable}"

    def judge(self, judgement: Judgement, target: Target, options: Options, progress: Progress) -> None:
        """Add to a judgement what came of all this. A fault of the adapter ends it."""
        assert isinstance(target, PythonTarget), "clients are scheduled in this process alone"
        workload = Workload(self.workload, self.appends, options.seed)
        try:
            judged = scheduling.judge(
                target,
                workload,
                level=self.at,
                schedules=self.schedules,
                timeout_s=options.timeout_s,
                progress=progress,
            )
        except AdapterFault as fault:
            judgement.fault = fault
            return
        except Silence as silence:
            judgement.fault = AdapterFault("silence", f"{silence}.")
            return
        judgement.description = judgement.description or judged.description
        judgement.durations_s["schedule"] = judged.seconds
        judgement.counts |= {f"{name}_of_clients": count for name, count in sorted(judged.counts.items())}
        for requirement in sorted(set(REQUIREMENTS.values())):
            judgement.reached[requirement] = judged.counts["crashes"]
            if judged.open is not None:
                judgement.inconclusive[requirement] = judged.open
        for requirement, found in sorted(judged.found.items()):
            if requirement not in options.switched_off:
                case = case_of(found, target, options, judged.description.capabilities)
                judgement.findings[requirement] = finding_of(case, target, found)

    def play(self, target: Target, replay: Replay, timeout_s: float) -> Found | None:
        """Play one line again. Raises as `scheduling.play`."""
        assert isinstance(target, PythonTarget), "clients are scheduled in this process alone"
        return scheduling.play(target, replay, timeout_s)
