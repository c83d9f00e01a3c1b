"""A no-op job on many hosts, against as many `docker run` at once on one network; and what twice the hosts cost."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from measure import alternate, execute
from results import Figure, Size, comparison, main
from workplace import NO_OP, Workplace, image, workplace

BOUND = 1.5
TWICE_BOUND = 2.2


def measure(size: Size) -> list[Figure]:
    tag = image(NO_OP)
    count = max(2, size.of(16))
    with workplace() as place, own_network() as network:
        ours, theirs = alternate(
            lambda: _job(place, tag, count),
            lambda: docker_runs(network, tag, count),
            rounds=size.rounds,
            name=f"{count} hosts",
        )
        twice, once = alternate(
            lambda: _job(place, tag, 2 * count),
            lambda: _job(place, tag, count),
            rounds=size.rounds,
            name=f"{2 * count} hosts and {count}",
        )
    what = f"no-op job on {count} hosts ÷ {count} `docker run` by `xargs -P {count}` on one network"
    return [
        comparison(what, ours, theirs, BOUND),
        comparison(f"no-op job on {2 * count} hosts ÷ on {count}", twice, once, TWICE_BOUND),
    ]


def _job(place: Workplace, tag: str, hosts: int) -> float:
    return place.run(tag, "--instance-count", str(hosts)).seconds


def docker_runs(network: str, tag: str, count: int) -> float:
    """So many `docker run` at once: the seconds until all have ended."""
    began = time.perf_counter()
    subprocess.run(
        ["xargs", "-P", str(count), "-I", "{}", *f"docker run --rm --network {network} {tag} train".split()],
        input="\n".join(map(str, range(count))),
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - began


@contextmanager
def own_network() -> Iterator[str]:
    """One that all rounds use: what a network costs is the job's own affair, which makes one each time."""
    name = f"smlocal-benchmark-{time.time_ns()}"
    execute(["docker", "network", "create", name])
    try:
        yield name
    finally:
        execute(["docker", "network", "rm", name])


if __name__ == "__main__":
    main(measure)
