"""Skeletons of adapters: which there are, what each is made of, and how one is written to a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

LanguageName = Literal["python", "typescript", "go", "rust", "java"]


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
        "Rust 1.61 or later, and the crate serde_json",
    ),
    "java": Language(
        ("Adapter.java", "FileJournal.java", "Json.java"),
        "java -cp build Adapter",
        "javac -d build *.java",
        "Java 17 or later",
    ),
}


def skeleton(name: LanguageName) -> Path:
    """Return the folder of a skeleton, as it is shipped."""
    return Path(str(files("perdure_conformance"))) / "adapters" / "skeletons" / name


def write(name: LanguageName, folder: Path) -> tuple[Path, ...]:
    """Write a skeleton into a folder, which is made if it is not there; return its files. Raises `NotWritten`.

    Nothing that is there is written over.
    """
    language = LANGUAGES[name]
    there = [folder / file for file in language.files if (folder / file).exists() or (folder / file).is_symlink()]
    if there:
        raise NotWritten(f"{there[0]} is there already, and nothing was written. Name another folder with --folder.")
    written = tuple(folder / file for file in language.files)
    try:
        for file, path in zip(language.files, written, strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as new:
                new.write((skeleton(name) / file).read_text("utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise NotWritten(f"{folder} cannot be written to: {reason}. Name another folder with --folder.") from error
    return written
