"""Which objects a prefix selects and how they are laid out below the channel: the same for S3 and for folders here."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import field

from smlocal.quick_dataclass import dataclass
from smlocal.sources import invalid_keys
from smlocal.sources.s3.interface import S3Object


class OutOfOrderError(Exception):
    """Not every server lists in the byte order of the keys; sort them and begin again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """What a prefix selects, in listing order."""

    key_base: str
    paths: Sequence[str]
    keys: Sequence[str]
    """Empty where every key is `key_base` and the path."""
    sizes: Sequence[int]
    etags: Sequence[str]
    directories: tuple[str, ...]
    """Of folder markers that nothing else makes."""
    found: bool
    """True when there was any object, be it a folder marker."""
    failure: str | None


def select(objects: Iterable[S3Object], *, bucket_uri: str, prefix: str, mode: str) -> Selection:
    """Lay out what a listing of `prefix` gave; `OutOfOrderError` when that was not in order.

    In Pipe mode no files are made, so no key is wrong there, and folder markers, which have no bytes, are nothing.
    """
    base, last = split_prefix(prefix)
    found = _Found(prefix=prefix, base=base)
    for each in objects:
        found.take(each)
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
    return Selection(
        key_base=base,
        paths=paths,
        keys=keys,
        sizes=found.sizes,
        etags=tuple(found.etags),
        directories=directories,
        found=bool(found.previous),
        failure=failure,
    )


@dataclass(kw_only=True, slots=True)
class _Found:
    """What has come of a listing so far."""

    prefix: str
    base: str
    names: list[str] = field(default_factory=list)
    """Keys without `base`."""
    sizes: "array[int]" = field(default_factory=lambda: array("q"))
    etags: list[str] = field(default_factory=list)
    markers: list[str] = field(default_factory=list)
    previous: str = ""
    within: bool = True
    """Every key lies in the folder that the prefix names."""
    beside: str = ""
    """The first key that neither is the prefix nor lies in its folder."""
    doubled: str = ""
    """The first key with `//`."""

    def take(self, each: S3Object) -> None:
        key, previous, end = each.key, self.previous, len(self.prefix)
        if key <= previous:
            if key == previous:
                return
            raise OutOfOrderError
        if self.markers and previous == self.markers[-1] and key.startswith(previous):
            self.markers.pop()  # the folder comes with what lies in it
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
    """What every selected key loses, up to and with the last `/`, and what is left of the prefix itself."""
    cut = prefix.rfind("/") + 1
    return prefix[:cut], prefix[cut:]


def names_folder(prefix: str, keys: Iterable[str]) -> bool:
    """True when all keys lie in the folder that the prefix names: then they lose that folder too."""
    return all(key.startswith(f"{prefix}/") for key in keys)


def is_marker(key: str, size: int | None) -> bool:
    """True for an object that only stands for a folder. One with bytes is none, and cannot be a file."""
    return key.endswith("/") and not size


def lay_out(base: str, names: Sequence[str]) -> tuple[str, Sequence[str], Sequence[str]]:
    """Turn names behind `base` into paths, which lose a leading `/`: the base, the paths, the keys where needed."""
    leading = sum(name.startswith("/") for name in names)
    if not leading:
        return base, names, ()
    if leading == len(names):
        return f"{base}/", tuple([name[1:] for name in names]), ()
    return base, tuple([name.removeprefix("/") for name in names]), tuple([f"{base}{name}" for name in names])


def fitting(prefix: str, bucket_uri: str, key_base: str, paths: Sequence[str], mode: str) -> str | None:
    """Why files that lie in a folder here cannot be delivered from a prefix; their names are fit for files already."""
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
