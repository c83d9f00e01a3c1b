"""The cost of validating a job file: `smlocal validate` against importing only click."""

from measure import alternate, execute
from results import Figure, Size, comparison, main
from workplace import BIN, ROOT

BOUND = 4.0


def measure(size: Size) -> list[Figure]:
    # Each takes a tenth of a second, so more rounds cost nothing and calm the medians.
    ours, theirs = alternate(
        lambda: execute([BIN / "smlocal", "validate", ROOT / "examples" / "hello" / "job.yaml"]).seconds,
        lambda: execute([BIN / "python", "-c", "import click"]).seconds,
        rounds=4 * size.rounds,
        name="validate",
    )
    return [comparison('`smlocal validate` ÷ `python -c "import click"`', ours, theirs, BOUND)]


if __name__ == "__main__":
    main(measure)
