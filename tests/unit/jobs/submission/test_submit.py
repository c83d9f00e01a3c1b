"""A submitted job is recorded with all that is needed to run it, and can be described, stopped and removed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.jobs.submission.conftest import REQUEST

from smlocal.api.shell import find_containers
from smlocal.api.training_job import TrainingJob
from smlocal.errors import (
    InstanceLimitError,
    JobNotFinishedError,
    NameInUseError,
    NothingToPublishError,
    OutputUnusableError,
    WaitTimeoutError,
)
from smlocal.errors.of_jobs import ContainerNotRunningError
from smlocal.jobs.control.orphans import orphans
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import supervised
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.submission.scheduler import InstanceLimit
from smlocal.terms.statuses import JobPhase, JobStatus

Submit = Callable[..., JobRecord]


def test_it_waits_and_is_no_orphan(submitted: Submit, store: Store) -> None:
    record = submitted()
    assert (record.status, record.phase) == (JobStatus.IN_PROGRESS, JobPhase.PENDING)
    assert record.arn == "arn:aws:sagemaker:eu-west-1:123456789012:training-job/waits"
    assert record.instances == 2
    assert orphans(store) == []
    assert not supervised(store.directory("Waits"))


def test_the_record_does_not_depend_on_who_starts_the_job(submitted: Submit, store: Store, tmp_path: Path) -> None:
    submitted()
    job = store.document("Waits", "job")
    assert job["Data"]["Local"] == {"Region": "eu-west-1", "Output": str(tmp_path / "started" / "smlocal-output")}
    assert job["Directory"] == str(tmp_path / "started")
    submitted("Stated", Local={"Region": "us-west-2", "Output": "here"})
    stated = store.document("Stated", "job")["Data"]["Local"]
    assert stated == {"Region": "us-west-2", "Output": str(tmp_path / "started" / "here")}


def test_describe_has_what_clients_need(submitted: Submit) -> None:
    submitted()
    answer = TrainingJob("Waits").describe(service=True)
    assert answer["TrainingJobArn"].endswith(":training-job/waits")
    assert answer["ModelArtifacts"] == {"S3ModelArtifacts": "s3://bucket/out/Waits/output/model.tar.gz"}
    assert (answer["TrainingJobStatus"], answer["SecondaryStatus"]) == ("InProgress", "Pending")
    assert answer["RoleArn"] == REQUEST["RoleArn"]
    assert answer["ResourceConfig"] == REQUEST["ResourceConfig"]
    assert answer["StoppingCondition"] == {"MaxRuntimeInSeconds": 60}
    filled_in = {"EnableSageMakerMetricsTimeSeries": False}
    assert answer["AlgorithmSpecification"] == {**REQUEST["AlgorithmSpecification"], **filled_in}
    usual = {"KmsKeyId": "", "CompressionType": "GZIP"}
    assert answer["OutputDataConfig"] == {"S3OutputPath": "s3://bucket/out", **usual}
    assert answer["LastModifiedTime"] == answer["CreationTime"]
    assert answer["SecondaryStatusTransitions"] == [
        {
            "Status": "Pending",
            "StartTime": answer["CreationTime"],
            "StatusMessage": "Training job waiting for capacity",
        }
    ]


def test_everything_else_that_can_be_asked(submitted: Submit) -> None:
    submitted()
    job = TrainingJob("Waits")
    assert list(job.log_files) == ["algo-1", "algo-2"]
    assert list(job.logs()) == []
    assert [each.name for each in job.metrics.summaries()] == ["loss"]
    assert (job.model, job.output) == (None, None)
    assert "Pending" in job.report()
    with pytest.raises(ContainerNotRunningError):
        find_containers("Waits")
    with pytest.raises(WaitTimeoutError):
        job.wait(timeout=0.05)  # passes: nobody runs it
    with pytest.raises(JobNotFinishedError):
        job.remove()


def test_a_stop_ends_it_without_a_process(submitted: Submit, store: Store) -> None:
    submitted()
    job = TrainingJob("Waits")
    job.stop()
    answer = job.wait(timeout=200).describe()
    assert answer["TrainingJobStatus"] == "Stopped"
    assert [each["Status"] for each in answer["SecondaryStatusTransitions"]] == ["Pending", "Stopping", "Stopped"]
    assert "TrainingEndTime" not in answer
    assert answer["Local"]["Explanation"] is None
    assert sorted(os.listdir(store.directory("Waits"))) == ["describe.json", "request.json"]
    assert "Stopped" in job.report()
    with pytest.raises(NothingToPublishError):
        job.publish()
    job.remove()
    assert store.names() == []


def test_it_is_removed_with_a_stop(submitted: Submit, store: Store) -> None:
    submitted()
    TrainingJob("Waits").remove(stop=True)
    assert store.names() == []


def test_a_name_is_used_once(submitted: Submit) -> None:
    submitted()
    with pytest.raises(NameInUseError):
        submitted()


def test_too_many_instances_are_refused_in_the_words_of_the_service(submitted: Submit, store: Store) -> None:
    with pytest.raises(InstanceLimitError, match="is 1 Instances, with current utilization of 0 Instances"):
        submitted(limit=InstanceLimit(instances=1))
    assert store.names() == []
    submitted("first", limit=InstanceLimit(instances=2))
    submitted("second", limit=InstanceLimit(instances=2))
    with pytest.raises(InstanceLimitError, match="current utilization of 4 Instances and a request delta of 2"):
        submitted("third", limit=InstanceLimit(instances=5, refuse=True))


def test_an_output_that_cannot_be_is_refused_at_once(submitted: Submit, store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputUnusableError):
        submitted(Local={"Output": str(tmp_path / "file" / "out")})
    assert store.names() == []
