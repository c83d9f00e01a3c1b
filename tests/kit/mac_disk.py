# ruff: noqa: ARG002 - libfuse chooses the arguments
"""A disk as on a Mac, through FUSE: names that differ only in case or in normalisation are one name.

`kept`: as APFS, a name is listed as it was first written. `decomposed`: as HFS+, it is listed in decomposed form (NFD),
whatever was written. Names that are no UTF-8 are refused.
"""

import errno
import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import mfusepy
from tests.kit import until

from smlocal.data.channels.fastfile.availability import unmount

_TIMES = ("st_atime", "st_ctime", "st_mtime")
_OTHERS = ("st_gid", "st_uid", "st_mode", "st_nlink", "st_size", "st_ino", "st_blocks", "st_rdev")
_SPACE = ("f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_favail", "f_ffree", "f_files", "f_frsize", "f_namemax")

_REMOVED = ".fuse_hidden"
"""How libfuse renames files that are removed while they are open."""


def key(name: str) -> str:
    """The same for all names of one file."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


class _Fuse(mfusepy.FUSE):  # type: ignore[misc]
    def rename_fuse_3(self, old: bytes, new: bytes, flags: int) -> int:
        if flags:  # those of Linux alone
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return int(self.rename_fuse_2(old, new))


class MacDisk(mfusepy.Operations):  # type: ignore[misc]
    """Passes everything on to a folder, by other names."""

    use_ns = True

    def __init__(self, folder: str, names: str) -> None:
        self._folder, self._names = folder, names

    def init_with_config(self, connection: Any, config: Any) -> None:
        # The kernel would take two names of a file for two files.
        config.entry_timeout = config.attr_timeout = config.negative_timeout = 0
        config.kernel_cache = config.auto_cache = 0
        config.use_ino = 1

    def _real(self, path: str) -> str:
        real = self._folder
        for part in path.strip("/").split("/"):
            if part:
                real = f"{real}/{self._name(real, part)}"
        return real

    def _name(self, folder: str, name: str) -> str:
        """The name of the file that is there, or of a new one."""
        try:
            name.encode()
        except UnicodeEncodeError:
            raise OSError(errno.EILSEQ, os.strerror(errno.EILSEQ)) from None
        if os.path.lexists(f"{folder}/{name}"):
            return name
        wanted = key(name)
        with suppress(FileNotFoundError, NotADirectoryError):
            for found in os.listdir(folder):
                if key(found) == wanted:
                    return found
        return unicodedata.normalize("NFD", name) if self._names == "decomposed" else name

    def _own(self, real: str) -> None:
        user, group, _ = mfusepy.fuse_get_context()
        if os.geteuid() == 0:
            os.lchown(real, user, group)

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        found = os.fstat(fh) if fh else os.lstat(self._real(path))
        times = {name: getattr(found, f"{name}_ns") for name in _TIMES}
        return {**{name: getattr(found, name) for name in _OTHERS}, **times}

    def opendir(self, path: str) -> int:
        return os.open(self._real(path), os.O_RDONLY | os.O_DIRECTORY)

    def readdir(self, path: str, fh: int) -> Iterator[tuple[str, dict[str, int], int]]:
        real = self._real(path)
        for name in (".", "..", *os.listdir(real)):
            if not name.startswith(_REMOVED):
                with suppress(FileNotFoundError):
                    found = os.lstat(f"{real}/{name}")
                    yield name, {"st_ino": found.st_ino, "st_mode": found.st_mode}, 0

    def releasedir(self, path: str, fh: int) -> int:
        os.close(fh)
        return 0

    def readlink(self, path: str) -> str:
        return os.readlink(self._real(path))

    def open(self, path: str, flags: int) -> int:
        return os.open(self._real(path), (flags & ~os.O_APPEND) | os.O_NOFOLLOW)

    def create(self, path: str, mode: int, flags: Any = None) -> int:
        real = self._real(path)
        made = os.open(real, os.O_RDWR | os.O_CREAT | (flags & (os.O_EXCL | os.O_TRUNC)), mode)
        self._own(real)
        return made

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        return os.pread(fh, size, offset)

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        return os.pwrite(fh, data, offset)

    def truncate(self, path: str, length: int, fh: int | None = None) -> int:
        if fh is not None:
            os.ftruncate(fh, length)
        else:
            os.truncate(self._real(path), length)
        return 0

    def flush(self, path: str, fh: int) -> int:
        return 0

    def fsync(self, path: str, datasync: int, fh: int) -> int:
        return 0

    def release(self, path: str, fh: int) -> int:
        os.close(fh)
        return 0

    def mkdir(self, path: str, mode: int) -> int:
        os.mkdir(real := self._real(path), mode)
        self._own(real)
        return 0

    def mknod(self, path: str, mode: int, dev: int) -> int:
        os.mknod(real := self._real(path), mode, dev)
        self._own(real)
        return 0

    def symlink(self, target: str, source: str) -> int:
        os.symlink(source, real := self._real(target))
        self._own(real)
        return 0

    def link(self, target: str, source: str) -> int:
        os.link(self._real(source), self._real(target), follow_symlinks=False)
        return 0

    def rename(self, old: str, new: str) -> int:
        before, after = self._real(old), self._real(new)
        if before == after:  # a new spelling of the same name
            after = f"{os.path.dirname(after)}/{os.path.basename(new)}"
        os.rename(before, after)
        return 0

    def unlink(self, path: str) -> int:
        os.unlink(self._real(path))
        return 0

    def rmdir(self, path: str) -> int:
        real = self._real(path)
        for name in os.listdir(real):
            if name.startswith(_REMOVED):
                os.unlink(f"{real}/{name}")
        os.rmdir(real)
        return 0

    def chmod(self, path: str, mode: int) -> int:
        os.chmod(self._real(path), mode)
        return 0

    def chown(self, path: str, uid: int, gid: int) -> int:
        os.lchown(self._real(path), uid, gid)
        return 0

    def utimens(self, path: str, times: Any = None) -> int:
        os.utime(self._real(path), ns=times, follow_symlinks=False)
        return 0

    def statfs(self, path: str) -> dict[str, Any]:
        found = os.statvfs(self._folder)
        return {name: getattr(found, name) for name in _SPACE}


@contextmanager
def mac_disk(folder: Path, names: str) -> Iterator[Path]:
    """Mounted at a new folder below this one."""
    (behind := folder / "behind").mkdir()
    (disk := folder / "Users").mkdir()
    command: list[str | Path] = [sys.executable, "-m", "tests.kit.mac_disk", behind, disk, names]
    with subprocess.Popen(command, cwd=Path(__file__).parents[2]) as server:
        try:
            until(lambda: server.poll() is not None or disk.is_mount())
            assert server.poll() is None
            yield disk
        finally:
            unmount(str(disk))
            server.kill()


if __name__ == "__main__":
    source, mount_point, spelling = sys.argv[1:]
    options = {"allow_other": True, "default_permissions": True}
    _Fuse(MacDisk(source, spelling), mount_point, foreground=True, **options)
