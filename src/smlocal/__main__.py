"""The command `smlocal`, also as `python -m smlocal`."""

import gc
import sys

_COLLECT_AFTER = (100_000, 5, 5)
"""Objects, and how often the young ones are collected before older ones are."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    # A job that does nothing makes 40,000 objects: collecting meanwhile only costs time. One of days makes more.
    gc.set_threshold(*_COLLECT_AFTER)
    from smlocal.cli.terminal.standard_streams import see_to_standard_streams

    see_to_standard_streams()
    from smlocal.cli.main import run_command_line
    from smlocal.job.control import detach

    detach.process_may_fork = True
    code = run_command_line()
    # Nor is it worth visiting every object once more at the end: the process gives its memory back in one piece.
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()
