"""A service for commands that talk to AWS: `smlocal serve` in a home of its own, with buckets, as another process."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from tests.kit.boto_sessions import boto_session
from tests.kit.fixtures import IMAGES, build_image, run_docker
from tests.kit.s3_servers import REGION

ACCOUNT = "123456789012"


@dataclass(frozen=True, kw_only=True)
class AwsService:
    """An account without jobs, and what users of it set."""

    address: str
    image: str
    """The image `sh` of the tests, by the name that it would have in Amazon ECR."""

    @property
    def environment(self) -> dict[str, str]:
        """The AWS configuration of a user."""
        return {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_REGION": REGION,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }

    def client(self, service: str) -> Any:
        """botocore, unmodified."""
        return boto_session().client(
            service,
            region_name=REGION,
            endpoint_url=self.address,
            aws_access_key_id="AKIAIOSFODNN7EXAMPLE",
            aws_secret_access_key="none",
        )

    def keys(self, bucket: str) -> list[str]:
        """The objects of a bucket."""
        return [each["Key"] for each in self.client("s3").list_objects_v2(Bucket=bucket).get("Contents", ())]


@pytest.fixture(scope="module")
def aws_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AwsService]:
    home = tmp_path_factory.mktemp("service")
    image = f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/smlocal-tests:{home.name}-{os.getpid()}"
    run_docker("tag", build_image(IMAGES / "sh"), image)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "SMLOCAL_"))}
    command = [sys.executable, "-m", "smlocal", "serve", "--port", "0", "--no-key"]
    with subprocess.Popen(
        command, env={**kept, "SMLOCAL_HOME": str(home)}, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        try:
            found = re.search(r"http://\S+", first := server.stderr.readline())
            assert found is not None, first + server.stderr.read()
            yield AwsService(address=found[0], image=image)
        finally:
            server.terminate()
            said = server.stderr.read()
            run_docker("rmi", image)
    assert "Traceback" not in said, said
