"""The command `smlocal`, also as `python -m smlocal`."""

import gc
import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    # A run is short and makes little garbage: collecting while everything is imported only costs start-up time.
    gc.disable()
    from smlocal.cli.standard_streams import see_to_standard_streams

    see_to_standard_streams()
    from smlocal.cli.main import run_command_line

    code = run_command_line()
    # Nor is it worth visiting every object once more at the end: the process gives its memory back in one piece.
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()
