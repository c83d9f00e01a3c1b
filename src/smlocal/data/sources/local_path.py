"""Local paths as users write them: made absolute, mapped from S3 URIs, checked for rights, opened, and mounted."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from smlocal.base.files import Opener, open_file
from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import PathNotAllowedError
from smlocal.terms.listing import Listing
from smlocal.terms.rights import Rights

# Here, and nowhere else, it is checked whether the job may use a path.

_LONGEST = 4096
"""Bytes of a path on Linux."""
_SHOWN = 100


def local_path(text: str, directory: str, rights: Rights, rest: str = "") -> str:
    """Return the absolute path for a plain path or a `file://` URI; relative ones start from `directory`.

    `rest` is put behind it: the part of a key below a mapped folder. `~/` is the home folder, because neither YAML nor
    every shell expands it in `train=~/data`; write `./~` for a folder named `~`. `file://localhost/data` is `/data`, by
    the standard; `file://./data` is not a valid URI, but tools of the service accept it. A final `/` is kept: it means
    a folder. `PathNotAllowedError` if the job has no right to the path. There is no link in the path of a job with
    limited rights.
    """
    path = text.removeprefix("file://")
    if path != text and path.startswith("localhost/"):
        path = path.removeprefix("localhost")
    if path == text and (path == "~" or path.startswith("~/")):
        path = os.path.expanduser(path)
    path = os.path.join(directory, path)
    if rest:
        base = cleaned(path) if rights.links else path
        path = f"{base.rstrip('/')}/{rest}"
    return path if rights.folders is None else _allowed(f"{text}/{rest}" if rest else text, path, rights.folders)


def cleaned(path: str) -> str:
    """Remove `.`, `..` and double slashes; `link/..` is resolved as the kernel does."""
    parts = path.split("/")
    if ".." in parts:
        behind = len(parts) - parts[::-1].index("..")
        path = "/".join([os.path.realpath("/".join(parts[:behind])), *parts[behind:]])
    return "/" + os.path.normpath(path).lstrip("/")


def _allowed(written: str, path: str, folders: tuple[str, ...]) -> str:
    """The path without links, if it is in one of these folders, and nothing below that folder is a link."""
    if len(path) > _LONGEST:  # each of its folders would be looked for, in time that grows with its square
        raise _refused(f"no file can have the name '{written[:_SHOWN]}…'")
    try:
        path.encode("utf-8", "surrogateescape")
        if "\0" in path:
            raise _refused(f"no file can have the name {written!r}")
    except UnicodeEncodeError:  # half a surrogate pair
        raise _refused(f"no file can have the name {written!r}") from None
    plain = "/" + os.path.normpath(path).lstrip("/")
    linked = None
    for folder in folders:
        if plain != folder and not plain.startswith(f"{folder.rstrip('/')}/"):
            continue
        top = os.path.realpath(folder)
        found = os.path.join(top, plain[len(folder) :].lstrip("/")).rstrip("/") or "/"
        if os.path.realpath(found) == found:
            return f"{found}/" if path.endswith("/") and found != "/" else found
        linked = folder
    if linked is not None:
        raise _refused(f"the path '{written}' has a link below {linked}, and this job does not follow those")
    raise _refused(f"this job may not use the path '{written}' of this machine")


def _refused(sentence: str) -> PathNotAllowedError:
    return PathNotAllowedError(
        sentence,
        remedy=("The owner of the endpoint can allow a folder: smlocal serve --allow-path DIR",),
    )


# `Local.Sources`: which local path is mapped to an S3 URI.


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """The most specific entry of a mapping for a URI."""

    key: str
    """As written in the mapping."""
    base: str
    """The key as a folder, with one `/` at its end."""
    value: str
    """The local path, as written in the mapping."""
    rest: str
    """The rest of the URI after `base`; empty if it is the mapped URI itself, with or without its `/`."""


def longest_match(uri: str, mapping: Mapping[str, str]) -> Match | None:
    """Find the longest key that is the URI or a folder above it.

    A key is a folder with or without a final `/`: `s3://b/some` covers `s3://b/some` and `s3://b/some/x`, but not
    `s3://b/some-other`. A URI above every key is not covered, because only a part of its objects would be local.
    """
    best: Match | None = None
    for key, value in mapping.items():
        folder = key.rstrip("/")
        base = f"{folder}/"
        if uri != folder and not uri.startswith(base):
            continue
        if best is None or len(base) > len(best.base):
            best = Match(key=key, base=base, value=value, rest=uri[len(base) :])
    return best


def is_remote(uri: str) -> bool:
    """Whether a URI is not local: it has a scheme other than `file://`."""
    scheme, separator, _ = uri.partition("://")
    return bool(separator) and scheme.isalnum() and scheme.lower() != "file"


# Sizes and modes of files, and whether this user may read them.

MAX_CHECKED = 10_000
"""If there are more files, only a sample is checked, and sizes are not added up."""
_SAMPLE = 1_000
SERVICE_MODE = 0o644
_PERMISSIONS = 0o7777


def sizes_and_modes(root: str, paths: Sequence[str]) -> tuple[int | None, int]:
    """Return the total bytes, or None for a long list, and how many checked files do not have the service's mode."""
    short = len(paths) <= MAX_CHECKED
    total = unlike = 0
    for path in paths if short else paths[:_SAMPLE]:
        with suppress(OSError):  # deleted meanwhile: staging reports it
            status = os.stat(f"{root}/{path}")
            total += status.st_size
            unlike += status.st_mode & _PERMISSIONS != SERVICE_MODE
    return (total if short else None), unlike


