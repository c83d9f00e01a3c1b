"""Completing the name of a job in a shell, with ten thousand jobs in the store, against importing only click."""

from listing import home_with_jobs
from measure import alternate, execute
from results import Figure, Size, comparison, main
from workplace import BIN, workplace

BOUND = 2.0


def measure(size: Size) -> list[Figure]:
    count = size.of(10_000)
    with workplace() as place:
        home = home_with_jobs(place.folder / "home", count)
        completing = {
            **place.environment,
            "SMLOCAL_HOME": str(home),
            "_SMLOCAL_COMPLETE": "bash_complete",
            "COMP_WORDS": "smlocal describe job-12",
            "COMP_CWORD": "2",
        }
        # Each takes a tenth of a second, so more rounds cost nothing and calm the medians.
        ours, theirs = alternate(
            lambda: execute([BIN / "smlocal"], environment=completing).seconds,
            lambda: execute([BIN / "python", "-c", "import click"], environment=place.environment).seconds,
            rounds=4 * size.rounds,
            name="completion",
        )
    return [comparison(f'completion of a name with {count} jobs ÷ `python -c "import click"`', ours, theirs, BOUND)]


if __name__ == "__main__":
    main(measure)
