"""Python objects by name: how `module:factory` is imported."""

from __future__ import annotations

import importlib
from typing import Any


class TargetError(Exception):
    """A target that cannot be found. `str(error)` says what was looked for and what there is."""


def import_object(path: str) -> Any:
    """Import `module:name`. Raises `TargetError`."""
    module_name, _, attribute = path.partition(":")
    try:
        return getattr(importlib.import_module(module_name), attribute)
    except ImportError as error:
        raise TargetError(f"{path} cannot be imported: {error}. Is its folder on PYTHONPATH?") from error
    except (Exception, SystemExit) as error:
        raise TargetError(f"{path} cannot be imported: {type(error).__name__}: {error}.") from error
