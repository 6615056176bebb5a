"""Python journals by name: how a factory is written, found and imported."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Protocol

from perdure.journal.contract import Journal

BUILT_IN = {
    "memory": "perdure.journal.memory:MemoryJournal",
    "sqlite": "perdure.journal.sqlite:SqliteJournal",
}


class TargetError(Exception):
    """A target that cannot be found. `str(error)` says what was looked for and what there is."""


class JournalFactory(Protocol):
    """How a Python journal is opened: `module:factory` names one of these."""

    def __call__(self, state_dir: Path, namespace: str) -> Journal:
        """Open the journal that lives in `state_dir` under `namespace`, new or not."""
        ...


def import_factory(path: str) -> JournalFactory:
    """Import `module:factory`. Raises `TargetError`."""
    module_name, colon, attribute = path.partition(":")
    if not colon or not module_name or not attribute:
        raise TargetError(
            f"There is no journal called {path!r}. Give one of {', '.join(sorted(BUILT_IN))}, "
            'a factory as module:factory, or --command "…".'
        )
    try:
        factory = getattr(importlib.import_module(module_name), attribute)
    except ImportError as error:
        raise TargetError(f"{path} cannot be imported: {error}. Is its folder on PYTHONPATH?") from error
    except (Exception, SystemExit) as error:
        raise TargetError(f"{path} cannot be imported: {type(error).__name__}: {error}.") from error
    if not callable(factory):
        raise TargetError(f"{path} is not callable; a factory takes (state_dir, namespace) and returns a journal.")
    return factory  # type: ignore[no-any-return]
