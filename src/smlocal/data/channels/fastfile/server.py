"""The process that serves one FastFile channel from S3.

It reads one line of JSON from standard input and answers with one on standard output. When the process that started it
ends, standard input is closed; the server then unmounts and ends too.
"""

import json
import os
import signal
import sys
from threading import Thread
from typing import Any

from smlocal.data.channels.fastfile.availability import unmount
from smlocal.data.channels.fastfile.binding import serve
from smlocal.data.channels.fastfile.filesystem import READ_SECONDS, FileSystem
from smlocal.data.channels.fastfile.tree import Tree
from smlocal.data.channels.fastfile.unread import NOT_CHECKED, Unread, UnreadLog
from smlocal.data.sources.s3.client import open_store
from smlocal.terms.rights import Rights

_SIGNALS = {signal.SIGTERM, signal.SIGHUP, signal.SIGINT}


def main() -> None:
    """Serve until unmounted, until a signal comes or until the parent ends."""
    # Blocked in all threads, which inherit this: one of them waits for signals.
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    settings = json.loads(sys.stdin.readline())
    mount_point = settings["mount_point"]
    for wait in (_wait_for_a_signal, _wait_for_parent):
        Thread(target=wait, args=(mount_point,), daemon=True).start()
    try:
        code = _serve(settings)
    except Exception as error:  # noqa: BLE001 - the parent is told of any error
        _answer({"error": str(error) or type(error).__name__})
        code = 1
    # Without waiting for threads that wait for S3.
    os._exit(code)


def _serve(settings: dict[str, Any]) -> int:
    read_seconds = float(settings.get("read_seconds", READ_SECONDS))
    unread = UnreadLog(settings["unread"])
    store = open_store(
        settings["region"],
        rights=Rights(buckets=None if settings["buckets"] is None else tuple(settings["buckets"])),
        retry_seconds=read_seconds,
        not_checked=lambda kind, uri: unread.add_first(Unread(uri=uri, code=NOT_CHECKED, why=kind)),
    )
    files = FileSystem(
        Tree(settings["index"]),
        store,
        bucket=settings["bucket"],
        key_base=settings["key_base"],
        log=_log,
        unread=unread.add,
        read_seconds=read_seconds,
    )
    return serve(files, settings["mount_point"], lambda: _answer({"mounted": True}))


def _wait_for_a_signal(mount_point: str) -> None:
    signal.sigwait(_SIGNALS)
    _exit(mount_point)


def _wait_for_parent(mount_point: str) -> None:
    while os.read(0, 1024):
        pass
    _exit(mount_point)


def _exit(mount_point: str) -> None:
    """End at once: open reads fail."""
    unmount(mount_point)
    os._exit(0)


def _answer(answer: dict[str, object]) -> None:
    os.write(1, f"{json.dumps(answer)}\n".encode())


def _log(line: str) -> None:
    os.write(2, f"{line}\n".encode(errors="surrogateescape"))


if __name__ == "__main__":
    main()
