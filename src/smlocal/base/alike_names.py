"""Names that are one name on a disk that ignores case or normalisation, as those of macOS and Windows do."""

import os
from collections.abc import Iterable
from contextlib import suppress

from smlocal.base.at_use import at_use

unicodedata = at_use("unicodedata")  # most names are ASCII
_TRIAL = ".smlocal-alike-"


def alike_key(path: str) -> str:
    """The same for all paths that may be one file on some disk."""
    if path.isascii():
        return path.lower()
    decomposed = unicodedata.normalize("NFD", path)
    key: str = unicodedata.normalize("NFD", decomposed.casefold())
    return key


def first_alike(paths: Iterable[str]) -> tuple[str, str] | None:
    """Two of the paths, or of the folders in them, that may be one; None if there are none."""
    seen: dict[str, str] = {}
    folders: set[str] = set()
    for path in paths:
        if (other := seen.setdefault(alike_key(path), path)) != path:
            return other, path
        above = path.rpartition("/")[0]
        while above and above not in folders:
            folders.add(above)
            if (other := seen.setdefault(alike_key(above), above)) != above:
                return other, above
            above = above.rpartition("/")[0]
    return None


def ignores_case(folder: str) -> bool:
    """Whether the disk of a folder takes names that differ only in case for one.

    Disks that ignore normalisation ignore case too, in all usual settings. In an empty folder a new name is tried. If
    the folder does not exist yet, its nearest parent is tried.
    """
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    if (known := entries_ignore_case(folder)) is not None:
        return known
    name = f"{_TRIAL}{os.urandom(4).hex()}"
    path = os.path.join(folder, name)
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except OSError:
        return False
    try:
        return os.path.lexists(os.path.join(folder, name.upper()))
    finally:
        with suppress(OSError):
            os.unlink(path)


def entries_ignore_case(folder: str) -> bool | None:
    """The same, without a trial; None if no name in the folder has letters."""
    try:
        names = set(os.listdir(folder))
    except OSError:
        return None
    other = next((name.swapcase() for name in names if name.swapcase() not in names), None)
    return None if other is None else os.path.lexists(os.path.join(folder, other))


def is_spelled(name: str, folder: int, trials: str) -> bool:
    """Whether the open folder has an entry with exactly this name, or with the form in which the disk stores it (NFD).

    How the disk stores names is tried in another folder on it, `trials`.
    """
    names = os.listdir(folder)
    if name in names:
        return True
    plain = unicodedata.normalize("NFC", name)
    if name.isascii() or not any(plain == unicodedata.normalize("NFC", each) for each in names):
        return False
    return _decomposes(trials)


def _decomposes(folder: str) -> bool:
    """True for a disk that stores names in decomposed form, as HFS+ does. Others keep the form."""
    name = f"{_TRIAL}{os.urandom(4).hex()}-\xe9"
    path = os.path.join(folder, name)
    with open(path, "xb"):
        pass
    try:
        return name not in os.listdir(folder)
    finally:
        os.unlink(path)
