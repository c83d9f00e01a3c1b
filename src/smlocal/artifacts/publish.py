"""`CompressionType: NONE`: the model's files as they are, in `output/model/`, all there or not at all."""

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress

from smlocal.artifacts.archive import Progress
from smlocal.artifacts.drafts import aside_path, draft_path
from smlocal.artifacts.tree import Clash, Entry, FirstNames, HostTree, merge, walk
from smlocal.artifacts.write_errors import copy_bytes, explained, make_folder, open_file, sync_folder
from smlocal.errors import ArtifactError
from smlocal.quick_dataclass import dataclass
from smlocal.removal import remove_tree

_OWNER_FILE, _OWNER_DIRECTORY = 0o600, 0o700


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishReport:
    """What was copied."""

    path: str
    bytes_in: int
    members: int
    notes: tuple[str, ...]
    clashes: tuple[Clash, ...]


def publish(
    sources: Sequence[HostTree],
    destination: str,
    *,
    progress: Progress | None = None,
    replace: bool = False,
    owner: str = "",
) -> PublishReport | None:
    """Copy the contents of the hosts' directories to the folder `destination`, which must hold nothing else.

    A folder from an earlier try, with nothing in it that is not put there again, is replaced; with `replace` any folder
    is. None, and no folder, when there is nothing; `ArtifactError` when it cannot be written. Links stay links. Modes
    are kept but for this: the owner may always read and delete what a job left, and nothing is setuid. `owner` marks
    the draft.
    """
    members, clashes = merge(sources)
    notes = [note for source in sources for note in source.skipped]
    if not members:
        return None
    folder, name = os.path.split(os.path.abspath(destination))
    draft = draft_path(folder, name, owner)
    with explained(folder):
        if not replace:
            _refuse_others_work(destination, members)
        make_folder(folder)
        try:
            os.mkdir(draft)
            bytes_in, count = _copy_all(members, os.fsencode(draft), notes, progress)
            _put_in_place(draft, destination, aside_path(draft))
        except BaseException:
            with suppress(OSError):
                remove_tree(draft)
            raise
        sync_folder(folder)
    return PublishReport(path=destination, bytes_in=bytes_in, members=count, notes=tuple(notes), clashes=tuple(clashes))


def _refuse_others_work(destination: str, members: Sequence[tuple[HostTree, Entry]]) -> None:
    """Only what a try of this very job has left may go: one that was cut short after it had put all in place."""
    if not os.path.lexists(destination):
        return
    again = {_likeness(entry) for _, entry in members}
    there = walk("", destination)
    foreign = next((entry for entry in there.entries if _likeness(entry) not in again), None)
    if foreign is None and not there.skipped:
        return
    shown = there.skipped[0] if foreign is None else f"{destination}/{os.fsdecode(foreign.path)}"
    raise ArtifactError(
        f"Artifact upload failed:{destination} is there already",
        details=[f"{shown} does not belong to this job"],
        remedy=["Move it, choose another output folder, or rename the job."],
    )


def _likeness(entry: Entry) -> tuple[bytes, int, int, int, bytes]:
    kind = stat.S_IFMT(entry.mode)
    return entry.path, kind, entry.size, 0 if entry.is_directory else entry.mtime, entry.target


def _put_in_place(draft: str, destination: str, aside: str) -> None:
    with suppress(FileNotFoundError):
        os.rename(destination, aside)
    os.rename(draft, destination)
    remove_tree(aside)


def _copy_all(
    members: Sequence[tuple[HostTree, Entry]], root: bytes, notes: list[str], progress: Progress | None
) -> tuple[int, int]:
    total = sum(entry.size for _, entry in members)
    done = count = 0

    def tick(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(min(done, total), total)

    directories: list[tuple[bytes, Entry]] = []
    linked = FirstNames()
    for tree, entry in members:
        target = root + b"/" + entry.path
        if entry.is_directory:
            os.mkdir(target)
            directories.append((target, entry))
        elif first := linked.first(tree, entry):
            os.link(root + b"/" + first, target)
            tick(entry.size)
        elif entry.is_file:
            if not _copy_file(tree, entry, target, notes, tick):
                continue
            linked.add(tree, entry)
        else:
            os.symlink(entry.target, target)
            os.utime(target, (entry.mtime, entry.mtime), follow_symlinks=False)
        count += 1
    tick(0)
    for target, entry in reversed(directories):  # last, for what is put inside changes a directory's time
        os.chmod(target, entry.mode & 0o777 | _OWNER_DIRECTORY)
        os.utime(target, (entry.mtime, entry.mtime))
    return done, count


def _copy_file(tree: HostTree, entry: Entry, target: bytes, notes: list[str], tick: Callable[[int], None]) -> bool:
    """Copy one file inside the kernel, sharing its blocks where the file system can."""
    source = open_file(tree, entry, notes)
    if source is None:
        return False
    try:
        copy = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            copy_bytes(source, copy, tick)
            os.fchmod(copy, entry.mode & 0o777 | _OWNER_FILE)
            os.utime(copy, (entry.mtime, entry.mtime))
        finally:
            os.close(copy)
    finally:
        os.close(source)
    return True
