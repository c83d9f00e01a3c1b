"""The time that smlocal adds to an empty job: a whole `smlocal run` against `docker run --rm IMAGE train`.

Its processor time is against `python -c "import click"`. `--against COMMIT` measures both at an earlier commit too, in
the same run: ten changes of one hundredth each are seen only so.
"""

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from measure import Ended, Samples, alternate, execute
from results import Figure, Size, comparison, main
from workplace import BIN, NO_OP, ROOT, Workplace, image, workplace

BOUND = 1.6
PROCESSOR_BOUND = 3.0
AGAINST_BOUND = 1.0


def measure(size: Size) -> list[Figure]:
    tag = image(NO_OP)
    with workplace() as place:
        ours, theirs = alternate(
            lambda: place.run(tag).seconds,
            lambda: execute(["docker", "run", "--rm", tag, "train"]).seconds,
            rounds=size.rounds,
            name="no-op",
        )
        click = alternate(
            lambda: place.run(tag).processor_seconds,
            lambda: execute([BIN / "python", "-c", "import click"]).processor_seconds,
            rounds=size.rounds,
            name="processor time",
        )
        earlier = [figure for commit in size.against for figure in _against(place, commit, tag, size)]
    return [
        comparison("no-op job ÷ `docker run --rm`", ours, theirs, BOUND),
        comparison('processor time of a no-op job ÷ `python -c "import click"`', *click, PROCESSOR_BOUND),
        *earlier,
    ]


def _against(place: Workplace, commit: str, tag: str, size: Size) -> Iterator[Figure]:
    found: tuple[list[Ended], list[Ended]] = ([], [])
    with _source(place, commit) as folder:

        def seconds(side: int, run: Callable[[], Ended]) -> float:
            found[side].append(run())
            return found[side][-1].seconds

        times = alternate(
            lambda: seconds(0, lambda: _run(place, ROOT, tag)),
            lambda: seconds(1, lambda: _run(place, folder, tag)),
            rounds=size.rounds,
            name=f"against {commit}",
        )
    yield comparison(f"no-op job ÷ at {commit}", *times, AGAINST_BOUND)
    processor = [Samples(values=tuple(each.processor_seconds for each in side[1:])) for side in found]
    yield comparison(f"processor time of a no-op job ÷ at {commit}", processor[0], processor[1], AGAINST_BOUND)


@contextmanager
def _source(place: Workplace, commit: str) -> Iterator[Path]:
    """The source of that commit, compiled; it runs with the libraries of this environment."""
    folder = place.folder / f"source-{commit}"
    folder.mkdir()
    archive = subprocess.run(["git", "-C", ROOT, "archive", commit, "src"], stdout=subprocess.PIPE, check=True)
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    for each in (folder, ROOT):
        execute([BIN / "python", "-m", "compileall", "-q", each / "src"])
    yield folder


def _run(place: Workplace, root: Path, tag: str) -> Ended:
    """As a module on both sides: there is no command of an earlier commit."""
    command: Sequence[str | Path] = [BIN / "python", "-m", "smlocal", "run", "--image", tag, "--name", place.new_name()]
    environment = {**place.environment, "PYTHONPATH": str(root / "src")}
    return execute([*command, "--output", place.output], environment=environment)


if __name__ == "__main__":
    main(measure)
