"""Searches whose metric is no number, whose disk fills up, or whose engine goes while the seventh training job runs."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.jobs.tuning.conftest import LOSS, WAIT, Tuning
from tests.kit.life import Life

SEVENTH_WAITS = f"{LOSS}; [ $n -ne 7 ] || {{ {WAIT}; }}"
VALUES = [str(number) for number in range(1, 9)]


@pytest.fixture
def life_on_disk(tmp_path: Path, image: Callable[[str], str], docker: Callable[..., str]) -> Iterator[Life]:
    """A home on a small file system, `disk`."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16m,mode=0700", "tmpfs", disk], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"cannot mount here: {mounted.stderr.strip()}")
    life = Life(folder=tmp_path, home=disk / "home", image=image("sh"))
    try:
        yield life
    finally:
        life.close(docker)
        subprocess.run(["umount", disk], check=True)


def _fill(path: Path) -> None:
    """As another program does that writes until nothing more goes."""
    with suppress(OSError), path.open("ab", buffering=0) as file:
        while file.write(bytes(512)):
            pass


@pytest.mark.slow(12)
def test_the_disk_is_full_at_the_seventh_training_job(
    life_on_disk: Life, assert_nothing_left: Callable[[str], None]
) -> None:
    # Which of the two supervisors finds no room first is chance. What one frees lets the other go on.
    life, tuning, name = life_on_disk, Tuning(life=life_on_disk), "search-disk-full"
    assert life("run", "--detach", tuning.file(name, SEVENTH_WAITS, values=VALUES, parallel=1)).returncode == 0
    tuning.until_training(name, 7)
    seventh, other = tuning.child(name, 7), life.folder / "disk" / "other"
    _fill(other)
    life.let_go(seventh)
    life.until(lambda: life.job(seventh).status.terminal or life.job(name).status.terminal)
    other.unlink()
    answer = tuning.wait(name)
    counts = answer["TrainingJobStatusCounters"]
    children = tuning.children(name)
    assert counts["InProgress"] == 0, answer
    assert sum(counts.values()) == len(children), answer
    assert {str(each.status) for each in children[:6]} == {"Completed"}
    assert all(each.status.terminal for each in children)
    assert len(children) == 8 or answer["HyperParameterTuningJobStatus"] == "Failed", answer
    assert answer["BestTrainingJob"]["TunedHyperParameters"] == {"n": "1"}
    for each in (name, *(child.name for child in children)):
        assert_nothing_left(each)


@pytest.mark.slow(12)
@pytest.mark.usefixtures("relayed")
def test_the_engine_is_lost_at_the_seventh_training_job(
    tuning: Any, relay: Any, all_gone: Callable[[str], None]
) -> None:
    life, name = tuning.life, "search-engine-lost"
    assert life("run", "--detach", tuning.file(name, SEVENTH_WAITS, values=VALUES, parallel=1)).returncode == 0
    tuning.until_training(name, 7)
    relay.vanish()
    life.until(lambda: life.job(name).status.terminal)
    answer = life.describe(name)
    assert answer["FailureReason"].startswith("InternalServerError")
    counts = answer["TrainingJobStatusCounters"]
    assert (counts["Completed"], counts["RetryableError"], counts["InProgress"]) == (6, 1, 0)
    assert answer["BestTrainingJob"]["TunedHyperParameters"] == {"n": "1"}
    assert len(tuning.children(name)) == 7
    relay.come_back()
    assert life("recover").returncode == 0
    all_gone(name)


@pytest.mark.slow(6)
def test_a_metric_that_is_no_number_is_no_result(tuning: Any, all_gone: Callable[[str], None]) -> None:
    metrics = [{"Name": "loss", "Regex": "^loss=(.*)$"}]
    definition = {"AlgorithmSpecification": {"TrainingImage": tuning.life.image, "TrainingInputMode": "File"}}
    definition["AlgorithmSpecification"]["MetricDefinitions"] = metrics
    script = f"{LOSS.rpartition(';')[0]}; case $n in 1) v=nan;; 2) v=inf;; 3) v=-Infinity;; 4) v=many;; 5) v=1e400;; "
    path = tuning.file(
        "search-nan",
        f"{script} *) v=$n;; esac; echo loss=$v",
        values=["1", "2", "3", "4", "5", "6"],
        parallel=1,
        definition=definition,
    )
    done = tuning.life("run", path)
    assert done.returncode == 1, done.stderr
    assert "has written no value of loss" in done.stderr
    assert "these lines came close: loss=nan" in done.stderr
    answer = tuning.life.describe("search-nan")
    assert answer["FailureReason"].startswith("No objective metrics found after running 5 training jobs.")
    assert answer["ObjectiveStatusCounters"] == {"Succeeded": 0, "Pending": 0, "Failed": 5}
    assert not any("FinalHyperParameterTuningJobObjectiveMetric" in each for each in answer["Local"]["TrainingJobs"])
    all_gone("search-nan")
