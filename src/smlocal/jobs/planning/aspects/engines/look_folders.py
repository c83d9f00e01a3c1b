"""Which folders of this machine an engine sees. It is tried with files of random content in both directions.

The kind of socket does not tell. The engine of a virtual machine may share the home or not, and a container into which
the socket of its machine is mounted has other folders than that machine. Whether an engine mounts folders at all is
tried once for each engine, and remembered in the home. The containers are never started: an engine mounts a folder even
when it only reads or writes a file in it.
"""

import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from smlocal.base.at_use import at_use
from smlocal.data.artifacts.ownership import END, header, padding
from smlocal.engine.containers import idle_container
from smlocal.engine.facts import EngineFacts, ImageFacts
from smlocal.engine.interface import Engine, Mount
from smlocal.errors import EngineError
from smlocal.jobs.planning.aspects.engines.look import PlacedEngine
from smlocal.jobs.store.remembered import remember_tried, tried

if TYPE_CHECKING:
    import shutil
    import tempfile

    from smlocal.engine.seen_folders import is_not_found
else:
    is_not_found = at_use("smlocal.engine.seen_folders", "is_not_found")
    tempfile = at_use("tempfile")
    shutil = at_use("shutil")

LABEL: Final = "folder-trial"
_TRIAL_TARGET: Final = "/smlocal-trial"
_PREFIX: Final = "trial-"
_LONGEST_SECONDS: Final = 600
_ABSENT: Final = 404
_READ_ONLY: Final = ("read-only", "read only")
_SMALL_FILES: Final = 100
_SMALL_BYTES: Final = 4096
_LEAST_SECONDS: Final = 0.002
"""The own file system takes so long; with less, chance would decide."""
_FAST_SECONDS: Final = 0.05
"""A mount that takes less is not slow: half a millisecond for each file."""


def with_known_folders(facts: EngineFacts, home: str) -> EngineFacts:
    """The facts with the remembered ones; nothing is tried."""
    if facts.place is not None:
        return facts
    return _with(facts, tried(home, tried_key(facts, home))) or facts


def with_folder_facts(facts: EngineFacts, engine: Engine, image: ImageFacts | None, home: str) -> EngineFacts:
    """The facts with those that are known or can be tried now; without an image nothing can be tried."""
    if not facts.identity or facts.place is not None:
        return facts
    known = _with(facts, tried(home, tried_key(facts, home)))
    if known is not None:
        return known
    if image is None:
        return _guessed(facts, engine, "no image is at hand to try it with")
    return try_folders_again(facts, engine, image.id, home)


def try_folders_again(facts: EngineFacts, engine: Engine, image: str, home: str) -> EngineFacts:
    """The same, whatever is remembered."""
    if not facts.identity or facts.place is not None:
        return facts
    try:
        found = try_folders(facts, engine, image, home)
    except FolderTrialError as error:
        return _guessed(facts, engine, str(error))
    except EngineError as error:
        if not error.status:  # no engine answers
            raise
        return replace(facts, untried=error.sentence, same_mounts=_is_here(facts, engine))
    remember_tried(home, tried_key(facts, home), found)
    return _with(facts, found) or facts


def tried_key(facts: EngineFacts, home: str) -> str:
    """A home that another machine uses too has the entries of its engines as well."""
    return f"{facts.identity} {os.path.realpath(home)}"


def _guessed(facts: EngineFacts, engine: Engine, why: str) -> EngineFacts:
    """With a reason to doubt the guess, unless the engine has the same mounts as this process.

    It may have an empty folder where this machine has data: each is looked at.
    """
    return facts if _is_here(facts, engine) else replace(facts, untried=why, same_mounts=False)


def _is_here(facts: EngineFacts, engine: Engine) -> bool:
    """True if the engine is certain to have the mounts of this process."""
    return facts.local and not facts.desktop and engine.has_our_mounts()


def _with(facts: EngineFacts, found: object) -> EngineFacts | None:
    """None if nothing is known, or if it is damaged."""
    match found:
        case {"SharesFolders": bool(shares), "SameMounts": bool(same), "Slowness": (float() | None) as slowness}:
            return replace(facts, shares_folders=shares, same_mounts=same, slowness=slowness)
    return None


class FolderTrialError(Exception):
    """Nothing was found out."""


def try_folders(facts: EngineFacts, engine: Engine, image: str, home: str) -> dict[str, Any]:
    """The facts to remember of an engine. With the machine's own engine this takes 50 ms."""
    with _folder(os.path.realpath(home)) as folder:
        same = _is_here(facts, engine)
        slowness = None
        given, taken = os.urandom(16).hex(), os.urandom(16).hex()
        _write(f"{folder}/given", given.encode())
        try:
            with idle_container(
                engine, image, label=LABEL, mounts=(Mount(source=folder, target=_TRIAL_TARGET),)
            ) as container:
                # A process with the same mounts can write where this process can.
                shares = _reads(engine, container, given) and (same or _writes(engine, container, folder, taken))
                if shares and not same:
                    slowness = _slowness(engine, container, folder)
        except EngineError as error:
            if not is_not_found(error):
                raise
            shares = False
    return {"SharesFolders": shares, "SameMounts": shares and same, "Slowness": slowness}


def _reads(engine: Engine, container: str, content: str) -> bool:
    try:
        archive = b"".join(engine.get_archive(container, f"{_TRIAL_TARGET}/given", small=True))
    except EngineError as error:
        if error.status == _ABSENT:
            return False
        raise
    if not archive.startswith(b"given\0") and b"path=given\n" not in archive:
        raise FolderTrialError("the engine did not deliver the file")
    return content.encode() in archive


def _writes(engine: Engine, container: str, folder: str, content: str) -> bool:
    try:
        engine.put_archive(container, _TRIAL_TARGET, _archive([("taken", content.encode())]), small=True)
        with open(f"{folder}/taken", encoding="utf-8") as file:
            return file.read() == content
    except FileNotFoundError:
        return False
    except EngineError as error:
        if error.status and any(each in error.sentence.lower() for each in _READ_ONLY):
            return False
        raise


def _slowness(engine: Engine, container: str, folder: str) -> float:
    """How many times as long small files take through the mount as in the container's own file system.

    The engine reads them. The space for an empty folder is not counted. Each file is read once, because a second
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
        empty.append(_seconds(engine, container, f"{_TRIAL_TARGET}/{turn}-empty"))
        mount.append(_seconds(engine, container, f"{_TRIAL_TARGET}/{turn}"))
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


def engines_with_other_mounts(placed: Iterable[PlacedEngine]) -> list[Engine]:
    """Those that mount folders, perhaps not all of this machine."""
    return [each.engine for each in placed if each.facts.shares_folders and not each.facts.same_mounts]
