"""The command `smlocal`, also as `python -m smlocal`."""

import atexit
import gc
import os
import sys
from typing import NoReturn

_COLLECT_AFTER = (200_000, 5, 5)
"""Thresholds of the three generations."""


_INTERRUPTED = 130


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        code = _run()
    except KeyboardInterrupt:  # during the imports: nothing has begun
        code = _INTERRUPTED
    _leave(code)


def _leave(code: int) -> NoReturn:
    """End the process. The system frees its memory sooner than Python would, which takes 10 ms after a job."""
    gc.freeze()
    # What was asked for at the end, and what other threads do, is waited for as ever.
    if not atexit._ncallbacks() and _is_only_thread():  # noqa: SLF001 - there is no other way to ask
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except Exception:  # noqa: BLE001, S110 - Python meets it again below, and reports it
            pass
        else:
            os._exit(code)
    sys.exit(code)


def _is_only_thread() -> bool:
    threading = sys.modules.get("threading")
    return threading is None or all(each.daemon or each is threading.main_thread() for each in threading.enumerate())


def _run() -> int:
    # A job that does nothing makes 40,000 objects, one with data in S3 120,000, and collecting them only costs time:
    # 20 ms for 100,000.
    gc.set_threshold(*_COLLECT_AFTER)
    from smlocal.cli.terminal.standard_streams import repair_standard_streams

    repair_standard_streams()
    from smlocal.cli.main import run_command_line
    from smlocal.jobs.control import detach

    detach.process_may_fork = True
    return run_command_line()


if __name__ == "__main__":
    main()
