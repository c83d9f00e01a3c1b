"""Pipelines of clients written by others."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.clients.aws_cli import first_version, second_version
from tests.clients.conftest import PROGRAMS, User, last_json

BAD = "Completed and bad: 0.25"


@pytest.mark.slow(20)
@pytest.mark.long
def test_a_pipeline_of_sdk_2(user: User, image: Callable[[str], str]) -> None:
    done = user.execute("sdk-2", "sdk2_pipeline.py", image("py"), "Pipe")
    failed = ["Failed", ["Bad", "Failed", BAD], ["Check", "Succeeded", None], ["Evaluate", "Succeeded", None]]
    assert last_json(done.stdout) == {
        "tags": [{"Key": "a", "Value": "b"}, {"Key": "c", "Value": "d"}],
        "version": 2,
        "parameters": [{"Name": "Score", "Value": "0.75"}],
        "good": ["Succeeded", ["Check", "Succeeded", None], ["Evaluate", "Succeeded", None]],
        "bad": failed,
        "retried": failed,
        "selected": ["Succeeded", ["Check", "Succeeded", None], ["Evaluate", "Succeeded", None]],
        "answered": ["Succeeded", ["More", "Succeeded", None], ["Ask", "Succeeded", None]],
        "stopped": "Stopped",
        "refused": "Only pipelines with 'Executing' status can be stopped.",
    }
    assert "wait() of the SageMaker SDK does not know this status" in done.stderr


@pytest.mark.slow(6)
@pytest.mark.long
def test_airflows_operators_and_sensor(user: User) -> None:
    done = user.execute("airflow", "airflow_pipeline.py", "Airflow")
    assert last_json(done.stdout) == {
        "statuses": ["Succeeded", "Succeeded"],
        "steps": 30,
        "last": "Depth30",
        "stop": ["Stopping", "Stopped"],
    }


@pytest.mark.slow(6)
@pytest.mark.long
@pytest.mark.parametrize("program", [first_version, second_version])
def test_the_aws_cli(user: User, program: Callable[[], Path]) -> None:
    script: list[str | Path] = [PROGRAMS / "aws_cli_pipeline.sh", program(), "Cli"]
    done = user.run([sys.executable, "-m", "smlocal", "exec", "--", *script])
    arn = "arn:aws:sagemaker:us-east-1:123456789012:pipeline/Cli"
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [arn, "Failed", "End\tFailed\tgiven", "Cli", arn]


@pytest.mark.slow(14)
@pytest.mark.long
def test_a_pipeline_of_sdk_3(user: User, image: Callable[[str], str]) -> None:
    done = user.execute("sdk-3", "sdk3_condition.py", image("py"), "Pipe")
    steps = [["Check", "Succeeded", None], ["Evaluate", "Succeeded", None]]
    assert last_json(done.stdout) == {
        "arns": ["arn:aws:sagemaker:us-east-1:123456789012:pipeline/Pipe"] * 2,
        "good": ["Succeeded", *steps],
        "bad": ["Failed", ["Bad", "Failed", "bad: 0.25"], *steps],
    }
