"""Data for an engine that does not see the folders of this machine: sent into its volumes, as one stream.

Engines unpack archives only into containers, so a container is created for that and never started. The host's own
container cannot be used, since some of its mounts are read-only. Podman unpacks only into the mount at the given path
and not into mounts below it, so there each volume gets its own stream.
"""

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain

from smlocal.base.files import Check, Copying, unbroken
from smlocal.data.artifacts.ownership import END, header, padding
from smlocal.data.channels.copy import StagedChannel
from smlocal.data.sources.local_path import open_listed
from smlocal.engine.containers import idle_spec
from smlocal.engine.interface import Engine, Mount, Resource, ResourceKind
from smlocal.errors import StagingError
from smlocal.jobs.containers import labels as labels_of
from smlocal.jobs.host.delivery import Delivery
from smlocal.jobs.planning.model import HostPlan, JobPlan
from smlocal.terms.channels import Means, TreePlan
from smlocal.terms.listing import Listing

_PIECE = 1 << 20
Folders = Sequence[tuple[str, Mount]]
"""Local folders, and the volumes in their place."""
Trees = Sequence[tuple[TreePlan, str]]
"""Channels and code, and the names of their volumes."""


def fill_volumes(
    plan: JobPlan,
    host: HostPlan,
    engine: Engine,
    delivery: Delivery,
    labels: Mapping[str, str],
    *,
    folders: Folders,
    trees: Trees,
    copying: Copying = unbroken,
) -> tuple[StagedChannel, ...]:
    """Create and fill the volumes of one host; returns how its trees are mounted."""
    listings: list[Listing] = []
    for tree, _ in trees:
        if tree.listing.failure is not None:
            raise StagingError(f"Data download failed:{tree.listing.failure}")
        with copying() if tree.listing.remote else nullcontext():
            listings.append(delivery.download(tree))
    writable = [replace(mount, read_only=False) for _, mount in folders]
    writable += [Mount(source=volume, target=tree.target, volume=True) for tree, volume in trees]
    for mount in writable:
        engine.create_volume(mount.source, labels, {})
    sent = [0] * len(trees)
    with copying() as check:
        carrier = engine.create(
            # Not the host's labels: it must not be taken for the host.
            idle_spec(plan.image.name, labels_of(plan), mounts=tuple(writable), name=f"{host.container}-carrier")
        )
        parts = _parts(folders, [tree for tree, _ in trees], listings, sent)
        if plan.engines.first.product == "podman":
            for path, part in parts:
                engine.put_archive(carrier, path, _archive(part(""), check))
        else:
            together = chain.from_iterable(part(path) for path, part in parts)
            engine.put_archive(carrier, "/", _archive(together, check))
        engine.remove(Resource(kind=ResourceKind.CONTAINER, id=carrier))
    return tuple(
        StagedChannel(
            mounts=(Mount(source=volume, target=tree.target, volume=True, read_only=not tree.writable),),
            means=Means.SENT,
            bytes_copied=count,
        )
        for (tree, volume), count in zip(trees, sent, strict=True)
    )


def _archive(pieces: Iterator[bytes], check: Check) -> Iterator[bytes]:
    """A complete archive; stops between two pieces if there is a request."""
    for piece in pieces:
        check()
        yield piece
    yield END


def _parts(
    folders: Folders, trees: Sequence[TreePlan], listings: Sequence[Listing], sent: list[int]
) -> Iterator[tuple[str, Callable[[str], Iterator[bytes]]]]:
    """Each mount's path, and a function for its archive below a given path. `sent` gets the bytes of each tree."""
    for here, mount in folders:
        yield mount.target, partial(_folder, here, programs=mount.read_only)
    for index, (tree, listing) in enumerate(zip(trees, listings, strict=True)):
        yield tree.target, partial(_tree, listing, sent, index)


def _folder(here: str, there: str, *, programs: bool) -> Iterator[bytes]:
    """A folder that was made for the host, owned by root as on the service. `programs`: files may be executable."""
    for folder, below, files in os.walk(here):
        below.sort()
        at = there + folder.removeprefix(here)
        yield from _directory(at, 0o1777 if os.stat(folder).st_mode & stat.S_ISVTX else 0o755)
        for name in sorted(files):
            path = f"{folder}/{name}"
            status = os.stat(path)
            with open(path, "rb", buffering=0) as file:
                mtime = int(status.st_mtime_ns // 10**9)
                mode = 0o755 if programs and status.st_mode & stat.S_IXUSR else 0o644
                yield from _file(f"{at}/{name}", file.fileno(), status.st_size, mtime, f"{at}/{name}", mode=mode)


def _tree(listing: Listing, sent: list[int], index: int, there: str) -> Iterator[bytes]:
    """The selection of a channel, as if it had been downloaded now; the bytes of data are added to `sent[index]`."""
    now = int(time.time())
    made = {""}
    yield from _directory(there)
    for number, path in enumerate(listing.paths):
        for folder in _folders_above(path, made):
            yield from _directory(f"{there}/{folder}")
        try:
            descriptor = open_listed(listing, number)
        except OSError as error:
            raise _failed(listing.uri(path), error.strerror or str(error)) from error
        try:
            size = os.fstat(descriptor).st_size
            yield from _file(f"{there}/{path}", descriptor, size, now, listing.uri(path))
            sent[index] += size
        finally:
            os.close(descriptor)


def _file(path: str, descriptor: int, size: int, mtime: int, uri: str, *, mode: int = 0o644) -> Iterator[bytes]:
    """Exactly as many bytes as the header says; otherwise the archive would be invalid."""
    yield header(path=_name(path), mode=stat.S_IFREG | mode, mtime=mtime, size=size)
    remaining = size
    while remaining:
        try:
            piece = os.read(descriptor, min(remaining, _PIECE))
        except OSError as error:
            raise _failed(uri, error.strerror or str(error)) from error
        if not piece:
            raise _failed(uri, "the file became shorter while it was read")
        remaining -= len(piece)
        yield piece
    yield bytes(padding(size))


def _directory(path: str, mode: int = 0o755) -> Iterator[bytes]:
    if name := _name(path):  # empty: the root of the volume
        yield header(path=name, mode=stat.S_IFDIR | mode, mtime=int(time.time()))


def _name(path: str) -> bytes:
    return os.fsencode(path).strip(b"/")


def _folders_above(path: str, made: set[str]) -> Iterator[str]:
    """The folders that are not in `made`, parents first."""
    above = path.rpartition("/")[0]
    if above in made:
        return
    yield from _folders_above(above, made)
    made.add(above)
    yield above


def _failed(uri: str, why: str) -> StagingError:
    return StagingError(f"Data download failed:Unable to download object {uri} (InternalError: {why})")
