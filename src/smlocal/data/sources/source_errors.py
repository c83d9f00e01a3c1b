"""The errors of sources, each with its place and a remedy."""

import os
from collections.abc import Mapping, Sequence

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import (
    OutputUnusableError,
    SourceEmptyError,
    SourceMissingError,
    SourceUnmappedError,
    SourceUnreadableError,
)
from smlocal.terms.rights import EVERYTHING, Rights
from smlocal.terms.s3_uri import bucket_name, split_s3_uri
from smlocal.terms.validation.suggestions import close_matches

_NAMED = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestedSource:
    """A source, and where the job file names it; for error messages."""

    subject: str
    """`channel "train"`"""
    member: str
    """The member of the job file that names it: `S3Uri`."""
    uri: str
    where: str | None
    """`job.yaml:14`"""
    directory: str
    rights: Rights = EVERYTHING
    """The rights of the job on this machine."""

    @property
    def details(self) -> tuple[str, ...]:
        """The line of the error that says where."""
        text = f"{self.member}: {self.uri}"
        if self.where is not None:
            return (f"{self.where}   {text}",)
        relative = "://" not in self.uri and not self.uri.startswith(("/", "~"))
        return (f"{text}   in {self.directory}" if relative else text,)


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """The region and role, for the service's text."""

    region: str
    role: str


def missing(asked: RequestedSource, written: str | None = None) -> SourceMissingError:
    """The path does not exist; `written` is the path in the mapping, if there is one."""
    path = asked.uri if written is None else written
    details = asked.details if written is None else (*asked.details, f"Local.Sources maps it to {written}")
    near = similar_path(path, asked.directory)
    remedy = () if near is None else (f"Did you mean {near}?",)
    return SourceMissingError(f"{asked.subject}: {path} does not exist", details=details, remedy=remedy)


def unmapped(asked: RequestedSource, bucket_uri: str, key: str) -> SourceUnmappedError:
    """An S3 URI that is not mapped."""
    folder = bucket_uri + key[: key.rfind("/") + 1]
    return SourceUnmappedError(
        f"{asked.subject}: no local data is mapped to {asked.uri}",
        details=asked.details,
        remedy=(f'Map it in the job file: Local: {{Sources: {{"{folder}": ./some/folder}}}}',),
    )


def unmapped_file_system(asked: RequestedSource, mapping: Mapping[str, str]) -> SourceUnmappedError:
    """A file system that is not mapped."""
    near = close_matches(asked.uri, [key for key in mapping if key.startswith("fs-")])
    return SourceUnmappedError(
        f"{asked.subject}: no local folder is mapped to the file system {asked.uri}",
        details=asked.details,
        remedy=(
            f'Map it in the job file: Local: {{Sources: {{"{asked.uri}": ./some/folder}}}}',
            *(f"Did you mean {each}?" for each in near),
        ),
    )


def strict_path(asked: RequestedSource) -> SourceUnmappedError:
    """A local path with --strict."""
    return SourceUnmappedError(
        f"{asked.subject}: {asked.uri} is a local path, which --strict does not allow",
        details=asked.details,
        remedy=("Use the s3:// URI and map it in Local.Sources, or run without --strict.",),
    )


def renamed_object(asked: RequestedSource, written: str) -> SourceUnmappedError:
    """An object is mapped to a file of another name."""
    return SourceUnmappedError(
        f"{asked.subject}: {written} cannot replace {asked.uri}: the file names differ",
        details=asked.details,
        remedy=("Rename the file to the object's name, or map the folder of the object.",),
    )


def not_a_folder(asked: RequestedSource) -> SourceMissingError:
    """The path is not a folder."""
    return SourceMissingError(f"{asked.subject}: {asked.uri} is not a folder", details=asked.details)


def not_a_file(asked: RequestedSource) -> SourceMissingError:
    """The path is a folder, not a file."""
    return SourceMissingError(f"{asked.subject}: {asked.uri} is a folder, not a file", details=asked.details)


def occupied(asked: RequestedSource, path: str) -> OutputUnusableError:
    """A file is in the way of the folder."""
    return OutputUnusableError(
        f"{asked.subject}: {asked.uri} cannot be a folder: {path} is a file",
        details=asked.details,
        remedy=("Choose another folder.",),
    )


def unwritable(asked: RequestedSource, path: str) -> OutputUnusableError:
    """The folder cannot be written."""
    return OutputUnusableError(
        f"{asked.subject}: {asked.uri} cannot be written: you may not write in {path}",
        details=asked.details,
        remedy=("Choose another folder, or make it writable.",),
    )


