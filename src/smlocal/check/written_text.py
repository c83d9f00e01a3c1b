"""The text that whoever made the image has written: scripts outside of the folders of packages."""

from collections.abc import Iterator
from typing import NamedTuple

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.files import is_of_a_library
from smlocal.check.image_files import TOO_MUCH
from smlocal.check.subject import Subject

_SUFFIXES = (".py", ".sh", ".bash")
_NAMES = {"train", "serve"}


class Text(NamedTuple):
    """One script."""

    path: str
    text: str
    layer: int | None


def written_text(subject: Subject) -> Iterator[Text]:
    """Every script that is somebody's own, by name or because it may be executed."""
    for path, content in sorted(subject.files.contents.items()):
        if is_of_a_library(path):
            continue
        name = path.rpartition("/")[2]
        if name.endswith(_SUFFIXES) or name in _NAMES or content.startswith(b"#!"):
            entry = subject.files.entry(path)
            yield Text(f"/{path}", content.decode(errors="replace"), entry.layer if entry is not None else None)
    if subject.files.crowded:  # what was found was found; that there is no more cannot be said
        raise CannotLookError(TOO_MUCH)


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines without those that are comments alone."""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.lstrip().startswith("#"):
            yield number, line
