"""Local files as objects in S3: the object of each, named by its content, and sending those that are missing.

All objects of a channel are below a name made of the content of all its files. So no submit changes what an earlier job
reads, nothing is left over from earlier contents, and an object that is there with the right size need not be sent.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.progress import Meter, Progress
from smlocal.data.sources.s3.client import S3Client, open_store
from smlocal.data.sources.s3.interface import S3Error
from smlocal.data.sources.s3.upload import Item, Uploaded, upload_all
from smlocal.data.sources.s3.writer import GrowingFile, S3Writer, UploadTarget
from smlocal.data.sources.s3_listing import machine_error
from smlocal.data.sources.source_errors import RequestedSource
from smlocal.errors import SmlocalError
from smlocal.errors.of_commands import UploadFailedError, UploadNameError, UploadSourceChangedError
from smlocal.terms.listing import Listing, bucket_name, split_s3_uri
from smlocal.terms.rights import EVERYTHING

_THREADS = 8
_FORBIDDEN = 403
_AGAIN = "Run the same command again: uploaded files are not uploaded again."


_PIECE = 1 << 20
_DIGITS = 16
"""The digits of a SHA-256 in a name."""
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
    """The objects of one channel, or of the code, in S3."""

    subject: str
    """`channel "train"`"""
    root: str
    """The absolute folder of the files."""
    shown: str
    """The name that people know: the folder of the code, and not that of its archive."""
    prefix: str
    """The URI of the object of a file is this and its path: `s3://bucket/some/train/1f3a…/`."""
    uri: str
    """The location in the request."""
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
        remedy=("Run the command again when nothing writes to the folder. Uploaded files are not uploaded again.",),
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


class Pending(NamedTuple):
    """A file that S3 does not have."""

    upload: Upload
    file: LocalFile

    @property
    def target(self) -> UploadTarget:
        """Its object."""
        return UploadTarget(bucket=self.upload.bucket, key=f"{self.upload.key_base}{self.file.path}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ToSend:
    """The rest to upload."""

    pending: tuple[Pending, ...]
    there: int
    """Files that S3 has."""
    note: str = ""

    @property
    def bytes(self) -> int:
        """All files together."""
        return sum(each.file.size for each in self.pending)


def open_bucket(region: str, profile: str | None) -> S3Client:
    """S3 as the user's credentials reach it; no request is sent yet."""
    return open_store(region, rights=EVERYTHING, profile=profile)


def look(store: S3Client, uploads: Iterable[Upload]) -> ToSend:
    """The files that S3 lacks, by one listing for each upload. Names tell the content, so only sizes are compared.

    Without the right to list everything is sent.
    """
    pending: list[Pending] = []
    there = 0
    note = ""
    for upload in uploads:
        try:
            base = len(upload.key_base)
            found = {each.key[base:]: each.size for each in store.list_objects(upload.bucket, upload.key_base)}
        except S3Error as error:
            if error.status != _FORBIDDEN or _machine(error, upload.prefix) is not None:
                raise upload_error(error, upload) from error
            found = {}
            note = f"{upload.prefix} may not be listed (s3:ListBucket), so everything is uploaded"
        missing = [Pending(upload, file) for file in upload.files if found.get(file.path) != file.size]
        there += len(upload.files) - len(missing)
        pending += missing
    return ToSend(pending=tuple(pending), there=there, note=note)


