"""Mirror files to a prefix in S3, where only complete objects are visible."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.artifacts.mirror.target import FileChangedError, always, check_unchanged, unnamed_copy
from smlocal.data.sources.progress import Meter, Progress
from smlocal.data.sources.s3.client import S3Client
from smlocal.data.sources.s3.error_responses import FetchCancelledError, until_cancelled, upload_reason
from smlocal.data.sources.s3.interface import S3Error
from smlocal.data.sources.s3.upload import Item, Journal, upload_all
from smlocal.data.sources.s3.writer import PART, FilePart, GrowingFile, S3Writer, UploadTarget
from smlocal.errors import MachineNotReadyError

_READ_BYTES = 1 << 20
_REPORT_SECONDS = 0.25


@dataclass(kw_only=True, slots=True)
class S3Target:
    """A prefix in S3. No request is sent before there is something to write."""

    prefix: UploadTarget
    """Its key is empty or ends with `/`."""
    open_store: Callable[[], S3Client]
    journal: Journal
    cancelled: Callable[[], bool]
    """Returns True once the user does not want to wait. Called by any thread."""
    working: Callable[[str], None] | None = None
    """Called several times a second with the progress of a large file, by the thread that writes it."""
    at_once: int = 1
    """How many small files are sent at the same time.

    With more than one, files that are not written to any more are only complete when the target is closed.
    """
    _store: S3Client | None = None

    def exists(self) -> bool:
        """True: finding out takes a request."""
        return True

    def ignores_case(self) -> bool:
        """Keys are compared by their bytes."""
        return False

    @contextmanager
    def open(self) -> Iterator["OpenPrefix"]:
        """Raises `OSError` if there are no credentials any more."""
        if self._store is None:
            try:
                self._store = self.open_store()
            except MachineNotReadyError as error:
                raise OSError(errno.EACCES, error.sentence, self.prefix.uri) from error
        opened = OpenPrefix(self, self._store.until(self.cancelled))
        try:
            yield opened
            opened.finish()
        finally:
            opened.close()


class OpenPrefix:
    """Writes and deletes objects below a prefix. An error of S3 is raised as an `OSError` in the service's words."""

    def __init__(self, target: S3Target, store: S3Client) -> None:
        self._target, self._store = target, store
        self._writer = S3Writer(store)
        self._no_response: str | None = None
        """The error of a server that does not respond. After it, other files are not tried."""
        self._pool = ThreadPoolExecutor(target.at_once, "smlocal-mirror") if target.at_once > 1 else None
        self._sending: set[Future[None]] = set()

    def write(self, path: bytes, source: int, *, mtime: int, unchanged: Callable[[], bool] = always) -> None:
        """Upload an open file; `FileChangedError`, and no object, if it is not `unchanged` then. S3 sets the time."""
        del mtime
        location = self._location(path)
        with self._os_errors(location):
            try:
                if os.fstat(source).st_size <= PART:
                    self._put(location, source, unchanged)
                else:
                    self._put_in_parts(location, source, unchanged)
            except S3Error as error:
                if not unchanged():  # probably the cause of the error
                    raise FileChangedError from error
                raise

    def delete(self, path: bytes) -> None:
        """Delete an object, if it exists."""
        location = self._location(path)
        with self._os_errors(location):
            until_cancelled(lambda: self._writer.delete(location), self._target.cancelled)

    def replace_links(self, folders: Iterable[bytes]) -> list[bytes]:
        """Do nothing: S3 has no links."""
        del folders
        return []

    def finish(self) -> None:
        """Wait until everything is sent; `OSError` if something could not be."""
        self._wait(most=0)

    def close(self) -> None:
        """Wait for the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def _put(self, location: UploadTarget, source: int, unchanged: Callable[[], bool]) -> None:
        # An object is visible as soon as it is sent, so the file is copied and checked before.
        with ExitStack() as stack:
            copy = stack.enter_context(unnamed_copy())
            size = 0
            while piece := os.pread(source, _READ_BYTES, size):
                copy.write(piece)
                size += len(piece)
            check_unchanged(unchanged)
            body = FilePart(descriptor=copy.fileno(), start=0, size=size, uri=location.uri)
            if self._pool is None or unchanged is not always:
                self._send(location, body)
                return
            self._wait(most=self._target.at_once - 1)
            copy_to_close = stack.pop_all()

        def send() -> None:
            with copy_to_close, self._os_errors(location):
                self._send(location, body)

        self._sending.add(self._pool.submit(send))

    def _send(self, location: UploadTarget, body: FilePart) -> None:
        until_cancelled(lambda: self._writer.put(location, body, lambda _: None), self._target.cancelled)

    def _wait(self, most: int) -> None:
        """Wait until at most this many files are being sent."""
        while len(self._sending) > most:
            done, self._sending = wait(self._sending, return_when=FIRST_COMPLETED)
            for each in done:
                each.result()

    def _put_in_parts(self, location: UploadTarget, source: int, unchanged: Callable[[], bool]) -> None:
        item = Item(
            source=GrowingFile.complete(os.dup(source)),
            target=location,
            before_complete=lambda: check_unchanged(unchanged),
        )
        cancelled, journal, working = self._target.cancelled, self._target.journal, self._target.working
        if working is None:
            upload_all(self._store, [item], cancelled=cancelled, journal=journal)
            return
        reports: list[Progress] = []
        meter = Meter(reports.append, total_bytes=item.source.most)
        with ThreadPoolExecutor(1) as pool:
            sent = pool.submit(upload_all, self._store, [item], cancelled=cancelled, journal=journal, moved=meter.add)
            while wait([sent], timeout=_REPORT_SECONDS).not_done:
                working(reports[-1].sentence(f"uploading {os.path.basename(location.key)}") if reports else "")
            sent.result()

    def _location(self, path: bytes) -> UploadTarget:
        prefix = self._target.prefix
        try:
            return replace(prefix, key=f"{prefix.key}{path.decode()}")
        except UnicodeDecodeError as error:
            shown = path.decode(errors="backslashreplace")
            message = f"the name {shown} is not UTF-8, which S3 does not allow"
            raise OSError(errno.EILSEQ, message, prefix.uri) from error

    @contextmanager
    def _os_errors(self, location: UploadTarget) -> Iterator[None]:
        if self._no_response is not None:
            raise OSError(errno.EIO, self._no_response, location.uri)
        try:
            yield
        except S3Error as error:
            reason = upload_reason(error)
            if not error.status:
                self._no_response = reason
            raise OSError(errno.EIO, reason, location.uri) from error
        except FetchCancelledError as error:
            raise OSError(errno.ECANCELED, "it was interrupted", location.uri) from error
