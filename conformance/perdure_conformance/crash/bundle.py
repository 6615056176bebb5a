"""The folder of a crash that was found: all that is needed to see it, and to judge it again without recording anything.

crash.json   the target, what was asked and answered, what was wrong, the line that plays it again
state.tar    the state directory as the crash has left it
failure.txt  for people
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

import msgspec

from perdure.journal.contract import Capabilities, DurabilityLevel
from perdure.kernel.values import JsonError, JsonObject, read_json
from perdure_conformance.crash.campaign import Found, Layer
from perdure_conformance.crash.disk import Image
from perdure_conformance.crash.judge import Broken, Exchange, Rule, broken, expected
from perdure_conformance.crash.recovery import lay_out, recoverer, scratch
from perdure_conformance.harness.targets import Target
from perdure_conformance.journal.client import NotSupported, answer_of

CRASH, STATE, TEXT = "crash.json", "state.tar", "failure.txt"
_MAX_BYTES: Final = 64 * 2**20


class Asked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One request before the crash."""

    method: str
    params: dict[str, Any]
    answer: dict[str, Any] | None
    """What came, as the protocol says it, or `{"not_supported": METHOD}`; null if the crash came first."""


class Crash(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `crash.json` holds. Its schema is `schemas/crash-1.json`."""

    crash_version: Literal[1] = 1
    target: dict[str, str | list[str]]
    requirement: str
    layer: Layer
    level: DurabilityLevel
    rule: Rule
    blame: str
    sentence: str
    replay: str
    claims: Capabilities
    asked: tuple[Asked, ...]
    recovered: Any
    """What came back, for people; null if that is not known."""


class BundleError(ValueError):
    """A folder that holds no crash. `str(error)` is one sentence."""


def is_bundle(folder: Path) -> bool:
    """Tell whether a folder holds a crash."""
    return (folder / CRASH).is_file()


def write(report: Path, found: Found, target: Target, claims: Capabilities, again: str) -> Path:
    """Write the folder of one finding and return it. Raises `OSError`."""
    folder = report / "failures" / found.requirement
    folder.mkdir(parents=True, exist_ok=True)
    crash = Crash(
        target=target.words(),
        requirement=found.requirement,
        layer=found.layer,
        level=found.level,
        rule=found.rule,
        blame=found.blame,
        sentence=found.sentence,
        replay=found.replay,
        claims=msgspec.convert(msgspec.structs.asdict(claims), Capabilities),
        asked=tuple(map(_asked, found.exchanges)),
        recovered=None if found.recovered is None else msgspec.to_builtins(asdict(found.recovered)),
    )
    document = json.dumps(msgspec.to_builtins(crash), indent=2, ensure_ascii=True) + "\n"
    for name, content in ((CRASH, document.encode()), (STATE, packed(found.image)), (TEXT, again.encode())):
        (folder / name).unlink(missing_ok=True)
        (folder / name).write_bytes(content)
    return folder


def _asked(exchange: Exchange) -> Asked:
    answer = None if exchange.answer is None else msgspec.to_builtins(exchange.answer)
    return Asked(method=exchange.method, params=dict(exchange.params), answer=answer)


def read(folder: Path) -> tuple[Crash, Image]:
    """Read what a folder holds. Raises `BundleError`."""
    try:
        for name in (CRASH, STATE):
            if (folder / name).stat().st_size > _MAX_BYTES:
                raise BundleError(f"{folder / name} is larger than any that was written.")
        crash = msgspec.convert(read_json((folder / CRASH).read_bytes()), Crash)
        return crash, unpacked((folder / STATE).read_bytes())
    except (OSError, JsonError, msgspec.ValidationError, tarfile.TarError, ValueError) as error:
        raise BundleError(f"{folder} holds no crash as it was written: {error}") from error


def judged_again(crash: Crash, image: Image, target: Target, timeout_s: float) -> Broken | None:
    """Put the state before the journal once more; return what is wrong, None if nothing is.

    Raises `AdapterFault`, `Silence` if the journal does not even open an empty directory.
    """
    expectation = expected([_exchange(each) for each in crash.asked], crash.claims)
    with scratch() as folder, recoverer(target, timeout_s) as opened:
        state = folder / "state"
        lay_out(image, state)
        return broken(expectation, opened.recovered(state, expectation))


def _exchange(asked: Asked) -> Exchange:
    params: JsonObject = asked.params
    if asked.answer is None:
        return Exchange(asked.method, params, None)
    if "not_supported" in asked.answer or asked.method == "initialize":
        return Exchange(asked.method, params, NotSupported(asked.method))
    return Exchange(asked.method, params, answer_of(asked.method, asked.answer))


def packed(image: Image) -> bytes:
    """Return an image as a tar, the same bytes each time."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(image.folders):
            entry = tarfile.TarInfo(path)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(entry)
        for path, content in sorted(image.files.items()):
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
        for path, same in sorted(image.links.items()):
            entry = tarfile.TarInfo(path)
            entry.type, entry.linkname = tarfile.LNKTYPE, same
            tar.addfile(entry)
    return written.getvalue()


def unpacked(content: bytes) -> Image:
    """Return the image in a tar. Raises `BundleError` for what no image holds, and `tarfile.TarError`."""
    files: dict[str, bytes] = {}
    folders: set[str] = set()
    links: dict[str, str] = {}
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        for entry in tar:
            path = _inside(entry.name)
            opened = tar.extractfile(entry) if entry.isreg() else None
            if opened is not None:
                files[path] = opened.read()
            elif entry.isdir():
                folders.add(path)
            elif entry.islnk():
                links[path] = _inside(entry.linkname)
            else:
                raise BundleError(f"{entry.name!a} is neither a file nor a folder.")
    return Image(files, frozenset(folders), links)


def _inside(name: str) -> str:
    """Return a path that stays where it belongs."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise BundleError(f"{name!a} is no path within a state directory.")
    return f"{path}"


def listed(image: Image) -> Iterator[str]:
    """Yield what a state directory holds, a line each."""
    sizes: Mapping[str, int] = {path: len(content) for path, content in image.files.items()}
    for path in sorted({*image.files, *image.folders, *image.links}):
        what = f"{sizes[path]:,} bytes" if path in sizes else f"as {image.links[path]}" if path in image.links else "/"
        yield f"{path}  {what}"
