"""Uploads files to S3 in a few threads: an object becomes visible when it is complete, and partial uploads are aborted.

Not with s3transfer: of a file that is still being written it holds ten parts in memory and cannot make parts larger as
it grows past 10,000 of them; it fails if a restarted server has lost the upload, and a cancelled upload waits for
silent connections.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Protocol

from smlocal.data.sources.s3.client import S3Client
from smlocal.data.sources.s3.error_responses import TICK, FetchCancelledError, until_cancelled
from smlocal.data.sources.s3.interface import S3Error
from smlocal.data.sources.s3.writer import (
    MOST_PARTS,
    PART,
    FilePart,
    GrowingFile,
    S3Writer,
    UploadedPart,
    UploadTarget,
    first_part,
    part_size,
)

_THREADS = 4
_STOP_SECONDS = 1.0
"""How long cancelled requests may take to end; threads that wait for a silent server are abandoned."""
_TRIES = 3
"""Attempts for an object whose parts a restarted server has lost."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A file and the object it becomes; the file is closed when it has been sent."""

    source: GrowingFile
    target: UploadTarget
    before_complete: Callable[[], None] = lambda: None
    """Called when all parts of a large file have been sent; if it raises, the object is not created."""
    sha256: bytes | None = None
    """The hash of a small file, if it is known: S3 then takes no other bytes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Uploaded:
    """An object that was uploaded."""

    uri: str
    bytes: int


class Journal(Protocol):
    """Records multipart uploads that were begun, to abort them after a crash."""

    def begun(self, target: UploadTarget, upload: str) -> None:
        """A multipart upload has begun."""

    def ended(self, upload: str) -> None:
        """It was completed or aborted."""


class NoJournal:
    """A journal that records nothing."""

    def begun(self, target: UploadTarget, upload: str) -> None:
        """Do nothing."""

    def ended(self, upload: str) -> None:
        """Do nothing."""


def upload_all(
    store: S3Client,
    items: Iterable[Item],
    *,
    cancelled: Callable[[], bool] = lambda: False,
    moved: Callable[[int], None] = lambda _: None,
    done: Callable[[Uploaded], None] = lambda _: None,
    journal: Journal | None = None,
    threads: int = _THREADS,
) -> None:
    """Upload every file, large ones in parallel parts; abort incomplete ones.

    Raises `S3Error`, or `FetchCancelledError` if cancelled or if the writer of a file gave up. `moved` is told, by one
    thread at a time, how many bytes were sent (a negative number if they must be sent again), `done` each object.
    """
    uploader = _Uploader(
        store, cancelled=cancelled, moved=moved, done=done, journal=journal or NoJournal(), threads=threads
    )
    uploader.run(items)


@dataclass(eq=False, slots=True)
class _Parts:
    """A multipart upload in progress."""

    target: UploadTarget
    id: str
    descriptor: int
    done: dict[int, UploadedPart] = field(default_factory=dict)
    jobs: list[Future[None]] = field(default_factory=list)
    lost: bool = False
    """S3 does not know the upload any more."""

    @contextmanager
    def noticing_loss(self) -> Iterator[None]:
        """Note if S3 does not know the upload any more."""
        try:
            yield
        except S3Error as error:
            if error.code != "NoSuchUpload":
                raise
            self.lost = True


class _Uploader:
    """The calling thread cuts files into parts, the worker threads send them."""

    def __init__(
        self,
        store: S3Client,
        *,
        cancelled: Callable[[], bool],
        moved: Callable[[int], None],
        done: Callable[[Uploaded], None],
        journal: Journal,
        threads: int,
    ) -> None:
        self._cancelled = cancelled
        self._failed = threading.Event()
        self._writer = S3Writer(store.until(self._is_over))
        self._tell, self._done = moved, done
        self._journal = journal
        self._lock = threading.Lock()
        self._failure: BaseException | None = None
        self._open: dict[str, UploadTarget] = {}
        self._threads = threads
        self._room = threading.Semaphore(2 * threads)
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._jobs: set[Future[None]] = set()

    def run(self, items: Iterable[Item]) -> None:
        workers = [
            threading.Thread(target=self._work, daemon=True, name=f"s3-upload-{number}")
            for number in range(self._threads)
        ]
        try:
            for worker in workers:
                worker.start()
            for item in items:
                self._send(item)
            self._wait_for(self._jobs)
        except BaseException as error:  # noqa: BLE001  it is raised when everything has ended
            self._fail(error)
        for _ in workers:
            self._queue.put(None)
        # An upload can be aborted completely only when no part is being sent.
        all_ended = self._wait_for(self._jobs)
        for upload, target in list(self._open.items()):
            self._abort(upload, target, all_ended=all_ended)
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            job()

    def _wait_for(self, jobs: Iterable[Future[None]]) -> bool:
        """Wait until these have ended; False if they were cancelled and do not end."""
        left = set(jobs)
        since: float | None = None
        while left:
            left = wait(left, timeout=TICK).not_done
            if not left:
                break
            if self._is_over():
                since = since or time.monotonic()
                if time.monotonic() - since > _STOP_SECONDS:
                    return False
        return True

    def _is_over(self) -> bool:
        if not self._failed.is_set() and self._cancelled():
            self._fail(FetchCancelledError())
        return self._failed.is_set()

    def _check(self) -> None:
        if self._is_over():
            raise FetchCancelledError

    def _fail(self, error: BaseException) -> None:
        with self._lock:
            # A cancellation may be the consequence of a failure.
            if self._failure is None or isinstance(self._failure, FetchCancelledError):
                self._failure = error
        self._failed.set()

    def _moved(self, count: int) -> None:
        with self._lock:
            self._tell(count)

    def _submit(self, job: Callable[[], None], *, close: Callable[[], None] = lambda: None) -> Future[None]:
        """Queue a job; wait first if too many are queued. `close` is called when it has ended or will not begin."""
        try:
            while not self._room.acquire(timeout=TICK):
                self._check()
        except BaseException:
            close()
            raise
        done: Future[None] = Future()

        def do() -> None:
            try:
                self._check()
                job()
            except BaseException as error:  # noqa: BLE001  as above
                self._fail(error)
            finally:
                close()
                self._room.release()
                done.set_result(None)

        self._jobs = {each for each in self._jobs if not each.done()} | {done}
        self._queue.put(do)
        return done

    def _send(self, item: Item) -> None:
        size = self._first_size(item)
        if size <= PART:
            self._submit(lambda: self._put(item, size), close=item.source.close)
            return
        with closing(item.source):
            for _ in range(_TRIES):
                if self._send_in_parts(item):
                    return
        text = "The specified multipart upload does not exist."
        raise S3Error("NoSuchUpload", text, status=404, uri=item.target.uri, operation="UploadPart")

    def _first_size(self, item: Item) -> int:
        """The size of a small file; of a larger one, any size above that of one part."""
        try:
            return item.source.wait(PART + 1, self._is_over)
        except BaseException:
            item.source.close()
            raise

    def _put(self, item: Item, size: int) -> None:
        body = FilePart(descriptor=item.source.descriptor, start=0, size=size, uri=item.target.uri)
        self._writer.put(item.target, body, self._moved, sha256=item.sha256)
        self._report_done(item.target, size)

    def _send_in_parts(self, item: Item) -> bool:
        """Upload a large file; False if S3 has lost the upload and everything must be sent again."""
        upload = self._begin(item)
        try:
            size = self._cut(item, upload)
        finally:
            self._wait_for(upload.jobs)
        self._check()
        item.before_complete()
        with upload.noticing_loss():
            if not upload.lost:
                parts = [upload.done[number] for number in sorted(upload.done)]
                until_cancelled(lambda: self._writer.complete(item.target, upload.id, parts), self._is_over)
        self._close_upload(upload.id)
        if upload.lost:
            self._moved(-sum(part.size for part in upload.done.values()))
            return False
        self._report_done(item.target, size)
        return True

    def _begin(self, item: Item) -> _Parts:
        upload = until_cancelled(lambda: self._writer.begin(item.target), self._is_over)
        self._open[upload] = item.target
        self._journal.begun(item.target, upload)
        return _Parts(target=item.target, id=upload, descriptor=item.source.descriptor)

    def _cut(self, item: Item, upload: _Parts) -> int:
        """Queue part after part as the file grows; returns the size of the complete file."""
        first = first_part(item.source.most)
        start, number = 0, 1
        while not upload.lost:
            size = part_size(number, first)
            there = item.source.wait(start + size, self._is_over)
            size = min(size, there - start)
            if not size:
                break
            if number > MOST_PARTS:
                text = "Your proposed upload exceeds the maximum allowed size"
                raise S3Error("EntityTooLarge", text, status=400, uri=item.target.uri, operation="UploadPart")
            self._queue_part(upload, number, start, size)
            start, number = start + size, number + 1
        return item.source.wait_for_end(self._is_over)

    def _queue_part(self, upload: _Parts, number: int, start: int, size: int) -> None:
        body = FilePart(descriptor=upload.descriptor, start=start, size=size, uri=upload.target.uri)

        def send() -> None:
            if upload.lost:
                return
            with upload.noticing_loss():
                upload.done[number] = self._writer.put_part(upload.target, upload.id, number, body, self._moved)

        upload.jobs.append(self._submit(send))

    def _report_done(self, target: UploadTarget, size: int) -> None:
        with self._lock:
            self._done(Uploaded(uri=target.uri, bytes=size))

    def _abort(self, upload: str, target: UploadTarget, *, all_ended: bool) -> None:
        with suppress(S3Error, FetchCancelledError):  # it stays in the journal
            self._writer.abort(target, upload)
            if all_ended:
                self._close_upload(upload)

    def _close_upload(self, upload: str) -> None:
        self._open.pop(upload, None)
        self._journal.ended(upload)
