"""The model as an author sees it: a good journal that claims what is asked for, and speaks the protocol in lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from perdure.journal.contract import FLOOR, Capabilities, Description
from perdure.journal.reference import ReferenceJournal
from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.harness import messages, schemas
from perdure_conformance.harness.connection import Connection, Unsupported
from perdure_conformance.harness.serve import outcome
from perdure_conformance.harness.targets import Target
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.journal.dispatch import Dispatcher

LevelName = Literal["workflow", "snapshots", "leases", "processes"]

_WORKFLOW: Final = Capabilities(exact_replay=True, event_id_dedup=True, atomic_batch=True, durable="process-crash")
_SNAPSHOTS: Final = msgspec.structs.replace(_WORKFLOW, snapshots=True)

LEVELS: Final[Mapping[LevelName, Capabilities]] = {
    "workflow": _WORKFLOW,
    "snapshots": _SNAPSHOTS,
    "leases": msgspec.structs.replace(_SNAPSHOTS, leases=True, fencing=True),
    "processes": msgspec.structs.replace(_WORKFLOW, multi_process=True, read="linearizable"),
}
"""What is claimed at the levels above the core, in the order of `docs/spec/journal.md`; and by several processes."""

_CLAIMED_AS: Final = {
    "save_snapshot": "snapshots",
    "load_snapshot": "snapshots",
    "acquire": "leases",
    "renew": "leases",
    "release": "leases",
}


class ModelDispatcher(Dispatcher):
    """The reference, with the least limits, the claims that are asked for, and no words for people.

    Opened again, it holds what it held.
    """

    def __init__(self, capabilities: Capabilities = _WORKFLOW) -> None:
        state = ReferenceJournal(FLOOR)
        super().__init__(lambda _state_dir, _namespace: state)
        self._description = Description(name="my-journal", version="0.1.0", capabilities=capabilities, limits=FLOOR)

    def dispatch(self, method: str, params: JsonObject) -> JsonValue:
        """Return the result of one method. Raises `Unsupported` for what is not claimed."""
        if method in _CLAIMED_AS and not getattr(self._description.capabilities, _CLAIMED_AS[method]):
            raise Unsupported(method)
        result = super().dispatch(method, params)
        if method != "initialize":
            assert isinstance(result, dict)
            return {name: member for name, member in result.items() if name != "detail"}
        described: JsonValue = msgspec.to_builtins(
            {"protocol": messages.PROTOCOL, **msgspec.structs.asdict(self._description)}
        )
        return described


class ModelTarget:
    """The model as a target that speaks in lines, as a program does, in this process."""

    def __init__(self, level: LevelName) -> None:
        self._level = level
        self._dispatcher = ModelDispatcher(LEVELS[level])

    @property
    def is_process(self) -> bool:
        """It passes for one: its transcript is that of a program."""
        return True

    def open(self, timeout_s: float, transcript: Transcript) -> Connection:
        """Open what is there. The model answers at once."""
        del timeout_s
        return _LinesOfTheModel(self._dispatcher, transcript)

    def as_process(self) -> Target:
        """Return itself."""
        return self

    def words(self) -> dict[str, str | list[str]]:
        """Return the level."""
        return {"name": self._level}


class _LinesOfTheModel:
    def __init__(self, dispatcher: ModelDispatcher, transcript: Transcript) -> None:
        self._dispatcher = dispatcher
        self._transcript = transcript
        self._requests = 0

    def call(self, method: str, params: JsonObject) -> JsonObject:
        self._requests += 1
        request_id = f"h-{self._requests}"
        request = messages.encode_request(request_id, method, params)
        self._transcript.sent(request)
        reply = messages.encode_line(
            {"jsonrpc": "2.0", "id": request_id, **outcome(self._dispatcher, {"method": method, "params": params})}
        )[:-1]
        self._transcript.received(reply)
        return schemas.decode_reply(reply, request_id, method, params)

    def close(self) -> None:
        self.call("shutdown", {})

    def kill(self) -> None:
        pass

    def stderr(self) -> str:
        return ""
