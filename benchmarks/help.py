"""The cost of the command line before it does anything: `smlocal --help` against importing only click."""

from measure import alternate, execute
from results import Figure, Size, comparison, main
from workplace import BIN

BOUND = 2.0


def measure(size: Size) -> list[Figure]:
    # Each takes a twentieth of a second, so more rounds cost nothing and calm the medians.
    ours, theirs = alternate(
        lambda: execute([BIN / "smlocal", "--help"]).seconds,
        lambda: execute([BIN / "python", "-c", "import click"]).seconds,
        rounds=4 * size.rounds,
        name="help",
    )
    return [comparison('`smlocal --help` ÷ `python -c "import click"`', ours, theirs, BOUND)]


if __name__ == "__main__":
    main(measure)
