"""A journal that tries to end whoever judges it, with an exit code that means that all is well."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn


def leave(state_dir: Path, namespace: str) -> NoReturn:
    """Leave."""
    del state_dir, namespace
    os._exit(0)
