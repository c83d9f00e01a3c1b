"""Mounts a FastFile channel from S3, served by a separate process."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from threading import Lock
from typing import Any, BinaryIO

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.threads import watched_thread
from smlocal.data.channels.fastfile.availability import unmount
from smlocal.data.channels.fastfile.tree import NOT_CHECKED, Unread, read_unread, write_index
from smlocal.errors import StreamNotStartedError
from smlocal.terms.listing import Listing
from smlocal.terms.rights import EVERYTHING, Rights

_START_SECONDS = 60.0
_STOP_SECONDS = 5.0
_LOG_TAIL = 2000
_READ_AHEAD_KIB = "512"
"""A larger value gains little, and a program that maps a file waits for this much at every access."""
_MALLOC_SETTINGS = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(32 << 20),
}
"""Otherwise every thread of libfuse has its own heap, and each read allocates and frees pages: twice the time."""


@dataclass(kw_only=True, slots=True)
class FuseMount:
    """Use `start`, and always `stop`."""

    mount_point: str
    """To be mounted in the container, read-only."""
    _process: "subprocess.Popen[bytes]"
    _requests: BinaryIO
    """The server ends when this is closed."""
    _answers: BinaryIO
    _log: str
    _unread: str
    _died: Callable[[str], None]
    _stopping: bool = False
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def start(
        cls,
        listing: Listing,
        *,
        region: str,
        directory: str,
        died: Callable[[str], None],
        rights: Rights = EVERYTHING,
        read_seconds: float | None = None,
    ) -> "FuseMount":
        """Mount the objects of a listing at a new folder below `directory`, which is made if necessary.

        `died` is called once, from a thread, if the server ends unexpectedly. A read fails if S3 does not answer within
        `read_seconds`, a minute by default. Raises `StreamNotStartedError` or `OSError`.
        """
        mount_point = os.path.join(os.path.realpath(directory), "mount")
        index = os.path.join(directory, "index")
        log = os.path.join(directory, "server.log")
        unread = os.path.join(directory, "unread")
        os.makedirs(mount_point)
        write_index(listing, index)
        settings: dict[str, Any] = {
            "mount_point": mount_point,
            "index": index,
            "unread": unread,
            "region": region,
            "buckets": rights.buckets,
            "bucket": listing.bucket,
            "key_base": listing.key_base,
        }
        if read_seconds is not None:
            settings["read_seconds"] = str(read_seconds)
        process, tell, answers = _launch(log)
        mount = cls(
            mount_point=mount_point,
            _process=process,
            _requests=tell,
            _answers=answers,
            _log=log,
            _unread=unread,
            _died=died,
        )
        try:
            mount._handshake(settings)
            os.unlink(index)  # the server has it mapped
            _set_read_ahead(mount_point)
        except BaseException:
            mount.stop()
            raise
        watched_thread(mount._watch, name="fastfile-watch", died=lambda _, error: died(repr(error))).start()
        return mount

    def unread(self) -> list[Unread]:
        """The objects that could not be read, each recorded before its reader got EIO."""
        return [each for each in read_unread(self._unread) if each.code != NOT_CHECKED]

    def not_checked(self) -> list[Unread]:
        """An object whose checksum could not be compared, if there was one."""
        return [each for each in read_unread(self._unread) if each.code == NOT_CHECKED]

    def stop(self) -> None:
        """Unmount, even if somebody still reads, and end the server; may be called again."""
        with self._lock:
            if self._stopping:
                return
            self._stopping = True
        unmount(self.mount_point)
        process = self._process
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        unmount(self.mount_point)  # it may have mounted after the first try
        self._answers.close()
        with suppress(BrokenPipeError):
            self._requests.close()

    def _handshake(self, settings: dict[str, str]) -> None:
        """Send the settings to the server and wait until it has mounted."""
        answer = b""
        with suppress(BrokenPipeError):
            self._requests.write(f"{json.dumps(settings)}\n".encode())
            self._requests.flush()
            poll = select.poll()
            poll.register(self._answers, select.POLLIN)
            if poll.poll(_START_SECONDS * 1000):
                answer = self._answers.readline()
        reply = json.loads(answer) if answer else {}
        if "mounted" not in reply:
            reasons = [
                reply.get("error") or "the FastFile server could not be started",
                self._last_log_line(),
            ]
            raise StreamNotStartedError(reasons[0], details=[reason for reason in reasons if reason])

    def _watch(self) -> None:
        code = self._process.wait()
        with self._lock:
            if self._stopping:
                return
        unmount(self.mount_point)
        said = self._last_log_line()
        self._died(f"the FastFile server ended with {code}" + (f": {said}" if said else ""))

    def _last_log_line(self) -> str:
        try:
            with open(self._log, "rb") as file:
                file.seek(max(0, os.path.getsize(self._log) - _LOG_TAIL))
                lines = file.read().decode(errors="replace").splitlines()
        except OSError:
            return ""
        return lines[-1] if lines else ""


def _set_read_ahead(mount_point: str) -> None:
    """Larger reads by the kernel, which only root can set: a quarter of the requests, a fifth of the time."""
    device = os.stat(mount_point).st_dev
    with (
        suppress(OSError),
        open(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb", "w", encoding="ascii") as file,
    ):
        file.write(_READ_AHEAD_KIB)


def _launch(log: str) -> tuple["subprocess.Popen[bytes]", BinaryIO, BinaryIO]:
    """Start the server; returns the process and the pipes to it and from it."""
    # -P: modules in the user's current folder must not be imported.
    command = [sys.executable, "-P", "-m", "smlocal.data.channels.fastfile.server"]
    server_input, tell = os.pipe()
    answers, server_output = os.pipe()
    try:
        with open(log, "ab") as file:
            process = subprocess.Popen(
                command,
                stdin=server_input,
                stdout=server_output,
                stderr=file,
                env={**os.environ, **_MALLOC_SETTINGS},
                start_new_session=True,  # without Ctrl-C
            )
    except BaseException:
        os.close(tell)
        os.close(answers)
        raise
    finally:
        os.close(server_input)
        os.close(server_output)
    return process, os.fdopen(tell, "wb"), os.fdopen(answers, "rb")
