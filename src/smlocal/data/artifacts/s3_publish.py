"""Upload artifacts to S3 while they are written. Only complete objects are visible; artifacts stay on disk."""

import os
import posixpath
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from queue import SimpleQueue
from types import TracebackType
from typing import Self

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.artifacts.atomic_write import artifact_errors
from smlocal.data.artifacts.tree import Entry, HostTree, walk
from smlocal.data.sources.progress import Meter, Progress
from smlocal.data.sources.s3.client import S3Client
from smlocal.data.sources.s3.error_responses import FetchCancelledError, never, upload_failure
from smlocal.data.sources.s3.interface import S3Error
from smlocal.data.sources.s3.upload import Item, Journal, Uploaded, upload_all
from smlocal.data.sources.s3.writer import GrowingFile, UploadTarget
from smlocal.errors import ArtifactError, MachineNotReadyError

_REPORT_SECONDS = 0.25


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishResult:
    """How an upload ended."""

    objects: tuple[Uploaded, ...] = ()
    """The objects that are complete in S3, even if the upload failed later."""
    failure: str | None = None
    """The reason, in the service's words."""
    error: S3Error | None = None
    """The error from S3, if that is the reason."""
    cancelled: bool = False
    """The user did not want to wait. Nothing failed."""
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """True if everything is in S3."""
        return self.failure is None and not self.cancelled

    def __add__(self, later: "PublishResult") -> "PublishResult":
        """The result of two uploads, one after the other."""
        return replace(later, objects=(*self.objects, *later.objects), notes=(*self.notes, *later.notes))


# The S3 objects that a folder is uploaded as. S3 has no folders and no links, and its names are UTF-8.

_MOST_LINKS = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedObject:
    """One object: its name relative to the folder, and the file with its content."""

    name: str
    entry: Entry


@dataclass(frozen=True, kw_only=True, slots=True)
class FolderObjects:
    """The objects of a folder, and notes on files that are not uploaded."""

    objects: tuple[NamedObject, ...]
    notes: tuple[str, ...]


def folder_objects(tree: HostTree, *, original: str) -> FolderObjects:
    """An object for each file, and one for each link to a file of this folder.

    Links to anything else are skipped, so that no other file leaves this machine. `ArtifactError` for a name that an
    object cannot have. `original` is the path that the folder had in the container.
    """
    entries = {entry.path: entry for entry in tree.entries}
    parents = {posixpath.dirname(entry.path) for entry in tree.entries}
    objects: list[NamedObject] = []
    notes: list[str] = []
    for entry in tree.entries:
        shown = entry.path.decode(errors="backslashreplace")
        if entry.is_directory:
            if entry.path not in parents:
                notes.append(f"{shown}/ is empty and was not uploaded: S3 has no directories")
            continue
        file = entry if entry.is_file else _resolve(entry, entries, original)
        if file is None:
            notes.append(f"{shown} is a link to a file outside the model and was not uploaded")
        else:
            objects.append(NamedObject(name=_decode(entry.path), entry=file))
    return FolderObjects(objects=tuple(objects), notes=tuple(notes))


def _decode(path: bytes) -> str:
    try:
        return path.decode()
    except UnicodeDecodeError as error:
        shown = path.decode(errors="backslashreplace")
        raise ArtifactError(f"Artifact upload failed:the name {shown} is not UTF-8, which S3 does not allow") from error


def _resolve(link: Entry, entries: Mapping[bytes, Entry], original: str) -> Entry | None:
    """The file that a link points to; None if it is not in the folder."""
    names = link.path.split(b"/")
    current, pending = names[:-1], [names[-1]]
    links = 0
    while pending:
        name = pending.pop(0)
        if name in {b"", b"."}:
            continue
        if name == b"..":
            if not current:
                return None
            current.pop()
            continue
        found = entries.get(b"/".join([*current, name]))
        if found is None:
            return None
        if found.is_directory:
            current.append(name)
        elif found.is_file:
            return None if any(pending) else found
        else:
            links += 1
            target = _relative_target(found.target, original)
            if target is None or links > _MOST_LINKS:
                return None
            current = [] if found.target.startswith(b"/") else current
            pending = [*target.split(b"/"), *pending]
    return None


def _relative_target(target: bytes, original: str) -> bytes | None:
    """A relative target unchanged, and one below the folder in the container relative to it; None for others."""
    if not target.startswith(b"/"):
        return target
    folder = f"{original}/".encode()
    return target[len(folder) :] if target.startswith(folder) else None


