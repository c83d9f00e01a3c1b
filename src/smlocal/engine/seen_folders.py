"""Whether an engine sees a folder of this machine that is to be mounted: a file in it is compared.

An engine in a virtual machine may have another folder at the same path, which is empty, and mounts that one silently.
"""

import os
from collections.abc import Sequence
from contextlib import closing, suppress
from typing import Final

from smlocal.engine.containers import idle_container
from smlocal.engine.interface import Engine, Mount
from smlocal.errors import EngineError
from smlocal.terms.listing import Listing

_NOT_FOUND: Final = ("bind source path does not exist", "no such file or directory", "not shared", "mounts denied")
"""The engines' words for a folder that they do not see: Docker, Podman, and Docker Desktop."""
_ABSENT: Final = 404
_LABEL: Final = "folder-look"
_TARGET: Final = "/smlocal-look"
_COMPARED_BYTES: Final = 64 << 10
_CANDIDATES: Final = 100
_BLOCK: Final = 512
"""Of an archive."""


def is_not_found(error: EngineError) -> bool:
    """True if the engine refused a container because it does not see a folder that is to be mounted."""
    return bool(error.status) and any(each in error.sentence.lower() for each in _NOT_FOUND)


def is_listing_seen(listing: Listing, engines: Sequence[Engine], image: str) -> bool:
    """True if all of these engines have a file of the listing with the same content."""
    path = _smallest(listing)
    return path is not None and all(_has(engine, image, listing.root, path) for engine in engines)


def is_folder_seen(folder: str, engines: Sequence[Engine], image: str) -> bool:
    """The same of a folder that is mounted as it is, whose files are not listed. If possible, a new file is tried."""
    name = f".smlocal-{os.urandom(8).hex()}"
    try:
        with open(f"{folder}/{name}", "xb") as file:
            file.write(os.urandom(16))
    except OSError:  # mounted read-only, or of another user
        first = next((each.name for each in os.scandir(folder) if each.is_file(follow_symlinks=False)), None)
        return first is not None and all(_has(engine, image, folder, first) for engine in engines)
    try:
        return all(_has(engine, image, folder, name) for engine in engines)
    finally:
        with suppress(OSError):
            os.remove(f"{folder}/{name}")


def is_path_seen(path: str, engines: Sequence[Engine], image: str) -> bool:
    """The same of a path that may be a file."""
    if os.path.isdir(path):
        return is_folder_seen(path, engines, image)
    folder, name = os.path.split(os.path.realpath(path))
    return all(_has(engine, image, folder, name) for engine in engines)


def _smallest(listing: Listing) -> str | None:
    """One of the first files with content; a large one might be read to its end."""
    sizes = {}
    for path in listing.paths[:_CANDIDATES]:
        with suppress(OSError):
            file = f"{listing.root}/{path}"
            if not os.path.islink(file) and (size := os.path.getsize(file)):
                sizes[path] = size
    return min(sizes, key=lambda path: sizes[path], default=None)


def _has(engine: Engine, image: str, folder: str, path: str) -> bool:
    mount = Mount(source=os.path.realpath(folder), target=_TARGET, read_only=True)
    try:
        with open(f"{folder}/{path}", "rb") as file:
            content, size = file.read(_COMPARED_BYTES), os.fstat(file.fileno()).st_size
        with (
            idle_container(engine, image, label=_LABEL, mounts=(mount,)) as container,
            closing(engine.get_archive(container, f"{_TARGET}/{path}")) as pieces,
        ):
            archive = b""
            for piece in pieces:
                archive += piece
                if len(archive) >= _COMPARED_BYTES + 16 * _BLOCK:
                    break
    except OSError:
        return False
    except EngineError as error:
        if error.status == _ABSENT or is_not_found(error):
            return False
        raise
    return f"{size:011o}".encode() in archive and content in archive
