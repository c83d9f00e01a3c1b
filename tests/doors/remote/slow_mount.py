# ruff: noqa: ARG002 - libfuse chooses the arguments
"""Mounts an empty folder over itself through FUSE, where opening and reading take a millisecond."""

import os
import sys
import time
from typing import Any

import mfusepy

_SECONDS = 0.001


class Slow(mfusepy.Operations):  # type: ignore[misc]
    """Passes everything on to the folder below the mount."""

    use_ns = True

    def __init__(self, folder: str) -> None:
        self._root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)

    def _below(self, path: str) -> str:
        return f"/proc/self/fd/{self._root}{path}"

    def getattr(self, path: str, fh: Any = None) -> dict[str, Any]:
        found = os.lstat(self._below(path))
        names = ("st_atime", "st_ctime", "st_mtime", "st_gid", "st_uid", "st_mode", "st_nlink", "st_size")
        times = {name: getattr(found, f"{name}_ns") for name in names[:3]}
        return {**{name: getattr(found, name) for name in names[3:]}, **times}

    def readdir(self, path: str, fh: Any) -> list[str]:
        return [".", "..", *os.listdir(self._below(path))]

    def open(self, path: str, flags: int) -> int:
        time.sleep(_SECONDS)
        return os.open(self._below(path), flags)

    def create(self, path: str, mode: int, fi: Any = None) -> int:
        return os.open(self._below(path), os.O_RDWR | os.O_CREAT | os.O_TRUNC, mode)

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        time.sleep(_SECONDS)
        return os.pread(fh, size, offset)

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        return os.pwrite(fh, data, offset)

    def release(self, path: str, fh: int) -> int:
        os.close(fh)
        return 0

    def truncate(self, path: str, length: int, fh: Any = None) -> int:
        os.truncate(self._below(path), length)
        return 0

    def chmod(self, path: str, mode: int) -> int:
        os.chmod(self._below(path), mode)
        return 0

    def chown(self, path: str, uid: int, gid: int) -> int:
        os.chown(self._below(path), uid, gid)
        return 0

    def mkdir(self, path: str, mode: int) -> int:
        os.mkdir(self._below(path), mode)
        return 0

    def unlink(self, path: str) -> int:
        os.unlink(self._below(path))
        return 0

    def utimens(self, path: str, times: Any = None) -> int:
        os.utime(self._below(path), ns=times)
        return 0


if __name__ == "__main__":
    mfusepy.FUSE(Slow(sys.argv[1]), sys.argv[1], foreground=True, allow_other=True)
