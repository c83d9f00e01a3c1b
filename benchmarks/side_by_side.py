"""Twenty detached jobs at once until all are done, against twenty `docker run` through xargs."""

import subprocess
import time

from measure import alternate
from results import Figure, Size, comparison, main
from workplace import BIN, NO_OP, Workplace, image, workplace

BOUND = 2.5


def measure(size: Size) -> list[Figure]:
    tag = image(NO_OP)
    count = size.of(20)
    with workplace() as place:
        ours, theirs = alternate(
            lambda: _smlocal(place, tag, count),
            lambda: _docker(tag, count),
            rounds=size.rounds,
            name=f"{count} at once",
        )
    return [
        comparison(f"{count} detached no-op jobs at once ÷ `docker run` by `xargs -P {count}`", ours, theirs, BOUND)
    ]


def _smlocal(place: Workplace, tag: str, count: int) -> float:
    names = [place.new_name() for _ in range(count)]
    began = time.perf_counter()
    _xargs(f"{BIN}/smlocal run --detach --quiet --image {tag} --output {place.output} --name", names, count, place)
    subprocess.run([BIN / "smlocal", "wait", *names], env=place.environment, check=True)
    return time.perf_counter() - began


def _docker(tag: str, count: int) -> float:
    began = time.perf_counter()
    _xargs(f"docker run --rm {tag} train", [str(number) for number in range(count)], count, None)
    return time.perf_counter() - began


def _xargs(command: str, words: list[str], count: int, place: Workplace | None) -> None:
    subprocess.run(
        ["xargs", "-P", str(count), "-n", "1", *command.split()],
        input="\n".join(words),
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
        env=None if place is None else place.environment,
    )


if __name__ == "__main__":
    main(measure)
