"""`smlocal serve` and moto's server, each in a process of its own, for measurements."""

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from workplace import BIN

ROLE = "arn:aws:iam::123456789012:role/training"


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """One that answers."""

    address: str
    process: int

    def client(self, service: str = "sagemaker") -> Any:
        session = boto3.Session(aws_access_key_id="key", aws_secret_access_key="secret", region_name="us-east-1")
        return session.client(service, endpoint_url=self.address, config=Config(retries={"max_attempts": 0}))


@contextmanager
def smlocal_server(environment: Mapping[str, str], *options: str) -> Iterator[Server]:
    command: list[str | Path] = [BIN / "smlocal", "serve", "--port", "0", "--no-key", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            found = re.search(r"http://\S+", said)
            if found is None:
                sys.exit(said + process.stderr.read())
            yield Server(address=found[0], process=process.pid)
        finally:
            process.terminate()


@contextmanager
def moto_server(environment: Mapping[str, str]) -> Iterator[Server]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command: list[str | Path] = [BIN / "moto_server", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment) as process:
        try:
            for _ in range(400):
                with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.05)
            yield Server(address=f"http://127.0.0.1:{port}", process=process.pid)
        finally:
            process.terminate()


def request(name: str, image: str, **members: Any) -> dict[str, Any]:
    """A valid CreateTrainingJob."""
    return {
        "TrainingJobName": name,
        "RoleArn": ROLE,
        "AlgorithmSpecification": {"TrainingImage": image, "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "s3://artifacts/models"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 600},
        **members,
    }


def end_job(client: Any, name: str) -> None:
    """Stop all jobs, those that wait first, and wait until the one that runs has ended."""
    pages = client.get_paginator("list_training_jobs").paginate(StatusEquals="InProgress")
    for each in [each["TrainingJobName"] for page in pages for each in page["TrainingJobSummaries"]]:
        client.stop_training_job(TrainingJobName=each)
    client.get_waiter("training_job_completed_or_stopped").wait(TrainingJobName=name)
