"""Artifacts sent to S3 while they are written: what is there is whole, and what failed is left on disk to try again."""

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from queue import SimpleQueue
from types import TracebackType
from typing import Self

from smlocal.artifacts.object_names import Named, object_names
from smlocal.artifacts.tree import HostTree, walk
from smlocal.artifacts.write_errors import explained
from smlocal.errors import ArtifactError, MachineNotReadyError
from smlocal.quick_dataclass import dataclass
from smlocal.sources.progress import Meter, Progress
from smlocal.sources.s3.client import S3Client
from smlocal.sources.s3.failure_reasons import upload_failure
from smlocal.sources.s3.growing_file import GrowingFile
from smlocal.sources.s3.interface import S3Error
from smlocal.sources.s3.retry import FetchCancelledError
from smlocal.sources.s3.upload import Item, Journal, Uploaded, upload_all
from smlocal.sources.s3.writer import Target

_BETWEEN_WORDS = 0.25


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """What became of an upload."""

    objects: tuple[Uploaded, ...] = ()
    """What S3 has now, in the order in which it was complete; of one that failed, what was complete by then."""
    failure: str | None = None
    """The reason as the service words it."""
    error: S3Error | None = None
    """S3's own, where that is the reason."""
    broken_off: bool = False
    """Nothing failed: somebody did not want to wait."""
    notes: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """True when all of it is in S3."""
        return self.failure is None and not self.broken_off

    def __add__(self, later: "Published") -> "Published":
        """What became of both."""
        return replace(later, objects=(*self.objects, *later.objects), notes=(*self.notes, *later.notes))


class Publisher:
    """A `Publication` to one place in S3; use as a context, and what `finish` has not seen the end of is taken back.

    Nothing is asked of S3 before there is something to send.
    """

    def __init__(
        self,
        open_store: Callable[[], S3Client],
        place: Target,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        journal: Journal | None = None,
    ) -> None:
        """`place` is bucket and prefix, up to the last `/`; `cancelled` is asked all the time, by any thread.

        `open_store` is called by the thread that sends, when there is something to send.
        """
        self._open_store, self._place, self._journal = open_store, place, journal
        self._cancelled = cancelled
        self._abandoned = threading.Event()
        self._batches: SimpleQueue[Iterator[Item] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._growing: GrowingFile | None = None
        self._opened: list[GrowingFile] = []
        self._size = 0
        self._total = 0
        self._lock = threading.Lock()
        self._meter: Meter | None = None
        self._progress: Progress | None = None
        self._objects: list[Uploaded] = []
        self._error: BaseException | None = None
        self._refusal: str | None = None
        self._notes: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Take back what is not complete; once `finish` has returned there is nothing to do."""
        self._abandoned.set()
        self.gave_up()
        self._end()
        if self._thread is not None:
            self._thread.join()
        for each in self._opened:  # those that nobody came to send
            each.close()

    # What the archive tells.

    def begin(self, name: str, path: str, most: int) -> None:
        """Send an archive from now on."""
        self._growing = GrowingFile(os.open(path, os.O_RDONLY | os.O_CLOEXEC), most=most)
        self._opened.append(self._growing)
        self._size = 0
        self._expect(None)
        self._add(iter((Item(source=self._growing, target=self._target(name)),)))

    def grown(self, size: int) -> None:
        """As much as that can be sent."""
        self._size = size
        if self._growing is not None:
            self._growing.grow(size)

    def whole(self) -> None:
        """It may be shown to others."""
        growing, self._growing = self._growing, None
        if growing is not None:
            self._total += self._size
            growing.end()
            self._expect(self._total)

    def gave_up(self) -> None:
        """It never will be."""
        growing, self._growing = self._growing, None
        if growing is not None:
            growing.give_up()

    def folder(self, path: str) -> None:
        """Send every file below a folder, as an object of its own; below the folder's name unless a `/` follows it."""
        try:
            with explained():
                tree = walk("", path)
            found = object_names(tree)
        except ArtifactError as error:
            self._refusal = error.sentence
            return
        self._notes += [*tree.skipped, *found.notes]
        self._total += sum(each.entry.size for each in found.objects)
        self._add(self._files(tree, found.objects, os.path.basename(path)))
        self._expect(self._total)

    def file(self, path: str) -> None:
        """Send a file that is complete."""
        self.begin(os.path.basename(path), path, most=os.path.getsize(path))
        self.grown(os.path.getsize(path))
        self.whole()

    # How far it is, and how it ended.

    def sentence(self) -> str:
        """`uploading: 0.8 of 2.1 GiB, 80 MB/s, 17 s left`."""
        with self._lock:
            return "" if self._progress is None else self._progress.sentence("uploading")

    def finish(self, working: Callable[[str], None] = lambda _: None) -> Published:
        """Wait until all is sent; `working` is told now and then how far it is, or nothing when that is not known."""
        self._end()
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(_BETWEEN_WORDS)
            working(self.sentence())
        error = self._error
        if error is not None and not isinstance(error, S3Error | FetchCancelledError):
            raise error
        return Published(
            objects=tuple(self._objects),
            failure=upload_failure(error) if isinstance(error, S3Error) else self._refusal,
            error=error if isinstance(error, S3Error) else None,
            broken_off=isinstance(error, FetchCancelledError),
            notes=tuple(self._notes),
        )

    def _target(self, name: str) -> Target:
        place = self._place
        return Target(bucket=place.bucket, key=f"{place.key}{name}", kms_key=place.kms_key)

    def _files(self, tree: HostTree, objects: tuple[Named, ...], below: str) -> Iterator[Item]:
        """Opened one after another, by the thread that hands them out."""
        for each in objects:
            target = self._target(f"{below}/{each.name}" if below else each.name)
            try:
                descriptor = tree.open(each.entry)
            except OSError as error:
                words = f"{os.fsdecode(each.entry.path)} cannot be read: {error.strerror}"
                raise S3Error("IncompleteBody", words, status=400, uri=target.uri, operation="PutObject") from error
            yield Item(source=GrowingFile.complete(descriptor), target=target)

    def _add(self, batch: Iterator[Item]) -> None:
        if self._thread is None:
            self._meter = Meter(self._keep, total_bytes=None)
            self._thread = threading.Thread(target=self._run, name="smlocal-publish", daemon=True)
            self._thread.start()
        self._batches.put(batch)

    def _end(self) -> None:
        self._batches.put(None)

    def _run(self) -> None:
        try:
            upload_all(
                self._open_store(),
                self._items(),
                cancelled=lambda: self._abandoned.is_set() or self._cancelled(),
                moved=self._moved,
                done=self._objects.append,
                journal=self._journal,
            )
        except MachineNotReadyError as error:  # nobody is logged in any more
            self._refusal = f"Artifact upload failed:{error.sentence}"
        except BaseException as error:  # noqa: BLE001  it is told by finish
            self._error = error

    def _items(self) -> Iterator[Item]:
        while (batch := self._batches.get()) is not None:
            yield from batch

    def _moved(self, count: int) -> None:
        with self._lock:
            if self._meter is not None:
                self._meter.add(count)

    def _expect(self, total: int | None) -> None:
        with self._lock:
            if self._meter is not None:
                self._meter.expect(total)

    def _keep(self, progress: Progress) -> None:
        self._progress = progress
