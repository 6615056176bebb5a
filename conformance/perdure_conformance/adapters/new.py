"""Skeletons of adapters: which there are, what each is made of, and how one is written to a folder."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

from perdure_conformance.reports.inert import cut

LanguageName = Literal["python", "typescript", "go", "rust", "java"]

_ADVICE: Final = "Name another folder with --folder."
_SHOWN: Final = 200
"""How many characters of a name are shown."""


class NotWritten(Exception):
    """No skeleton was written. `str(error)` says why and what to do."""


@dataclass(frozen=True, slots=True)
class Language:
    """One skeleton."""

    files: tuple[str, ...]
    run: str
    """How the adapter is run in its folder."""
    build: str = ""
    """What has to be typed there before."""
    needs: str = ""
    """What has to be there."""


LANGUAGES: Final[Mapping[LanguageName, Language]] = {
    "python": Language(("adapter.py", "journal.py"), "python3 adapter.py", needs="Python 3.8 or later"),
    "typescript": Language(
        ("adapter.ts", "journal.ts", "package.json", "tsconfig.json"),
        "node adapter.ts",
        needs="Node.js 22.18 or later; before that, npm install && npx tsc, and then node build/adapter.js",
    ),
    "go": Language(("adapter.go", "journal.go", "go.mod"), "./adapter", "go build -o adapter .", "Go 1.18 or later"),
    "rust": Language(
        ("Cargo.toml", "src/main.rs", "src/journal.rs"),
        "target/release/journal-adapter",
        "cargo build --release",
        "Rust 1.61 or later, and the crates serde and serde_json",
    ),
    "java": Language(
        ("Adapter.java", "FileJournal.java"),
        "java -cp build:gson.jar Adapter",
        "javac -cp gson.jar -d build *.java",
        "Java 17 or later, and beside it, as gson.jar, Gson 2.10 or later",
    ),
}


def skeleton(name: LanguageName) -> Path:
    """Return the folder of a skeleton, as it is shipped."""
    return Path(str(files("perdure_conformance"))) / "adapters" / "skeletons" / name


def write(name: LanguageName, folder: Path) -> tuple[Path, ...]:
    """Write a skeleton into a folder, which is made if it is not there; return its files. Raises `NotWritten`.

    Nothing that is there is written over, no link in the folder is followed, and what was written before a failure is
    removed.
    """
    if any(unicodedata.category(character) == "Cc" for character in str(folder)):
        raise NotWritten(f"{cut(ascii(str(folder)), _SHOWN)} has a control character in it. {_ADVICE}")
    parts = LANGUAGES[name].files
    texts = [(skeleton(name) / part).read_text("utf-8") for part in parts]
    written = tuple(folder / part for part in parts)
    try:
        _require_room(folder, parts)
        with ExitStack() as undo:
            for path, text in zip(written, texts, strict=True):
                for parent in reversed(path.parents):
                    if not parent.exists():
                        parent.mkdir()
                        undo.callback(_remove, parent.rmdir)
                with path.open("x", encoding="utf-8") as new:
                    undo.callback(_remove, path.unlink)
                    new.write(text)
            undo.pop_all()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise NotWritten(f"{cut(str(folder), _SHOWN)} cannot be written to: {reason}. {_ADVICE}") from error
    return written


def _require_room(folder: Path, parts: tuple[str, ...]) -> None:
    """Require that none of the files is there, and that what they are in is a folder, and no link, if it is there."""
    for part in parts:
        path = folder / part
        if path.exists() or path.is_symlink():
            raise NotWritten(f"{path} is there already, and nothing was written. {_ADVICE}")
        for parent in path.parents[: len(Path(part).parents) - 1]:
            if parent.is_symlink():
                raise NotWritten(f"{parent} is a link, which is not followed, and nothing was written. {_ADVICE}")
            if parent.exists() and not parent.is_dir():
                raise NotWritten(f"{parent} is no folder, and nothing was written. {_ADVICE}")


def _remove(step: Callable[[], None]) -> None:
    with suppress(OSError):
        step()
