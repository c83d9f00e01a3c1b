"""The command `smlocal`, also as `python -m smlocal`."""

import gc
import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    # A run is short and makes little garbage: collecting while everything is imported only costs start-up time.
    gc.disable()
    from smlocal.cli.main import run_command_line

    sys.exit(run_command_line())


if __name__ == "__main__":
    main()
