"""A prefix of S3 that files are mirrored to: S3 shows an object as a whole or not at all."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager

from smlocal.artifacts.destination import ChangedError
from smlocal.artifacts.mirror.place import always
from smlocal.errors import MachineNotReadyError
from smlocal.quick_dataclass import dataclass
from smlocal.sources.progress import Meter, Progress
from smlocal.sources.s3.client import S3Client
from smlocal.sources.s3.failure_reasons import upload_reason
from smlocal.sources.s3.growing_file import GrowingFile
from smlocal.sources.s3.interface import S3Error
from smlocal.sources.s3.part_sizes import PART
from smlocal.sources.s3.retry import FetchCancelledError, until_cancelled
from smlocal.sources.s3.upload import Item, Journal, upload_all
from smlocal.sources.s3.upload_body import FilePart
from smlocal.sources.s3.writer import S3Writer, Target

_PIECE = 1 << 20
_BETWEEN_WORDS = 0.25


@dataclass(kw_only=True, slots=True)
class S3Target:
    """Asks nothing of S3 before there is something to do there."""

    prefix: Target
    """Its key is empty, or ends with `/`."""
    open_store: Callable[[], S3Client]
    journal: Journal
    given_up: Callable[[], bool]
    """Asked all the time whether somebody does not want to wait."""
    working: Callable[[str], None] | None = None
    """Told some times a second how far a large file is, in the thread that has it sent."""
    side_by_side: int = 1
    """With more than one, a small file that nobody writes any more is surely there only when the place is left."""
    _store: S3Client | None = None

    def exists(self) -> bool:
        """True: only S3 could say."""
        return True

    @contextmanager
    def open(self) -> Iterator["S3Place"]:
        """For some files; `OSError` when nobody is logged in any more."""
        if self._store is None:
            try:
                self._store = self.open_store()
            except MachineNotReadyError as error:
                raise OSError(errno.EACCES, error.sentence, self.prefix.uri) from error
        place = S3Place(self, self._store.until(self.given_up))
        try:
            yield place
            place.finish()
        finally:
            place.close()


class S3Place:
    """Writes and deletes objects below a prefix. What S3 says is an `OSError` in the service's words."""

    def __init__(self, target: S3Target, store: S3Client) -> None:
        """One that has written nothing yet."""
        self._target, self._store = target, store
        self._writer = S3Writer(store)
        self._away: str | None = None
        """What is said of a server that does not answer: it is not waited for with every file."""
        many = target.side_by_side
        self._pool = ThreadPoolExecutor(many, "smlocal-mirror") if many > 1 else None
        self._sending: set[Future[None]] = set()

    def write(self, path: bytes, source: int, *, mtime: int, unchanged: Callable[[], bool] = always) -> None:
        """Send the bytes of an open file, all of them or none; S3 keeps no time but its own."""
        del mtime
        target = self._named(path)
        with self._worded(target):
            try:
                if os.fstat(source).st_size <= PART:
                    self._put(target, source, unchanged)
                else:
                    self._put_in_parts(target, source, unchanged)
            except S3Error as error:
                if not unchanged():  # which may well be what S3 complains about
                    raise ChangedError from error
                raise

    def delete(self, path: bytes) -> None:
        """Delete one object; gone already is fine."""
        target = self._named(path)
        with self._worded(target):
            until_cancelled(lambda: self._writer.delete(target), self._target.given_up)

    def replace_links(self, folders: Iterable[bytes]) -> list[bytes]:
        """There are none in S3."""
        del folders
        return []

    def finish(self) -> None:
        """Wait until all is there; `OSError` when something is not."""
        self._wait(most=0)

    def close(self) -> None:
        """Send no more; what is being sent goes through."""
        if self._pool is not None:
            self._pool.shutdown()

    def _put(self, target: Target, source: int, unchanged: Callable[[], bool]) -> None:
        # What is sent is shown, so it is copied and looked at before.
        with ExitStack() as stack:
            copy = stack.enter_context(open(os.memfd_create("mirror"), "w+b", buffering=0))
            size = 0
            while piece := os.pread(source, _PIECE, size):
                copy.write(piece)
                size += len(piece)
            _insist(unchanged)
            body = FilePart(descriptor=copy.fileno(), start=0, size=size, uri=target.uri)
            if self._pool is None or unchanged is not always:
                self._send(target, body)
                return
            self._wait(most=self._target.side_by_side - 1)
            kept = stack.pop_all()

        def send() -> None:
            with kept, self._worded(target):
                self._send(target, body)

        self._sending.add(self._pool.submit(send))

    def _send(self, target: Target, body: FilePart) -> None:
        until_cancelled(lambda: self._writer.put(target, body, lambda _: None), self._target.given_up)

    def _wait(self, most: int) -> None:
        """Wait until no more than so many files are on their way."""
        while len(self._sending) > most:
            done, self._sending = wait(self._sending, return_when=FIRST_COMPLETED)
            for each in done:
                each.result()

    def _put_in_parts(self, target: Target, source: int, unchanged: Callable[[], bool]) -> None:
        item = Item(
            source=GrowingFile.complete(os.dup(source)), target=target, before_complete=lambda: _insist(unchanged)
        )
        cancelled, journal, working = self._target.given_up, self._target.journal, self._target.working
        if working is None:
            upload_all(self._store, [item], cancelled=cancelled, journal=journal)
            return
        told: list[Progress] = []
        meter = Meter(told.append, total_bytes=item.source.most)
        with ThreadPoolExecutor(1) as pool:
            sent = pool.submit(upload_all, self._store, [item], cancelled=cancelled, journal=journal, moved=meter.add)
            while wait([sent], timeout=_BETWEEN_WORDS).not_done:
                working(told[-1].sentence(f"uploading {os.path.basename(target.key)}") if told else "")
            sent.result()

    def _named(self, path: bytes) -> Target:
        prefix = self._target.prefix
        try:
            key = f"{prefix.key}{path.decode()}"
        except UnicodeDecodeError as error:
            shown = path.decode(errors="backslashreplace")
            words = f"the name {shown} is not UTF-8, which S3 does not allow"
            raise OSError(errno.EILSEQ, words, prefix.uri) from error
        return Target(bucket=prefix.bucket, key=key, kms_key=prefix.kms_key)

    @contextmanager
    def _worded(self, target: Target) -> Iterator[None]:
        if self._away is not None:
            raise OSError(errno.EIO, self._away, target.uri)
        try:
            yield
        except S3Error as error:
            words = upload_reason(error)
            if not error.status:
                self._away = words
            raise OSError(errno.EIO, words, target.uri) from error
        except FetchCancelledError as error:
            raise OSError(errno.ECANCELED, "it was interrupted", target.uri) from error


def _insist(unchanged: Callable[[], bool]) -> None:
    if not unchanged():
        raise ChangedError
