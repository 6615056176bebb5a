"""What a crash has left, as bytes: a tar, compressed, as it is kept in a case and beside it."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from perdure_conformance.crash.disk import Image

_MAX_BYTES: Final = 256 * 2**20
"""No state that was kept is larger when it is unpacked."""


class BundleError(ValueError):
    """Bytes that hold no state. `str(error)` is one sentence."""


def packed(image: Image) -> bytes:
    """Return an image as a compressed tar, the same bytes each time."""
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
    return gzip.compress(written.getvalue(), mtime=0)


def unpacked(content: bytes) -> Image:
    """Return the image in such a tar. Raises `BundleError`."""
    try:
        return _unpacked(_decompressed(content))
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise BundleError(f"It holds no state as it was written: {error}.") from error


def _decompressed(content: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        tar = file.read(_MAX_BYTES + 1)
    if len(tar) > _MAX_BYTES:
        raise BundleError("It is larger than any state that was kept.")
    return tar


def _unpacked(content: bytes) -> Image:
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
