"""The side of a FIFO that is written to: as fast as the reader takes it, until he goes or the feed stops."""

import fcntl
import os
import select
from errno import EBADF, EINVAL, ENOSYS, EOPNOTSUPP, EPERM

from smlocal.channels.pipe.stop import Stop

_BUFFER = 1 << 20
_SMALLEST = 1 << 16
_PIECE = 1 << 20
_GATHERED = 1 << 16
_CANNOT_SPLICE = {EBADF, EINVAL, ENOSYS, EOPNOTSUPP, EPERM}


class ReaderGoneError(Exception):
    """Nobody reads any more: the normal end of an epoch."""


class FifoWriter:
    """Takes over the descriptor of a FIFO that has a reader. `stop` ends everything with `StoppedError`.

    What is written may stay in memory for a while: `flush` before anything that takes time.
    """

    def __init__(self, descriptor: int, stop: Stop) -> None:
        """Make the pipe as large as it may be; nothing is written yet."""
        self._descriptor = descriptor
        # Never blocking in the kernel: a reader that only holds the FIFO open must not hold up the end of the job.
        os.set_blocking(descriptor, False)
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)
        self._poll.register(stop.fileno(), select.POLLIN)
        self._stop = stop
        self._gathered = bytearray()
        self._splices = True
        _enlarge(descriptor)

    def close(self) -> None:
        """Give the reader its end of file."""
        os.close(self._descriptor)

    def write(self, data: bytes | memoryview) -> None:
        """Send bytes, small ones together with what comes next."""
        if len(self._gathered) + len(data) <= _GATHERED:
            self._gathered += data
            return
        self.flush()
        if len(data) <= _GATHERED // 2:
            self._gathered += data
        else:
            self._write(memoryview(data))

    def flush(self) -> None:
        """Send what was gathered."""
        if self._gathered:
            gathered, self._gathered = self._gathered, bytearray()
            self._write(memoryview(gathered))

    def splice(self, file: int, start: int, count: int) -> int:
        """Send `count` bytes of a file without looking at them; fewer only where the file ends before.

        `OSError` is what the file system says.
        """
        if count <= _GATHERED // 4:
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
                return os.splice(file, self._descriptor, count, offset_src=start, flags=os.SPLICE_F_NONBLOCK)
            except BlockingIOError:
                self._wait()
            except BrokenPipeError:
                raise ReaderGoneError from None
            except OSError as error:
                if error.errno not in _CANNOT_SPLICE:
                    raise
                self._splices = False  # not this file system; it is asked again for the next epoch
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
                raise ReaderGoneError from None

    def _wait(self) -> None:
        """Until there is room, or no reader any more, which the next attempt will meet."""
        self._poll.poll()
        self._stop.check()


def _enlarge(descriptor: int) -> None:
    """More room means fewer turns; the kernel refuses where one user has many pipes."""
    size = _BUFFER
    while size > _SMALLEST:
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, size)
        except OSError:
            size //= 2
        else:
            return
