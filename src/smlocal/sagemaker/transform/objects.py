"""The objects that a transform job reads, and its output, moved to its folder.

Output is whole files only, and no link there is followed.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from smlocal.base.at_use import at_use
from smlocal.base.files import Opener, held_folder
from smlocal.data.sources.channel import ChannelSource, list_channel
from smlocal.data.sources.local_path import open_listed
from smlocal.sagemaker.transform.container_connection import CancelledError
from smlocal.sagemaker.transform.transform_file import TransformFile
from smlocal.terms.listing import Listing
from smlocal.terms.rights import Rights

if TYPE_CHECKING:
    import shutil

    from isal import igzip

    from smlocal.data.sources.s3 import error_responses
    from smlocal.data.sources.s3.client import S3Client
    from smlocal.data.sources.s3.download import download_all
    from smlocal.data.sources.s3.interface import listed_object
else:
    shutil = at_use("shutil")
    igzip = at_use("isal.igzip")
    error_responses = at_use("smlocal.data.sources.s3.error_responses")
    download_all = at_use("smlocal.data.sources.s3.download", "download_all")
    listed_object = at_use("smlocal.data.sources.s3.interface", "listed_object")

OpenStore = Callable[[], "S3Client"]
"""Opens S3 when something is to be listed or read there: most jobs read nothing from it."""
_MEMBER: Final = "TransformInput"
_CONNECT_SECONDS: Final = 3.0
"""To connect to S3: a wrong endpoint should be reported soon."""


def store_of(region: str, rights: Rights) -> OpenStore:
    """The S3 of the user's AWS configuration."""

    @cache
    def store() -> "S3Client":
        from smlocal.data.sources.s3.client import open_store  # with botocore

        return open_store(region, rights=rights, connect_seconds=_CONNECT_SECONDS)

    return store


def list_objects(asked: TransformFile, *, region: str, store: OpenStore) -> Listing:
    """The objects that the request selects. What the service would refuse is an error."""
    source = asked.request.TransformInput.DataSource.S3DataSource
    at = (_MEMBER, "DataSource", "S3DataSource", "S3Uri")
    return list_channel(
        ChannelSource(
            name=_MEMBER,
            uri=source.S3Uri,
            data_type=source.S3DataType,
            mode="File",
            directory=asked.document.directory,
            where=asked.document.where(at),
        ),
        mapping=asked.local.Sources,
        strict=False,
        region=region,
        role=asked.model.role,
        store=store,
        rights=asked.local.rights,
    )


@contextmanager
def opened(
    listing: Listing,
    index: int,
    *,
    gzip: bool,
    draft: str,
    store: OpenStore,
    cancelled: Callable[[], bool],
) -> Iterator[BinaryIO]:
    """One object, decompressed if it is to be. `draft`: a free path for one that has to be fetched."""
    if listing.remote:
        try:
            download_all(store(), [(listed_object(listing, index), draft)], cancelled=cancelled)
        except error_responses.FetchCancelledError as error:
            raise CancelledError from error
        file = open(draft, "rb")  # noqa: SIM115 - closed below
        os.unlink(draft)
    else:
        file = os.fdopen(open_listed(listing, index), "rb")
    with file:
        if not gzip:
            yield file
            return

        with igzip.IGzipFile(fileobj=file, mode="rb") as inflated:  # type: ignore[no-untyped-call] # published so
            yield cast("BinaryIO", inflated)


def shown_name(uri: str) -> str:
    """An object in the data log: its bucket and its key, or its path."""
    return uri.removeprefix("s3://").removeprefix("file://")


def move_outputs(outputs: Iterator[tuple[str, str]], folder: str, *, links: bool, run_id: str) -> int:
    """Move files to paths below the folder, and replace what is there; returns how many there were.

    `outputs`: each file, and its path. One that does not exist is left out. `links`: the folder may be a link, or
    behind one.
    """
    if links:
        os.makedirs(folder, exist_ok=True)
    place: AbstractContextManager[str] = nullcontext(folder) if links else held_folder(folder, create=True)
    moved = 0
    with place as held:
        opener = Opener(held, trusted=True)
        try:
            for file, path in outputs:
                with suppress(FileNotFoundError):
                    os.stat(file)
                    _move(file, os.fsencode(path), opener, draft=os.fsencode(f".{run_id}.partial"))
                    moved += 1
        finally:
            opener.close()
    return moved


def _move(file: str, path: bytes, opener: Opener, *, draft: bytes) -> None:
    above, _, name = path.rpartition(b"/")
    parent = opener.directory(above, create=True)
    try:
        os.rename(file, name, dst_dir_fd=parent)
    except OSError as error:
        if error.errno != errno.EXDEV:
            error.filename2 = path
            raise
        _copy(file, name, parent, draft)


def _copy(file: str, name: bytes, parent: int, draft: bytes) -> None:
    """The same for a folder on another disk."""
    with suppress(FileNotFoundError):
        os.unlink(draft, dir_fd=parent)  # a killed process may have left it
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(file, "rb") as source, os.fdopen(os.open(draft, flags, 0o666, dir_fd=parent), "wb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
        os.rename(draft, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft, dir_fd=parent)
        raise
    os.unlink(file)
