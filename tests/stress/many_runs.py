"""Run as a program: one no-op job after another in one process. Usage: many_runs.py JOB_FILE COUNT.

Prints a JSON object: the open files after the first few jobs and after the last.
"""

import json
import os
import sys

from smlocal.cli.main import cli

_WARM = 5


def open_files() -> list[str]:
    """The open files of this process."""
    return sorted(os.readlink(entry.path) for entry in os.scandir("/proc/self/fd") if os.path.lexists(entry.path))


def main(path: str, count: int) -> None:
    """Run them all."""
    early: list[str] = []
    for number in range(count):
        code = cli(["run", "--quiet", path, "--name", f"row-{number}"], standalone_mode=False)
        if code:
            sys.exit(f"row-{number} ended with {code}")
        if number == _WARM:
            early = open_files()
    sys.stdout.write(json.dumps({"early": early, "late": open_files()}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
