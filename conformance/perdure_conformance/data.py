"""The files that are shipped as data: found in the installed package, or in the repository beside it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parents[2]


def schemas() -> Path:
    """Return the folder of JSON Schemas."""
    return _data("perdure", "schemas", _REPOSITORY / "schemas")


def specification() -> Path:
    """Return the folder of the normative pages."""
    return _data("perdure_conformance", "pages", _REPOSITORY / "docs" / "spec")


def vectors() -> Path:
    """Return the folder of golden vectors."""
    return _data("perdure_conformance", "fixtures", _REPOSITORY / "fixtures")


def examples() -> Path | None:
    """Return the folder of examples; None where perdure was installed without its repository."""
    folder = _REPOSITORY / "conformance" / "examples"
    return folder if folder.is_dir() else None


def _data(package: str, folder: str, in_repository: Path) -> Path:
    installed = Path(str(files(package))) / folder
    found = installed if installed.is_dir() else in_repository
    if not found.is_dir():
        raise FileNotFoundError(f"{folder} is neither in the package nor at {in_repository}; install perdure again")
    return found
