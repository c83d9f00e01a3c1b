"""The time that smlocal adds to an empty job: a whole `smlocal run` against `docker run --rm IMAGE train`.

`--against` measures other commits beside it in the same rounds: a fixed one, and the last. Changes that each cost next
to nothing are seen by the first.
"""

import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from costs import Cost, keep_costs
from measure import Ended, Samples, alternate_all, execute
from results import OTHER_COMMIT, Figure, Size, comparison, main
from workplace import BIN, NO_OP, ROOT, image, workplace

BOUND = 1.4
PROCESSOR_BOUND = 3.0
FIXED = "1e0149f1"
COMMIT_BOUND = 1.02
"""A job costs no more than at another commit; two runs of the same code differ by so much."""
_DOCKER, _CLICK, _HERE = "docker", "click", "here"


def measure(size: Size) -> list[Figure]:
    tag = image(NO_OP)
    commits = list(dict.fromkeys(_named(each) for each in (*size.against, _last()))) if size.against else []
    programs = {commit: _programs_of(commit) for commit in commits}
    with workplace() as place:
        found = alternate_all(
            {
                _HERE: partial(place.run, tag),
                **{commit: partial(place.run_by, folder, tag) for commit, folder in programs.items()},
                _DOCKER: partial(execute, ["docker", "run", "--rm", tag, "train"]),
                _CLICK: partial(execute, [BIN / "python", "-c", "import click"], environment=place.environment),
            },
            rounds=size.rounds,
            name="no-op",
        )
    seconds = {side: Samples(values=tuple(each.seconds for each in runs)) for side, runs in found.items()}
    processor = {side: _processor(runs) for side, runs in found.items()}
    figures = [
        comparison("no-op job ÷ `docker run --rm`", seconds[_HERE], seconds[_DOCKER], BOUND),
        _lowest(
            'its processor time ÷ `python -c "import click"`', processor[_HERE], processor[_CLICK], PROCESSOR_BOUND
        ),
    ]
    for commit in commits:
        of = f"{OTHER_COMMIT} {commit}"
        figures += [
            comparison(f"no-op job ÷ {of}", seconds[_HERE], seconds[commit], COMMIT_BOUND),
            _lowest(f"its processor time ÷ {of}", processor[_HERE], processor[commit], COMMIT_BOUND),
        ]
    if size.recorded and commits:
        measured = {commit: commit for commit in commits} | ({} if _is_changed() else {_changes()[0]: _HERE})
        keep_costs(
            [
                Cost(
                    commit=commit,
                    of=_git("show", "--no-patch", "--format=%cd", "--date=format:%Y-%m-%d %H:%M", commit),
                    seconds=seconds[side].median,
                    docker=seconds[_DOCKER].median,
                    processor=processor[side].lowest,
                    click=processor[_CLICK].lowest,
                )
                for commit, side in measured.items()
            ]
        )
    return figures


def _processor(runs: Sequence[Ended]) -> Samples:
    return Samples(values=tuple(each.processor_seconds for each in runs))


def _lowest(what: str, ours: Samples, theirs: Samples, bound: float) -> Figure:
    """The ratio of the least: on a busy machine, processor time is only ever more."""
    least = [Samples(values=(each.lowest,)) for each in (ours, theirs)]
    return comparison(f"{what}, the least of each", least[0], least[1], bound)


def _last() -> str:
    """The commit with the code that the code here was made from."""
    return _changes()[0 if _is_changed() else -1]


def _changes() -> list[str]:
    """The last two commits that changed the code."""
    found = _git("rev-list", "--max-count=2", "HEAD", "--", "src").split()
    return [_named(commit) for commit in found]


def _is_changed() -> bool:
    return bool(_git("status", "--porcelain", "--", "src"))


def _named(commit: str) -> str:
    return _git("rev-parse", "--short=8", f"{commit}^{{commit}}")


def _git(*words: str) -> str:
    return subprocess.run(["git", "-C", ROOT, *words], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def _programs_of(commit: str) -> Path:
    """Those of an environment with smlocal of that commit."""
    made = subprocess.run([ROOT / "scripts" / "environment-at", commit], stdout=subprocess.PIPE, text=True, check=True)
    return Path(made.stdout.strip()) / "bin"


if __name__ == "__main__":
    main(measure, compared_with=FIXED)
