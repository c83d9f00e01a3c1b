"""Try whether an engine mounts this machine's folders, with files of random content in both directions.

The container is never started: the engine mounts a folder also when it reads or writes a file in it.
"""

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from smlocal.artifacts.tar_header import END, header, padding
from smlocal.engine.idle_container import idle_container
from smlocal.engine.interface import Engine, Mount
from smlocal.errors import EngineError
from smlocal.planning.facts import EngineFacts

LABEL: Final = "folder-trial"
_TARGET: Final = "/smlocal-trial"
_PREFIX: Final = "trial-"
_LONGEST_SECONDS: Final = 600
_ABSENT: Final = 404
_NOT_FOUND: Final = ("bind source path does not exist", "no such file or directory", "not shared", "mounts denied")
"""What engines say of a folder that they do not see: Docker, Podman, and Docker Desktop."""
_READ_ONLY: Final = ("read-only", "read only")
_SMALL_FILES: Final = 100
_SMALL_BYTES: Final = 4096
_LEAST_SECONDS: Final = 0.002
"""The own file system takes so long; with less, chance would decide."""
_FAST_SECONDS: Final = 0.05
"""A mount that takes less is not slow: half a millisecond for each file."""


class FolderTrialError(Exception):
    """Nothing was found out."""


def try_folders(facts: EngineFacts, engine: Engine, image: str, home: str) -> dict[str, Any]:
    """What to remember of an engine. With the machine's own engine this takes 50 ms."""
    with _folder(os.path.realpath(home)) as folder:
        same = not facts.desktop and facts.local and engine.has_our_mounts()
        slowness = None
        given, taken = os.urandom(16).hex(), os.urandom(16).hex()
        _write(f"{folder}/given", given.encode())
        try:
            with idle_container(
                engine, image, label=LABEL, mounts=(Mount(source=folder, target=_TARGET),)
            ) as container:
                # What has the same mounts can write where this process can.
                shares = _reads(engine, container, given) and (same or _writes(engine, container, folder, taken))
                if shares and not same:
                    slowness = _slowness(engine, container, folder)
        except EngineError as error:
            if not is_not_found(error):
                raise
            shares = False
    return {"SharesFolders": shares, "SameMounts": shares and same, "Slowness": slowness}


def is_not_found(error: EngineError) -> bool:
    """True if the engine refused a container because it does not see a folder that is to be mounted."""
    return _says(error, _NOT_FOUND)


def _reads(engine: Engine, container: str, content: str) -> bool:
    try:
        archive = b"".join(engine.get_archive(container, f"{_TARGET}/given", small=True))
    except EngineError as error:
        if error.status == _ABSENT:
            return False
        raise
    if not archive.startswith(b"given\0") and b"path=given\n" not in archive:
        raise FolderTrialError("the engine did not deliver the file")
    return content.encode() in archive


def _writes(engine: Engine, container: str, folder: str, content: str) -> bool:
    try:
        engine.put_archive(container, _TARGET, _archive([("taken", content.encode())]), small=True)
        with open(f"{folder}/taken", encoding="utf-8") as file:
            return file.read() == content
    except FileNotFoundError:
        return False
    except EngineError as error:
        if _says(error, _READ_ONLY):
            return False
        raise


def _says(error: EngineError, words: Iterable[str]) -> bool:
    return bool(error.status) and any(each in error.sentence.lower() for each in words)


def _slowness(engine: Engine, container: str, folder: str) -> float:
    """How many times as long small files take through the mount as in the container's own file system.

    The engine reads them. What it needs for an empty folder is not counted. Each file is read once, because a second
    reading may come from memory.
    """
    content = os.urandom(_SMALL_BYTES)
    names = [f"small-{number}" for number in range(_SMALL_FILES)]
    mount, own, empty = [], [], []
    for turn in ("a", "b"):
        os.mkdir(f"{folder}/{turn}")
        os.mkdir(f"{folder}/{turn}-empty")
        for name in names:
            _write(f"{folder}/{turn}/{name}", content)
        own_files = _archive([(f"smlocal-own-{turn}/{name}", content) for name in names])
        engine.put_archive(container, "/", own_files, small=True)
        empty.append(_seconds(engine, container, f"{_TARGET}/{turn}-empty"))
        mount.append(_seconds(engine, container, f"{_TARGET}/{turn}"))
        own.append(_seconds(engine, container, f"/smlocal-own-{turn}"))
    least = min(empty)
    took = min(mount) - least
    return 1.0 if took < _FAST_SECONDS else round(took / max(min(own) - least, _LEAST_SECONDS), 1)


def _seconds(engine: Engine, container: str, path: str) -> float:
    began = time.monotonic()
    for _ in engine.get_archive(container, path, small=True):
        pass
    return time.monotonic() - began


def _archive(files: Iterable[tuple[str, bytes]]) -> bytes:
    """The files belong to this user, who removes them."""
    now, uid, gid = int(time.time()), os.geteuid(), os.getegid()
    parts = []
    for name, content in files:
        mode = stat.S_IFREG | 0o600
        parts += [header(path=name.encode(), mode=mode, mtime=now, size=len(content), uid=uid, gid=gid), content]
        parts.append(bytes(padding(len(content))))
    return b"".join([*parts, END])


def _write(path: str, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)


@contextmanager
def _folder(home: str) -> Iterator[str]:
    """A new folder in the home, removed afterwards, with those of processes that were killed."""
    if not os.path.isdir(home):  # the first run makes it
        raise FolderTrialError(f"{home} does not exist yet")
    folder = None
    try:
        for entry in os.scandir(home):
            if entry.name.startswith(_PREFIX) and entry.stat().st_mtime < time.time() - _LONGEST_SECONDS:
                shutil.rmtree(entry.path, ignore_errors=True)
        folder = tempfile.mkdtemp(prefix=_PREFIX, dir=home)
        yield folder
    except OSError as error:  # a full disk
        raise FolderTrialError(str(error)) from error
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
