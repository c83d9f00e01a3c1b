"""The FIFO of one epoch, in a folder that the container may change; writing to it; and the signal that stops a feed."""

import fcntl
import os
import select
import stat
import sys
from errno import EBADF, EINVAL, ENOSYS, EOPNOTSUPP, EPERM, EXDEV
from threading import Lock


class StoppedError(Exception):
    """The feed was stopped."""


class Stop:
    """Set once, from any thread; has a descriptor to poll together with others."""

    def __init__(self) -> None:
        self._descriptor, self._other = os.pipe()
        self._set = False

    def set(self) -> None:
        """Stop the feed."""
        self._set = True
        os.write(self._other, b"\0")

    @property
    def is_set(self) -> bool:
        """Whether the feed was stopped."""
        return self._set

    def check(self) -> None:
        """Raise `StoppedError` if the feed was stopped."""
        if self._set:
            raise StoppedError

    def wait(self, seconds: float) -> bool:
        """Wait for some time; False as soon as the feed is stopped."""
        return not select.select([self._descriptor], [], [], seconds)[0]

    def fileno(self) -> int:
        """A descriptor that becomes readable when the feed is stopped."""
        return self._descriptor

    def close(self) -> None:
        """Close the descriptor, when no thread polls it any more."""
        os.close(self._descriptor)
        os.close(self._other)


_MODE = 0o666
if sys.platform == "linux":
    _NAME = os.O_PATH
else:  # such channels are refused
    _NAME = os.O_RDONLY | os.O_NONBLOCK
_NO_LINKS = {EOPNOTSUPP, EPERM, EXDEV}


class Fifo:
    """A FIFO that is held open by a descriptor: if its name is replaced, nothing else is written to.

    `open` blocks until somebody reads; `release`, from another thread, ends that. The constructor raises
    `FileExistsError` if the name is taken.
    """

    def __init__(self, name: str, *, directory: int, spool: str) -> None:
        """Make the FIFO in `spool`, readable for all users, and then link it into the folder open as `directory`."""
        self._lock = Lock()
        self._reading = -1
        private = f"{spool}/{name}"
        os.mkfifo(private, _MODE)
        try:
            self._path = _descriptor_of(private)
            try:
                os.link(private, name, dst_dir_fd=directory, follow_symlinks=False)
            except OSError as error:
                os.close(self._path)
                if error.errno not in _NO_LINKS:
                    raise
                self._path = _made_in_place(name, directory)
        finally:
            os.unlink(private)

    def open(self) -> int:
        """Wait for a reader and return a descriptor to write to."""
        return os.open(_proc_path(self._path), os.O_WRONLY | os.O_CLOEXEC)

    def release(self) -> None:
        """Let a blocked `open` and all later ones return."""
        with self._lock:
            if self._path >= 0 and self._reading < 0:
                self._reading = os.open(_proc_path(self._path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def close(self) -> None:
        """Close the descriptors. The name stays: readers look at FIFOs after they have read them."""
        with self._lock:
            for descriptor in (self._path, self._reading):
                if descriptor >= 0:
                    os.close(descriptor)
            self._path = self._reading = -1


def _descriptor_of(name: str, directory: int | None = None) -> int:
    """A descriptor of this FIFO, made readable for all users; `FileExistsError` if it is no longer a FIFO."""
    descriptor = os.open(name, _NAME | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        os.chmod(_proc_path(descriptor), _MODE)
        return descriptor
    os.close(descriptor)
    raise FileExistsError(name)


def _made_in_place(name: str, directory: int) -> int:
    """Make the FIFO in its folder, where hard links are not possible."""
    os.mkfifo(name, _MODE, dir_fd=directory)
    return _descriptor_of(name, directory)


def _proc_path(descriptor: int) -> str:
    """A path of the open file, even after it was renamed or removed."""
    return f"/proc/self/fd/{descriptor}"


# Writes to a FIFO as fast as its reader reads, until the reader closes it or the feed stops.

_BUFFER = 1 << 20
_SMALLEST = 1 << 16
_PIECE = 1 << 20
_BUFFERED = 1 << 16
_CANNOT_SPLICE = {EBADF, EINVAL, ENOSYS, EOPNOTSUPP, EPERM}


class FifoReaderGoneError(Exception):
    """The reader has closed the FIFO: a normal end of an epoch."""


class FifoWriter:
    """Owns the descriptor of a FIFO that has a reader. After `stop` all calls raise `StoppedError`.

    Written bytes may be buffered: call `flush` before anything that takes time.
    """

    def __init__(self, descriptor: int, stop: Stop) -> None:
        """Make the pipe as large as possible."""
        self._descriptor = descriptor
        # Non-blocking: a reader that does not read must not delay the end of the job.
        os.set_blocking(descriptor, False)
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)
        self._poll.register(stop.fileno(), select.POLLIN)
        self._stop = stop
        self._buffered = bytearray()
        self._splices = True
        _enlarge(descriptor)

    def close(self) -> None:
        """Close the FIFO: the reader gets an end of file."""
        os.close(self._descriptor)

    def write(self, data: bytes | memoryview) -> None:
        """Send bytes; a small number is buffered."""
        if len(self._buffered) + len(data) <= _BUFFERED:
            self._buffered += data
            return
        self.flush()
        if len(data) <= _BUFFERED // 2:
            self._buffered += data
        else:
            self._write(memoryview(data))

    def flush(self) -> None:
        """Send the buffered bytes."""
        if self._buffered:
            buffered, self._buffered = self._buffered, bytearray()
            self._write(memoryview(buffered))

    def splice(self, file: int, start: int, count: int) -> int:
        """Send `count` bytes of a file, inside the kernel if possible; return the number, smaller if the file ends."""
        if count <= _BUFFERED // 4:
            data = os.pread(file, count, start)
            self.write(data)
            return len(data)
        self.flush()
        done = 0
        while done < count:
            moved = self._some(file, start + done, count - done)
            if moved == 0:
                break
            done += moved
        return done

    def _some(self, file: int, start: int, count: int) -> int:
        while self._splices:
            self._stop.check()
            try:
                return _spliced(file, start, self._descriptor, count)
            except BlockingIOError:
                self._wait()
            except BrokenPipeError:
                raise FifoReaderGoneError from None
            except OSError as error:
                if error.errno not in _CANNOT_SPLICE:
                    raise
                self._splices = False  # this file system cannot; it is tried again in the next epoch
        data = os.pread(file, min(count, _PIECE), start)
        self._write(memoryview(data))
        return len(data)

    def _write(self, data: memoryview) -> None:
        while data:
            self._stop.check()
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                self._wait()
            except BrokenPipeError:
                raise FifoReaderGoneError from None

    def _wait(self) -> None:
        """Wait until there is room, or no reader any more."""
        self._poll.poll()
        self._stop.check()


if sys.platform == "linux":

    def _spliced(file: int, start: int, to: int, count: int) -> int:
        return os.splice(file, to, count, offset_src=start, flags=os.SPLICE_F_NONBLOCK)

    def _enlarge(descriptor: int) -> None:
        """Fewer switches between writer and reader; the kernel refuses if one user has many large pipes."""
        size = _BUFFER
        while size > _SMALLEST:
            try:
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, size)
            except OSError:
                size //= 2
            else:
                return
else:

    def _spliced(*_: int) -> int:
        raise OSError(ENOSYS, os.strerror(ENOSYS))

    def _enlarge(_: int) -> None:
        """Pipes have the size that they have."""
