"""How fast a container gets its data through FIFOs, from a file of this machine and from S3.

The reader is the same everywhere: Python in a container, which takes up to 1 MiB at a time and throws it away; it times
itself from opening the FIFO to its end. A local file is in memory. The feeder is a process of its own, so that its peak
of memory is known. From S3, both sides read from the same rclone server.
"""

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from measure import Samples, alternate, progress
from results import Figure, Size, comparison, main, megabytes, spread
from s3_server import cat, configuration, rclone_server
from workplace import BIN, PROGRAMS, PY, Workplace, image, workplace

LOCAL_MEGABYTES = 2048
REMOTE_MEGABYTES = 1024
LOCAL_BOUND = 1 / 2
REMOTE_BOUND = 0.8
"""As a share of the time."""
MEMORY_BOUND = 200e6


def measure_local(size: Size) -> list[Figure]:
    wanted = size.of(LOCAL_MEGABYTES)
    what = f"Pipe, a local file of {wanted} MiB"
    with workplace() as place:
        path = _make_object(place, wanted)
        with _feeding(place, path.parent, {}) as peaks:
            ours, theirs = alternate(
                _epochs(place, path),
                lambda: _fill(place, ["cat", path], path),
                rounds=size.rounds,
                name=f"{what}, against cat",
            )
    return [comparison(f"{what} ÷ `cat FILE > FIFO`, same reader", ours, theirs, LOCAL_BOUND), _memory(what, peaks)]


def measure_remote(size: Size) -> list[Figure]:
    wanted = size.of(REMOTE_MEGABYTES)
    what = f"Pipe, an object of {wanted} MiB in S3"
    with workplace() as place, rclone_server(place.folder) as address:
        path = _make_object(place, wanted)
        environment = {**place.environment, **configuration(address)}
        with _feeding(place, None, environment) as peaks:
            ours, theirs = alternate(
                _epochs(place, path),
                lambda: _fill(place, cat(address, "bucket/object"), path),
                rounds=size.rounds,
                name=what,
            )
    return [
        comparison(f"{what} ÷ `rclone cat OBJECT > FIFO`, same reader", ours, theirs, REMOTE_BOUND),
        _memory(what, peaks),
    ]


def _epochs(place: Workplace, path: Path) -> Callable[[], float]:
    """Each call reads the next epoch of the feeder."""
    epochs = count()
    return lambda: _read(place, f"train_{next(epochs)}", path)


def _fill(place: Workplace, command: Sequence[str | Path], path: Path) -> float:
    """Read what that command writes into a FIFO."""
    fifo = place.folder / "input" / "filled"
    os.mkfifo(fifo)
    with subprocess.Popen(["sh", "-c", 'exec "$@" > "$0"', fifo, *command]):
        took = _read(place, fifo.name, path)
    fifo.unlink()
    return took


def _read(place: Workplace, name: str, path: Path) -> float:
    command = ["docker", "run", "--rm", "--volume", f"{place.folder}/input:/opt/ml/input/data"]
    command += [
        "--workdir",
        "/opt/ml/input/data",
        "--env",
        f"FIFO={name}",
        "--env",
        f"SCRIPT={(PROGRAMS / 'read_fifo.py').read_text()}",
    ]
    command += ["--env", f"EXPECTED={path.stat().st_size}", image(PY), "train"]
    return float(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


@contextmanager
def _feeding(place: Workplace, root: Path | None, environment: Mapping[str, str]) -> Iterator[list[float]]:
    """A feeder in a process of its own; what is yielded holds its peak of memory afterwards."""
    folder = place.folder / "input"
    folder.mkdir()
    peaks: list[float] = []
    command: list[str | Path] = [
        BIN / "python",
        PROGRAMS / "feed_pipes.py",
        str(root or ""),
        folder,
        place.folder / "spool",
    ]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**place.environment, **environment}
    ) as feeder:
        assert feeder.stdin is not None
        assert feeder.stdout is not None
        assert feeder.stdout.readline() == "ready\n"
        yield peaks
        feeder.stdin.close()
        peaks.append(float(feeder.stdout.readline()))


def _make_object(place: Workplace, megabytes_wanted: int) -> Path:
    progress(f"making {megabytes_wanted} MiB")
    path = place.folder / "bucket" / "object"
    path.parent.mkdir()
    piece = os.urandom(1 << 20)
    with path.open("wb") as file:
        for _ in range(megabytes_wanted):
            file.write(piece)
    return path


def _memory(what: str, peaks: list[float]) -> Figure:
    peak = Samples(values=tuple(peaks))
    return Figure(
        what=f"peak memory of the feeder, {what}",
        ours=spread(peak, megabytes),
        theirs="",
        figure=megabytes(peak.highest),
        bound=megabytes(MEMORY_BOUND),
        met=peak.highest <= MEMORY_BOUND,
    )


if __name__ == "__main__":
    main(measure_local, measure_remote)
