# It is these very calls that are tried, and a start is to be quick.
# ruff: noqa: PTH102, PTH104, PTH106, PTH108, PTH109
"""A program that does to the files of its working directory whatever its seed says, in threads and children too."""

from __future__ import annotations

import os
import random
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

DRAW = random.Random(int(sys.argv[1]))  # noqa: S311 - drawn again from the seed
FOLDERS = ("x", "x/y", "z")
HERE = os.open(".", os.O_RDONLY)
OPENED = [os.open("first", os.O_RDWR | os.O_CREAT)]


def path() -> str:
    folder, name = DRAW.choice(["", *FOLDERS]), DRAW.choice("abcd")
    whole = f"{folder}/{name}" if folder else name
    return DRAW.choice([whole, f"./{whole}", f"{os.getcwd()}/{whole}", whole.replace("x/y", "x/../x/y")])


def descriptor() -> int:
    return DRAW.choice(OPENED)


def opens(*flags: int) -> Callable[[], None]:
    return lambda: OPENED.append(os.open(path(), os.O_RDWR | os.O_CREAT | DRAW.choice(flags)))


def in_a_folder() -> None:
    folder = os.open(DRAW.choice(["x", "z", "."]), os.O_RDONLY)
    name = DRAW.choice("abcd")
    with suppress(OSError):
        match DRAW.randrange(3):
            case 0:
                OPENED.append(os.open(name, os.O_RDWR | os.O_CREAT, dir_fd=folder))
            case 1:
                os.rename(name, DRAW.choice("abcd"), src_dir_fd=folder, dst_dir_fd=folder)
            case _:
                os.unlink(name, dir_fd=folder)
    os.close(folder)


def without_a_name() -> None:
    OPENED.append(os.open(DRAW.choice([".", "x"]), os.O_TMPFILE | os.O_RDWR))
    os.write(OPENED[-1], b"nameless")
    os.link(f"/proc/self/fd/{OPENED[-1]}", path(), src_dir_fd=HERE, follow_symlinks=True)


def in_threads() -> None:
    shared = descriptor()
    threads = [threading.Thread(target=os.write, args=(shared, letter * 3)) for letter in (b"A", b"B", b"C")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def in_a_child() -> None:
    if os.fork() == 0:
        with suppress(OSError):
            os.write(descriptor(), b"child")
            os.rename(path(), path())
        os._exit(0)


CALLS: tuple[Callable[[], object], ...] = (
    lambda: os.mkdir(DRAW.choice(FOLDERS)),
    lambda: os.mkdir(DRAW.choice(FOLDERS)),
    lambda: os.rmdir(DRAW.choice(FOLDERS)),
    lambda: os.rename(DRAW.choice(FOLDERS), DRAW.choice(FOLDERS)),
    opens(0, os.O_TRUNC),
    opens(os.O_APPEND, os.O_EXCL),
    lambda: os.write(descriptor(), DRAW.randbytes(DRAW.choice([1, 10, 5_000]))),
    lambda: os.pwrite(descriptor(), DRAW.randbytes(700), DRAW.choice([0, 3, 6_000])),
    lambda: os.writev(descriptor(), [b"one", b"", b"two"]),
    lambda: os.lseek(descriptor(), DRAW.choice([0, 2, 100]), os.SEEK_SET),
    lambda: os.ftruncate(descriptor(), DRAW.choice([0, 5, 9_000])),
    lambda: os.truncate(path(), DRAW.choice([0, 5, 700])),
    lambda: os.rename(path(), path()),
    lambda: os.link(path(), path()),
    lambda: os.unlink(path()),
    lambda: OPENED.append(os.dup(descriptor())),
    lambda: os.fsync(descriptor()),
    lambda: os.mknod(path()),
    in_a_folder,
    without_a_name,
    in_threads,
    in_a_child,
)

for _ in range(150):
    with suppress(OSError):
        DRAW.choice(CALLS)()
with suppress(ChildProcessError):
    while True:
        os.wait()
