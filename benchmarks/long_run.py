"""Two hundred jobs one after another in one process: what grows."""

import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from measure import progress
from results import Figure, Size, main
from workplace import NO_OP, Workplace, image, workplace

_WARM = 20
"""Caches and pools have their size by then."""
_MEMORY_NOISE = 2 * 1024 * 1024


def measure(size: Size) -> list[Figure]:
    # A process of its own: what grows is what it holds, not what the benchmark does.
    tag = image(NO_OP)
    count = size.of(200)
    with workplace() as place:
        os.environ.update(place.environment)
        before: dict[str, int] = {}
        for number in range(_WARM + count):
            if number == _WARM:
                before = _held(place)
            progress(f"job {number + 1} of {_WARM + count}")
            _run(place, tag)
        after = _held(place)
    grown = {what: after[what] - before[what] for what in before}
    return [
        Figure(
            what=f"{count} no-op jobs one after another: growth of {what}",
            ours=f"{before[what]} → {after[what]}",
            theirs="",
            figure=f"{growth:+d}",
            bound="0",
            met=growth <= (_MEMORY_NOISE if what == "memory" else 0),
        )
        for what, growth in grown.items()
    ]


def _run(place: Workplace, tag: str) -> None:
    from smlocal.cli.main import run_command_line

    arguments = ["run", "--quiet", "--image", tag, "--output", str(place.output), "--name", place.new_name()]
    if run_command_line(arguments):
        raise RuntimeError(arguments)


def _held(place: Workplace) -> dict[str, int]:
    counts: dict[str, Callable[[], int]] = {
        "open files": lambda: len(os.listdir("/proc/self/fd")),
        "memory": lambda: int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"),
        "containers": lambda: _on_engine("ps", "--all", "--quiet"),
        "networks": lambda: _on_engine("network", "ls", "--quiet"),
        "volumes": lambda: _on_engine("volume", "ls", "--quiet"),
        "mounts": lambda: len(Path("/proc/mounts").read_bytes().splitlines()),
        "temporary files": lambda: len(os.listdir(tempfile.gettempdir())),
        "folders of jobs with anything but documents and logs": lambda: sum(
            (job / folder).exists() for job in (place.folder / "home/jobs").iterdir() for folder in ("hosts", "staged")
        ),
    }
    return {what: count() for what, count in counts.items()}


def _on_engine(*command: str) -> int:
    listed = subprocess.run(
        ["docker", *command, "--filter", "label=smlocal.job"], capture_output=True, text=True, check=True
    )
    return len(listed.stdout.split())


if __name__ == "__main__":
    main(measure)