class Publisher:
    """Uploads archives while they are written (it is an `ArchiveReader`), files and folders, all to one prefix.

    A context manager: uploads that are not complete at its end are aborted. No request is sent to S3 before there is
    something to upload.
    """

    def __init__(
        self,
        open_store: Callable[[], S3Client],
        prefix: UploadTarget,
        *,
        cancelled: Callable[[], bool] = never,
        journal: Journal | None = None,
    ) -> None:
        """The key of `prefix` is empty or ends with `/`.

        `open_store` is called by the uploading thread, once there is something to upload; `cancelled` by any thread.
        """
        self._open_store, self._prefix, self._journal = open_store, prefix, journal
        self._cancelled = cancelled
        self._left = threading.Event()
        self._batches: SimpleQueue[Iterator[Item] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._archive: GrowingFile | None = None
        self._archives: list[GrowingFile] = []
        self._archive_size = 0
        self._total = 0
        self._lock = threading.Lock()
        self._meter: Meter | None = None
        self._progress: Progress | None = None
        self._objects: list[Uploaded] = []
        self._error: BaseException | None = None
        self._refusal: str | None = None
        """A reason that is not an error of S3."""
        self._notes: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Abort incomplete uploads. After `finish` there is nothing to do."""
        self._left.set()
        self.archive_failed()
        self._batches.put(None)
        if self._thread is not None:
            self._thread.join()
        for archive in self._archives:  # the uploader may not have reached all of them
            archive.close()

    def archive_started(self, name: str, path: str, most: int) -> None:
        """Start to upload the archive."""
        self._archive = GrowingFile(os.open(path, os.O_RDONLY | os.O_CLOEXEC), most=most)
        self._archives.append(self._archive)
        self._archive_size = 0
        self._set_total(None)
        self._add(iter((Item(source=self._archive, target=self._target(name)),)))

    def archive_grew(self, size: int) -> None:
        """Upload the first `size` bytes."""
        self._archive_size = size
        if self._archive is not None:
            self._archive.grow(size)

    def archive_finished(self) -> None:
        """Complete the object, which makes it visible in S3."""
        archive, self._archive = self._archive, None
        if archive is not None:
            self._total += self._archive_size
            archive.end()
            self._set_total(self._total)

    def archive_failed(self) -> None:
        """Stop uploading the archive."""
        archive, self._archive = self._archive, None
        if archive is not None:
            archive.give_up()

    def add_file(self, path: str) -> None:
        """Upload a file that is complete."""
        size = os.path.getsize(path)
        self.archive_started(os.path.basename(path), path, most=size)
        self.archive_grew(size)
        self.archive_finished()

    def add_folder(self, path: str, *, original: str) -> None:
        """Upload each file below a folder as an object below the folder's name, without it if `path` ends with `/`.

        `original` is the path that the folder had in the container.
        """
        try:
            with artifact_errors():
                tree = walk("", path)
            found = folder_objects(tree, original=original)
        except ArtifactError as error:
            self._refusal = error.sentence
            return
        self._notes += [*tree.skipped, *found.notes]
        self._total += sum(each.entry.size for each in found.objects)
        self._add(self._items_of(tree, found.objects, os.path.basename(path)))
        self._set_total(self._total)

    def progress_text(self) -> str:
        """`uploading: 0.8 of 2.1 GiB, 80 MB/s, 17 s left`; empty if there is no progress yet."""
        with self._lock:
            return "" if self._progress is None else self._progress.sentence("uploading")

    def finish(self, working: Callable[[str], None] = lambda _: None) -> PublishResult:
        """Wait for the end of all uploads; `working` is called several times a second with the progress."""
        self._batches.put(None)
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(_REPORT_SECONDS)
            working(self.progress_text())
        error = self._error
        if error is not None and not isinstance(error, S3Error | FetchCancelledError):
            raise error
        return PublishResult(
            objects=tuple(self._objects),
            failure=upload_failure(error) if isinstance(error, S3Error) else self._refusal,
            error=error if isinstance(error, S3Error) else None,
            cancelled=isinstance(error, FetchCancelledError),
            notes=tuple(self._notes),
        )

    def _target(self, name: str) -> UploadTarget:
        return replace(self._prefix, key=f"{self._prefix.key}{name}")

    def _items_of(self, tree: HostTree, objects: tuple[NamedObject, ...], folder: str) -> Iterator[Item]:
        """Open the files one after the other, when the uploading thread asks for them."""
        for each in objects:
            target = self._target(f"{folder}/{each.name}" if folder else each.name)
            try:
                descriptor = tree.open(each.entry)
            except OSError as error:
                message = f"{os.fsdecode(each.entry.path)} cannot be read: {error.strerror}"
                raise S3Error("IncompleteBody", message, status=400, uri=target.uri, operation="PutObject") from error
            yield Item(source=GrowingFile.complete(descriptor), target=target)

    def _add(self, batch: Iterator[Item]) -> None:
        if self._thread is None:
            self._meter = Meter(self._keep_progress, total_bytes=None)
            self._thread = threading.Thread(target=self._upload, name="smlocal-publish", daemon=True)
            self._thread.start()
        self._batches.put(batch)

    def _upload(self) -> None:
        try:
            upload_all(
                self._open_store(),
                self._items(),
                cancelled=lambda: self._left.is_set() or self._cancelled(),
                moved=self._add_progress,
                done=self._objects.append,
                journal=self._journal,
            )
        except MachineNotReadyError as error:  # the credentials have expired
            self._refusal = f"Artifact upload failed:{error.sentence}"
        except BaseException as error:  # noqa: BLE001  `finish` handles it
            self._error = error

    def _items(self) -> Iterator[Item]:
        while (batch := self._batches.get()) is not None:
            yield from batch

    def _add_progress(self, count: int) -> None:
        with self._lock:
            if self._meter is not None:
                self._meter.add(count)

    def _set_total(self, total: int | None) -> None:
        with self._lock:
            if self._meter is not None:
                self._meter.expect(total)

    def _keep_progress(self, progress: Progress) -> None:
        self._progress = progress
