"""Searches that go to their end."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.jobs.tuning.conftest import LOSS, WAIT

from smlocal.sagemaker.tuning.state import EARLIER

Gone = Callable[[str], None]


@pytest.mark.slow(6)
def test_a_grid_runs_every_combination_once(tuning: Any, all_gone: Gone) -> None:
    life = tuning.life
    done = life("run", tuning.file("tuning-grid", LOSS, Tags=[{"Key": "team", "Value": "a"}]))
    assert done.returncode == 0, done.stderr
    answer = life.describe("tuning-grid")
    assert answer["HyperParameterTuningJobStatus"] == "Completed"
    assert answer["TrainingJobStatusCounters"]["Completed"] == 4
    assert answer["ObjectiveStatusCounters"] == {"Succeeded": 4, "Pending": 0, "Failed": 0}
    best = answer["BestTrainingJob"]
    assert best["TunedHyperParameters"] == {"n": "1"}
    assert best["FinalHyperParameterTuningJobObjectiveMetric"] == {"Type": "Minimize", "MetricName": "loss", "Value": 1}
    assert best["ObjectiveStatus"] == "Succeeded"

    tuned = [each["TunedHyperParameters"]["n"] for each in answer["Local"]["TrainingJobs"]]
    assert sorted(tuned) == ["1", "2", "3", "4"]
    child = life.describe(tuning.child("tuning-grid", 1))
    assert child["TuningJobArn"] == answer["HyperParameterTuningJobArn"]
    assert child["HyperParameters"] == {"_tuning_objective_metric": "loss", "fixed": "yes", "n": "1"}
    assert child["Local"]["Request"]["Tags"] == [{"Key": "team", "Value": "a"}]

    listed = json.loads(life("jobs", "--json").stdout)
    (summary,) = listed["HyperParameterTuningJobSummaries"]
    assert (summary["Strategy"], summary["HyperParameterTuningJobStatus"]) == ("Grid", "Completed")
    assert len(listed["TrainingJobSummaries"]) == 4
    assert "tuning-strategy" in {note["Id"] for note in answer["Local"]["Notes"]}
    all_gone("tuning-grid")
    again = life("run", tuning.file("tuning-grid", LOSS))
    assert (again.returncode, "already exists" in again.stderr) == (2, True), again.stderr
    assert life("rm", "tuning-grid").returncode == 0


@pytest.mark.slow(5)
def test_the_same_request_gives_the_same_points(tuning: Any) -> None:
    ranges = {
        "IntegerParameterRanges": [{"Name": "n", "MinValue": "1", "MaxValue": "100"}],
        "ContinuousParameterRanges": [{"Name": "lr", "MinValue": "0.001", "MaxValue": "1"}],
    }
    limits = {"MaxNumberOfTrainingJobs": 2, "MaxParallelTrainingJobs": 2}
    config = {"Strategy": "Random", "ParameterRanges": ranges, "ResourceLimits": limits, "RandomSeed": 5}
    points = []
    for name in ("tuning-seed-1", "tuning-seed-2"):
        path = tuning.file(name, LOSS, config=config)
        planned = json.loads(tuning.life("plan", path, "--json").stdout)["Search"]["FirstPoints"]
        assert tuning.life("run", path).returncode == 0
        found = [each["TunedHyperParameters"] for each in tuning.life.describe(name)["Local"]["TrainingJobs"]]
        assert found == [each["HyperParameters"] for each in planned]
        points.append(found)
    assert points[0] == points[1]


@pytest.mark.slow(4)
def test_a_metric_that_nobody_writes_is_said_at_the_first_training_job(tuning: Any, all_gone: Gone) -> None:
    script = "echo epoch 1 loss: 0.5; echo nothing here"
    (tuning.life.folder / "train.py").write_text("parser.add_argument('--m')")
    done = tuning.life("run", tuning.file("tuning-no-metric", script, values=["1", "2"], parallel=3))
    assert done.returncode == 1
    said = " ".join(done.stderr.split())
    assert said.count("has written no value of loss") == 1
    regex = "its regex ^loss=([0-9.]+)$ finds no number; loss: ([0-9.eE+-]+) would, in: epoch 1 loss: 0.5"
    assert regex in said
    assert "! the tuned hyperparameter n is in no file of the job (train.py): its values may have no effect" in said
    assert "! MaxParallelTrainingJobs is 3, and there are at most 2 training jobs" in said
    assert regex in " ".join(tuning.life("describe", "tuning-no-metric").stdout.split())
    answer = tuning.life.describe("tuning-no-metric")
    assert answer["FailureReason"].startswith("No objective metrics found after running 2 training jobs.")
    assert answer["ObjectiveStatusCounters"]["Failed"] == 2
    assert "BestTrainingJob" not in answer
    all_gone("tuning-no-metric")


@pytest.mark.slow(8)
def test_training_jobs_that_all_fail_end_the_search(tuning: Any, all_gone: Gone) -> None:
    values = [str(number) for number in range(10)]
    done = tuning.life("run", tuning.file("tuning-fails", "echo no such column; exit 3", values=values))
    assert done.returncode == 1
    child = tuning.child("tuning-fails", 1)
    assert f"{child} Failed: exit code: 3, last line: no such column" in " ".join(done.stderr.split())
    answer = tuning.life.describe("tuning-fails")
    assert answer["HyperParameterTuningJobStatus"] == "Failed"
    attempts = answer["TrainingJobStatusCounters"]["NonRetryableError"]
    assert attempts >= 5
    assert answer["FailureReason"].startswith("No training job succeeded after ")
    assert len(tuning.children("tuning-fails")) < 10
    all_gone("tuning-fails")


@pytest.mark.slow(4)
def test_a_result_that_is_good_enough_ends_the_search(tuning: Any, all_gone: Gone) -> None:
    config = {"TuningJobCompletionCriteria": {"TargetObjectiveMetricValue": 2.0}}
    done = tuning.life(
        "run", tuning.file("tuning-target", LOSS, values=["5", "2", "3", "4", "6"], parallel=1, config=config)
    )
    assert done.returncode == 0, done.stderr
    answer = tuning.life.describe("tuning-target")
    assert answer["TrainingJobStatusCounters"]["Completed"] == 2
    assert "has reached TargetObjectiveMetricValue" in answer["Local"]["EndedBecause"]
    all_gone("tuning-target")


@pytest.mark.slow(6)
def test_training_jobs_that_are_worse_are_stopped_early(tuning: Any, all_gone: Gone) -> None:
    script = f"trap 'exit 0' TERM; {LOSS}; [ $n -eq 1 ] || sleep 100 & wait"
    config = {"TrainingJobEarlyStoppingType": "Auto"}
    path = tuning.file("tuning-early", script, values=["1", "9"], parallel=1, config=config)
    done = tuning.life("run", path)
    assert done.returncode == 0, done.stderr
    answer = tuning.life.describe("tuning-early")
    good, bad = answer["Local"]["TrainingJobs"]
    assert (good["TrainingJobStatus"], bad["TrainingJobStatus"]) == ("Completed", "Stopped")
    assert bad["EarlyStopped"] is True
    assert bad["FinalHyperParameterTuningJobObjectiveMetric"]["Value"] == 9
    all_gone("tuning-early")


@pytest.mark.slow(4)
def test_a_parent_that_is_removed_after_the_search_was_checked(tuning: Any, all_gone: Gone) -> None:
    life = tuning.life
    assert life("run", tuning.file("tuning-lost-parent", LOSS, values=("1", "2"))).returncode == 0
    start = {
        "ParentHyperParameterTuningJobs": [{"HyperParameterTuningJobName": "tuning-lost-parent"}],
        "WarmStartType": "TransferLearning",
    }
    path = tuning.file("tuning-bereft", f"{LOSS}; {WAIT}", values=("3",), parallel=1, WarmStartConfig=start)
    assert life("run", "--detach", path).returncode == 0
    tuning.until_training("tuning-bereft", 1)
    life.crash("tuning-bereft")
    # As if it had been killed before it had read what the parent found.
    life.store.put_document("tuning-bereft", EARLIER, None)
    assert life("rm", "tuning-lost-parent").returncode == 0
    life.let_go(tuning.child("tuning-bereft", 1))
    assert life("wait", "tuning-bereft").returncode == 1
    answer = life.describe("tuning-bereft")
    assert answer["FailureReason"] == "there is no tuning job 'tuning-lost-parent' here to start from"
    life("wait", tuning.child("tuning-bereft", 1))
    all_gone("tuning-bereft")


@pytest.mark.slow(6)
def test_a_warm_start_does_not_try_points_again(tuning: Any) -> None:
    limits = {"MaxNumberOfTrainingJobs": 2, "MaxParallelTrainingJobs": 2}
    config = {"Strategy": "Random", "ResourceLimits": limits, "RandomSeed": 1}
    assert tuning.life("run", tuning.file("tuning-parent", LOSS, config=config)).returncode == 0
    start = {
        "ParentHyperParameterTuningJobs": [{"HyperParameterTuningJobName": "tuning-parent"}],
        "WarmStartType": "IdenticalDataAndAlgorithm",
    }
    path = tuning.file("tuning-warm", LOSS, config=config, WarmStartConfig=start)
    done = tuning.life("run", path)
    assert done.returncode == 0, done.stderr
    parent, warm = tuning.life.describe("tuning-parent"), tuning.life.describe("tuning-warm")
    tried = [each["TunedHyperParameters"]["n"] for answer in (parent, warm) for each in answer["Local"]["TrainingJobs"]]
    assert sorted(tried) == ["1", "2", "3", "4"]
    assert warm["OverallBestTrainingJob"]["TunedHyperParameters"] == {"n": "1"}

    itself = tuning.life("run", path, "--name", "tuning-parent", "--replace")
    assert (itself.returncode, "cannot start from itself" in itself.stderr) == (2, True), itself.stderr

    assert tuning.life("rm", "tuning-parent").returncode == 0
    gone = tuning.life("run", tuning.file("tuning-warm-2", LOSS, config=config, WarmStartConfig=start))
    assert (gone.returncode, "[warm-start]" in gone.stderr) == (2, True), gone.stderr


@pytest.mark.slow(5)
def test_training_jobs_of_an_earlier_tuning_job_of_that_name_are_not_taken(tuning: Any) -> None:
    path = tuning.file("tuning-again", LOSS, values=["1", "2"])
    for count in (2, 4):
        done = tuning.life("run", path)
        assert done.returncode == 0, done.stderr
        answer = tuning.life.describe("tuning-again")
        assert answer["TrainingJobStatusCounters"]["Completed"] == 2
        assert len(tuning.children("tuning-again")) == count
        assert tuning.life("rm", "tuning-again").returncode == 0


@pytest.mark.slow(4)
def test_hyperband_stops_training_jobs_by_their_metric(tuning: Any, all_gone: Gone) -> None:
    loop = "trap 'exit 0' TERM; i=0; while [ $i -lt 600 ]; do echo loss=$n; i=$((i+1)); sleep 0.1 & wait; done"
    script = f'n=$(sed \'s/.*"n": *"\\([0-9]*\\)".*/\\1/\' /opt/ml/input/config/hyperparameters.json); {loop}'
    limits = {"MaxNumberOfTrainingJobs": 2, "MaxParallelTrainingJobs": 1}
    config = {
        "Strategy": "Hyperband",
        "StrategyConfig": {"HyperbandStrategyConfig": {"MinResource": 2, "MaxResource": 9}},
        "ResourceLimits": limits,
    }
    done = tuning.life("run", tuning.file("tuning-hyperband", script, config=config))
    assert done.returncode == 0, done.stderr
    jobs = tuning.life.describe("tuning-hyperband")["Local"]["TrainingJobs"]
    assert [each["TrainingJobStatus"] for each in jobs] == ["Stopped", "Stopped"]
    assert all(each["EarlyStopped"] for each in jobs)
    all_gone("tuning-hyperband")


@pytest.mark.slow(4)
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo seen; echo no age >/opt/ml/output/failure; exit 3", "AlgorithmError: no age, exit code: 3"),
        ("echo seen; exit 3", "exit code: 3, last line: seen"),
    ],
)
def test_the_end_of_a_failed_search_says_why_and_where_its_logs_are(tuning: Any, script: str, reason: str) -> None:
    life = tuning.life
    done = life("run", tuning.file("tuning-why", script))
    first, others = tuning.child("tuning-why", 1), [each.name for each in tuning.children("tuning-why")][1:]
    because = f"all {1 + len(others)} failed with the same reason: {reason}"
    lines = done.stderr.splitlines()
    assert f"  because   {because}" in lines
    assert lines[-1] == f"  next      smlocal logs {first} · smlocal describe tuning-why"
    assert because in life("describe", "tuning-why").stdout
    logs = life("logs", "tuning-why")
    assert (logs.returncode, logs.stdout) == (0, "")
    assert logs.stderr.splitlines()[:2] == [
        "tuning-why has no log of its own. Its training jobs have logs:",
        f"  smlocal logs {first}   Failed",
    ]
    assert life("logs", first).stdout == "seen\n"
