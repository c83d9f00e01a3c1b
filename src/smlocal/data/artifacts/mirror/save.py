"""Save the mirrored folders of the hosts to their common target at the end of the job, as the service's uploader does.

Files that were mirrored already are not saved again. Each host only saves the files that it has written, and only
deletes those that it has deleted. So a restored file that one host did not change never replaces what another host has
written.
"""

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from smlocal.base.alike_names import alike_key
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.artifacts.atomic_write import artifact_errors
from smlocal.data.artifacts.mirror.target import OpenTarget, PathConflictError, Target
from smlocal.data.artifacts.tree import Clash, Entry, HostTree, merge, open_if_present, skipped_note
from smlocal.terms.checkpoints import UPLOADING, Restored, Stamp

_Files = dict[bytes, tuple[HostTree, Entry]]


@dataclass(frozen=True, kw_only=True, slots=True)
class SaveReport:
    """The saved files, as paths relative to the target."""

    written: tuple[str, ...]
    deleted: tuple[str, ...]
    notes: tuple[str, ...]
    clashes: tuple[Clash, ...]


def save(
    trees: Sequence[HostTree],
    target: Target,
    *,
    restored: Sequence[Restored],
    owners: Mapping[str, str] | None = None,
    shared: bool = True,
) -> SaveReport:
    """Write to the target what the hosts have changed since their folders were restored.

    `trees` and `restored` have one element per host, in host order. If hosts wrote the same path, the later host wins.
    `owners` is the host whose file was mirrored last, by path. `shared` is False for hosts that did not have the
    restored folders of this machine: a file that is missing in a tree is then deleted without a look at those. Only
    complete files are visible. After an `ArtifactError`, files that were saved before it stay. Saving again is
    harmless.
    """
    owners = {} if owners is None else owners
    notes = [note for tree in trees for note in tree.skipped]
    changes = [_changed(tree, before, notes) for tree, before in zip(trees, restored, strict=True)]
    merged, clashes = merge(changes)
    to_write: _Files = {entry.path: (tree, entry) for tree, entry in merged if entry.is_file}
    clashes = [*_clashes_with_mirrored(to_write, owners, clashes), *clashes]
    to_delete = _deleted(trees, restored, to_write, owners, shared=shared)
    _leave_out_alike(trees, to_write, target, notes)
    if not to_write and not (to_delete and target.exists()):
        return SaveReport(written=(), deleted=(), notes=tuple(notes), clashes=tuple(clashes))
    with artifact_errors(), target.open() as opened:
        for folder in opened.replace_links(_folders_above([*to_write, *to_delete])):
            notes.append(f"{os.fsdecode(folder)} was a link at the destination and has been replaced by a folder")
            to_write |= _files_below(folder, trees, to_delete.union(to_write))
        conflicting = _conflicting(to_delete, to_write)
        for path in conflicting:
            opened.delete(path)
        written = _write_all(opened, to_write, notes)
        for path in to_delete.difference(conflicting):
            opened.delete(path)
    return SaveReport(
        written=tuple(os.fsdecode(path) for path in written),
        deleted=tuple(os.fsdecode(path) for path in sorted(to_delete)),
        notes=tuple(notes),
        clashes=tuple(clashes),
    )


def _leave_out_alike(trees: Sequence[HostTree], to_write: _Files, target: Target, notes: list[str]) -> None:
    """Save one of the files whose names are one at a target that ignores case, and say which are not saved.

    The mirror has written all of them to the same file, one after the other: so the first is written again.
    """
    files: _Files = {entry.path: (tree, entry) for tree in trees for entry in tree.entries if entry.is_file}
    names: dict[str, list[bytes]] = {}
    for path in files:
        names.setdefault(alike_key(os.fsdecode(path)), []).append(path)
    alike = [sorted(paths) for paths in names.values() if len(paths) > 1]
    if not alike or not target.ignores_case():
        return
    for first, *others in alike:
        to_write[first] = files[first]
        for path in others:
            to_write.pop(path, None)
            notes.append(
                f"{files[path][0].host}: {os.fsdecode(path)} was not saved: "
                f"in the destination, which ignores case, it would be the same file as {os.fsdecode(first)}"
            )


