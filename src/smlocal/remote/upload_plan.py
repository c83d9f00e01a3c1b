"""Which local files become which objects, named by their content.

All objects of a channel are below a name made of the content of all its files. So no submit changes what an earlier job
reads, nothing is left over from earlier contents, and an object that is there with the right size need not be sent.
"""

import hashlib
import os
from collections.abc import Callable
from typing import NamedTuple

from smlocal.contract.listing import Listing
from smlocal.contract.s3_uri import bucket_name, split_s3_uri
from smlocal.errors.submitting import UploadNameError, UploadSourceChangedError
from smlocal.quick_dataclass import dataclass

_PIECE = 1 << 20
_DIGITS = 16
"""Of a SHA-256 in a name."""
_LONGEST_KEY = 1024


class LocalFile(NamedTuple):
    """A file as it was when it was read. A channel may have a million of these."""

    path: str
    """Below the folder."""
    size: int
    mtime_ns: int
    sha256: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Upload:
    """What one channel, or the code, becomes in S3."""

    subject: str
    """`channel "train"`"""
    root: str
    """The absolute folder of the files."""
    shown: str
    """What people know it by: the folder of the code, and not that of its archive."""
    prefix: str
    """The URI of the object of a file is this and its path: `s3://bucket/some/train/1f3a…/`."""
    uri: str
    """What the request says."""
    files: tuple[LocalFile, ...]

    @property
    def bytes(self) -> int:
        """All files together."""
        return sum(file.size for file in self.files)

    @property
    def bucket(self) -> str:
        """The bucket's name."""
        return bucket_name(split_s3_uri(self.prefix)[0])

    @property
    def key_base(self) -> str:
        """The key of a file is this and its path."""
        return split_s3_uri(self.prefix)[1]

    def local(self, file: LocalFile) -> str:
        """The file on this machine."""
        return f"{self.root}/{file.path}"


def plan_upload(
    listing: Listing, *, subject: str, below: str, shown: str = "", read: Callable[[int], None] = lambda _: None
) -> Upload:
    """The upload of a channel's files: reads all of them. `below` is the prefix of the channel, with a final `/`.

    The channel has the same paths in the container as it would have here.
    """
    _check_names(listing, subject, longest=_LONGEST_KEY - len(split_s3_uri(below)[1].encode()) - _DIGITS - 1)
    files = tuple(_read(f"{listing.root}/{path}", path, subject, read) for path in listing.paths)
    prefix = f"{below}{_name_of(files)}/"
    return Upload(
        subject=subject,
        root=listing.root,
        shown=shown or listing.root,
        prefix=prefix,
        uri=uri_of(listing, prefix),
        files=files,
    )


def uri_of(listing: Listing, prefix: str) -> str:
    """The S3Uri that selects the uploaded objects: the folder, one file, or names that begin alike."""
    return prefix + listing.prefix[len(listing.key_base) :]


def _name_of(files: tuple[LocalFile, ...]) -> str:
    whole = hashlib.sha256()
    for file in files:
        whole.update(b"%s\0%d\0%s" % (file.path.encode(), file.size, file.sha256))
    return whole.hexdigest()[:_DIGITS]


def _read(path: str, name: str, subject: str, read: Callable[[int], None]) -> LocalFile:
    whole = hashlib.sha256()
    try:
        with open(path, "rb", buffering=0) as file:
            before = os.fstat(file.fileno())
            while piece := file.read(_PIECE):
                whole.update(piece)
                read(len(piece))
            after = os.fstat(file.fileno())
    except OSError as error:
        raise changed(subject, name, f"it cannot be read: {error.strerror}") from error
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise changed(subject, name, "it is being written")
    return LocalFile(name, after.st_size, after.st_mtime_ns, whole.digest())


def changed(subject: str, name: str, why: str) -> UploadSourceChangedError:
    """The error about a file that is not what it was."""
    return UploadSourceChangedError(
        f"{subject}: {name} has changed while it was uploaded: {why}",
        remedy=("Run the command again when nothing writes to the folder. What was uploaded is not uploaded again.",),
    )


def _check_names(listing: Listing, subject: str, *, longest: int) -> None:
    for path in listing.paths:
        try:
            length = len(path.encode())
        except UnicodeEncodeError as error:
            shown = os.fsencode(path).decode(errors="backslashreplace")
            raise UploadNameError(
                f"{subject}: the name {shown} is not UTF-8, which S3 does not allow",
                remedy=("Rename the file.",),
            ) from error
        if length > longest:
            raise UploadNameError(
                f"{subject}: the path {path[:60]}… is too long for a key of S3: {length} bytes, and {longest} are left",
                remedy=("Use a shorter prefix or shorter names.",),
            )