def send(store: S3Client, pending: Sequence[Pending], working: Callable[[str], None] = lambda _: None) -> None:
    """Upload these files. `working` is told the progress, by several threads."""
    total = sum(each.file.size for each in pending)
    meter = Meter(lambda progress: working(_sentence(progress)), total_bytes=total, total_objects=len(pending))
    by_uri = {each.target.uri: each for each in pending}

    def done(object_: Uploaded) -> None:
        each = by_uri[object_.uri]
        _check(each, os.stat(each.upload.local(each.file)), sent=True)
        meter.add(0, 1)

    try:
        upload_all(store, _items(pending), moved=meter.add, done=done, threads=_THREADS)
    except _ChangedError as error:
        # Servers other than Amazon's may have taken the new bytes: nothing wrong may be left below a name of content.
        if error.sent:
            with suppress(S3Error):
                S3Writer(store).delete(error.each.target)
        raise changed(error.each.upload.subject, error.each.file.path, error.why) from error
    except OSError as error:
        raise _unreadable(pending, error) from error
    except S3Error as error:
        each = by_uri.get(error.uri)
        if each is not None:
            _raise_if_changed(each)
        raise upload_error(error, each.upload if each is not None else pending[0].upload) from error


def upload_error(error: S3Error, upload: Upload) -> SmlocalError:
    """The remedy for an error of S3."""
    machine = _machine(error, upload.prefix, upload.subject)
    if machine is not None:
        return type(machine)(machine.sentence, details=machine.details, remedy=(*machine.remedy, _AGAIN))
    where = f"s3://{upload.bucket}"
    remedy: tuple[str, ...] = (_AGAIN,)
    if error.code == "NoSuchBucket":
        remedy = (f"Make the bucket:  aws s3 mb {where}", "Or name another one with --upload-to.")
    elif error.status == _FORBIDDEN:
        action = "s3:ListBucket" if error.operation == "ListObjectsV2" else "s3:PutObject"
        place = where if action == "s3:ListBucket" else f"{where}/{upload.key_base.rpartition('/')[0]}/*"
        remedy = (f"These credentials need {action} on {place}.", "Choose others with --profile.")
    return UploadFailedError(
        f"{upload.subject}: S3 does not take {error.uri or upload.prefix}: {error.message or error.code}",
        details=(f"{error.operation}: {error.code} ({error.status})",),
        remedy=remedy,
    )


class _ChangedError(Exception):
    def __init__(self, each: Pending, why: str, *, sent: bool = False) -> None:
        super().__init__(why)
        self.each, self.why, self.sent = each, why, sent


def _machine(error: S3Error, uri: str, subject: str = "the upload") -> SmlocalError | None:
    asked = RequestedSource(subject=subject, member="--upload-to", uri=uri, where=None, directory="/")
    return machine_error(asked, error)


def _items(pending: Sequence[Pending]) -> Iterator[Item]:
    """Open the files one after the other, when the uploading thread asks for them."""
    for each in pending:
        try:
            descriptor = os.open(each.upload.local(each.file), os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise _ChangedError(each, f"it cannot be read: {error.strerror}") from error
        try:
            _check(each, os.fstat(descriptor))
        except _ChangedError:
            os.close(descriptor)
            raise
        yield Item(
            source=GrowingFile.complete(descriptor),
            target=each.target,
            before_complete=partial(_check_open, each, descriptor),
            sha256=each.file.sha256,
        )


def _check(each: Pending, status: os.stat_result, *, sent: bool = False) -> None:
    if (status.st_size, status.st_mtime_ns) != (each.file.size, each.file.mtime_ns):
        raise _ChangedError(each, "its size or its time has changed", sent=sent)


def _check_open(each: Pending, descriptor: int) -> None:
    _check(each, os.fstat(descriptor))


def _raise_if_changed(each: Pending) -> None:
    try:
        _check(each, os.stat(each.upload.local(each.file)))
    except (_ChangedError, OSError) as error:
        why = error.why if isinstance(error, _ChangedError) else f"it cannot be read: {error.strerror}"
        raise changed(each.upload.subject, each.file.path, why) from error


def _unreadable(pending: Sequence[Pending], error: OSError) -> SmlocalError:
    name = os.fsdecode(error.filename) if error.filename else pending[0].upload.root
    return changed(pending[0].upload.subject, name, f"it cannot be read: {error.strerror}")


def _sentence(progress: Progress) -> str:
    return progress.sentence("uploading", objects="files")
