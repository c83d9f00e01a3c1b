"""The process that serves one FastFile channel from S3, mounted with libfuse.

It reads one line of JSON from standard input and answers with one on standard output. When the process that started it
ends, standard input is closed; the server then unmounts and ends too.
"""

import ctypes
import importlib
import json
import os
import signal
import stat
import sys
import time
import traceback
from collections.abc import Callable
from errno import EIO, EROFS
from threading import Thread, get_ident
from typing import Any

from smlocal.data.channels.fastfile.availability import libfuse, unmount
from smlocal.data.channels.fastfile.filesystem import READ_SECONDS, FileSystem
from smlocal.data.channels.fastfile.tree import NOT_CHECKED, Node, Tree, Unread, UnreadLog
from smlocal.data.sources.s3.client import open_store
from smlocal.terms.rights import Rights

# Only mfusepy's layouts of libfuse's structures are used, which differ between versions. Its dispatcher would copy the
# data once more and make a dictionary for every file.

_MAX_READ = 1 << 20
"""Bytes per read; the kernel never asks for more."""
_THREADS = 32
_FOREVER = 1_000_000_000.0
"""Seconds that the kernel may cache names and attributes, which never change."""
_FILE_MODE = stat.S_IFREG | 0o644
_FOLDER_MODE = stat.S_IFDIR | 0o755
_BLOCK = 4096
_LONGEST_NAME = 1024
_THREADS_CAN_BE_LIMITED = (3, 12)
_WITH_ATTRIBUTES = 2
"""FUSE_FILL_DIR_PLUS"""
_FIRST_CHILD = 2
"""The position in a folder's listing after `.` and `..`."""
_KNOWN_THREADS: set[int] = set()
"""libfuse's threads whose Python state is kept."""


def serve(files: FileSystem, mount_point: str, mounted: Callable[[], None]) -> int:
    """Mount, call `mounted` when the mount is ready, and return when it has been unmounted."""
    fuse = _library()
    binding = _Binding(fuse, files, mounted)
    operations = fuse.fuse_operations()
    kept = []
    for name, prototype, *_ in fuse.fuse_operations._fields_:
        answer = getattr(binding, name, None)
        if answer is not None:
            kept.append(prototype(_wrapped(answer)))
            setattr(operations, name, kept[-1])
    options = f"ro,nosuid,nodev,allow_other,default_permissions,fsname=smlocal,subtype=fastfile,max_read={_MAX_READ}"
    arguments = [b"smlocal", b"-f", b"-o", options.encode()]
    if (fuse.fuse_version_major, fuse.fuse_version_minor) >= _THREADS_CAN_BE_LIMITED:
        arguments += [b"-o", b"max_threads=%d,max_idle_threads=%d" % (_THREADS, _THREADS)]
    arguments += [b"--", os.fsencode(mount_point)]
    words = (ctypes.c_char_p * len(arguments))(*arguments)
    code: int = fuse.fuse_main_real(len(arguments), words, ctypes.byref(operations), ctypes.sizeof(operations), None)
    return code


def _library() -> Any:
    """The structures of mfusepy for libfuse 3; without the variable it would prefer libfuse 2."""
    os.environ["FUSE_LIBRARY_PATH"] = libfuse() or ""
    return importlib.import_module("mfusepy")


def _wrapped(answer: Callable[..., int]) -> Callable[..., int]:
    def call(*arguments: object) -> int:
        if get_ident() not in _KNOWN_THREADS:
            # Otherwise Python would create and destroy its state for the thread in every call.
            ctypes.pythonapi.PyGILState_Ensure()
            _KNOWN_THREADS.add(get_ident())
        try:
            return answer(*arguments)
        except OSError as error:
            return -(error.errno or EIO)
        except BaseException:  # noqa: BLE001 - an exception cannot pass through libfuse
            traceback.print_exc(file=sys.stderr)
            return -EIO

    return call


