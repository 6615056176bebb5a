"""From messages to a Python journal: each method of the protocol is one call of the contract."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

import msgspec

from perdure.journal.contract import Envelope, Journal, JournalOpenError, LoadAnswer, Page, Unavailable, utf8_bytes
from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.harness import messages
from perdure_conformance.harness.connection import AdapterFault, Unsupported
from perdure_conformance.harness.targets import BuiltIn, Subjects
from perdure_conformance.journal.client import limits_in_force

_LONGEST_DETAIL: Final = 4_096
_OPERATIONS = frozenset({"append", "load", "save_snapshot", "load_snapshot", "acquire", "renew", "release"})


class JournalFactory(Protocol):
    """How a Python journal is opened: `module:factory` names one of these."""

    def __call__(self, state_dir: Path, namespace: str) -> Journal:
        """Open the journal that lives in `state_dir` under `namespace`, new or not."""
        ...


class Dispatcher:
    """One Python journal, spoken to in messages. The first message must be `initialize`."""

    def __init__(self, factory: JournalFactory) -> None:
        self._factory = factory
        self._journal: Journal | None = None
        self._namespace = ""

    def dispatch(self, method: str, params: JsonObject) -> JsonValue:
        """Return the result of one method. Raises `Unsupported`, and whatever the journal raises."""
        if method == "initialize":
            return self._initialize(Path(str(params["state_dir"])), str(params["namespace"]))
        if method == "recover" and self._namespace:
            return self._recover(Path(str(params["path"])))
        if method == "shutdown" and self._journal is None and self._namespace:
            return {}
        if self._journal is None:
            raise AdapterFault("error", f"{method} came before initialize.")
        if method == "shutdown":
            self._journal.close()
            return {}
        operation: Callable[..., object] | None = getattr(self._journal, method, None)
        if operation is None or method not in _OPERATIONS:
            raise Unsupported(method)
        arguments: dict[str, object] = dict(params)
        if method == "append":
            arguments["records"] = msgspec.convert(params["records"], tuple[Envelope, ...])
        try:
            answer = operation(**arguments)
        except NotImplementedError as error:
            raise Unsupported(method) from error
        if method == "load":
            answer = _fitting_a_line(answer, limits_in_force(self._journal.description.limits).max_batch_bytes)  # type: ignore[arg-type]
        result: JsonValue = msgspec.to_builtins(answer)
        return result

    def _initialize(self, state_dir: Path, namespace: str) -> JsonValue:
        try:
            self._journal = self._factory(state_dir, namespace)
        except JournalOpenError as error:
            raise AdapterFault("cannot_start", str(error)) from error
        self._namespace = namespace
        description = self._journal.description
        result: JsonValue = msgspec.to_builtins({"protocol": messages.PROTOCOL, **msgspec.structs.asdict(description)})
        return result

    def _recover(self, state_dir: Path) -> JsonValue:
        journal, self._journal = self._journal, None
        if journal is not None:
            journal.close()
        try:
            self._journal = self._factory(state_dir, self._namespace)
        except JournalOpenError as error:
            refusal: JsonValue = msgspec.to_builtins(Unavailable(detail=str(error)[:_LONGEST_DETAIL]))
            return refusal
        return {}


def _fitting_a_line(answer: LoadAnswer, max_bytes: int) -> LoadAnswer:
    """End a page before it outgrows what one line may carry; it holds one record at least."""
    if not isinstance(answer, Page):
        return answer
    budget = max_bytes
    for index, record in enumerate(answer.records):
        budget -= utf8_bytes(record.body)
        if budget < 0 and index > 0:
            return Page(answer.records[:index], end=False)
    return answer


JOURNALS: Final = Subjects(
    noun="journal",
    factory="takes (state_dir, namespace) and returns a journal",
    built_in={
        "memory": BuiltIn("perdure.journal.memory:MemoryJournal", "the reference behind a lock"),
        "sqlite": BuiltIn("perdure.journal.sqlite:SqliteJournal", "the embedded default"),
        "files": BuiltIn("perdure.journal.files:FilesJournal", "MWJ1 files, synced"),
        "files-flush": BuiltIn("perdure.journal.files:FlushedFilesJournal", "MWJ1 files, flushed"),
        "files-write": BuiltIn("perdure.journal.files:WrittenFilesJournal", "MWJ1 files, written and closed"),
        "lines": BuiltIn("perdure.journal.lines:LinesJournal", "JSON lines, appended in place and synced"),
    },
    default="sqlite",
    dispatcher=Dispatcher,
)
"""What can be judged as a journal."""
