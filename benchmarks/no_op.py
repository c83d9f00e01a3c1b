"""The time that smlocal adds to an empty job: a whole `smlocal run` against `docker run --rm IMAGE train`."""

from measure import alternate, execute
from results import Figure, Size, comparison, main
from workplace import NO_OP, image, workplace

BOUND = 1.6


def measure(size: Size) -> list[Figure]:
    tag = image(NO_OP)
    with workplace() as place:
        ours, theirs = alternate(
            lambda: place.run(tag).seconds,
            lambda: execute(["docker", "run", "--rm", tag, "train"]).seconds,
            rounds=size.rounds,
            name="no-op",
        )
    return [comparison("no-op job ÷ `docker run --rm`", ours, theirs, BOUND)]


if __name__ == "__main__":
    main(measure)