def _write_all(target: OpenTarget, to_write: _Files, notes: list[str]) -> list[bytes]:
    written = []
    for path, (tree, entry) in sorted(to_write.items()):
        source = open_if_present(tree, entry, notes)
        if source is None:
            continue
        try:
            target.write(path, source, mtime=entry.mtime)
        except PathConflictError as error:
            what = os.fsdecode(error.path)
            notes.append(f"{tree.host}: {os.fsdecode(path)} was not saved: it conflicts with {what} at the destination")
        else:
            written.append(path)
        finally:
            os.close(source)
    return written


def _changed(tree: HostTree, restored: Restored, notes: list[str]) -> HostTree:
    """The files that this host has written, and their folders."""
    files = []
    for entry in tree.entries:
        if entry.is_file:
            if not entry.path.endswith(os.fsencode(UPLOADING)) and not _is_unchanged(entry, restored):
                files.append(entry)
        elif not entry.is_directory:
            notes.append(skipped_note(tree.host, entry.path, "a link"))
    kept = {entry.path for entry in files} | _folders_above(entry.path for entry in files)
    return replace(tree, entries=tuple(entry for entry in tree.entries if entry.path in kept))


def _is_unchanged(entry: Entry, restored: Restored) -> bool:
    """True only if it is certain that a restored file was not written."""
    before = restored.files.get(os.fsdecode(entry.path))
    if before is None or before.size != entry.size or before.mtime_ns // 10**9 != entry.mtime:
        return False
    with suppress(OSError):  # a file that this user cannot see counts as written
        status = os.lstat(os.fsencode(restored.directory) + b"/" + entry.path)
        return Stamp(size=status.st_size, mtime_ns=status.st_mtime_ns, inode=status.st_ino) == before
    return False


def _clashes_with_mirrored(to_write: _Files, owners: Mapping[str, str], known: Sequence[Clash]) -> list[Clash]:
    """Where a host's file replaces a mirrored file of another host, without those in `known`."""
    known_paths = {clash.path for clash in known}
    found = []
    for path, (tree, _) in sorted(to_write.items()):
        shown = os.fsdecode(path)
        owner = owners.get(shown, tree.host)
        if owner != tree.host and shown not in known_paths:
            found.append(Clash(path=shown, loser=owner, winner=tree.host))
    return found


def _deleted(
    trees: Sequence[HostTree],
    restored: Sequence[Restored],
    to_write: _Files,
    owners: Mapping[str, str],
    *,
    shared: bool,
) -> set[bytes]:
    """Files that were restored to a host and do not exist there any more, unless another host has written them."""
    deleted = set()
    for tree, before in zip(trees, restored, strict=True):
        present = {entry.path for entry in tree.entries if not entry.is_directory}
        for shown in before.files:
            path = os.fsencode(shown)
            if path in present or path in to_write or owners.get(shown, tree.host) != tree.host:
                continue
            if not shared or _is_gone(os.fsencode(before.directory) + b"/" + path):
                deleted.add(path)
    return deleted


def _is_gone(path: bytes) -> bool:
    """False for a file that exists but could not be listed."""
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except PermissionError:
        return True  # the tree was copied through the engine, which sees every file
    except OSError:
        return False


def _files_below(folder: bytes, trees: Sequence[HostTree], decided: set[bytes]) -> _Files:
    """Every file below a folder that replaced a link, of any host, without those that are decided already."""
    found: _Files = {}
    for tree in trees:
        for entry in tree.entries:
            if entry.is_file and entry.path.startswith(folder + b"/") and entry.path not in decided:
                found[entry.path] = (tree, entry)
    return found


def _conflicting(to_delete: set[bytes], to_write: _Files) -> set[bytes]:
    """Files to delete first: a file in place of a needed folder, and files in a folder in place of a new file."""
    needed = _folders_above(to_write)
    # Some disks would take it for a file that was just written.
    keys = {alike_key(os.fsdecode(path)) for path in to_write} if to_delete else set()
    return {
        path
        for path in to_delete
        if path in needed
        or not to_write.keys().isdisjoint(_folders_above([path]))
        or alike_key(os.fsdecode(path)) in keys
    }


def _folders_above(paths: Iterable[bytes]) -> set[bytes]:
    folders: set[bytes] = set()
    for path in paths:
        above = path.rpartition(b"/")[0]
        while above and above not in folders:
            folders.add(above)
            above = above.rpartition(b"/")[0]
    return folders
