"""How fast an object is read through a FastFile mount, and how soon its first byte comes.

All sides read from the same rclone server on this machine. The reader of the mount runs on the host, takes 1 MiB at a
time, and has a mount of its own in every round, so that nothing is in any cache; the mount is there before the clock
starts. Our client streams the same object to nowhere with what feeds pipes; `rclone cat` is a whole process. The peak
of memory is that of the server of the mount.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from measure import Samples, alternate, execute, progress
from results import Figure, Size, comparison, main, megabytes, spread
from s3_server import cat, configuration, rclone_server
from workplace import BIN, PROGRAMS, Workplace, workplace

MEGABYTES = 1024
FIRST_BYTE_BOUND = 0.05
STREAM_BOUND = 1 / 0.5
RCLONE_BOUND = 0.8
"""As a share of the time."""
MEMORY_BOUND = 200e6


def measure(size: Size) -> list[Figure]:
    count = size.of(MEGABYTES)
    peaks: list[float] = []
    with workplace() as place, _served(place) as address:
        _make_object(place, count)
        result, folder = place.folder / "result", place.folder / "channel"
        environment = {**place.environment, **configuration(address)}

        def run(way: str) -> list[float]:
            execute([BIN / "python", PROGRAMS / "one_object.py", way, result, folder], environment=environment)
            subprocess.run(["rm", "-rf", folder], check=True)
            os.sync()
            return [float(word) for word in result.read_text().split()]

        def mount() -> float:
            _, took, peak = run("mount")
            peaks.append(peak)
            return took

        def rclone() -> float:
            return execute(cat(address, "bucket/object"), environment=environment).seconds

        what = f"FastFile, {count} MiB"
        first, download = alternate(
            lambda: run("mount")[0], lambda: run("download")[0], rounds=size.rounds, name=f"{what}, first byte"
        )
        ours, stream = alternate(mount, lambda: run("stream")[0], rounds=size.rounds, name=f"{what}, stream")
        again, other = alternate(mount, rclone, rounds=size.rounds, name=f"{what}, rclone")
    peak = Samples(values=tuple(peaks))
    return [
        comparison(f"{what}, first byte ÷ downloading it", first, download, FIRST_BYTE_BOUND),
        comparison(f"{what}, read through ÷ our client streaming to nowhere", ours, stream, STREAM_BOUND),
        comparison(f"{what}, read through ÷ `rclone cat`", again, other, RCLONE_BOUND),
        Figure(
            what=f"peak memory of the server of a mount, {what}",
            ours=spread(peak, megabytes),
            theirs="",
            figure=megabytes(peak.highest),
            bound=megabytes(MEMORY_BOUND),
            met=peak.highest <= MEMORY_BOUND,
        ),
    ]


def _make_object(place: Workplace, megabytes_wanted: int) -> None:
    progress(f"making {megabytes_wanted} MiB")
    bucket = place.folder / "data" / "bucket"
    bucket.mkdir()
    with (bucket / "object").open("wb") as file:
        for _ in range(megabytes_wanted):
            file.write(os.urandom(1 << 20))


@contextmanager
def _served(place: Workplace) -> Iterator[str]:
    (place.folder / "data").mkdir()
    with rclone_server(place.folder / "data") as address:
        yield address


if __name__ == "__main__":
    main(measure)