def no_folder(asked: RequestedSource) -> SourceUnmappedError:
    """No local folder can have such a key."""
    return SourceUnmappedError(
        f"{asked.subject}: no local folder can replace {asked.uri}",
        details=asked.details,
        remedy=("Its parts must be valid folder names: not empty, not . or .., at most 255 bytes.",),
    )


def not_data(asked: RequestedSource) -> SourceUnreadableError:
    """The source is a FIFO, socket or device."""
    return SourceUnreadableError(
        f"{asked.subject}: {asked.uri} is neither a folder nor a regular file", details=asked.details
    )


def unreadable(asked: RequestedSource, paths: Sequence[str]) -> SourceUnreadableError:
    """Paths this user may not read."""
    named = list(paths[:_NAMED])
    if len(paths) > _NAMED:
        named.append(f"… and {len(paths) - _NAMED} more")
    which = paths[0] if len(paths) == 1 else f"{len(paths)} paths below {asked.uri}"
    return SourceUnreadableError(
        f"{asked.subject}: this user may not read {which}",
        details=(*asked.details, *(named if len(paths) > 1 else ())),
        remedy=("Make it readable, for example: chmod -R u+rX PATH as its owner.",),
    )


def endless(asked: RequestedSource, why: str) -> SourceUnreadableError:
    """The folder's links lead to too many files."""
    return SourceUnreadableError(
        f"{asked.subject}: {asked.uri} cannot be listed: {why}",
        details=asked.details,
        remedy=("Remove those links, or use a folder without them.",),
    )


def not_a_disk(asked: RequestedSource, path: str, kind: str) -> SourceUnreadableError:
    """The source is on a kernel file system."""
    return SourceUnreadableError(
        f"{asked.subject}: {path} is on a kernel file system ({kind}), which contains no data",
        details=asked.details,
        remedy=("Use a folder with your own data.",),
    )


def empty_folder(asked: RequestedSource, path: str) -> SourceEmptyError:
    """A local folder is empty; the service's text, which is about buckets, comes second."""
    try:
        with os.scandir(path) as entries:
            what = "is empty" if next(entries, None) is None else "holds no file"
    except OSError:
        what = "holds no file"
    return SourceEmptyError(
        f"{asked.subject}: the folder {asked.uri} {what}",
        details=(
            *asked.details,
            f'The service would answer: No S3 objects found under S3 URL "{asked.uri}" given in input data source.',
        ),
        remedy=("Put the channel's files there, use another folder, or remove the channel.",),
    )


def broken(asked: RequestedSource, error: OSError) -> SourceUnreadableError:
    """Any other error of the system."""
    return SourceUnreadableError(
        f"{asked.subject}: cannot read {asked.uri}: {error.strerror or error}", details=asked.details
    )


def empty(
    asked: RequestedSource, caller: Caller, *, near: str | None = None, answer: str = "", written: str | None = None
) -> SourceEmptyError:
    """No objects, in the service's words.

    `answer` is the error of S3, if there was one, and `written` the path in the mapping, if there is one.
    """
    bucket = bucket_name(split_s3_uri(asked.uri)[0])
    return SourceEmptyError(
        f'No S3 objects found under S3 URL "{asked.uri}" given in input data source. Please ensure that the bucket '
        f"exists in the selected region ({caller.region}), that objects exist under that S3 prefix, and that the role "
        f'"{caller.role}" has "s3:ListBucket" permissions on bucket "{bucket}".'
        f"{f' Error message from S3: {answer}' if answer else ''}",
        details=(
            asked.subject,
            *asked.details,
            *(() if written is None else (f"Local.Sources maps it to {written}, where no file has such a key",)),
        ),
        remedy=() if near is None else (f"Did you mean {near}?",),
    )


def similar_path(text: str, directory: str) -> str | None:
    """The path with its first wrong component replaced by the most similar existing name."""
    scheme = "file://" if text.startswith("file://") else ""
    parts = text.removeprefix(scheme).split("/")
    for number, name in enumerate(parts):
        if name in {"", ".", ".."}:
            continue
        above = os.path.join(directory, os.path.expanduser("/".join([*parts[:number], ""])))
        if os.path.lexists(os.path.join(above, os.path.expanduser(name) if number == 0 else name)):
            continue
        near = similar_name(name, above)
        return None if near is None else scheme + "/".join([*parts[:number], near])
    return None


def similar_name(name: str, folder: str) -> str | None:
    """The most similar name in a folder."""
    try:
        names = os.listdir(folder)
    except (OSError, ValueError):
        return None
    return next(iter(close_matches(name, names)), None)
