"""Data for an engine that does not see this machine's folders: sent into volumes of the engine's, as one stream.

The stream goes through a container that is made for it and never started: the engine unpacks only into containers, and
what the host finds read-only could not be unpacked into its own. Podman unpacks only into what is mounted at the very
path that it is given, and below it past all mounts: there each volume has a stream of its own.
"""

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import chain

from smlocal.artifacts.tar_header import END, header, padding
from smlocal.channels.interface import Check, Copying, Means, StagedChannel, unbroken
from smlocal.contract.listing import Listing
from smlocal.contract.outcome.failure_reason import client_error
from smlocal.engine.interface import ContainerSpec, Engine, Mount, Resource, ResourceKind
from smlocal.errors import StagingError
from smlocal.job.host.delivery import Delivery
from smlocal.job.labels import labels as labels_of
from smlocal.planning.model import HostPlan, JobPlan, TreePlan

_PIECE = 1 << 20
_NO_PROGRAM = ("/smlocal-never-starts-this",)
Folders = Sequence[tuple[str, Mount]]
"""Folders here, and the volumes that stand for them there."""
Trees = Sequence[tuple[TreePlan, str]]
"""Channels and code, and the names of their volumes."""


def send(
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
    """Make the volumes of one host, fill them, and say how its trees are mounted."""
    listings: list[Listing] = []
    for tree, _ in trees:
        if tree.listing.failure is not None:
            raise StagingError(client_error(f"Data download failed:{tree.listing.failure}"))
        with copying() if tree.listing.remote else nullcontext():
            listings.append(delivery.local(tree))
    writable = [mount for _, mount in folders]
    writable += [Mount(source=volume, target=tree.target, volume=True) for tree, volume in trees]
    for mount in writable:
        engine.create_volume(mount.source, labels, {})
    sent = [0] * len(trees)
    with copying() as check:
        porter = engine.create(
            ContainerSpec(
                name=f"{host.container}-porter",
                image=plan.image,
                labels=labels_of(plan),  # not the host's: nobody shall take it for the host
                entrypoint=_NO_PROGRAM,
                command=(),
                environment={},
                hostname="",
                mounts=tuple(writable),
            )
        )
        parts = _parts(folders, [tree for tree, _ in trees], listings, sent)
        if plan.engine.product == "podman":
            for path, part in parts:
                engine.put_archive(porter, path, _checked(_ended(part("")), check))
        else:
            together = chain.from_iterable(part(path) for path, part in parts)
            engine.put_archive(porter, "/", _checked(_ended(together), check))
        engine.remove(Resource(kind=ResourceKind.CONTAINER, id=porter))
    return tuple(
        StagedChannel(
            mounts=(Mount(source=volume, target=tree.target, volume=True, read_only=not tree.writable),),
            means=Means.SENT,
            bytes_copied=count,
        )
        for (tree, volume), count in zip(trees, sent, strict=True)
    )


def _checked(pieces: Iterator[bytes], check: Check) -> Iterator[bytes]:
    """Whoever does not want the data any more need not wait for the rest."""
    for piece in pieces:
        check()
        yield piece


def _parts(
    folders: Folders, trees: Sequence[TreePlan], listings: Sequence[Listing], sent: list[int]
) -> Iterator[tuple[str, Callable[[str], Iterator[bytes]]]]:
    """What is to be mounted where, and its part of an archive under a path; `sent` becomes the bytes of each tree."""
    for here, mount in folders:
        yield mount.target, partial(_folder, here)
    for index, (tree, listing) in enumerate(zip(trees, listings, strict=True)):
        yield tree.target, partial(_counted, listing, sent, index)


def _counted(listing: Listing, sent: list[int], index: int, there: str) -> Iterator[bytes]:
    for piece, data in _tree(listing, there):
        sent[index] += data
        yield piece


def _ended(pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield from pieces
    yield END


def _folder(here: str, there: str) -> Iterator[bytes]:
    """What was made for the host here, owned by root as on the service."""
    for folder, below, files in os.walk(here):
        below.sort()
        at = there + folder.removeprefix(here)
        yield from _directory(at)
        for name in sorted(files):
            path = f"{folder}/{name}"
            status = os.stat(path)
            with open(path, "rb", buffering=0) as file:
                yield from _file(f"{at}/{name}", file.fileno(), status.st_size, int(status.st_mtime_ns // 10**9))


def _tree(listing: Listing, there: str) -> Iterator[tuple[bytes, int]]:
    """What a channel selects, as if it had been downloaded now; each piece with how much of it is data."""
    now = int(time.time())
    made = {""}
    for piece in _directory(there):
        yield piece, 0
    for index, path in enumerate(listing.paths):
        for folder in _folders_above(path, made):
            for piece in _directory(f"{there}/{folder}"):
                yield piece, 0
        try:
            descriptor = os.open(listing.file(index), os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise _failed(listing, path, error.strerror or str(error)) from error
        try:
            size = os.fstat(descriptor).st_size
            yield header(path=_name(f"{there}/{path}"), mode=stat.S_IFREG | 0o644, mtime=now, size=size), 0
            for piece in _contents(descriptor, size, listing, path):
                yield piece, len(piece)
            yield bytes(padding(size)), 0
        finally:
            os.close(descriptor)


def _file(path: str, descriptor: int, size: int, mtime: int) -> Iterator[bytes]:
    yield header(path=_name(path), mode=stat.S_IFREG | 0o644, mtime=mtime, size=size)
    yield from _contents(descriptor, size, None, path)
    yield bytes(padding(size))


def _contents(descriptor: int, size: int, listing: Listing | None, path: str) -> Iterator[bytes]:
    """Exactly as many bytes as the header says, or the archive would be broken."""
    while size:
        try:
            piece = os.read(descriptor, min(size, _PIECE))
        except OSError as error:
            raise _failed(listing, path, error.strerror or str(error)) from error
        if not piece:
            raise _failed(listing, path, "the file became shorter while it was read")
        size -= len(piece)
        yield piece


def _directory(path: str) -> Iterator[bytes]:
    if name := _name(path):  # else it is the volume's own
        yield header(path=name, mode=stat.S_IFDIR | 0o755, mtime=int(time.time()))


def _name(path: str) -> bytes:
    return os.fsencode(path).strip(b"/")


def _folders_above(path: str, made: set[str]) -> Iterator[str]:
    """Those that were not made yet, parents first."""
    above = path.rpartition("/")[0]
    if above in made:
        return
    yield from _folders_above(above, made)
    made.add(above)
    yield above


def _failed(listing: Listing | None, path: str, why: str) -> StagingError:
    uri = path if listing is None else listing.uri(path)
    return StagingError(client_error(f"Data download failed:Unable to download object {uri} (InternalError: {why})"))
