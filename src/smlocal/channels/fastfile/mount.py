"""A FastFile channel from S3, mounted by a process of its own."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from threading import Lock
from typing import BinaryIO

from smlocal.channels.fastfile.index import write_index
from smlocal.channels.fastfile.unmount import unmount
from smlocal.channels.fastfile.unread import NOT_CHECKED, Unread, read_unread
from smlocal.contract.listing import Listing
from smlocal.contract.outcome.failure_reason import INTERNAL_ERROR
from smlocal.errors import StagingError
from smlocal.quick_dataclass import dataclass
from smlocal.threads import watched_thread

_STARTING = 60.0
_ENDING = 5.0
_LAST_WORDS = 2000
_AHEAD = "512"
"""KiB. More gains little, and a program that maps a file waits for as much wherever it looks."""
_MEMORY = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(32 << 20),
}
"""Each of libfuse's threads would keep a heap of its own, and each read get and give back its pages: half the work."""


@dataclass(kw_only=True, slots=True)
class FuseMount:
    """Use `start`, and `stop` whatever happens."""

    mount_point: str
    """What to bind into the container, read-only."""
    _process: "subprocess.Popen[bytes]"
    _tell: BinaryIO
    """While it is open, the server knows that we are there."""
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
        read_seconds: float | None = None,
    ) -> "FuseMount":
        """Mount what a listing has in S3 at a new folder below `directory`, which is made if need be.

        `died` is called once, from a thread, when the server ends without having been told to. A read that got no
        answer from S3 fails after `read_seconds` seconds, a minute unless told. Raises `StagingError`, or `OSError`.
        """
        mount_point = os.path.join(os.path.realpath(directory), "mount")
        index = os.path.join(directory, "index")
        log = os.path.join(directory, "server.log")
        unread = os.path.join(directory, "unread")
        os.makedirs(mount_point)
        write_index(listing, index)
        told = {
            "mount_point": mount_point,
            "index": index,
            "unread": unread,
            "region": region,
            "bucket": listing.bucket,
            "key_base": listing.key_base,
        }
        if read_seconds is not None:
            told["read_seconds"] = str(read_seconds)
        process, tell, answers = _launch(log)
        mount = cls(
            mount_point=mount_point,
            _process=process,
            _tell=tell,
            _answers=answers,
            _log=log,
            _unread=unread,
            _died=died,
        )
        try:
            mount._introduce(told)
            os.unlink(index)  # the server has it mapped
            _let_the_kernel_read_ahead(mount_point)
        except BaseException:
            mount.stop()
            raise
        watched_thread(mount._watch, name="fastfile-watch", died=lambda _, error: died(repr(error))).start()
        return mount

    def unread(self) -> list[Unread]:
        """The objects that could not be read, each written down before its reader got EIO."""
        return [each for each in read_unread(self._unread) if each.code != NOT_CHECKED]

    def not_checked(self) -> list[Unread]:
        """An object whose checksum could not be compared, if there was one."""
        return [each for each in read_unread(self._unread) if each.code == NOT_CHECKED]

    def stop(self) -> None:
        """Unmount whether or not somebody still reads, and end the server; a second time does nothing."""
        with self._lock:
            if self._stopping:
                return
            self._stopping = True
        unmount(self.mount_point)
        process = self._process
        process.terminate()
        try:
            process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        unmount(self.mount_point)  # it may have mounted after the first try
        self._answers.close()
        with suppress(BrokenPipeError):
            self._tell.close()

    def _introduce(self, told: dict[str, str]) -> None:
        """Tell the server what to do and wait until it has done so."""
        answer = b""
        with suppress(BrokenPipeError):
            self._tell.write(f"{json.dumps(told)}\n".encode())
            self._tell.flush()
            coming = select.poll()
            coming.register(self._answers, select.POLLIN)
            if coming.poll(_STARTING * 1000):
                answer = self._answers.readline()
        words = json.loads(answer) if answer else {}
        if "mounted" not in words:
            reasons = [
                words.get("error") or "the FastFile server could not be started",
                self._last_words(),
            ]
            raise StagingError(INTERNAL_ERROR, details=[reason for reason in reasons if reason])

    def _watch(self) -> None:
        code = self._process.wait()
        with self._lock:
            if self._stopping:
                return
        unmount(self.mount_point)
        said = self._last_words()
        self._died(f"the FastFile server ended with {code}" + (f": {said}" if said else ""))

    def _last_words(self) -> str:
        """The last line of its log."""
        try:
            with open(self._log, "rb") as file:
                file.seek(max(0, os.path.getsize(self._log) - _LAST_WORDS))
                lines = file.read().decode(errors="replace").splitlines()
        except OSError:
            return ""
        return lines[-1] if lines else ""


def _let_the_kernel_read_ahead(mount_point: str) -> None:
    """In larger pieces, which only root may allow: a quarter of the questions, and a fifth of the time."""
    device = os.stat(mount_point).st_dev
    with (
        suppress(OSError),
        open(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb", "w", encoding="ascii") as file,
    ):
        file.write(_AHEAD)


def _launch(log: str) -> tuple["subprocess.Popen[bytes]", BinaryIO, BinaryIO]:
    """The server, what it listens to, and what it says."""
    # -P: a module of the folder the user happens to be in must not get in the way.
    command = [sys.executable, "-P", "-m", "smlocal.channels.fastfile.server"]
    hears, tell = os.pipe()
    answers, says = os.pipe()
    try:
        with open(log, "ab") as file:
            process = subprocess.Popen(
                command,
                stdin=hears,
                stdout=says,
                stderr=file,
                env={**os.environ, **_MEMORY},
                start_new_session=True,  # Ctrl-C is not meant for it
            )
    except BaseException:
        os.close(tell)
        os.close(answers)
        raise
    finally:
        os.close(hears)
        os.close(says)
    return process, os.fdopen(tell, "wb"), os.fdopen(answers, "rb")
