"""Which objects a prefix selects, and their paths below the channel."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import field

from smlocal.contract.listing import Listing
from smlocal.quick_dataclass import dataclass
from smlocal.sources import invalid_keys
from smlocal.sources.s3.interface import S3Object


class OutOfOrderError(Exception):
    """The server does not list in the byte order of the keys: sort them and start again."""


def select(objects: Iterable[S3Object], *, bucket_uri: str, prefix: str, mode: str) -> Listing | None:
    """The listing of what `prefix` selects; None if there are no objects. `OutOfOrderError` if they are not in order.

    A Pipe channel makes no files: there every key is valid, and folder markers, which have no bytes, are left out.
    """
    base, last = split_prefix(prefix)
    found = _Found(prefix=prefix, base=base)
    for each in objects:
        found.add(each)
    if not found.previous:
        return None
    names = tuple(found.names)
    if last and found.within:
        base, names = f"{prefix}/", tuple([name[len(last) + 1 :] for name in names])
    below = (key[len(base) : -1].removeprefix("/") for key in found.markers)
    directories = tuple(path for path in below if path)
    base, paths, keys = lay_out(base, names)
    if mode == "Pipe":
        directories, failure = (), None
    elif mode == "FastFile" and last and found.beside:
        failure = invalid_keys.partial_prefix(prefix, found.beside)
    elif found.doubled:
        failure = invalid_keys.double_slash(f"{bucket_uri}{found.doubled}")
    else:
        failure = invalid_keys.first_invalid_key(bucket_uri, base, paths, keys, directories)
    listing = Listing(
        root="",
        bucket_uri=bucket_uri,
        prefix=prefix,
        key_base=base,
        paths=paths,
        keys=keys,
        sizes=found.sizes,
        etags=tuple(found.etags),
        total_bytes=sum(found.sizes),
        whole_tree=True,
        directories=directories,
    )
    return listing if failure is None else listing.failed(failure)


@dataclass(kw_only=True, slots=True)
class _Found:
    """The objects of a listing so far."""

    prefix: str
    base: str
    names: list[str] = field(default_factory=list)
    """Keys without `base`."""
    sizes: "array[int]" = field(default_factory=lambda: array("q"))
    etags: list[str] = field(default_factory=list)
    markers: list[str] = field(default_factory=list)
    previous: str = ""
    within: bool = True
    """Whether every key is in the folder that the prefix names."""
    beside: str = ""
    """The first key that is neither the prefix nor in its folder."""
    doubled: str = ""
    """The first key with `//`."""

    def add(self, each: S3Object) -> None:
        key, previous, end = each.key, self.previous, len(self.prefix)
        if key <= previous:
            if key == previous:
                return
            raise OutOfOrderError
        if self.markers and previous == self.markers[-1] and key.startswith(previous):
            self.markers.pop()  # the folder is made for the object in it
        self.previous = key
        if key[end : end + 1] != "/":
            self.within = False
            if key != self.prefix:
                self.beside = self.beside or key
        if "//" in key:
            self.doubled = self.doubled or key
        if is_marker(key, each.size):
            self.markers.append(key)
            return
        self.names.append(key[len(self.base) :])
        self.sizes.append(each.size or 0)
        self.etags.append(each.etag or "")


def split_prefix(prefix: str) -> tuple[str, str]:
    """The part of a prefix up to its last `/`, which every selected key loses, and the rest."""
    cut = prefix.rfind("/") + 1
    return prefix[:cut], prefix[cut:]


def names_folder(prefix: str, keys: Iterable[str]) -> bool:
    """Whether all keys are in the folder that the prefix names: then they lose that folder too."""
    return all(key.startswith(f"{prefix}/") for key in keys)


def is_marker(key: str, size: int | None) -> bool:
    """Whether an object only marks a folder. One with bytes does not, and cannot be a file either."""
    return key.endswith("/") and not size


def lay_out(base: str, names: Sequence[str]) -> tuple[str, Sequence[str], Sequence[str]]:
    """Base, paths and keys for the names after `base`; paths lose a leading `/`, keys are given only if they differ."""
    leading = sum(name.startswith("/") for name in names)
    if not leading:
        return base, names, ()
    if leading == len(names):
        return f"{base}/", tuple([name[1:] for name in names]), ()
    return base, tuple([name.removeprefix("/") for name in names]), tuple([f"{base}{name}" for name in names])


def check_local_paths(prefix: str, bucket_uri: str, key_base: str, paths: Sequence[str], mode: str) -> str | None:
    """Why local files cannot be delivered for a prefix; None if they can."""
    if mode == "Pipe":
        return None
    if mode == "FastFile" and split_prefix(prefix)[1] and not key_base.startswith(f"{prefix}/"):
        keys = (f"{key_base}{path}" for path in paths)
        beside = next((key for key in keys if key != prefix and not key.startswith(f"{prefix}/")), None)
        if beside is not None:
            return invalid_keys.partial_prefix(prefix, beside)
    if "//" in key_base and paths:
        return invalid_keys.double_slash(f"{bucket_uri}{key_base}{paths[0]}")
    return None
