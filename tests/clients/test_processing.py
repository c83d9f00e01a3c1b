"""Processing jobs of clients written by others."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.clients.aws_cli import first_version, second_version
from tests.clients.conftest import PROGRAMS, User, last_json


@pytest.mark.slow(3)
def test_boto3_makes_describes_lists_stops_and_deletes_them(
    user: User, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    done = user.execute(None, "boto3_processing.py", image("sh"), "processing-boto3")
    assert last_json(done.stdout) == {
        "status": "Completed",
        "message": "fine",
        "log": ["copied"],
        "output": "1,2\n",
        "listed": {"processing-boto3": "Completed", "processing-boto3-stopped": "Stopped"},
        "tags": [{"Key": "team", "Value": "a"}],
        "errors": {
            "describe_processing_job 0": "ValidationException",
            "stop_processing_job 1": "ValidationException",
            "create_processing_job 2": "ResourceInUse",
            "create_processing_job 3": "ValidationException",
        },
    }
    assert_nothing_left("processing-boto3")
    assert_nothing_left("processing-boto3-stopped")


@pytest.mark.slow(20)
@pytest.mark.long
def test_the_processors_of_sdk_2(
    user: User, image: Callable[[str], str], smlocal_run: Callable[..., Any], assert_nothing_left: Callable[[str], None]
) -> None:
    done = user.execute("sdk-2", "sdk2_processing.py", image("py"), "processing-sdk2")
    found = last_json(done.stdout)
    assert (found["train"], found["status"]) == ("1,2\n", "Completed")
    assert found["failed"].startswith("Failed: Error for Processing job processing-sdk2-failed: Failed. Reason: ")
    assert "AlgorithmError: , exit code: 1" in found["failed"]
    for line in ("3,4", "split --part 1", "rate is 0.125 --x y"):
        assert line in done.stdout, line
    assert smlocal_run("wait", "processing-sdk2-stopped").returncode == 4
    for each in ("plain", "script", "sklearn", "framework", "failed", "stopped"):
        assert_nothing_left(f"processing-sdk2-{each}")


@pytest.mark.slow(12)
@pytest.mark.long
def test_the_processors_of_sdk_3(
    user: User, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    done = user.execute("sdk-3", "sdk3_processing.py", image("py"), "processing-sdk3")
    found = last_json(done.stdout)
    names = [f"processing-sdk3-{each}" for each in ("framework", "plain", "script")]
    assert found == {"status": "Completed", "inputs": ["code", "data"], "train": "1,2\n", "listed": names}
    for line in ("3,4", "split --part 1", "rate is 0.125 --x y"):
        assert line in done.stdout, line
    for name in names:
        assert_nothing_left(name)


@pytest.mark.slow(14)
@pytest.mark.long
def test_airflows_operator(user: User, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]) -> None:
    done = user.execute("airflow", "airflow_processing.py", image("sh"), "processing-airflow")
    assert last_json(done.stdout) == {
        "status": "Completed",
        "role": "arn:aws:iam::000000000000:role/processing",
        "failed": "SageMaker resource failed because AlgorithmError: , exit code: 3",
    }
    assert_nothing_left("processing-airflow")


@pytest.mark.slow(8)
@pytest.mark.long
@pytest.mark.parametrize(("version", "program"), [("1", first_version), ("2", second_version)])
def test_the_aws_cli(user: User, image: Callable[[str], str], version: str, program: Callable[[], Path]) -> None:
    name = f"processing-cli-{version}"
    script: list[str | Path] = [PROGRAMS / "aws_cli_processing.sh", program(), image("sh"), name]
    done = user.run([sys.executable, "-m", "smlocal", "exec", "--", *script])
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-4:] == ["Completed", name, "copied", "1,2"]
