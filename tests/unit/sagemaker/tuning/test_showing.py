"""Plans and answers of tuning jobs, and lines of a log that came close to the metric."""

from copy import deepcopy
from typing import Any

import pytest
from tests.unit.sagemaker.tuning.test_tuning_file import REQUEST

from smlocal.jobfile.document import Document
from smlocal.jobs.store.records import JobRecord, StoredJob
from smlocal.sagemaker.tuning.preparing import instance_hours
from smlocal.sagemaker.tuning.showing import SHOWING, counted
from smlocal.sagemaker.tuning.trial_jobs import close_lines, training_job
from smlocal.sagemaker.tuning.tuning_file import TuningFile, read_tuning
from smlocal.terms.statuses import JobPhase, JobStatus


def read(**changes: Any) -> TuningFile:
    return read_tuning(Document({**deepcopy(REQUEST), **changes}, name="tuning.yaml", directory="/here"))


def test_what_it_costs_at_most() -> None:
    assert instance_hours(read().definitions, 4) == {"ml.m5.large": 4.0}


def test_a_training_job_of_a_point() -> None:
    job = training_job(read(), 0, {"lr": "0.5"}, name="held-001-00000000")
    expected = {"_tuning_objective_metric": "loss", "epochs": "27", "lr": "0.5"}
    assert job.raw["HyperParameters"] == expected
    assert job.request.TrainingJobName == "held-001-00000000"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("epoch 1\nloss: 0.5\nLoss = 7\nnothing\n", ["loss: 0.5", "Loss = 7"]),
        ("validation 3\n", []),
        ("loss=nan\nLoss: -Infinity\nloss of information\n", ["loss=nan", "Loss: -Infinity"]),
        ("loss is unknown\n", []),
    ],
)
def test_lines_that_came_close(text: str, lines: list[str]) -> None:
    assert close_lines(text, "loss", r"loss=([0-9.]+)") == lines


def test_counted() -> None:
    counters = {"Completed": 3, "InProgress": 0, "RetryableError": 1, "NonRetryableError": 1, "Stopped": 0}
    assert counted(counters) == "3 completed, 2 failed"
    assert counted(dict.fromkeys(counters, 0)) == "none"


def answer(request: dict[str, Any]) -> dict[str, Any]:
    record = JobRecord(
        name="held",
        status=JobStatus.IN_PROGRESS,
        phase=JobPhase.TRAINING,
        created=1.0,
        modified=5.0,
        started=None,
        ended=None,
        failure_reason=None,
        supervisor_pid=None,
        run_id="0",
        arn="arn",
        model_uri="",
        instances=0,
        platform="sagemaker_tuning",
    )
    return SHOWING.describe(StoredJob(record=record, transitions=[], documents={"request": request}))


def test_the_objective_is_among_the_static_hyperparameters() -> None:
    definition = answer(REQUEST)["TrainingJobDefinition"]
    assert definition["StaticHyperParameters"] == {"_tuning_objective_metric": "loss", "epochs": "27"}


def test_a_client_that_gives_tuning_resources_reads_plain_ones() -> None:
    request = deepcopy(REQUEST)
    definition = request["TrainingJobDefinition"]
    definition["HyperParameterTuningResourceConfig"] = {"InstanceCount": 1, "InstanceType": "ml.m5.large"}
    del definition["ResourceConfig"]
    expected = {"VolumeSizeInGB": 0, "InstanceType": "ml.m5.large", "InstanceCount": 1}
    assert answer(request)["TrainingJobDefinition"]["ResourceConfig"] == expected


def test_before_the_first_training_job_all_counts_are_zero() -> None:
    found = answer(REQUEST)
    assert set(found["TrainingJobStatusCounters"].values()) == {0}
    assert "BestTrainingJob" not in found
