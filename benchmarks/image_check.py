"""`smlocal check` of a large image against `docker save` of it, and the same check again, which reads nothing."""

import io
import os
import random
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager

from measure import Samples, alternate, execute, progress
from results import Figure, Size, comparison, main, megabytes, spread
from workplace import BIN, Workplace, workplace

FIRST_BOUND = 1.2
AGAIN_BOUND = 0.1
MEMORY_BOUND = 150_000_000
FILES = 60_000
BYTES = 3_000_000_000
LARGE = 200
"""Files of ten megabytes; the others share the rest."""
_LARGE_BYTES = 10_000_000


def measure(size: Size) -> list[Figure]:
    files, amount = size.of(FILES), size.of(BYTES)
    with workplace() as place, large_image(files, amount) as tag:
        peaks: list[float] = []

        def check(*, fresh: bool) -> float:
            if fresh:
                shutil.rmtree(place.folder / "home" / "checked-images", ignore_errors=True)
            ended = execute([BIN / "smlocal", "check", tag, "--static"], environment=place.environment)
            peaks.append(ended.peak_bytes)
            return ended.seconds

        first, saved = alternate(
            lambda: check(fresh=True), lambda: save(tag, place), rounds=size.rounds, name="check of an image"
        )
        again = Samples(values=tuple(check(fresh=False) for _ in range(size.rounds)))
    what = f"static check of an image of {amount / 1e9:.1f} GB, {files:,} files"
    peak = Samples(values=tuple(peaks))
    return [
        comparison(f"{what} ÷ `docker save`", first, saved, FIRST_BOUND),
        comparison("the same again ÷ the first time", again, first, AGAIN_BOUND),
        Figure(
            what="its peak memory",
            ours=spread(peak, megabytes),
            theirs="",
            figure=megabytes(peak.highest),
            bound=megabytes(MEMORY_BOUND),
            met=peak.highest <= MEMORY_BOUND,
        ),
    ]


def save(tag: str, place: Workplace) -> float:
    return execute(["docker", "save", tag], environment=place.environment).seconds


@contextmanager
def large_image(files: int, amount: int) -> Iterator[str]:
    """An image like those with a framework in them: packages, libraries, some weights, and a layer with a program."""
    progress("making the image")
    tag = f"smlocal-benchmark-check:{os.getpid()}"
    made = subprocess.Popen(["docker", "import", "-", f"{tag}-base"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert made.stdin is not None
    with made.stdin, tarfile.open(fileobj=made.stdin, mode="w|") as archive:
        write(archive, files, amount)
    assert made.wait() == 0
    dockerfile = f"FROM {tag}-base\nCOPY train /usr/local/bin/train\n"
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as archive:
        add(archive, "Dockerfile", dockerfile.encode(), 0o644)
        add(archive, "train", b"#!/bin/sh\nexec /usr/bin/program-0\n", 0o755)
    subprocess.run(
        ["docker", "build", "--quiet", "--tag", tag, "-"], input=context.getvalue(), capture_output=True, check=True
    )
    try:
        yield tag
    finally:
        subprocess.run(["docker", "rmi", "--force", tag, f"{tag}-base"], capture_output=True, check=False)


def write(archive: tarfile.TarFile, files: int, amount: int) -> None:
    chance = random.Random(files)
    noise = chance.randbytes(1 << 20) * 10
    large = max(1, min(LARGE, amount // _LARGE_BYTES * 2 // 3))
    share = max(100, (amount - large * _LARGE_BYTES) // files)
    text = b"import os\n\n\ndef function():\n    return os.environ['HOME']\n" * 40_000
    for number in range(files - large):
        kind, size = number % 20, chance.randrange(share // 2, share * 3 // 2)
        if kind == 0:
            add(archive, f"usr/bin/program-{number}", b"\x7fELF" + noise[: size - 4], 0o755)
        elif kind == 1:
            add(archive, f"opt/program/part-{number}.py", text[: min(size, 4000)], 0o644)
        elif kind < 10:
            add(archive, f"usr/lib/python3/dist-packages/p{number % 300}/m{number}.py", text[:size], 0o644)
        else:
            add(archive, f"usr/share/data-{number % 500}/{number}.bin", noise[:size], 0o644)
    for number in range(large):
        add(archive, f"opt/weights/{number}.bin", noise[:_LARGE_BYTES], 0o644)
    add(archive, "bin/sh", b"\x7fELF" + noise[:100_000], 0o755)


def add(archive: tarfile.TarFile, name: str, content: bytes, mode: int) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), mode
    archive.addfile(info, io.BytesIO(content))


if __name__ == "__main__":
    main(measure)
