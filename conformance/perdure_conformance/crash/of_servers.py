"""Layers 3 and 5 as a campaign: what is between a journal and its server is disturbed, and the server killed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perdure.journal.contract import Capabilities
from perdure_conformance.crash import network
from perdure_conformance.crash.cases import case_of, finding_of
from perdure_conformance.crash.findings import LAYERS, Found, Layer
from perdure_conformance.crash.network import REQUIREMENTS, Judged, Subject, judge_connections, judge_kills
from perdure_conformance.crash.replay import Replay, ReplayError, Workload
from perdure_conformance.crash.servers import Behind, ServerFault
from perdure_conformance.harness.connection import AdapterFault, Silence
from perdure_conformance.harness.targets import Target
from perdure_conformance.suite import Judgement, Options, Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class OfServers:
    """A journal that keeps its state in a server."""

    behind: Behind
    tried: Sequence[Layer] = network.LAYERS
    workload: str = "append"
    appends: int = 4
    rounds: int = 10
    """How often the server is killed several times."""
    until: str | None = None
    """The requirement that ends a layer once it is found broken; None if all is to be found."""

    @property
    def layers(self) -> Mapping[Layer, bool]:
        """The layers that there are, and whether each is tried."""
        return {layer: layer in self.tried for layer in network.LAYERS}

    @property
    def not_there(self) -> tuple[str, ...]:
        """What no layer of these shows."""
        return (
            "power cuts and calls that fail: give no --server, and have the journal's own files watched",
            "a server that is killed between two messages, at each of its calls",
            "several clients at a time, and what a server stores but its records",
        )

    def layers_of(self, requirement: str) -> tuple[Layer, ...]:
        """Return which layers judge a requirement; none if none of these does."""
        return network.layers_of(requirement)

    def is_claimed(self, requirement: str, claims: Capabilities) -> bool:
        """Tell whether what a requirement takes is claimed."""
        return network.is_claimed(requirement, claims)

    def level(self, claims: Capabilities) -> str:
        """Return what it shows if nothing is wrong."""
        return "behind a server" + ("" if claims.durable is None else ", durable at process-crash")

    def judge(self, judgement: Judgement, target: Target, options: Options, progress: Progress) -> None:
        """Add to a judgement what came of all this. A fault where nothing is disturbed ends it."""
        subject = network.subject_of(target, self.behind, options.timeout_s)
        try:
            for layer in self.tried:
                began = time.monotonic()
                judged = self._judged(layer, subject, options, progress)
                judgement.durations_s[layer] = time.monotonic() - began
                self._keep(judgement, judged, target, options)
        except ServerFault as fault:
            judgement.fault = AdapterFault("cannot_start", f"{fault}")
        except AdapterFault as fault:
            judgement.fault = fault
        except Silence as silence:
            judgement.fault = AdapterFault("silence", f"{silence}.")
        judgement.not_played += [
            f"{layer}: {LAYERS[layer]}; not asked for" for layer, is_tried in self.layers.items() if not is_tried
        ]

    def _judged(self, layer: Layer, subject: Subject, options: Options, progress: Progress) -> Judged:
        workload = Workload(self.workload, self.appends, options.seed)
        if layer == "net":
            return judge_connections(subject, workload, until=self.until, progress=progress)
        return judge_kills(subject, workload, self.rounds, until=self.until, progress=progress)

    def _keep(self, judgement: Judgement, judged: Judged, target: Target, options: Options) -> None:
        judgement.description = judgement.description or judged.description
        judgement.counts[f"windows_of_layer_{judged.layer}"] = judged.windows
        for requirement in sorted({known for (layer, _), known in REQUIREMENTS.items() if layer == judged.layer}):
            judgement.reached[requirement] += judged.windows
            for each in judged.inconclusive[:1]:
                judgement.inconclusive.setdefault(requirement, f"{each.replay}: {each.inconclusive}")
        judgement.not_played += [f"{judged.layer}: {each.replay}: {each.inconclusive}" for each in judged.inconclusive]
        for requirement, found in sorted(judged.findings.items()):
            if requirement in judgement.findings or requirement in options.switched_off:
                continue
            assert judged.description is not None, "what did not open was not disturbed"
            case = case_of(found, target, options, judged.description.capabilities, server=self.behind)
            judgement.findings[requirement] = finding_of(case, target, found)

    def play(self, target: Target, replay: Replay, timeout_s: float) -> Found | None:
        """Play one line again; None if nothing is wrong.

        Raises `ReplayError` if nothing can be said, `ServerFault`, `AdapterFault`, `Silence`.
        """
        outcome = network.replayed(network.subject_of(target, self.behind, timeout_s), replay)
        if outcome.finding is None and outcome.inconclusive is not None:
            raise ReplayError(outcome.inconclusive)
        return outcome.finding
