"""The cost of the Python API: `smlocal.run` in a process that has it imported, against a whole `smlocal run`."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from measure import alternate
from results import Figure, Size, comparison, main
from workplace import BIN, NO_OP, Workplace, image, workplace

BOUND = 0.9


def measure(size: Size) -> list[Figure]:
    tag = image(NO_OP)
    with workplace() as place, _caller(place, tag) as call:
        ours, theirs = alternate(call, lambda: place.run(tag).seconds, rounds=size.rounds, name="python-api")
    return [comparison("no-op job by `smlocal.run` in a running Python ÷ `smlocal run`", ours, theirs, BOUND)]


@contextmanager
def _caller(place: Workplace, tag: str) -> Iterator[Callable[[], float]]:
    """The seconds of one call in a Python of its own, which lives as long as the benchmark."""
    command: list[str | Path] = [BIN / "python", Path(__file__), "--calls", tag, str(place.output)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=place.environment
    ) as process:

        def call() -> float:
            assert process.stdin is not None
            assert process.stdout is not None
            print(place.new_name(), file=process.stdin, flush=True)
            return float(json.loads(process.stdout.readline()))

        yield call
        process.communicate()


def _calls(tag: str, output: str) -> None:
    import smlocal

    for name in sys.stdin:
        began = time.perf_counter()
        job = smlocal.run(image=tag, name=name.strip(), output=output)
        seconds = time.perf_counter() - began
        assert job.status == "Completed", job.describe()
        print(json.dumps(seconds), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--calls"]:
        _calls(*sys.argv[2:])
    else:
        main(measure)
