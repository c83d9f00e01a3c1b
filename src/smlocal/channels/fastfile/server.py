"""The process that serves one FastFile channel from S3.

It is told by one line of JSON on its standard input, answers with one on its standard output, and unmounts and ends
with whoever started it: then the standard input is at its end.
"""

import json
import os
import signal
import sys
from threading import Thread

from smlocal.channels.fastfile.unmount import unmount

_SIGNALS = {signal.SIGTERM, signal.SIGHUP, signal.SIGINT}


def main() -> None:
    """Serve until unmounted, told to end, or left alone."""
    # In every thread that is to come: one of them waits for signals, and no other may be interrupted.
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    told = json.loads(sys.stdin.readline())
    mount_point = told["mount_point"]
    for wait in (_wait_for_a_signal, _wait_to_be_left):
        Thread(target=wait, args=(mount_point,), daemon=True).start()
    try:
        code = _serve(told)
    except Exception as error:  # noqa: BLE001 - whatever it is, who started us must hear of it
        _say({"error": str(error) or type(error).__name__})
        code = 1
    # Threads that wait for S3 are not waited for.
    os._exit(code)


def _serve(told: dict[str, str]) -> int:
    from smlocal.channels.fastfile.binding import serve
    from smlocal.channels.fastfile.filesystem import READ_SECONDS, FileSystem
    from smlocal.channels.fastfile.tree import Tree
    from smlocal.channels.fastfile.unread import NOT_CHECKED, Unread, UnreadLog
    from smlocal.sources.s3.client import open_store

    read_seconds = float(told.get("read_seconds", READ_SECONDS))
    unread = UnreadLog(told["unread"])
    store = open_store(
        told["region"],
        retry_seconds=read_seconds,
        not_checked=lambda kind, uri: unread.add_first(Unread(uri=uri, code=NOT_CHECKED, why=kind)),
    )
    files = FileSystem(
        Tree(told["index"]),
        store,
        bucket=told["bucket"],
        key_base=told["key_base"],
        trouble=_log,
        unread=unread.add,
        read_seconds=read_seconds,
    )
    return serve(files, told["mount_point"], lambda: _say({"mounted": True}))


def _wait_for_a_signal(mount_point: str) -> None:
    signal.sigwait(_SIGNALS)
    _leave(mount_point)


def _wait_to_be_left(mount_point: str) -> None:
    while os.read(0, 1024):
        pass
    _leave(mount_point)


def _leave(mount_point: str) -> None:
    """At once: what somebody still reads from us fails, instead of keeping us."""
    unmount(mount_point)
    os._exit(0)


def _say(word: dict[str, object]) -> None:
    os.write(1, f"{json.dumps(word)}\n".encode())


def _log(line: str) -> None:
    os.write(2, f"{line}\n".encode(errors="surrogateescape"))


if __name__ == "__main__":
    main()
