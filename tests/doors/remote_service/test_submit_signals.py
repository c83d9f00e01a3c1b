"""`smlocal submit`, ended by a signal in the moment in which its job is made."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.doors.remote_service.conftest import AwsService
from tests.kit import until

ROLE = "arn:aws:iam::123456789012:role/Trainer"
SCRIPT = "trap 'exit 0' TERM; while :; do sleep 0.1; done"


@contextmanager
def between(address: str, answered: Callable[[str], None]) -> Iterator[str]:
    """A server that passes calls on, and tells the operation before it passes the answer back."""
    there = urlsplit(address)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            connection = http.client.HTTPConnection(there.hostname or "", there.port, timeout=60)
            connection.request("POST", self.path, body, dict(self.headers))
            answer = connection.getresponse()
            data = answer.read()
            connection.close()
            answered(self.headers["X-Amz-Target"].rpartition(".")[2])
            self.send_response(answer.status)
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def training(image: str) -> dict[str, Any]:
    return {
        "RoleArn": ROLE,
        "AlgorithmSpecification": {"TrainingImage": image, "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "s3://signalled/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
        "StoppingCondition": {"MaxRuntimeInSeconds": 1800},
        "Environment": {"SCRIPT": SCRIPT},
    }


def tuning(image: str) -> dict[str, Any]:
    definition = training(image)
    definition["AlgorithmSpecification"]["MetricDefinitions"] = [{"Name": "loss", "Regex": "loss=(.*)"}]
    return {
        "HyperParameterTuningJobConfig": {
            "Strategy": "Grid",
            "HyperParameterTuningJobObjective": {"Type": "Minimize", "MetricName": "loss"},
            "ResourceLimits": {"MaxParallelTrainingJobs": 1},
            "ParameterRanges": {"CategoricalParameterRanges": [{"Name": "n", "Values": ["2", "1"]}]},
        },
        "TrainingJobDefinition": definition,
    }


class Submitting:
    """`smlocal submit` by a user whose calls to SageMaker go through `between`."""

    def __init__(self, service: AwsService, home: Path, folder: Path) -> None:
        self._service, self._home, self._folder = service, home, folder

    def __call__(self, request: dict[str, Any], name: str, *options: str, more: Sequence[int] = ()) -> tuple[int, str]:
        """Send SIGTERM and `more` once the job is made and before the command knows; its exit code and what it said."""
        path = self._folder / "job.json"
        path.write_text(json.dumps(request))
        processes: list[subprocess.Popen[str]] = []

        def answered(operation: str) -> None:
            if operation.startswith("Create"):
                for number in (signal.SIGTERM, *more):
                    processes[0].send_signal(number)

        kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "SMLOCAL_"))}
        with between(self._service.address, answered) as address:
            environment = {**self._service.environment, "AWS_ENDPOINT_URL_SAGEMAKER": address}
            process = subprocess.Popen(
                [sys.executable, "-m", "smlocal", "submit", path, "--name", name, "--yes", *options],
                env={**kept, **environment, "SMLOCAL_HOME": str(self._home)},
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            processes.append(process)
            _, said = process.communicate(timeout=200)
            return process.returncode, said


@pytest.fixture
def submitting(aws_service: AwsService, smlocal_home: Path, tmp_path: Path) -> Submitting:
    client = aws_service.client("s3")
    if "signalled" not in [each["Name"] for each in client.list_buckets()["Buckets"]]:
        region = {"LocationConstraint": client.meta.region_name}
        client.create_bucket(Bucket="signalled", CreateBucketConfiguration=region)
    return Submitting(aws_service, smlocal_home, tmp_path)


@pytest.mark.slow(3)
@pytest.mark.parametrize("option", ["--wait", "--no-wait"])
def test_a_training_job_whose_creation_was_interrupted_is_stopped(
    submitting: Submitting, aws_service: AwsService, option: str
) -> None:
    name = f"search-signal{option.removeprefix('-')}"
    code, said = submitting(training(aws_service.image), name, option)
    assert code == 128 + signal.SIGTERM, said
    answer = aws_service.client("sagemaker").describe_training_job(TrainingJobName=name)
    assert answer["TrainingJobStatus"] == "Stopped", said


@pytest.mark.slow(5)
def test_a_tuning_job_whose_creation_was_interrupted_is_stopped(
    submitting: Submitting, aws_service: AwsService
) -> None:
    code, said = submitting(tuning(aws_service.image), "search-signal-tuning")
    assert code == 128 + signal.SIGTERM, said
    client = aws_service.client("sagemaker")
    answer = client.describe_hyper_parameter_tuning_job(HyperParameterTuningJobName="search-signal-tuning")
    assert answer["HyperParameterTuningJobStatus"] == "Stopped", said


@pytest.mark.slow(5)
def test_an_execution_whose_pipeline_was_made_meanwhile_is_stopped(
    submitting: Submitting, aws_service: AwsService
) -> None:
    step = {"Name": "Train", "Type": "Training", "Arguments": training(aws_service.image)}
    definition = {"Version": "2020-12-01", "Steps": [step]}
    name = "search-signal-pipeline"
    request = {"PipelineName": name, "RoleArn": ROLE, "PipelineDefinition": definition}
    code, said = submitting(request, name)
    assert code == 128 + signal.SIGTERM, said
    (found,) = aws_service.client("sagemaker").list_pipeline_executions(PipelineName=name)["PipelineExecutionSummaries"]
    assert found["PipelineExecutionStatus"] == "Stopped", said


@pytest.mark.slow(2)
def test_a_second_signal_does_not_wait_for_the_answer(submitting: Submitting, aws_service: AwsService) -> None:
    name = "search-signal-twice"
    code, said = submitting(training(aws_service.image), name, more=[signal.SIGHUP])
    assert code in {128 + signal.SIGTERM, 128 + signal.SIGHUP}, said
    assert f"Look:  aws sagemaker describe-training-job --training-job-name {name} --region eu-west-1" in said
    client = aws_service.client("sagemaker")
    client.stop_training_job(TrainingJobName=name)
    until(lambda: client.describe_training_job(TrainingJobName=name)["TrainingJobStatus"] == "Stopped")
