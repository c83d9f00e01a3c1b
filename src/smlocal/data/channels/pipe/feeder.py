"""Feeds one Pipe channel of one host: an endless series of FIFOs, one per epoch, filled when somebody reads."""

import os
import struct
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from errno import EDQUOT, ENOSPC
from threading import Lock, Thread

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.channels.pipe.fifo import Fifo, FifoReaderGoneError, FifoWriter, Stop, StoppedError
from smlocal.data.channels.pipe.manifest import open_manifest
from smlocal.data.channels.pipe.object_bytes import (
    Content,
    FeedError,
    Item,
    LocalBytes,
    LocalObject,
    MemoryBytes,
    ObjectBytes,
    Objects,
    RemoteBytes,
    Source,
    Streams,
    decompressed,
    name_taken,
    no_room,
    of_s3,
)
from smlocal.data.sources.s3.interface import ObjectStore, S3Error, S3Object
from smlocal.data.sources.s3.object_stream import ObjectStream
from smlocal.errors import StagingError
from smlocal.terms.channels import PipePlan
from smlocal.terms.statuses import INTERNAL_ERROR, Failure

_STOP_SECONDS = 0.9
"""How long `stop` waits for the threads."""


_KEPT = 32 << 20
"""Up to this size decompressed data is kept until its length is known; longer data is decompressed twice."""


class Sender:
    """Sends items to one FIFO; objects in S3 come from `stream`, which reads ahead in the same order."""

    def __init__(
        self, writer: "FifoWriter", *, record_io: bool, gzip: bool, streams: "Streams", stream: "ObjectStream | None"
    ) -> None:
        self._writer = writer
        self._record_io = record_io
        self._gzip = gzip
        self._streams = streams
        self._stream = stream
        self._found: S3Object

    def send(self, items: Iterable[Item]) -> None:
        """Send all of them, to the last byte."""
        for item in items:
            if isinstance(item, bytes):
                self._send_attribute(item)
                continue
            with self._open(item, self._stream) as body:
                if self._gzip:
                    self._send_decompressed(item, body)
                else:
                    self._send_record(body.size, body)
                body.finish()
        self._writer.flush()

    def _send_attribute(self, text: bytes) -> None:
        """Send an attribute: there may be millions, each shorter than the longest part."""
        if self._record_io:
            (part,) = parts(len(text))
            text = part.header + text + part.padding
        self._writer.write(text)

    def _send_record(self, size: int, source: Source) -> None:
        if not self._record_io:
            source.send(self._writer, size)
            return
        for part in parts(size):
            self._writer.write(part.header)
            source.send(self._writer, part.length)
            self._writer.write(part.padding)

    def _send_decompressed(self, item: LocalObject | S3Object, body: ObjectBytes) -> None:
        pieces = decompressed(body)
        if not self._record_io:
            for piece in pieces:
                self._writer.write(piece)
            return
        # A record begins with its length, which is known only at the object's end.
        kept: list[bytes] = []
        size = 0
        for piece in pieces:
            size += len(piece)
            kept.append(piece)
            if size > _KEPT:
                kept.clear()
                break
        else:
            self._send_record(size, MemoryBytes(body.uri, kept))
            return
        size += sum(map(len, pieces))
        with self._again(item) as same:
            again = MemoryBytes(body.uri, decompressed(same))
            self._send_record(size, again)
            again.finish()
            same.finish()

    @contextmanager
    def _open(self, item: LocalObject | S3Object, stream: "ObjectStream | None") -> Iterator[ObjectBytes]:
        if isinstance(item, LocalObject):
            with LocalBytes(item) as body:
                yield body
            return
        if stream is None:
            raise TypeError(item.uri)
        self._writer.flush()  # fetching the next object may take time
        found = stream.open_next()
        if found is None or (found.bucket, found.key) != (item.bucket, item.key):
            raise RuntimeError(f"expected {item.uri} next, not {found}")
        self._found = found
        yield RemoteBytes(stream, found, self._writer)

    @contextmanager
    def _again(self, item: LocalObject | S3Object) -> Iterator[ObjectBytes]:
        """The same object from its start."""
        if isinstance(item, LocalObject):
            with self._open(item, None) as body:
                yield body
            return
        found = self._found  # with its ETag, so that it is the same version
        with self._streams.open([found]) as stream, self._open(found, stream) as body:
            yield body


# RecordIO framing of objects.

MAGIC = 0xCED7230A
MOST = (1 << 29) - 1
"""The longest part: its length has 29 bits."""

_WHOLE, _FIRST, _MIDDLE, _LAST = range(4)
_ALIGNMENT = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordPart:
    """The bytes before and after `length` bytes of a payload."""

    header: bytes
    length: int
    padding: bytes


def parts(length: int, most: int = MOST) -> Iterator[RecordPart]:
    """RecordPart a payload of `length` bytes, in several parts if it is too long for one.

    A payload that contains the magic word is not split there, as the original format does: two of the readers in use
    only join parts, and would lose the four bytes that the format leaves out.
    """
    if length <= most:
        yield _part(_WHOLE, length)
        return
    yield _part(_FIRST, most)
    left = length - most
    while left > most:
        yield _part(_MIDDLE, most)
        left -= most
    yield _part(_LAST, left)


def _part(flag: int, length: int) -> RecordPart:
    return RecordPart(
        header=struct.pack("<II", MAGIC, flag << 29 | length),
        length=length,
        padding=bytes(-length % _ALIGNMENT),
    )


