"""A cache in a home of its own, filled from a dictionary where a job would ask S3."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import md5
from pathlib import Path

from smlocal.base.files import Check, no_check
from smlocal.data.channels.cache.folder import Cache, folders_of
from smlocal.data.channels.cache.get_tree import get_tree
from smlocal.terms.listing import Listing

ENDPOINT = "http://127.0.0.1:9000"


def listing_of(contents: Mapping[str, bytes], prefix: str = "data/", directories: tuple[str, ...] = ()) -> Listing:
    """As S3 would list these objects."""
    return Listing(
        root="",
        bucket_uri="s3://bucket/",
        prefix=prefix,
        key_base=prefix,
        paths=list(contents),
        total_bytes=sum(map(len, contents.values())),
        whole_tree=False,
        directories=directories,
        sizes=[len(each) for each in contents.values()],
        etags=[f'"{md5(each, usedforsecurity=False).hexdigest()}"' for each in contents.values()],
    )


@dataclass(kw_only=True)
class Shelf:
    """The cache, and what was downloaded into it."""

    cache: Cache
    downloaded: list[str] = field(default_factory=list)
    users: str = "jobs"
    """The folder of the home with the folders of those who use it."""

    @property
    def root(self) -> Path:
        return Path(self.cache.root)

    def markers(self, job: str) -> Path:
        """Where this job has its markers; its folder is there as for any job."""
        folder = Path(self.cache.home, self.users, job, "staged", "cache")
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def get_tree(
        self,
        contents: Mapping[str, bytes],
        *,
        job: str = "job",
        prefix: str = "data/",
        directories: tuple[str, ...] = (),
        cache: Cache | None = None,
        check: Check = no_check,
    ) -> Path | None:
        """The tree that a job gets; None where there is no room."""
        listing = listing_of(contents, prefix, directories)

        def download(places: Sequence[tuple[int, str]]) -> None:
            for index, place in places:
                path = listing.paths[index]
                Path(place).write_bytes(contents[path])
                self.downloaded.append(path)

        root = get_tree(
            cache or self.cache,
            listing,
            endpoint=ENDPOINT,
            folders=folders_of(listing.paths, listing.directories),
            marker_directory=str(self.markers(job)),
            download=download,
            found=lambda *_: None,
            waiting=lambda: None,
            check=check,
        )
        return None if root is None else Path(root)

    def end(self, job: str) -> None:
        """The job is cleaned up."""
        for marker in self.markers(job).iterdir():
            marker.unlink()

    def age(self, root: Path, seconds: float) -> None:
        """The tree was last used so long ago."""
        about = root.parent / "about.json"
        moment = about.stat().st_mtime - seconds
        os.utime(about, (moment, moment))


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}