class _Binding:
    """One method per FUSE operation, under libfuse's names."""

    def __init__(self, fuse: Any, files: FileSystem, mounted: Callable[[], None]) -> None:
        self._files = files
        self._mounted = mounted
        self._stat = fuse.c_stat
        self._now = int(time.time())

    def init(self, connection: Any, config: Any) -> int:
        """Negotiate sizes, and let the kernel cache everything."""
        limits = connection.contents
        limits.max_read = limits.max_write = limits.max_readahead = _MAX_READ
        limits.max_background = limits.congestion_threshold = 2 * _THREADS
        settings = config.contents
        settings.entry_timeout = settings.attr_timeout = settings.negative_timeout = _FOREVER
        settings.use_ino = settings.kernel_cache = settings.nullpath_ok = 1
        self._mounted()
        return 0

    def getattr(self, path: bytes | None, found: Any, info: Any) -> int:
        # The path is None for an open file.
        node = self._files.lookup(path[1:]) if path else self._files.node(info.contents.fh)
        ctypes.memset(found, 0, ctypes.sizeof(self._stat))
        self._describe(node, found.contents)
        return 0

    def open(self, path: bytes, info: Any) -> int:
        opened = info.contents
        if opened.flags & os.O_ACCMODE != os.O_RDONLY:
            return -EROFS
        opened.fh = self._files.open(path[1:])
        opened.noflush = 1  # closing needs no call
        return 0

    def read(self, _path: None, buffer: Any, size: int, offset: int, info: Any) -> int:
        address = ctypes.addressof(buffer.contents)

        def put(place: int, piece: memoryview) -> None:
            ctypes.memmove(address + place, ctypes.byref(ctypes.c_char.from_buffer(piece)), len(piece))

        return self._files.read(info.contents.fh, offset, size, put)

    def release(self, _path: None, info: Any) -> int:
        self._files.release(info.contents.fh)
        return 0

    def opendir(self, path: bytes, info: Any) -> int:
        info.contents.fh = self._files.open_folder(path[1:])
        return 0

    def readdir(self, _path: None, buffer: Any, fill: Any, offset: int, info: Any, _flags: int) -> int:
        """As many entries as fit, with their attributes: otherwise `ls -l` would ask for each one."""
        handle = info.contents.fh
        entry = self._stat()
        for number, name in enumerate((b".", b".."), start=1):
            if offset < number:
                self._describe(self._files.folder(handle), entry)
                if fill(buffer, name, entry, number, 0):
                    return 0
        for name, node, following in self._files.entries(handle, max(0, offset - _FIRST_CHILD)):
            self._describe(node, entry)
            if fill(buffer, name, entry, following + _FIRST_CHILD, _WITH_ATTRIBUTES):
                break
        return 0

    def releasedir(self, _path: None, info: Any) -> int:
        self._files.release_folder(info.contents.fh)
        return 0

    def statfs(self, _path: bytes, found: Any) -> int:
        tree, about = self._files.tree, found.contents
        about.f_bsize = about.f_frsize = _BLOCK
        about.f_blocks = -(-tree.total_bytes // _BLOCK)
        about.f_files = tree.count
        about.f_namemax = _LONGEST_NAME
        return 0

    def _describe(self, node: Node, entry: Any) -> None:
        """The modes and owner are those of File mode."""
        entry.st_ino = node.inode
        entry.st_mode = _FOLDER_MODE if node.folder else _FILE_MODE
        entry.st_nlink = 2 if node.folder else 1
        entry.st_size = _BLOCK if node.folder else node.size
        entry.st_blksize = _BLOCK
        entry.st_blocks = -(-node.size // 512)
        entry.st_atimespec.tv_sec = entry.st_mtimespec.tv_sec = entry.st_ctimespec.tv_sec = self._now


_SIGNALS = {signal.SIGTERM, signal.SIGHUP, signal.SIGINT}


def main() -> None:
    """Serve until unmounted, until a signal comes or until the parent ends."""
    # Blocked in all threads, which inherit this: one of them waits for signals.
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    settings = json.loads(sys.stdin.readline())
    mount_point = settings["mount_point"]
    for wait in (_wait_for_a_signal, _wait_for_parent):
        Thread(target=wait, args=(mount_point,), daemon=True).start()
    try:
        code = _serve(settings)
    except Exception as error:  # noqa: BLE001 - the parent is told of any error
        _answer({"error": str(error) or type(error).__name__})
        code = 1
    # Without waiting for threads that wait for S3.
    os._exit(code)


def _serve(settings: dict[str, Any]) -> int:
    read_seconds = float(settings.get("read_seconds", READ_SECONDS))
    unread = UnreadLog(settings["unread"])
    store = open_store(
        settings["region"],
        rights=Rights(buckets=None if settings["buckets"] is None else tuple(settings["buckets"])),
        retry_seconds=read_seconds,
        not_checked=lambda kind, uri: unread.add_first(Unread(uri=uri, code=NOT_CHECKED, why=kind)),
    )
    files = FileSystem(
        Tree(settings["index"]),
        store,
        bucket=settings["bucket"],
        key_base=settings["key_base"],
        log=_log,
        unread=unread.add,
        read_seconds=read_seconds,
    )
    return serve(files, settings["mount_point"], lambda: _answer({"mounted": True}))


def _wait_for_a_signal(mount_point: str) -> None:
    signal.sigwait(_SIGNALS)
    _exit(mount_point)


def _wait_for_parent(mount_point: str) -> None:
    while os.read(0, 1024):
        pass
    _exit(mount_point)


def _exit(mount_point: str) -> None:
    """End at once: open reads fail."""
    unmount(mount_point)
    os._exit(0)


def _answer(answer: dict[str, object]) -> None:
    os.write(1, f"{json.dumps(answer)}\n".encode())


def _log(line: str) -> None:
    os.write(2, f"{line}\n".encode(errors="surrogateescape"))


if __name__ == "__main__":
    main()