class PipeFeeder:
    """Feeds one channel of one host: `prepare`, then `start` just before the container does, `stop` after it ended.

    Every epoch has a thread, which waits until its FIFO is opened. Before it writes, it creates the next epoch's FIFO
    and thread. So a reader may leave an epoch at any point, closed or not, and go on to the next one.
    """

    def __init__(
        self,
        plan: PipePlan,
        *,
        directory: str,
        spool: str,
        store: Callable[[], ObjectStore],
        broken: Callable[[Failure, str], None],
        budget: int = 64 << 20,
        delay: int = 0,
    ) -> None:
        """FIFOs are created in `directory`; `spool` is a private folder, if possible on the same file system.

        `store` is called only if something is in S3; at most `budget` bytes are read ahead. `broken` is called at most
        once, from a thread, with why the job fails and an explanation. Then nothing is sent, and readers wait until the
        feeder is stopped, so that none takes a part of its data for the whole.
        """
        self._plan = plan
        self._folder = directory
        self._spool = spool
        self._broken = broken
        self._streams = Streams(store, budget)
        self._content: Content = Objects(plan)
        self._delay = delay
        self._directory = -1
        self._stop = Stop()
        self._lock = Lock()
        self._ended = False
        self._failed = False
        self._fifos: set[Fifo] = set()
        self._threads: list[Thread] = []
        self._kept: list[FifoWriter] = []

    def prepare(self) -> None:
        """Make the FIFO of epoch 0 and check the data; `StagingError` in the service's words."""
        try:
            os.makedirs(self._spool, exist_ok=True)
            self._content = self._open_content()
            if self._content.remote:
                self._streams.store  # noqa: B018 - missing credentials are reported now
            self._directory = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            self._fifos.add(self._fifo(0))
        except FeedError as error:
            raise StagingError(error.failure.message, details=(error.explanation,)) from error

    def start(self) -> None:
        """Start to wait for readers."""
        with self._lock:
            if not self._ended:
                self._begin(0, next(iter(self._fifos)))

    def stop(self) -> None:
        """End all threads within a second; readers get an end of file."""
        with self._lock:
            if self._ended:
                return
            self._ended = True
        self._stop.set()
        self._streams.stop()
        for fifo in list(self._fifos):
            fifo.release()
        deadline = time.monotonic() + _STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        for writer in self._kept:
            writer.close()
        if any(thread.is_alive() for thread in self._threads):
            return  # a thread waits for a disk that does not answer, and still uses the descriptors
        for fifo in self._fifos:
            fifo.close()
        self._content.close()
        if self._directory >= 0:
            os.close(self._directory)
        self._stop.close()

    def _open_content(self) -> Content:
        if not self._plan.attributes:
            return self._content

        return open_manifest(self._plan, spool=self._spool, streams=self._streams)

    def _fifo(self, number: int) -> Fifo:
        name = f"{os.path.basename(self._plan.target)}_{number}"
        try:
            return Fifo(name, directory=self._directory, spool=self._spool)
        except FileExistsError as error:
            raise name_taken(f"{self._plan.target}_{number}") from error
        except OSError as error:
            if error.errno in {ENOSPC, EDQUOT}:
                raise no_room(error) from error
            raise

    def _begin(self, number: int, fifo: Fifo) -> None:
        name = f"smlocal-pipe-{self._plan.name}-{number}"
        thread = Thread(target=self._run, args=(number, fifo), name=name, daemon=True)
        self._threads = [earlier for earlier in self._threads if earlier.is_alive()]
        thread.start()
        self._threads.append(thread)

    def _run(self, number: int, fifo: Fifo) -> None:
        writer: FifoWriter | None = None
        with ExitStack() as downloads:
            try:
                items = self._content.epoch(number)
                writer = FifoWriter(fifo.open(), self._stop)
                if not self._delay:
                    self._next(number + 1)
                self._sender(writer, self._stream(items, downloads)).send(items())
            except (FifoReaderGoneError, StoppedError):
                pass
            except FeedError as error:
                self._fail(error.failure, error.explanation)
            except S3Error as error:
                of_store = of_s3(error)
                self._fail(of_store.failure, of_store.explanation)
            except Exception:  # noqa: BLE001 - the job must be told of any error
                self._fail(INTERNAL_ERROR, traceback.format_exc())
        self._leave(fifo, writer)
        if self._delay and self._stop.wait(self._delay):
            self._next_late(number + 1)

    def _next(self, number: int) -> None:
        """Create the next epoch, which waits for its reader."""
        with self._lock:
            if self._ended or self._failed:
                raise StoppedError
            fifo = self._fifo(number)
            self._fifos.add(fifo)
            self._begin(number, fifo)

    def _next_late(self, number: int) -> None:
        """Create the next epoch some time after the last one, as `Local.Faults` says."""
        try:
            self._next(number)
        except StoppedError:
            pass
        except FeedError as error:
            self._fail(error.failure, error.explanation)

    def _leave(self, fifo: Fifo, writer: FifoWriter | None) -> None:
        with self._lock:
            self._fifos.discard(fifo)
            keep = self._failed and not self._ended
            if writer is not None and keep:
                self._kept.append(writer)
        fifo.close()
        if writer is not None and not keep:
            writer.close()

    def _fail(self, failure: Failure, explanation: str) -> None:
        with self._lock:
            if self._ended or self._failed:
                return
            self._failed = True
        self._broken(failure, explanation)

    def _stream(self, items: Callable[[], Iterator[Item]], downloads: ExitStack) -> "ObjectStream | None":
        if not self._content.remote:
            return None
        objects = (item for item in items() if isinstance(item, S3Object))
        return downloads.enter_context(self._streams.open(objects))

    def _sender(self, writer: FifoWriter, stream: "ObjectStream | None") -> Sender:
        plan = self._plan
        return Sender(writer, record_io=plan.record_io, gzip=plan.gzip, streams=self._streams, stream=stream)
