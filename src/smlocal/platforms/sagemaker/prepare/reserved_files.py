"""Files that an image has below `/opt/ml`, which the service reserves. They are found once for each image and stored.

Finding them needs a container that is never started, and a fifth of the time of `docker run`.
"""

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from smlocal.engine.interface import Engine
from smlocal.errors import EngineError
from smlocal.job.prepare.idle_container import idle_container
from smlocal.planning.facts import ImageFacts
from smlocal.platforms.sagemaker.contract import paths
from smlocal.store.image_files import image_files, store_image_files

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_ABSENT: Final = 404
_MAX_FILES: Final = 4
_MAX_BYTES: Final = 32 << 20
"""Of the archive of `/opt/ml`. Files behind a large one are not found."""
_LABEL: Final = "image-look"


def with_reserved_files(image: ImageFacts, engine: Engine, home: str) -> ImageFacts:
    """The image's facts with the first of these files; without any if the engine refuses to list them."""
    files = image_files(home, image.id)
    if files is None:
        try:
            files = _find(image.id, engine)
        except EngineError as error:
            if not error.status:
                raise
            return image
        store_image_files(home, image.id, files)
    return replace(image, reserved_files=files)


def _find(image: str, engine: Engine) -> tuple[str, ...]:
    try:
        with idle_container(engine, image, label=_LABEL) as container:
            return reserved_files(engine.get_archive(container, paths.ROOT))
    except EngineError as error:
        if error.status != _ABSENT:
            raise
        return ()


def reserved_files(archive: Iterator[bytes]) -> tuple[str, ...]:
    """The first files in an archive of `/opt/ml`, as paths in the container, without `code`, which stays visible."""
    import tarfile

    found: list[str] = []
    try:
        with tarfile.open(fileobj=_Pieces(archive), mode="r|") as members:
            for member in members:
                below = member.name.partition("/")[2]
                if below and not member.isdir() and f"{below}/".partition("/")[0] != "code":
                    found.append(f"{paths.ROOT}/{_printable(below)}")
                if len(found) == _MAX_FILES:
                    break
    except tarfile.TarError:
        pass  # cut off at the limit
    return tuple(found)


def _printable(name: str) -> str:
    """The name without control characters and invalid UTF-8: it is shown on terminals and stored as JSON."""
    return "".join(character if character.isprintable() else "\ufffd" for character in name)


class _Pieces(io.RawIOBase):
    """An archive that arrives in pieces, as a file that ends at the limit."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""
        self._left = _MAX_BYTES

    def readable(self) -> bool:
        """Yes, it is."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Read the next bytes."""
        view = memoryview(buffer).cast("B")
        if self._left <= 0:
            return 0
        piece = self._rest or next(self._pieces, b"")
        count = min(len(piece), len(view))
        view[:count], self._rest = piece[:count], piece[count:]
        self._left -= count
        return count

    def close(self) -> None:
        """Skip the rest."""
        if (close := getattr(self._pieces, "close", None)) is not None:
            close()
        super().close()
