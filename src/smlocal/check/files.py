"""Which files of an image a rule wants to see: names and owners of all are known, contents only of these."""

import re
from collections.abc import Callable, Iterable
from fnmatch import translate
from typing import NamedTuple

from smlocal.quick_dataclass import dataclass

_LIBRARIES = re.compile(
    r"(?:^|/)(?:site-packages|dist-packages|node_modules|lib/python3[^/]*|lib64/python3[^/]*|pkgs)/"
    r"|^(?:usr/share|usr/lib|usr/include|proc|sys|dev|var/lib|var/cache)/"
)
"""Where the files of packages lie, which nobody who builds an image has written."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Files:
    """Files whose content a rule wants."""

    names: tuple[str, ...] = ()
    """Last parts of paths; `*` and `?` as in a shell."""
    programs: bool = False
    """Every file that may be executed, apart from libraries (`.so`): scripts whole, of binaries the headers."""
    most: int
    """Bytes from the beginning of each; the rest is not kept."""
    libraries: bool = True
    """Also where packages are installed."""


NAMES = Files(most=0)
"""Paths, owners and modes, and no content at all."""
PROGRAMS = Files(programs=True, most=64 << 10)
"""What may be executed: scripts, and of binaries the header."""
SCRIPTS = Files(names=("*.py", "*.sh", "*.bash", "train", "serve"), most=256 << 10, libraries=False)
"""What whoever made the image has written, as far as names tell."""
USERS = Files(names=("passwd", "group"), most=64 << 10)
"""`/etc/passwd` and its like."""


class Wish(NamedTuple):
    """What is wanted of one file."""

    most: int
    """Bytes from the beginning; none for 0."""
    only_to_run: bool = False
    """True where it is wanted because it may be executed, and for nothing else."""


Wanted = Callable[[str, int], Wish]
"""What is wanted of a file, by its path and mode."""
_NOTHING = Wish(0)


def is_of_a_library(path: str) -> bool:
    """True for a file of an installed package; the path has no leading slash."""
    return _LIBRARIES.search(path) is not None


def wanted(files: Iterable[Files], names: Iterable[str] = ()) -> Wanted:
    """All wishes in one; files of these `names` are wanted whole, up to what a script may have."""
    wishes = tuple(files)
    to_run = Wish(max((each.most for each in wishes if each.programs), default=0), only_to_run=True)
    named = [(_pattern(each.names), each.most, each.libraries) for each in wishes if each.names]
    exact = frozenset(names)

    def wish(path: str, mode: int) -> Wish:
        name = path.rpartition("/")[2]
        found = SCRIPTS.most if name in exact else 0
        for pattern, size, libraries in named:
            if size > found and pattern(name) and (libraries or not is_of_a_library(path)):
                found = size
        if found:
            return Wish(found)
        return to_run if mode & 0o111 and ".so" not in name else _NOTHING

    return wish


def _pattern(names: tuple[str, ...]) -> Callable[[str], object]:
    return re.compile("|".join(map(translate, names))).match