def unreadable(root: str, paths: Sequence[str]) -> list[str]:
    """Files this user may not read. The engine, which mounts as root, would show them."""
    if os.geteuid() == 0:
        return []
    return [path for path in paths if not readable(f"{root}/{path}")]


def readable(path: str) -> bool:
    """Whether this process's effective user may read it."""
    return os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids)


# Open a local file of a listing.


def open_listed(listing: Listing, index: int) -> int:
    """Open the file of object `index` for reading; `OSError` if it is gone, or a link that the job does not follow."""
    if listing.links:
        # Non-blocking: the file may have been replaced by a FIFO.
        return os.open(listing.file(index), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    return open_file(listing.file(index))


def opener_of(listing: Listing) -> Opener | None:
    """Opens many files of a listing without following links; None if links are followed."""
    return None if listing.links else Opener(listing.root)


_ESCAPES = (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\043", "#"), ("\\134", "\\"))
_NO_DATA = {
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "rpc_pipefs",
    "securityfs",
    "selinuxfs",
    "sysfs",
    "tracefs",
}
"""File systems of the kernel: their files are not data, and may be endless or change with each read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MountPoint:
    """One line of the table."""

    path: str
    device: int
    """As in `st_dev`."""
    kind: str

    @property
    def holds_data(self) -> bool:
        """False for file systems of the kernel."""
        return self.kind not in _NO_DATA


def mount_points() -> list[MountPoint]:
    """Every mount that this process sees; none on a system without the table."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
            return list(_parsed(table))
    except OSError:
        return []


def _parsed(lines: Iterator[str]) -> Iterator[MountPoint]:
    for line in lines:
        _, _, device, _, path, rest = line.split(" ", 5)
        if "\\" in path:
            for code, character in _ESCAPES:
                path = path.replace(code, character)
        major, _, minor = device.partition(":")
        kind = rest.partition(" - ")[2].partition(" ")[0]
        yield MountPoint(path=path, device=os.makedev(int(major), int(minor)), kind=kind)


# Why a folder must be copied, not mounted: links out of it, mounts inside it, and files that an upload would skip.

_REASONS = 5
_HOPS = 40
"""The kernel's own limit on links in one path."""


def copy_reasons(root: str, links: Iterable[str], skipped: Iterable[str] = ()) -> tuple[str, ...]:
    """The reasons, one sentence each; the first five, and how many more."""
    real = os.path.realpath(root)
    reasons = [*_encoding(real), *_mounts(real), *_links(real, links), *skipped]
    if len(reasons) <= _REASONS:
        return tuple(reasons)
    return (*reasons[:_REASONS], f"{len(reasons) - _REASONS} more")


def _encoding(real: str) -> Iterator[str]:
    try:
        real.encode()
    except UnicodeEncodeError:
        yield "the folder's path is not UTF-8, which the engine requires"


def _links(real: str, links: Iterable[str]) -> Iterator[str]:
    known = {"": True}  # many links share a folder, and realpath is slow
    for link in links:
        below, _, name = link.rpartition("/")
        parent = os.path.normpath(f"{real}/{below}")
        if below not in known:
            known[below] = os.path.realpath(parent) == parent
        if not known[below]:
            # Reached through another link, which is checked itself.
            continue
        target = os.readlink(f"{parent}/{name}")
        if target.startswith("/"):
            yield f"{link} is a link to the absolute path {target}"
        elif leads_out(real, parent, target):
            yield f"{link} is a link out of the folder, to {target}"


def leads_out(root: str, parent: str, target: str) -> bool:
    """Follow a relative link as the container would; True if a step leaves `root`."""
    current, hops = parent, 0
    pending = target.split("/")[::-1]
    while pending:
        step = pending.pop()
        if step in {"", "."}:
            continue
        if step == "..":
            if current == root:
                return True
            current = os.path.dirname(current)
            continue
        following = f"{current}/{step}"
        try:
            text = os.readlink(following)
        except OSError:
            current = following
            continue
        hops += 1
        if text.startswith("/"):
            return True
        if hops > _HOPS:
            return False
        pending += text.split("/")[::-1]
    return False


def _mounts(real: str) -> Iterator[str]:
    """Mount points below the folder, also bind mounts; an overlay would show the folders under them."""
    inside = real.rstrip("/") + "/"
    for mount in mount_points():
        if mount.path.startswith(inside):
            yield f"{mount.path.removeprefix(inside)} is a mount point"
