"""A job on two engines that form a swarm: four hosts that do nothing, and a channel of 1 GB for an engine each."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from measure import alternate, progress
from results import Figure, Size, comparison, main
from workplace import BIN, NO_OP, ROOT, Workplace, image, workplace

sys.path.append(str(ROOT))  # the engines are those of the tests

HOSTS = 4
NO_OP_BOUND = 2.0
CHANNEL_BOUND = 0.8
_MEGABYTE = 1_000_000


def measure_no_op(size: Size) -> list[Figure]:
    """The bound is that of engines which see the folders: so they do where a job of one engine begins to use two."""
    return [
        _no_op(size, "engines that see the folders", hidden=False),
        _no_op(size, "engines that see none", hidden=True),
    ]


def _no_op(size: Size, which: str, *, hidden: bool) -> Figure:
    tag = image(NO_OP)
    with workplace() as place, two_engines(tag, [place.folder] if hidden else []) as (first, second):
        both, one = alternate(
            lambda: _job(place, tag, HOSTS, first, second),
            lambda: _job(place, tag, HOSTS, first),
            rounds=size.rounds,
            name=f"{HOSTS} hosts, {which}",
        )
    return comparison(f"no-op job on {HOSTS} hosts, two {which} ÷ one of them", both, one, NO_OP_BOUND)


def _job(place: Workplace, tag: str, hosts: int, *engines: str) -> float:
    return place.run(tag, "--instance-count", str(hosts), *_named(engines)).seconds


def measure_channel(size: Size) -> list[Figure]:
    megabytes = size.of(1_000)
    tag = image(NO_OP)
    with workplace() as place, two_engines(tag, [place.folder]) as engines:
        figures = []
        for files, what in ((1, "one file"), (megabytes, f"{megabytes:,} files")):
            folder = _data(place.folder / f"{files}-files", files, megabytes)
            ours, theirs = alternate(
                partial(_sending, place, tag, folder, engines),
                partial(_copying, tag, folder, engines),
                rounds=size.rounds,
                name=f"channel, {what}",
            )
            sent = f"channel of {megabytes:,} MB, {what}, to two engines"
            figure = f"{sent}: phase Downloading ÷ `docker cp` to both in turn"
            figures.append(comparison(figure, ours, theirs, CHANNEL_BOUND))
    return figures


def _data(folder: Path, files: int, megabytes: int) -> Path:
    progress(f"making {files} files")
    folder.mkdir()
    for number in range(files):
        with (folder / f"{number:04}.bin").open("wb") as file:
            for _ in range(megabytes // files):
                file.write(os.urandom(_MEGABYTE))
    return folder


def _sending(place: Workplace, tag: str, folder: Path, engines: Sequence[str]) -> float:
    """The job's phase Downloading: all of it, with the network, the containers and the other folders."""
    name = place.new_name()
    place.run(tag, "--instance-count", "2", "--channel", f"train={folder}", *_named(engines), name=name)
    describe: list[str | Path] = [BIN / "smlocal", "describe", name, "--json"]
    described = subprocess.run(describe, env=place.environment, check=True, capture_output=True)
    os.sync()
    return float(json.loads(described.stdout)["Local"]["Seconds"]["Downloading"])


def _copying(tag: str, folder: Path, engines: Sequence[str]) -> float:
    """Only `docker cp`, into containers that are there already."""
    names = {engine: _docker(engine, "create", tag, "train") for engine in engines}
    began = time.perf_counter()
    for engine, container in names.items():
        _docker(engine, "cp", str(folder), f"{container}:/data")
    seconds = time.perf_counter() - began
    for engine, container in names.items():
        _docker(engine, "rm", container)
    os.sync()
    return seconds


def _docker(engine: str, *words: str) -> str:
    done = subprocess.run(["docker", "--host", engine, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _named(engines: Sequence[str]) -> list[str]:
    return [word for engine in engines for word in ("--engine", engine)]


@contextmanager
def two_engines(tag: str, hidden: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """The addresses of a manager and a worker that have this image and do not see the hidden folders."""
    from tests.jobs.hosts.swarm.networked_engines import NetworkedEngines

    engines = NetworkedEngines()
    try:
        progress("starting two engines")
        engines.start(["manager", "worker"], hidden=hidden, image=tag)
        first, second = engines.engines
        yield first.address, second.address
    finally:
        engines.close()


if __name__ == "__main__":
    main(measure_no_op, measure_channel)
