"""The service, as these tests need it: the endpoint of this project, in a process and with a home of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.kit.boto_sessions import boto_session

REGION = "eu-west-1"
ROLE = "arn:aws:iam::123456789012:role/Trainer"


@dataclass(frozen=True, kw_only=True)
class AwsService:
    """The account of a user of AWS."""

    address: str
    home: Path
    """The home of the endpoint."""

    @property
    def environment(self) -> dict[str, str]:
        """For `smlocal` as the user of the service."""
        return {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def client(self, name: str) -> Any:
        session = boto_session(aws_access_key_id="key", aws_secret_access_key="secret", region_name=REGION)
        return session.client(name, endpoint_url=self.address)

    def run(self, name: str, image: str, script: str, **more: Any) -> dict[str, Any]:
        """Make a job, and wait for its end; the answer of DescribeTrainingJob."""
        client = self.client("sagemaker")
        client.create_training_job(
            TrainingJobName=name,
            RoleArn=ROLE,
            AlgorithmSpecification={"TrainingImage": image, "TrainingInputMode": "File"},
            Environment={"SCRIPT": script},
            OutputDataConfig={"S3OutputPath": "s3://artifacts/models"},
            ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
            StoppingCondition={"MaxRuntimeInSeconds": 120},
            **more,
        )
        client.get_waiter("training_job_completed_or_stopped").wait(TrainingJobName=name)
        answer: dict[str, Any] = client.describe_training_job(TrainingJobName=name)
        return answer


@pytest.fixture(scope="module")
def aws_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AwsService]:
    home = tmp_path_factory.mktemp("service") / "home"
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "SMLOCAL_"))}
    command = [sys.executable, "-m", "smlocal", "serve", "--port", "0", "--no-key"]
    with subprocess.Popen(
        command, env={**kept, "SMLOCAL_HOME": str(home)}, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        try:
            found = re.search(r"http://\S+", first := server.stderr.readline())
            assert found is not None, first + server.stderr.read()
            yield AwsService(address=found[0], home=home)
        finally:
            server.terminate()
            said = server.stderr.read()
    assert "Traceback" not in said, said
