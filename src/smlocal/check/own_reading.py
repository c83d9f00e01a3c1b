"""The files of an image where the engine may not deliver them: a container of the image packs them by itself.

The archive comes through a FIFO in a folder of this machine, so nothing of it is kept on a disk or in a log.
"""

import os
import posixpath
import select
import tempfile
from collections.abc import Generator
from contextlib import closing, suppress
from threading import Thread
from typing import Final

from smlocal.check.image_files import ImageFiles, Wanted
from smlocal.check.saved_image import BrokenImageError, read_root
from smlocal.engine.containers import idle_container
from smlocal.engine.facts import ImageFacts, Place
from smlocal.engine.interface import Engine, Mount
from smlocal.errors import EngineError, MachineNotReadyError, PlaceRefusedError
from smlocal.jobs.store.home import prepare_home

_LABEL: Final = "image-check"
_FOLDER: Final = "/smlocal-files"
_ARCHIVE: Final = f"{_FOLDER}/archive"
_HIDDEN: Final = ("proc", "sys", "dev", _FOLDER[1:])
"""Not of the image."""
_SHELL: Final = f"""
cd /
for each in .[!.]* *; do
    case $each in {"|".join(_HIDDEN)}) continue ;; esac
    if [ -e "$each" ] || [ -L "$each" ]; then set -- "$@" "./$each"; fi
done
exec tar -cf {_ARCHIVE} "$@"
"""
"""Some tars have no --exclude."""
_PYTHON: Final = f"""
import sys, tarfile
def part(entry):
    return None if entry.name.split("/")[1:2] and entry.name.split("/")[1] in {_HIDDEN} else entry
with tarfile.open("{_ARCHIVE}", "w|") as archive:
    archive.add("/", ".", filter=part)
"""
_PROGRAMS: Final = (
    ("tar", "-C", "/", *(word for name in _HIDDEN for word in ("--exclude", f"./{name}")), "-cf", _ARCHIVE, "."),
    ("sh", "-c", _SHELL, "sh"),
    ("python3", "-c", _PYTHON),
    ("python", "-c", _PYTHON),
)
_PIECE: Final = 1 << 20
_SECONDS: Final = 60.0
"""Nothing is so slow. A FIFO that reaches another kernel never says anything."""


class _SilentError(Exception):
    """Nothing arrives."""


def read_by_itself(facts: ImageFacts, engine: Engine, place: Place, wish: Wanted, *, home: str) -> ImageFiles:
    """All files but those below /dev, /proc and /sys; from which layer they are is not known."""
    with tempfile.TemporaryDirectory(prefix="image-", dir=prepare_home(home)) as folder:
        fifo = os.path.join(folder, posixpath.basename(_ARCHIVE))
        os.mkfifo(fifo)
        os.chmod(fifo, 0o666)  # noqa: S103 - the container's root may be another user here; nobody else gets to the folder
        mounts = (Mount(source=folder, target=_FOLDER),)
        for program in _PROGRAMS:
            container = idle_container(
                engine, facts.id, label=_LABEL, mounts=mounts, program=program, network=place.network
            )
            try:
                with container as number:
                    return _read(engine, number, fifo, wish)
            except _SilentError:
                break
            except PlaceRefusedError as error:  # the image has not been asked
                return ImageFiles(folders={}, contents={}, unread=(error.sentence,))
            except (BrokenImageError, EngineError) as error:
                if isinstance(error, EngineError) and not error.status:
                    raise  # the engine is lost
    why = f"{place.name} is not known to allow docker save, and neither tar nor Python of the image packed its files"
    return ImageFiles(folders={}, contents={}, unread=(why,))


def _read(engine: Engine, container: str, fifo: str, wish: Wanted) -> ImageFiles:
    # Open for writing as well: else it would end before the container has opened it.
    pipe = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
    try:
        engine.start(container)
        ended: list[int] = []
        with closing(_pieces(engine, container, pipe, ended)) as pieces:
            found = read_root(pieces, wish)
        # Of those that are used, 1 says that a file changed while it was read, or that an option is not known.
        if ended[:1] not in ([0], [1]) or not found.folders.get(""):
            raise BrokenImageError(f"the program ended with {ended}")
        return found
    finally:
        os.close(pipe)


def _pieces(engine: Engine, container: str, pipe: int, ended: list[int]) -> Generator[bytes, None, None]:
    """What the container writes, until it has ended; `ended` gets its exit code."""
    over, said = os.pipe()

    def wait() -> None:
        with suppress(EngineError, MachineNotReadyError):
            ended.append(engine.wait(container))
        os.close(said)

    thread = Thread(target=wait, daemon=True)
    thread.start()
    try:
        while True:
            ready, _, _ = select.select([pipe, over], [], [], _SECONDS)
            if not ready:
                raise _SilentError
            if pipe in ready:
                yield os.read(pipe, _PIECE)
            elif over in ready:
                return
    finally:
        with suppress(EngineError):
            engine.signal(container, "SIGKILL")
        thread.join()
        os.close(over)
