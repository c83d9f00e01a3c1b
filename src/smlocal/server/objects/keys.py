"""Names of buckets and keys of objects, as names of folders and files."""

import re

from smlocal.server.objects.s3_error import S3Error, no_such_key, not_emulated

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
MOST_KEY = 1024
"""Bytes."""
_MOST_NAME = 255
"""Bytes of one name on Linux's file systems."""


def is_bucket_name(name: str) -> bool:
    """True for what a bucket may be called; such a name is one folder, and not a hidden one."""
    return _BUCKET.fullmatch(name) is not None and ".." not in name


def check_bucket_name(name: str) -> None:
    """`S3Error` for a name that no bucket may have."""
    if not is_bucket_name(name):
        raise S3Error("InvalidBucketName", "The specified bucket is not valid.", BucketName=name)


def file_of(key: str) -> tuple[list[str], str]:
    """The folders and the name of the file for a key. The name is empty for a folder marker such as `a/`.

    `S3Error` with NoSuchKey for a key that cannot be a file: there is no such object.
    """
    if why_no_file(key) is not None:
        raise no_such_key(key)
    *folders, name = key.split("/")
    return folders, name


def check_new_key(key: str) -> None:
    """`S3Error` that says why no object can be put under this key."""
    if len(key.encode()) > MOST_KEY:
        raise S3Error("KeyTooLongError", "Your key is too long")
    why = why_no_file(key)
    if why is not None:
        raise not_emulated(f"keys {why}: objects are files here")


def why_no_file(key: str) -> str | None:
    """Why a key cannot be the path of a file; None if it can."""
    parts = key.split("/")
    if parts[-1] == "" and len(parts) > 1:
        parts.pop()  # a folder marker
    if "" in parts:
        return "that begin with '/' or have '//'"
    if not {".", ".."}.isdisjoint(parts):
        return "with '.' or '..' between slashes"
    if "\0" in key:
        return "with a null character"
    if any(len(part.encode()) > _MOST_NAME for part in parts):
        return f"with more than {_MOST_NAME} bytes between slashes"
    return None
