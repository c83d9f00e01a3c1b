"""The work of a transform job: every record of every object is sent, and the answers become the output.

Objects are read in their order, requests run at once, and each output has its answers in the order of the records. An
object whose record fails has no output; the others go on.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field
from functools import partial
from itertools import chain
from threading import Condition, Lock, Semaphore
from typing import TYPE_CHECKING, BinaryIO, Final

from smlocal.base.at_use import at_use
from smlocal.base.files import remove_tree
from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.decide.events import unexpected_error
from smlocal.sagemaker.transform import facts
from smlocal.sagemaker.transform.container_connection import CancelledError
from smlocal.sagemaker.transform.data_processing import Processing, ProcessingError
from smlocal.sagemaker.transform.invoking import Answer, InvocationError, Invoker, PayloadError, Workers
from smlocal.sagemaker.transform.objects import OpenStore, opened, shown_name
from smlocal.sagemaker.transform.parameters import AHEAD, Parameters
from smlocal.sagemaker.transform.records import RecordsError, payloads, streamed
from smlocal.terms.listing import Listing

if TYPE_CHECKING:
    from smlocal.base import gzip_errors
    from smlocal.data.sources.s3 import interface as s3
else:  # only for errors
    gzip_errors = at_use("smlocal.base.gzip_errors")
    s3 = at_use("smlocal.data.sources.s3.interface")

_COPIED: Final = 1 << 20


@dataclass(kw_only=True, slots=True)
class Counts:
    """How far the work is."""

    objects: int = 0
    requests: int = 0
    records: int = 0
    """Records read. Payloads of several frames are not counted: they would have to be parsed again."""
    read: int = 0
    """Bytes read."""
    lines: int = 0
    """Lines in the outputs."""
    written: int = 0
    """Bytes of the outputs."""
    failed: list[str] = field(default_factory=list)
    """The objects without output."""
    client: bool | None = None
    """True if the first failure was the data's fault; None without a failure."""
    causes: list[str] = field(default_factory=list)
    """Why each failed, in the same order: object, record if known, message."""
    blank: list[str] = field(default_factory=list)
    """Objects with only blank lines."""

    @property
    def first(self) -> str:
        """The cause of the first failure."""
        return self.causes[0] if self.causes else ""


@dataclass(kw_only=True, slots=True, eq=False)
class _Output:
    """The output of one object, while it is written."""

    name: str
    path: str
    """The object's path below the input folder."""
    file: BinaryIO
    newline: bool
    ended: "Callable[[_Output], None]"
    """Called when the last answer is written."""
    lines: int = 0
    size: int = 0
    failed: bool = False
    trouble: OSError | None = None
    """Why it cannot be written."""
    records: int = 0
    """Records read, if counted."""
    blank: bool | None = None
    """True if only blank lines were sent; None if nothing was sent."""
    _lock: Lock = field(default_factory=Lock)
    _waiting: dict[int, Answer | None] = field(default_factory=dict)
    _following: int = 0
    """The number of the next answer that is written."""
    _total: int | None = None
    """How many answers there will be; None: that is not known yet."""

    def deliver(self, number: int, answer: Answer | None) -> int:
        """Write the answer once those before it are written; returns how many were. None: there is none."""
        with self._lock:
            self._waiting[number] = answer
            before = self._following
            while self._following in self._waiting:
                found = self._waiting.pop(self._following)
                self._following += 1
                try:
                    if found is not None:
                        self._write(found)
                except OSError as error:
                    self.failed, self.trouble = True, self.trouble or error
            self._end_if_whole()
            return self._following - before

    def complete(self, total: int) -> None:
        """No more answers than these will follow."""
        with self._lock:
            self._total = total
            self._end_if_whole()

    def _write(self, answer: Answer) -> None:
        with answer:
            if self.failed:
                return
            last = b""
            while piece := answer.read(_COPIED):
                self._put(piece)
                last = piece[-1:]
            if self.newline and last != b"\n":
                self._put(b"\n")

    def _put(self, piece: bytes) -> None:
        self.file.write(piece)
        self.lines += piece.count(b"\n")
        self.size += len(piece)

    def _end_if_whole(self) -> None:
        if self._following != self._total:
            return
        try:
            self.file.close()
        except OSError as error:
            self.failed, self.trouble = True, self.trouble or error
        if self.failed:
            os.unlink(self.file.name)
        self.ended(self)


