"""A multipart upload as a folder beside the bucket's: its parts are files with the MD5 of each in the name."""

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from smlocal.quick_dataclass import dataclass
from smlocal.removal import remove_tree
from smlocal.server.objects.attributes import Attributes
from smlocal.server.objects.bucket_folder import BucketFolder, Condition
from smlocal.server.objects.new_file import NewFile
from smlocal.server.objects.s3_error import S3Error

_ID = re.compile(r"[0-9a-f]{32}")
_PART = re.compile(r"(\d{5})-([0-9a-f]{32})")
_LEAST_PART = 5 << 20
MOST_PARTS = 10_000
_ABOUT = "upload.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A part that has come."""

    number: int
    md5: str
    path: str
    state: os.stat_result


class UploadFolder:
    """One upload that is neither completed nor aborted."""

    def __init__(self, bucket: BucketFolder, key: str, upload_id: str) -> None:
        """`S3Error` if there is none with this id for this key."""
        self.id = upload_id
        self._bucket = bucket
        self._path = os.path.join(_uploads(bucket), upload_id)
        about = _about(self._path) if _ID.fullmatch(upload_id) else None
        if about is None or about["Key"] != key:
            raise no_such_upload(upload_id)
        self.key = key
        self.headers: Mapping[str, str] = about["Headers"]

    @classmethod
    def create(cls, bucket: BucketFolder, key: str, headers: Mapping[str, str]) -> Self:
        """A new one."""
        upload_id = os.urandom(16).hex()
        path = os.path.join(_uploads(bucket), upload_id)
        os.makedirs(path)
        with open(os.path.join(path, _ABOUT), "w", encoding="utf-8") as file:
            json.dump({"Key": key, "Headers": headers}, file)
        return cls(bucket, key, upload_id)

    def put_part(self, number: int, new: NewFile, md5: str) -> None:
        """Add a part, or replace it."""
        with self._lock():
            before = [part for part in self.parts() if part.number == number]
            new.rename(os.path.join(self._path, f"{number:05}-{md5}"), None)
            for part in before:
                if part.md5 != md5:
                    os.unlink(part.path)

    def parts(self) -> list[Part]:
        """What has come, in order."""
        found = ((each, _PART.fullmatch(each.name)) for each in os.scandir(self._path))
        parts = [
            Part(number=int(named[1]), md5=named[2], path=each.path, state=each.stat())
            for each, named in found
            if named is not None
        ]
        return sorted(parts, key=lambda part: part.number)

    def complete(self, asked: Sequence[tuple[int, str]], condition: Condition | None) -> str:
        """Put the object together from parts, by number and ETag; returns its ETag."""
        with self._lock():
            parts = self._chosen(asked)
            with self._bucket.new_file() as new:
                for part in parts:
                    with open(part.path, "rb") as file:
                        new.append_from(file.fileno(), (0, part.state.st_size))
                etag = etag_of_parts([part.md5 for part in parts])
                attributes = Attributes(etag=etag, headers=self.headers, checksums={})
                self._bucket.put(self.key, new, attributes, condition)
            remove_tree(self._path)
        return etag

    def abort(self) -> None:
        """Remove all parts."""
        with self._lock():
            remove_tree(self._path)

    def _chosen(self, asked: Sequence[tuple[int, str]]) -> list[Part]:
        have = {(part.number, part.md5): part for part in self.parts()}
        numbers = [number for number, _ in asked]
        if numbers != sorted(set(numbers)):
            raise S3Error(
                "InvalidPartOrder",
                "The list of parts was not in ascending order. Parts must be ordered by part number.",
            )
        chosen = []
        for number, md5 in asked:
            part = have.get((number, md5))
            if part is None:
                raise S3Error(
                    "InvalidPart",
                    "One or more of the specified parts could not be found. The part may not have been uploaded, or "
                    "the specified entity tag may not match the part's entity tag.",
                    PartNumber=str(number),
                )
            chosen.append(part)
        for part in chosen[:-1]:
            if part.state.st_size < _LEAST_PART:
                raise S3Error(
                    "EntityTooSmall",
                    "Your proposed upload is smaller than the minimum allowed size",
                    PartNumber=str(part.number),
                    ProposedSize=str(part.state.st_size),
                    MinSizeAllowed=str(_LEAST_PART),
                )
        return chosen

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """One change at a time. `S3Error` if the upload was completed or aborted before it is ours."""
        try:
            file = open(os.path.join(self._path, _ABOUT), "rb")  # noqa: SIM115 - closed below
        except FileNotFoundError:
            raise no_such_upload(self.id) from None
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not os.fstat(file.fileno()).st_nlink:
                raise no_such_upload(self.id)
            yield


def uploads_of(bucket: BucketFolder) -> list[tuple[str, str, float]]:
    """Key, id and time of all uploads of a bucket, in S3's order."""
    try:
        ids = os.listdir(_uploads(bucket))
    except FileNotFoundError:
        return []
    found = []
    for upload_id in ids:
        path = os.path.join(_uploads(bucket), upload_id)
        about = _about(path)
        if about is not None:
            found.append((about["Key"], upload_id, os.stat(path).st_mtime))
    return sorted(found, key=lambda each: (each[0].encode(), each[2]))


def etag_of_parts(md5s: Sequence[str]) -> str:
    """The ETag of an object that was put together."""
    digest = hashlib.md5(b"".join(map(bytes.fromhex, md5s)), usedforsecurity=False).hexdigest()
    return f"{digest}-{len(md5s)}"


def no_such_upload(upload_id: str) -> S3Error:
    """There is none, or not any more."""
    return S3Error(
        "NoSuchUpload",
        "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or "
        "completed.",
        UploadId=upload_id,
    )


def _uploads(bucket: BucketFolder) -> str:
    return os.path.join(bucket.private, "uploads")


def _about(path: str) -> dict[str, Any] | None:
    try:
        with open(os.path.join(path, _ABOUT), "rb") as file:
            about: dict[str, Any] = json.load(file)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return about
