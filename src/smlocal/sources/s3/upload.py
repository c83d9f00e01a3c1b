"""Files sent to S3 by a few threads: each object is there as a whole or not at all, and nothing half-sent stays.

Not by s3transfer, because it cannot send a file that is still written: it holds ten parts of such a file in memory,
cannot make parts larger as the file grows past 10,000 of them, gives up when a server was restarted and has forgotten
the upload, and waits for silent connections when it is cancelled.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Protocol

from smlocal.sources.s3.client import S3Client
from smlocal.sources.s3.growing_file import GrowingFile
from smlocal.sources.s3.interface import S3Error
from smlocal.sources.s3.part_sizes import MOST_PARTS, PART, first_part, part_size
from smlocal.sources.s3.retry import TICK, FetchCancelledError, until_cancelled
from smlocal.sources.s3.upload_body import FilePart
from smlocal.sources.s3.writer import Part, Target

_THREADS = 4
_STOP_SECONDS = 1.0
"""Seconds that requests may take to end once they are cancelled; what hangs on a silent server is left behind."""
_TRIES = 3
"""Of one object whose parts S3 has forgotten, as a server does that was restarted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A file and the object that it becomes; the file is closed when it has been sent."""

    source: GrowingFile
    target: Target
    before_shown: Callable[[], None] = lambda: None
    """Called when all parts of a large file have gone; what it raises is raised, and no object is there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Uploaded:
    """An object that S3 has."""

    uri: str
    bytes: int


class Journal(Protocol):
    """Remembers what has been begun, for whoever comes after a crash."""

    def begun(self, target: Target, upload: str) -> None:
        """S3 keeps parts of this object from now on."""

    def ended(self, upload: str) -> None:
        """It keeps them no longer."""


class NoJournal:
    """A journal for those who will not be asked."""

    def begun(self, target: Target, upload: str) -> None:
        """Remember nothing."""

    def ended(self, upload: str) -> None:
        """Remember nothing."""


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
    """Send every file, a large one in parts side by side; what could not be finished is taken back.

    Raises `S3Error`, or `FetchCancelledError` when `cancelled` says so or a file was given up by who wrote it. `moved`
    is told, by one thread at a time, how many bytes have gone, fewer than none when some must go again; `done` likewise
    each object that S3 has.
    """
    uploader = _Uploader(
        store, cancelled=cancelled, moved=moved, done=done, journal=journal or NoJournal(), threads=threads
    )
    uploader.run(items)


@dataclass(eq=False, slots=True)
class _Parts:
    """A large object on its way."""

    target: Target
    id: str
    descriptor: int
    done: dict[int, Part] = field(default_factory=dict)
    jobs: list[Future[None]] = field(default_factory=list)
    forgotten: bool = False
    """S3 knows nothing of it any more."""

    @contextmanager
    def noticing_loss(self) -> Iterator[None]:
        """Find out whether S3 still knows of it."""
        try:
            yield
        except S3Error as error:
            if error.code != "NoSuchUpload":
                raise
            self.forgotten = True


