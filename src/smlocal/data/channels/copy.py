"""Local channels in folders of the container: copies, overlays, and hard links as the lower layer of one."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from errno import EACCES, EDQUOT, EISDIR, ELOOP, ENOENT, ENOSPC, EPERM
from fcntl import ioctl
from itertools import count

from smlocal.base.files import NOT_SUPPORTED, Check, Copying, Opener, copy_range, no_check, remove_tree, unbroken
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.local_path import mount_points, opener_of
from smlocal.engine.interface import Engine, Mount
from smlocal.errors import EngineError, StagingError
from smlocal.terms.channels import Means, Staging
from smlocal.terms.listing import Listing


@dataclass(frozen=True, kw_only=True, slots=True)
class StagedChannel:
    """A channel that is ready to be mounted in one container."""

    mounts: tuple[Mount, ...]
    means: Means
    bytes_copied: int
    """Without links and reflinks."""
    upper: str | None = None
    """The folder of an overlay's changes, on the engine's machine; often only root may read it."""


_DIRECTORY_MODE = 0o755
_FULL = {ENOSPC, EDQUOT}
_S3_ERRORS = {
    ENOENT: "NoSuchKey: The specified key does not exist.",
    EACCES: "AccessDenied: Access Denied",
    EPERM: "AccessDenied: Access Denied",
}
"""The answer of S3 for a file that cannot be read."""


def copy_tree(
    listing: Listing, target: str, *, folders: Sequence[str] = (), check: Check = no_check
) -> tuple[Means, int]:
    """Copy every object below the new folder `target`; return how, and how many bytes were copied.

    Without hard links: the container may write to these files. `folders` are made even if they are empty.
    """
    duplicator = Duplicator(check=check)
    try:
        _make_folder(listing, target)
        _fill(listing, target, _duplicating(listing, duplicator), folders=folders)
    except StagingError as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno in _FULL:
            with suppress(OSError):
                remove_tree(target)  # the database may be on the same disk, and needs room to record the failure
        raise
    cloned = duplicator.reflinked > 0 and duplicator.bytes_copied == 0
    return Means.REFLINK if cloned else Means.COPY, duplicator.bytes_copied


def link_tree(listing: Listing, target: str, *, check: Check = no_check) -> int:
    """Collect the objects in the new folder `target`, as hard links where possible; return the bytes copied.

    These may be the user's own files: nothing may write, chmod or chown there. An overlay above it does not.
    """
    duplicator = Duplicator(check=check)
    duplicate = _duplicating(listing, duplicator)
    opener = opener_of(listing)

    def link_or_duplicate(index: int, place: str) -> None:
        check()
        try:
            _link(listing, index, place, opener)
        except FileNotFoundError:
            raise
        except OSError:  # another device, too many links, or a file of another user that may not be linked
            duplicate(index, place)

    _make_folder(listing, target)
    _fill(listing, target, link_or_duplicate)
    return duplicator.bytes_copied


def copy_into(listing: Listing, target: str, *, check: Check = no_check) -> int:
    """Copy every object below the existing folder `target`, which may have subfolders; return the bytes copied."""
    duplicator = Duplicator(check=check)
    _fill(listing, target, _duplicating(listing, duplicator), existing=True)
    return duplicator.bytes_copied


# Copies a file in the fastest way that the file system allows.

_FICLONE = 0x40049409
FILE_MODE = 0o644


@dataclass(kw_only=True, slots=True)
class Duplicator:
    """Makes independent copies, and remembers which devices do not support reflinks."""

    check: Check = no_check
    """Called before each file, and repeatedly within a large one."""
    reflinked: int = 0
    bytes_copied: int = 0
    _cannot_clone: set[int] = field(default_factory=set)

    def duplicate(self, source: str, target: str, *, reading: int | None = None) -> None:
        """Make `target` with the content of `source`, the service's mode and the current time.

        `reading`: the source, if it is open already. It is closed.
        """
        if reading is None:
            # Non-blocking: the file may have been replaced by a FIFO.
            reading = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            self.check()
            status = os.fstat(reading)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(EISDIR, "is no longer a regular file", source)
            writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
            try:
                os.fchmod(writing, FILE_MODE)  # regardless of the umask
                if status.st_size and self._cloned(reading, writing, status.st_dev):
                    self.reflinked += 1
                else:
                    self.bytes_copied += copy_range(reading, writing, 0, None, lambda _: self.check())
            finally:
                os.close(writing)
        finally:
            os.close(reading)

    def _cloned(self, reading: int, writing: int, device: int) -> bool:
        if device in self._cannot_clone:
            return False
        try:
            ioctl(writing, _FICLONE, reading)
        except OSError as error:
            if error.errno not in NOT_SUPPORTED:
                raise
            self._cannot_clone.add(device)
            return False
        return True


UNSURE_SIZES = frozenset({"btrfs", "zfs", "bcachefs", "f2fs", ""})
"""File systems on which more data may fit than there are free bytes: they may compress. The kind is not known on macOS,
which makes room by itself."""


def file_system_at(folder: str) -> str:
    """The kind of the file system of an existing folder; empty if it is not known."""
    device = os.stat(folder).st_dev
    return next((mount.kind for mount in mount_points() if mount.device == device), "")


def _duplicating(listing: Listing, duplicator: Duplicator) -> Callable[[int, str], None]:
    """Copies an object of the listing to a path."""
    opener = opener_of(listing)

    def duplicate(index: int, place: str) -> None:
        reading = None if opener is None else opener.file(os.fsencode(listing.below_root(index)))
        duplicator.duplicate(listing.file(index), place, reading=reading)

    return duplicate


def _link(listing: Listing, index: int, place: str, opener: Opener | None) -> None:
    """Give a file of the listing a second name."""
    if opener is None:
        source = listing.file(index)
        # link(2) on a symbolic link would make a second name for the link itself.
        os.link(os.path.realpath(source) if os.path.islink(source) else source, place)
        return
    above, _, name = os.fsencode(listing.below_root(index)).rpartition(b"/")
    os.link(name, os.fsencode(place), src_dir_fd=opener.directory(above), follow_symlinks=False)
    if not stat.S_ISREG(os.lstat(place).st_mode):
        os.unlink(place)
        raise OSError(ELOOP, "is no longer a regular file", listing.file(index))


def _fill(
    listing: Listing,
    target: str,
    put: Callable[[int, str], None],
    *,
    folders: Sequence[str] = (),
    existing: bool = False,
) -> None:
    """Put every object in its place, and make the folders; with `existing` some may be there already."""
    made = {""}
    path = ""

    def make_folders(below: str) -> None:
        parts = below.split("/")
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth])
            if folder not in made:
                made.add(folder)
                if not (existing and os.path.isdir(f"{target}/{folder}")):
                    os.mkdir(f"{target}/{folder}")
                    os.chmod(f"{target}/{folder}", _DIRECTORY_MODE)  # regardless of the umask

    try:
        for index, path in enumerate(listing.paths):
            below = path.rpartition("/")[0]
            if below not in made:
                make_folders(below)
            put(index, f"{target}/{path}")
        for below in folders:
            make_folders(below)
    except OSError as error:
        raise _failed(listing, path, error) from error


def _make_folder(listing: Listing, path: str) -> None:
    try:
        os.mkdir(path)
        os.chmod(path, _DIRECTORY_MODE)  # regardless of the umask
    except OSError as error:
        raise _failed(listing, "", error) from error


def _failed(listing: Listing, path: str, error: OSError) -> StagingError:
    if error.errno in _FULL:
        reason = "Insufficient disk space"
    else:
        text = _S3_ERRORS.get(error.errno or 0, f"InternalError: {error.strerror}")
        reason = f"Unable to download object {listing.uri(path)} ({text})"
    return StagingError(f"Data download failed:{reason}", details=(str(error),))


def prepare_channel(
    listing: Listing,
    *,
    engine: Engine,
    staging: Staging,
    target: str,
    target_directory: str,
    volume_prefix: str,
    labels: Mapping[str, str],
    rootless: bool,
    folders: Sequence[str] = (),
    copying: Copying = unbroken,
) -> StagedChannel:
    """Prepare a channel for one host, to be mounted at `target`.

    `target_directory` is a private folder of this channel and host, which need not exist. If the engine refuses the
    overlay at the start, the same call with `staging="copy"` works in the same folder. `folders` are empty folders that
    a copy has too. `copying` is entered around work that takes time and can be interrupted at any point.
    """
    if staging == "overlay":
        copied = 0
        lower = os.path.realpath(listing.root)
        if not listing.whole_tree:
            os.makedirs(target_directory, exist_ok=True)
            lower = os.path.join(os.path.realpath(target_directory), "lower")
            with copying() as check:
                copied = link_tree(listing, lower, check=check)
        volume, upper = overlay_volume(lower, engine=engine, name=volume_prefix, labels=labels, rootless=rootless)
        mount = Mount(source=volume, target=target, volume=True)
        return StagedChannel(mounts=(mount,), means=Means.OVERLAY, bytes_copied=copied, upper=upper)
    os.makedirs(target_directory, exist_ok=True)
    # A copy from a failed start may belong to root by now, and cannot be removed: use another folder.
    folder = next(path for path in _places(target_directory) if not os.path.lexists(path))
    with copying() as check:
        means, copied = copy_tree(listing, folder, folders=folders, check=check)
    return StagedChannel(mounts=(Mount(source=folder, target=target),), means=means, bytes_copied=copied)


def _places(target_directory: str) -> Iterator[str]:
    return (os.path.join(target_directory, f"copy-{number}") for number in count(1))


# A copy-on-write view of a folder, made by the engine's own volume driver.

_RENAMES = ",redirect_dir=on,index=off"
"""Folders of `lower` can be renamed, and hard links there become separate files, as objects are. Kernels before 4.13
refuse the overlay."""
_METADATA_ONLY = ",metacopy=on"
"""chmod and chown do not copy the data of a file. For kernels from 4.19 on."""
_METACOPY_PARAMETER = "/sys/module/overlay/parameters/metacopy"
_ROOTLESS = ",userxattr"
"""Without it folders of `lower` could not be removed: only root can set the usual attributes. The kernel does not
allow `redirect_dir` with it, so folders cannot be renamed. Kernels before 5.11 refuse the overlay."""
_REFUSED = "failed to mount local volume"


def overlay_volume(
    lower: str, *, engine: Engine, name: str, labels: Mapping[str, str], rootless: bool
) -> tuple[str, str]:
    """Make a volume that shows `lower` and keeps all changes in two plain volumes.

    Returns its name, and the folder of the changes on the engine's machine. Plain volumes, not folders of the user: the
    kernel's work folder has mode 000, and only root could remove it. The engine mounts, and reports errors, only when a
    container starts.
    """
    upper = engine.create_volume(f"{name}-upper", labels, {})
    work = engine.create_volume(f"{name}-work", labels, {})
    layers = f"lowerdir={_escaped(lower)},upperdir={_escaped(upper)},workdir={_escaped(work)}"
    options = _ROOTLESS if rootless else _RENAMES
    if not rootless and os.path.exists(_METACOPY_PARAMETER):
        options += _METADATA_ONLY
    engine.create_volume(name, labels, {"type": "overlay", "device": "overlay", "o": layers + options})
    return name, upper


def is_overlay_refusal(error: EngineError) -> bool:
    """Whether a start failed because the kernel refused the overlay: a copy still works."""
    return _REFUSED in error.sentence


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace(":", "\\:").replace(",", "\\,")


# FastFile from a local folder: the files are mounted read-only.


def prepare_read_only(
    listing: Listing,
    *,
    target: str,
    target_directory: str,
    copying: Copying = unbroken,
) -> StagedChannel:
    """Mount a local source read-only at `target`: its own folder, or a folder of links if that would differ.

    `target_directory` is a private folder of this channel and host, which need not exist; `copying` is entered around
    work that takes time and can be interrupted at any point.
    """
    copied = 0
    if listing.whole_tree and not listing.copy_reasons:
        shown = os.path.realpath(listing.root)
    else:
        os.makedirs(target_directory, exist_ok=True)
        shown = os.path.join(os.path.realpath(target_directory), "shown")
        with copying() as check:
            copied = link_tree(listing, shown, check=check)
    mount = Mount(source=shown, target=target, read_only=True)
    return StagedChannel(mounts=(mount,), means=Means.BIND, bytes_copied=copied)
