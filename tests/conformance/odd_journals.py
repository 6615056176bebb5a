"""Journals that do to their files what others seldom do; what is wrong with one, if anything is, its docstring says."""

from __future__ import annotations

import errno
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from perdure_conformance.crash.journals import Appends
from perdure_conformance.crash.mutants import DoesNotOpenWithHalfAFrame

HEADER_BYTES = 12


class FollowsALink(Appends):
    """Nothing; but which of its files is the one in force, a symbolic link says."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        current = state_dir / "current"
        if not current.is_symlink():
            current.symlink_to(f"{namespace}-{time.time_ns()}.log")
        super().__init__(state_dir, current.readlink().stem)


class TakesALotOfRoom(Appends):
    """Nothing; but beside its file is one that is longer than any memory."""

    def _start(self) -> None:
        super()._start()
        room = os.open(self._folder / "room", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        os.ftruncate(room, 2**40)
        os.close(room)


class TakesItsFolderAway(Appends):
    """Nothing is there any more once it has been closed."""

    def close(self) -> None:
        super().close()
        self._path.unlink()
        self._folder.rmdir()


class EmptiesAFileUnseen(Appends):
    """Nothing; but it empties a file by a path that does not lead through the state directory."""

    def _start(self) -> None:
        super()._start()
        rest = os.open(self._folder / "rest", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        os.write(rest, b"rest")
        os.close(os.open(f"/proc/self/fd/{rest}", os.O_WRONLY | os.O_TRUNC))
        os.close(rest)


class SyncsTheHeaderAlone(Appends):
    """The header of each frame is synced as it is written; what follows it is taken to be synced by that."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._synced = os.open(self._path, os.O_WRONLY | os.O_DSYNC | os.O_CLOEXEC)

    def _write(self, content: bytes) -> None:
        self._write_all(self._descriptor, content[HEADER_BYTES:], self._end + HEADER_BYTES)
        self._write_all(self._synced, content[:HEADER_BYTES], self._end)

    def _sync_content(self) -> None:
        pass

    def close(self) -> None:
        super().close()
        os.close(self._synced)


class SyncsAll(Appends):
    """Nothing: it has all that there is on the disk, and no error is told of that."""

    def _sync_content(self) -> None:
        os.sync()


class TakesItsRoomFirst(Appends):
    """Nothing: it has its file as long as it will ever be, and writes over the zeros in it."""

    def _start(self) -> None:
        super()._start()
        os.posix_fallocate(self._descriptor, 0, 2**16)
        os.fsync(self._descriptor)

    def _sync_content(self) -> None:
        os.fdatasync(self._descriptor)


class TakesItsRoomForASync(TakesItsRoomFirst):
    """It takes what is allocated for what is on the disk."""

    def _sync_content(self) -> None:
        pass


class CopiesItsFrames(Appends):
    """Nothing: it writes each frame to another file, from where the system copies it."""

    def _write(self, content: bytes) -> None:
        rest = os.open(self._folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC)
        os.write(rest, content)
        os.lseek(self._descriptor, self._end, os.SEEK_SET)
        done = os.sendfile(self._descriptor, rest, 0, len(content) - 4)
        done += os.copy_file_range(rest, self._descriptor, 4, done, self._end + done)
        os.close(rest)
        if done < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class CopiesItsFramesAndNeverSyncs(CopiesItsFrames):
    """It takes what was copied for what is on the disk."""

    def _sync_content(self) -> None:
        pass


class DoesNotOpenWithHalfAFrameAndIgnoresASyncThatFails(DoesNotOpenWithHalfAFrame):
    """It does not open with half a frame, whether a sync failed or not; and takes no notice of one that fails."""

    def _sync_content(self) -> None:
        with suppress(OSError):
            super()._sync_content()


class SyncsOnAThreadThatNobodyWaitsFor(Appends):
    """It acknowledges while another thread syncs."""

    def _sync_content(self) -> None:
        threading.Thread(target=os.fsync, args=(self._descriptor,)).start()
