"""The errors of sources, each with its place and a remedy."""

import os
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import (
    OutputUnusableError,
    SmlocalError,
    SourceEmptyError,
    SourceMissingError,
    SourceUnmappedError,
    SourceUnreadableError,
)
from smlocal.terms.listing import bucket_name, split_s3_uri
from smlocal.terms.rights import EVERYTHING, Rights
from smlocal.terms.validation.violation import close_matches

_NAMED = 5
_Error = TypeVar("_Error", bound=SmlocalError)


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

    def error(
        self, kind: type[_Error], text: str, *, details: Sequence[str] = (), remedy: Sequence[str] = ()
    ) -> _Error:
        """An error about this source; `details` follow the line that says where."""
        return kind(f"{self.subject}: {text}", details=(*self.details, *details), remedy=remedy)


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """The region and role, for the service's text."""

    region: str
    role: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceProblem:
    """What is wrong with a source, in words that are always the same."""

    error: type[SmlocalError]
    sentence: str
    """With the URI of the source, and the path and the reason of one case."""
    remedy: tuple[str, ...] = ()

    def of(self, asked: RequestedSource, *, path: str = "", why: object = "") -> SmlocalError:
        """The error."""
        text = self.sentence.format(uri=asked.uri, path=path, why=why)
        return asked.error(self.error, text, remedy=self.remedy)


STRICT_PATH: Final = SourceProblem(
    error=SourceUnmappedError,
    sentence="{uri} is a local path, which --strict does not allow",
    remedy=("Use the s3:// URI and map it in Local.Sources, or run without --strict.",),
)
RENAMED_OBJECT: Final = SourceProblem(
    error=SourceUnmappedError,
    sentence="{path} cannot replace {uri}: the file names differ",
    remedy=("Rename the file to the object's name, or map the folder of the object.",),
)
NO_FOLDER: Final = SourceProblem(
    error=SourceUnmappedError,
    sentence="no local folder can replace {uri}",
    remedy=("Its parts must be valid folder names: not empty, not . or .., at most 255 bytes.",),
)
NOT_A_FOLDER: Final = SourceProblem(error=SourceMissingError, sentence="{uri} is not a folder")
NOT_A_FILE: Final = SourceProblem(error=SourceMissingError, sentence="{uri} is a folder, not a file")
OCCUPIED: Final = SourceProblem(
    error=OutputUnusableError,
    sentence="{uri} cannot be a folder: {path} is a file",
    remedy=("Choose another folder.",),
)
UNWRITABLE: Final = SourceProblem(
    error=OutputUnusableError,
    sentence="{uri} cannot be written: you may not write in {path}",
    remedy=("Choose another folder, or make it writable.",),
)
NOT_DATA: Final = SourceProblem(error=SourceUnreadableError, sentence="{uri} is neither a folder nor a regular file")
ENDLESS: Final = SourceProblem(
    error=SourceUnreadableError,
    sentence="{uri} cannot be listed: {why}",
    remedy=("Remove those links, or use a folder without them.",),
)
NOT_A_DISK: Final = SourceProblem(
    error=SourceUnreadableError,
    sentence="{path} is on a kernel file system ({why}), which contains no data",
    remedy=("Use a folder with your own data.",),
)
BROKEN: Final = SourceProblem(error=SourceUnreadableError, sentence="cannot read {uri}: {why}")
"""Any other error of the system."""


def missing(asked: RequestedSource, written: str | None = None) -> SourceMissingError:
    """The path does not exist; `written` is the path in the mapping, if there is one."""
    path = asked.uri if written is None else written
    details = () if written is None else (f"Local.Sources maps it to {written}",)
    near = similar_path(path, asked.directory)
    remedy = () if near is None else (f"Did you mean {near}?",)
    return asked.error(SourceMissingError, f"{path} does not exist", details=details, remedy=remedy)


def unmapped(asked: RequestedSource, bucket_uri: str, key: str) -> SourceUnmappedError:
    """An S3 URI that is not mapped."""
    folder = bucket_uri + key[: key.rfind("/") + 1]
    remedy = (f'Map it in the job file: Local: {{Sources: {{"{folder}": ./some/folder}}}}',)
    return asked.error(SourceUnmappedError, f"no local data is mapped to {asked.uri}", remedy=remedy)


def unmapped_file_system(asked: RequestedSource, mapping: Mapping[str, str]) -> SourceUnmappedError:
    """A file system that is not mapped."""
    near = close_matches(asked.uri, [key for key in mapping if key.startswith("fs-")])
    remedy = (
        f'Map it in the job file: Local: {{Sources: {{"{asked.uri}": ./some/folder}}}}',
        *(f"Did you mean {each}?" for each in near),
    )
    text = f"no local folder is mapped to the file system {asked.uri}"
    return asked.error(SourceUnmappedError, text, remedy=remedy)


def unreadable(asked: RequestedSource, paths: Sequence[str]) -> SourceUnreadableError:
    """Paths this user may not read."""
    named = list(paths[:_NAMED])
    if len(paths) > _NAMED:
        named.append(f"… and {len(paths) - _NAMED} more")
    which = paths[0] if len(paths) == 1 else f"{len(paths)} paths below {asked.uri}"
    return asked.error(
        SourceUnreadableError,
        f"this user may not read {which}",
        details=named if len(paths) > 1 else (),
        remedy=("Make it readable, for example: chmod -R u+rX PATH as its owner.",),
    )


def empty_folder(asked: RequestedSource, path: str) -> SourceEmptyError:
    """A local folder is empty; the service's text, which is about buckets, comes second."""
    try:
        with os.scandir(path) as entries:
            what = "is empty" if next(entries, None) is None else "holds no file"
    except OSError:
        what = "holds no file"
    service = f'The service would answer: No S3 objects found under S3 URL "{asked.uri}" given in input data source.'
    return asked.error(
        SourceEmptyError,
        f"the folder {asked.uri} {what}",
        details=(service,),
        remedy=("Put the channel's files there, use another folder, or remove the channel.",),
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
