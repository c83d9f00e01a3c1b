"""Files that an image has below `/opt/ml`, which the service reserves. They are found once for each image and stored.

Finding them needs a container that is never started, and a fifth of the time of `docker run`.
"""

from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from typing import Final

from smlocal.engine.idle_container import idle_container
from smlocal.engine.interface import Engine
from smlocal.errors import EngineError
from smlocal.planning.facts import ImageFacts
from smlocal.platforms.sagemaker.contract import paths
from smlocal.store.remembered import image_files, store_image_files

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
        with (
            idle_container(engine, image, label=_LABEL) as container,
            closing(engine.get_archive(container, paths.ROOT)) as archive,
        ):
            return reserved_files(archive)
    except EngineError as error:
        if error.status != _ABSENT:
            raise
        return ()


def reserved_files(archive: Iterator[bytes]) -> tuple[str, ...]:
    """The first files in an archive of `/opt/ml`, as paths in the container, without `code`, which stays visible."""
    from smlocal.foreign_archive.archive import ArchiveLimits, ForeignArchive
    from smlocal.foreign_archive.stream import ArchiveError  # only for an image that was not looked at yet

    found: list[str] = []
    with suppress(ArchiveError):  # cut off at the limit
        for member in ForeignArchive(archive, ArchiveLimits(content=_MAX_BYTES), compressed=False):
            below = member.name.rstrip("/").partition("/")[2]
            if below and member.kind != "folder" and f"{below}/".partition("/")[0] != "code":
                found.append(f"{paths.ROOT}/{_printable(below)}")
            if len(found) == _MAX_FILES:
                break
    return tuple(found)


def _printable(name: str) -> str:
    """The name without control characters and invalid UTF-8: it is shown on terminals and stored as JSON."""
    return "".join(character if character.isprintable() else "\ufffd" for character in name)