@dataclass(kw_only=True, slots=True, eq=False)
class _Held:
    """The bytes of the payloads in memory."""

    _size: int = 0
    _less: Condition = field(default_factory=Condition)

    def wait(self, most: int) -> None:
        """Until there are at most so many, or none."""
        with self._less:
            self._less.wait_for(lambda: self._size <= max(most, 0))

    def add(self, size: int) -> None:
        """Negative for what is not needed any more."""
        with self._less:
            self._size += size
            self._less.notify_all()


@dataclass(kw_only=True, slots=True, eq=False)
class Transformation:
    """All objects of one job."""

    listing: Listing
    parameters: Parameters
    split: str
    gzip: bool
    newline: bool
    """True if each answer ends with a newline in the output."""
    processing: Processing
    invoker: Invoker
    store: OpenStore
    folder: str
    """A folder of the job, for the output."""
    log: Callable[[str], None]
    """Takes a line of the data log."""
    counts: Counts = field(default_factory=Counts)
    trouble: OSError | None = None
    """Why the output cannot be written here."""
    defect: Exception | None = None
    """An error of smlocal itself."""
    cancelled: bool = False
    _lock: Lock = field(default_factory=Lock)
    _parsing: Lock = field(default_factory=Lock)
    """The values of one record at a time are in memory."""
    _room: Semaphore = field(init=False)
    _held: _Held = field(default_factory=_Held)

    def __post_init__(self) -> None:
        self._room = Semaphore(self.parameters.at_once + self.parameters.ahead)

    def cancel(self) -> None:
        """End the work soon. There is no output then."""
        self.cancelled = True
        self.invoker.cancel()

    def output(self, index: int) -> str:
        """The file with the output of an object; there is none if it failed."""
        return f"{self.folder}/{index}{facts.OUT}"

    def run(self) -> None:
        """Transform all objects. A defect in any thread is raised at the end."""
        remove_tree(self.folder)
        os.makedirs(self.folder)
        with Workers(self.parameters.at_once, name="invokes") as workers:
            for index in range(len(self.listing.paths)):
                if self.cancelled:
                    break
                self._begin(workers, index)
        self.invoker.close()
        if self.defect is not None:
            raise self.defect

    def _begin(self, workers: Workers, index: int) -> None:
        """Read an object and have it sent; returns before everything is answered."""
        output = _Output(
            name=shown_name(self.listing.uri_at(index)),
            path=self.listing.paths[index],
            file=open(self.output(index), "wb"),  # noqa: SIM115 - closed with the last answer
            newline=self.newline,
            ended=self._ended,
        )
        number = before = 0
        if self._whole:
            self._room.acquire()
            workers.give(partial(self._answered, output, 0, partial(self._streamed, index), 0, ""))
            number = 1
        else:
            with self._guarded(output), self._opened(index) as source:
                for ask, size in self._asked(source, output):
                    records = self._records_of(output, before)
                    workers.give(partial(self._answered, output, number, ask, size, records))
                    number, before = number + 1, output.records
                    del ask  # it has the payload
                    if self.cancelled or output.failed:
                        break
        output.complete(number)

    @property
    def _whole(self) -> bool:
        """True if an object is one payload of any size, and nothing of it has to be held."""
        alone = self.split == "None" or self.parameters.strategy != facts.SINGLE
        return self.parameters.most is None and alone and self.processing.nothing

    def _asked(self, source: BinaryIO, output: _Output) -> Iterator[tuple[Callable[[], Answer | None], int]]:
        """What is to be asked for each payload of an object, and the bytes of it, once there is room."""
        unlimited = self.parameters.most is None
        following = payloads(source, split=self.split, strategy=self.parameters.strategy, most=self.parameters.most)
        while True:
            self._room.acquire()  # before the payload is read: it may be as large as all that are sent
            try:
                if unlimited:
                    self._held.wait(AHEAD)
                payload = next(following, None)
                if payload is None:
                    self._room.release()
                    if output.blank:
                        self.counts.blank.append(output.path)
                    return
                self._count(output, payload)
            except BaseException:
                self._room.release()
                raise
            size = len(payload)
            self._count_read(payload, ends=True)
            if unlimited:
                self._held.wait(facts.MOST_MB * facts.MEGABYTE - size)
            self._held.add(size)
            ask = partial(self._sent, payload)
            del payload
            yield ask, size
            del ask

    def _count(self, output: _Output, payload: bytes) -> None:
        """Count the records of a payload, if that is cheap."""
        if self.split == "Line":
            output.blank = output.blank is not False and payload.isspace()
        if self.parameters.strategy == facts.SINGLE:
            output.records += 1
        elif self.split == "Line":
            output.records += payload.count(b"\n") + (not payload.endswith(b"\n"))

    def _records_of(self, output: _Output, before: int) -> str:
        """The records of the last payload, in words; empty if not counted."""
        if self.split == "None" or output.records == before:
            return ""
        if output.records == before + 1:
            return f", record {output.records:,}"
        return f", records {before + 1:,} to {output.records:,} (BatchStrategy: SingleRecord would name one)"

    def _opened(self, index: int) -> AbstractContextManager[BinaryIO]:
        return opened(
            self.listing,
            index,
            gzip=self.gzip,
            draft=f"{self.folder}/{index}.in",
            store=self.store,
            cancelled=lambda: self.cancelled,
        )

    def _answered(
        self, output: _Output, number: int, ask: Callable[[], Answer | None], size: int, records: str
    ) -> None:
        """Ask, unless that is in vain by now, and make room for others when the answer is written."""
        answer: Answer | None = None
        if not (self.cancelled or output.failed):
            with self._guarded(output, records):
                answer = ask()
                with self._lock:
                    self.counts.requests += answer is not None
        written = output.deliver(number, answer)
        if output.trouble is not None and self.trouble is None:
            self.trouble = output.trouble
            self.cancel()
        self._held.add(-size)
        if written:
            self._room.release(written)

    def _sent(self, payload: bytes) -> Answer:
        processing, invoke = self.processing, self.invoker.invoke
        if processing.before:
            with self._written(processing.sent(payload)) as filtered:
                answer = invoke(filtered)
        else:
            answer = invoke(payload)
        if not processing.of_answers:
            return answer
        with answer:
            return self._written(processing.kept(payload, answer))

    def _written(self, pieces: Iterator[bytes]) -> Answer:
        """A file with them."""
        file = self.invoker.spool()
        try:
            with self._parsing:
                for piece in self._while_wanted(pieces):
                    file.write(piece)
        except BaseException:
            file.close()
            raise
        return file.whole()

    def _while_wanted(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            if self.cancelled:
                raise CancelledError
            yield piece

    def _streamed(self, index: int) -> Answer | None:
        """Send a whole object in chunks, unless it is empty."""
        with self._opened(index) as source:
            pieces = streamed(source, split=self.split)
            first = next(pieces, None)
            return None if first is None else self.invoker.invoke(self._counted(chain([first], pieces)), chunked=True)

    def _counted(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        before = b""
        for piece in pieces:
            if before:
                self._count_read(before, ends=False)
            before = piece
            yield piece
        self._count_read(before, ends=True)

    def _count_read(self, data: bytes, *, ends: bool) -> None:
        """Count what was read. `ends`: the data ends with a record."""
        with self._lock:
            self.counts.read += len(data)
            if self.split == "Line":
                self.counts.records += data.count(b"\n") + (ends and not data.endswith(b"\n"))
            else:
                self.counts.records += ends

    @property
    def counts_records(self) -> bool:
        """False if payloads may have several frames."""
        return self.split in {"None", "Line"} or self.parameters.strategy == facts.SINGLE

    @contextmanager
    def _guarded(self, output: _Output, records: str = "") -> Iterator[None]:
        """An error leaves this object without output; others go on. `records`: those sent, in words."""
        try:
            yield
        except InvocationError as error:
            self._failed(output, error.lines, client=error.client, cause=f"{output.path}{records}: {error.said}")
        except (ProcessingError, RecordsError, PayloadError, OSError, s3.S3Error, *gzip_errors.GZIP_ERRORS) as error:
            if isinstance(error, RecordsError) and output.records:
                records = f", after record {output.records:,}"
            self._failed(output, [str(error)], client=True, cause=f"{output.path}{records}: {error}")
        except CancelledError:
            output.failed = True
        except Exception as error:  # noqa: BLE001 - `run` raises it: a pool would keep it, and others would wait for ever
            self.defect = self.defect or error
            said = unexpected_error(error)
            self._failed(output, [said], client=False, cause=f"{output.path}: {said}")
            self.cancel()

    def _failed(self, output: _Output, lines: list[str], *, client: bool, cause: str) -> None:
        with self._lock:
            if output.failed:
                return
            output.failed = True
            self.counts.failed.append(output.name)
            self.counts.causes.append(cause)
            if self.counts.client is None:
                self.counts.client = client
            for line in lines:
                self.log(facts.logged(time.time(), f"{output.name}: {line}"))

    def _ended(self, output: _Output) -> None:
        with self._lock:
            self.counts.objects += 1
            if not output.failed:
                self.counts.lines += output.lines
                self.counts.written += output.size
