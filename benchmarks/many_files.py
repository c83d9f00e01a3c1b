"""Whether the size of a channel shows: the no-op job with a channel of 100,000 files against one of 10."""

from measure import alternate
from results import Figure, Size, comparison, main
from workplace import NO_OP, image, workplace

BOUND = 1.5
MANY = 100_000
FEW = 10


def measure(size: Size) -> list[Figure]:
    tag = image(NO_OP)
    with workplace() as place:
        many, few = place.many_files(size.of(MANY)), place.many_files(FEW)
        ours, theirs = alternate(
            lambda: place.run(tag, "--channel", f"train={many}").seconds,
            lambda: place.run(tag, "--channel", f"train={few}").seconds,
            rounds=size.rounds,
            name="many files",
        )
    return [comparison(f"channel of {size.of(MANY):,} files ÷ of {FEW}", ours, theirs, BOUND)]


if __name__ == "__main__":
    main(measure)