class _Uploader:
    """The coordinating thread cuts files into parts, and the others send them."""

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
        self._writer = store.until(self._is_over).writer()
        self._tell, self._done = moved, done
        self._journal = journal
        self._lock = threading.Lock()
        self._failure: BaseException | None = None
        self._open: dict[str, Target] = {}
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
            self._settle(self._jobs)
        except BaseException as error:  # noqa: BLE001  it is raised when everything has ended
            self._fail(error)
        for _ in workers:
            self._queue.put(None)
        # Not before its last part has ended can an object be taken back whole.
        settled = self._settle(self._jobs)
        for upload, target in list(self._open.items()):
            self._abort(upload, target, settled=settled)
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            job()

    def _settle(self, jobs: Iterable[Future[None]]) -> bool:
        """Wait until these have ended; False when they were cancelled and hang."""
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
            # What was cancelled because of a failure is none itself.
            if self._failure is None or isinstance(self._failure, FetchCancelledError):
                self._failure = error
        self._failed.set()

    def _moved(self, count: int) -> None:
        with self._lock:
            self._tell(count)

    def _submit(self, job: Callable[[], None]) -> Future[None]:
        """Have it done when there is a thread for it, and wait as long as too much is waiting already."""
        while not self._room.acquire(timeout=TICK):
            self._check()
        done: Future[None] = Future()

        def do() -> None:
            try:
                self._check()
                job()
            except BaseException as error:  # noqa: BLE001  as above
                self._fail(error)
            finally:
                self._room.release()
                done.set_result(None)

        self._jobs = {each for each in self._jobs if not each.done()} | {done}
        self._queue.put(do)
        return done

    def _send(self, item: Item) -> None:
        size = self._started(item)
        if size <= PART:
            self._submit(lambda: self._put(item, size))
            return
        with closing(item.source):
            for _ in range(_TRIES):
                if self._send_in_parts(item):
                    return
        words = "The specified multipart upload does not exist."
        raise S3Error("NoSuchUpload", words, status=404, uri=item.target.uri, operation="UploadPart")

    def _started(self, item: Item) -> int:
        """The size of a small file, or so many bytes of a larger one that it is known to be one."""
        try:
            return item.source.wait(PART + 1, self._is_over)
        except BaseException:
            item.source.close()
            raise

    def _put(self, item: Item, size: int) -> None:
        with closing(item.source):
            body = FilePart(descriptor=item.source.descriptor, start=0, size=size, uri=item.target.uri)
            self._writer.put(item.target, body, self._moved)
            self._has(item.target, size)

    def _send_in_parts(self, item: Item) -> bool:
        """Send a large file; False when S3 has forgotten meanwhile what was begun, and all must go again."""
        upload = self._begin(item)
        try:
            size = self._cut(item, upload)
        finally:
            self._settle(upload.jobs)
        self._check()
        item.before_shown()
        with upload.noticing_loss():
            if not upload.forgotten:
                parts = [upload.done[number] for number in sorted(upload.done)]
                until_cancelled(lambda: self._writer.complete(item.target, upload.id, parts), self._is_over)
        self._forget(upload.id)
        if upload.forgotten:
            self._moved(-sum(part.size for part in upload.done.values()))
            return False
        self._has(item.target, size)
        return True

    def _begin(self, item: Item) -> _Parts:
        upload = until_cancelled(lambda: self._writer.begin(item.target), self._is_over)
        self._open[upload] = item.target
        self._journal.begun(item.target, upload)
        return _Parts(target=item.target, id=upload, descriptor=item.source.descriptor)

    def _cut(self, item: Item, upload: _Parts) -> int:
        """Hand out part after part as the file grows; returns its size once it is whole."""
        first = first_part(item.source.most)
        start, number = 0, 1
        while not upload.forgotten:
            size = part_size(number, first)
            there = item.source.wait(start + size, self._is_over)
            size = min(size, there - start)
            if not size:
                break
            if number > MOST_PARTS:
                words = "Your proposed upload exceeds the maximum allowed size"
                raise S3Error("EntityTooLarge", words, status=400, uri=item.target.uri, operation="UploadPart")
            self._hand_out(upload, number, start, size)
            start, number = start + size, number + 1
        return item.source.wait_for_end(self._is_over)

    def _hand_out(self, upload: _Parts, number: int, start: int, size: int) -> None:
        body = FilePart(descriptor=upload.descriptor, start=start, size=size, uri=upload.target.uri)

        def send() -> None:
            if upload.forgotten:
                return
            with upload.noticing_loss():
                upload.done[number] = self._writer.put_part(upload.target, upload.id, number, body, self._moved)

        upload.jobs.append(self._submit(send))

    def _has(self, target: Target, size: int) -> None:
        with self._lock:
            self._done(Uploaded(uri=target.uri, bytes=size))

    def _abort(self, upload: str, target: Target, *, settled: bool) -> None:
        with suppress(S3Error, FetchCancelledError):  # then the journal still has it
            self._writer.abort(target, upload)
            if settled:
                self._forget(upload)

    def _forget(self, upload: str) -> None:
        self._open.pop(upload, None)
        self._journal.ended(upload)
