"""What the hosts have left in their folders saved to the one prefix that they share, as the service's uploader does.

It is for checkpoints, and for the other folders that are mirrored while the job runs: what has been mirrored already is
not saved again. Each host uploads what it has written and deletes what it has deleted, nothing else: a file that was
restored and that a host did not touch is not that host's word on it, so a stale copy never replaces what another host
has written.
"""

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from smlocal.artifacts.destination import InTheWayError
from smlocal.artifacts.mirror.place import Place, Target
from smlocal.artifacts.tree import Clash, Entry, HostTree, left_out, merge
from smlocal.artifacts.write_errors import explained, open_file
from smlocal.contract.checkpoints import UPLOADING, Restored, Stamp
from smlocal.quick_dataclass import dataclass

_Chosen = dict[bytes, tuple[HostTree, Entry]]


@dataclass(frozen=True, kw_only=True, slots=True)
class SaveReport:
    """What was saved, as paths below the prefix."""

    written: tuple[str, ...]
    deleted: tuple[str, ...]
    bytes_written: int
    notes: tuple[str, ...]
    clashes: tuple[Clash, ...]


def save(
    trees: Sequence[HostTree],
    target: Target,
    *,
    restored: Sequence[Restored],
    owners: Mapping[str, str] | None = None,
    here: bool = True,
) -> SaveReport:
    """Bring the target up to date with what the hosts' folders have become since they were restored.

    `trees` and `restored` are in host order and of one length; where hosts wrote the same path, the later one wins.
    `owners` says by path which host's file was mirrored last. `here` is False for trees that were fetched from another
    machine: then what was restored still lies here as it was, and only its time tells whether it was written there.
    Nothing half-written is ever seen; after an `ArtifactError` what was saved so far stays. To save the same again does
    no harm.
    """
    owners = {} if owners is None else owners
    notes = [note for tree in trees for note in tree.skipped]
    changes = [_changed(tree, before, notes) for tree, before in zip(trees, restored, strict=True)]
    merged, clashes = merge(changes)
    written: _Chosen = {entry.path: (tree, entry) for tree, entry in merged if entry.is_file}
    clashes = [*_replaced(written, owners, clashes), *clashes]
    deleted = _deleted(trees, restored, written, owners, here=here)
    if not written and not (deleted and target.exists()):
        return SaveReport(written=(), deleted=(), bytes_written=0, notes=tuple(notes), clashes=tuple(clashes))
    with explained(), target.open() as place:
        for folder in place.replace_links(_folders_above([*written, *deleted])):
            notes.append(f"{os.fsdecode(folder)} was a link at the destination and has been replaced by a folder")
            written |= _below(folder, trees, deleted.union(written))
        blocking = _in_the_way(deleted, written)
        for path in blocking:
            place.delete(path)
        done = _write_all(place, written, notes)
        for path in deleted.difference(blocking):
            place.delete(path)
    return SaveReport(
        written=tuple(os.fsdecode(path) for path in done),
        deleted=tuple(os.fsdecode(path) for path in sorted(deleted)),
        bytes_written=sum(written[path][1].size for path in done),
        notes=tuple(notes),
        clashes=tuple(clashes),
    )


def _write_all(place: Place, written: _Chosen, notes: list[str]) -> list[bytes]:
    done = []
    for path, (tree, entry) in sorted(written.items()):
        source = open_file(tree, entry, notes)
        if source is None:
            continue
        try:
            place.write(path, source, mtime=entry.mtime)
        except InTheWayError as error:
            what = os.fsdecode(error.path)
            notes.append(f"{tree.host}: {os.fsdecode(path)} was not saved: it conflicts with {what} at the destination")
        else:
            done.append(path)
        finally:
            os.close(source)
    return done


def _changed(tree: HostTree, restored: Restored, notes: list[str]) -> HostTree:
    """The files that this host has made or written, and the folders they lie in."""
    files = []
    for entry in tree.entries:
        if entry.is_file:
            if not entry.path.endswith(os.fsencode(UPLOADING)) and not _untouched(entry, restored):
                files.append(entry)
        elif not entry.is_directory:
            notes.append(left_out(tree.host, entry.path, "a link"))
    needed = _folders_above(entry.path for entry in files)
    chosen = {entry.path for entry in files} | needed
    return replace(tree, entries=tuple(entry for entry in tree.entries if entry.path in chosen))


def _untouched(entry: Entry, restored: Restored) -> bool:
    """True only when it is certain. Whoever writes into a restored file changes its time."""
    before = restored.files.get(os.fsdecode(entry.path))
    if before is None or before.size != entry.size or before.mtime_ns // 10**9 != entry.mtime:
        return False
    with suppress(OSError):  # not to be seen from here: then it counts as written
        status = os.lstat(os.fsencode(restored.directory) + b"/" + entry.path)
        return Stamp(size=status.st_size, mtime_ns=status.st_mtime_ns, inode=status.st_ino) == before
    return False


def _replaced(written: _Chosen, owners: Mapping[str, str], clashes: Sequence[Clash]) -> list[Clash]:
    """Where a host's file takes the place of another's that was mirrored, besides the clashes that are known."""
    told = {clash.path for clash in clashes}
    found = []
    for path, (tree, _) in sorted(written.items()):
        shown = os.fsdecode(path)
        owner = owners.get(shown, tree.host)
        if owner != tree.host and shown not in told:
            found.append(Clash(path=shown, loser=owner, winner=tree.host))
    return found


def _deleted(
    trees: Sequence[HostTree], restored: Sequence[Restored], written: _Chosen, owners: Mapping[str, str], *, here: bool
) -> set[bytes]:
    """What some host was given and has no more, unless another host has written it since."""
    deleted = set()
    for tree, before in zip(trees, restored, strict=True):
        there = {entry.path for entry in tree.entries if not entry.is_directory}
        for shown in before.files:
            path = os.fsencode(shown)
            if path in there or path in written or owners.get(shown, tree.host) != tree.host:
                continue
            if not here or _gone(os.fsencode(before.directory) + b"/" + path):
                deleted.add(path)
    return deleted


def _gone(path: bytes) -> bool:
    """False for what merely could not be listed."""
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except PermissionError:
        return True  # the tree came through the engine, which sees everything
    except OSError:
        return False


def _below(folder: bytes, trees: Sequence[HostTree], decided: set[bytes]) -> _Chosen:
    """Every file below a folder that is to be filled anew, whoever has it, but for what is decided already."""
    found: _Chosen = {}
    for tree in trees:
        for entry in tree.entries:
            if entry.is_file and entry.path.startswith(folder + b"/") and entry.path not in decided:
                found[entry.path] = (tree, entry)
    return found


def _in_the_way(deleted: set[bytes], written: _Chosen) -> set[bytes]:
    """What must go first: a file where a folder is needed, and what lies in a folder where a file is needed."""
    needed = _folders_above(written)
    return {path for path in deleted if path in needed or not written.keys().isdisjoint(_folders_above([path]))}


def _folders_above(paths: Iterable[bytes]) -> set[bytes]:
    folders: set[bytes] = set()
    for path in paths:
        above = path.rpartition(b"/")[0]
        while above and above not in folders:
            folders.add(above)
            above = above.rpartition(b"/")[0]
    return folders
