"""Locations in Cloud Storage, where a replica finds them, and the folders of this machine that stand for them."""

import os.path
from collections.abc import Iterator, Mapping
from typing import Any, Final

from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.base.quick_dataclass import dataclass

SCHEME: Final = "gs://"
MOUNT: Final = "/gcs"
"""Where replicas find the buckets."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BucketFolder:
    """A folder of this machine that stands for a bucket, or for a folder in one. Replicas may write to it."""

    location: str
    """`gs://bucket/folder`, without a slash at the end."""
    folder: str
    """On this machine."""
    is_output: bool
    """True if it belongs to the job, and is made for it."""

    @property
    def path(self) -> str:
        """In the replica."""
        return mounted_path(self.location)


def mounted_path(location: str) -> str:
    """`gs://bucket/folder/` to `/gcs/bucket/folder/`; anything else stays as it is."""
    return f"{MOUNT}/{location.removeprefix(SCHEME)}" if location.startswith(SCHEME) else location


def is_bucket_location(location: str) -> bool:
    """True for `gs://bucket` and everything in it."""
    return location.startswith(SCHEME) and location.removeprefix(SCHEME).partition("/")[0] != ""


def wrong_sources(sources: Mapping[str, str]) -> list[str]:
    """The keys of `Local.Sources` that are not locations in Cloud Storage: their folders would never be used."""
    return [location for location in sources if not is_bucket_location(location)]


def output_locations(kind: ReplicaJobKind, request: Mapping[str, Any]) -> Iterator[str]:
    """Where the request says that output goes."""
    if kind is ReplicaJobKind.TRAINING_JOB:
        location = request["trainingInput"].get("jobDir")
    else:
        location = request["jobSpec"].get("baseOutputDirectory", {}).get("outputUriPrefix")
    if location is not None:
        yield location


def bucket_folders(
    kind: ReplicaJobKind, request: Mapping[str, Any], *, sources: Mapping[str, str], output: str
) -> tuple[BucketFolder, ...]:
    """The mounts of every replica: the buckets of `sources`, and folders below `output` for output elsewhere.

    A folder comes before those inside it.
    """
    found = {
        _plain(location): BucketFolder(location=_plain(location), folder=folder, is_output=False)
        for location, folder in sources.items()
        if is_bucket_location(location)
    }
    for location in map(_plain, output_locations(kind, request)):
        if not any(_is_inside(location, source) for source in found):
            folder = os.path.join(output, *location.removeprefix(SCHEME).split("/"))
            found[location] = BucketFolder(location=location, folder=folder, is_output=True)
    return tuple(found[location] for location in sorted(found))


def _plain(location: str) -> str:
    return SCHEME + location.removeprefix(SCHEME).strip("/")


def _is_inside(location: str, other: str) -> bool:
    return f"{location}/".startswith(f"{other}/")
