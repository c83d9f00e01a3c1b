"""The command `smlocal`, also as `python -m smlocal`."""

import gc
import sys

_COLLECT_AFTER = (200_000, 5, 5)
"""Thresholds of the three generations."""


_INTERRUPTED = 130


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        code = _run()
    except KeyboardInterrupt:  # during the imports: nothing has begun
        code = _INTERRUPTED
    # Collecting at the end is not worth the time either: the system frees all memory of the process.
    gc.freeze()
    sys.exit(code)


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
