"""The AWS CLI, in its first and its second version."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.clients.aws_cli import first_version, second_version
from tests.clients.conftest import PROGRAMS, User


@pytest.mark.slow(21)
@pytest.mark.long
@pytest.mark.parametrize(("version", "program"), [("1", first_version), ("2", second_version)])
def test_a_shell_script_runs_a_job_waits_for_it_and_reads_log_and_model(
    user: User,
    image: Callable[[str], str],
    assert_nothing_left: Callable[[str], None],
    version: str,
    program: Callable[[], Path],
) -> None:
    name = f"aws-cli-{version}"
    follow = "yes" if version == "2" else "no"
    script: list[str | Path] = [PROGRAMS / "aws_cli.sh", program(), image("sh"), name, follow]
    done = user.run([sys.executable, "-m", "smlocal", "exec", "--", *script])
    assert done.returncode == 0, done.stdout + done.stderr

    job = json.loads((user.own / "described").read_text())
    assert job["TrainingJobStatus"] == "Completed"
    assert done.stdout.splitlines()[-4:] == ["Completed", "weights", "last", "1,2\tlast"]
    assert "The request was rejected because the training job is in status Completed." in done.stderr
    assert "Matched expected service error code: ValidationException" in done.stderr
    if version == "2":
        followed = (user.own / "followed").read_text().splitlines()
        assert [line.partition(" ")[2] for line in followed] == ["1,2", "last"], "each line once"
    else:
        calls = (user.own / "waited").read_text().count("Making request for OperationModel(name=DescribeTrainingJob)")
        assert calls == 1, "it is answered when the job has ended; a second call would come after two minutes"
    assert_nothing_left(name)


@pytest.mark.slow(2)
@pytest.mark.long
@pytest.mark.parametrize(("program", "form"), [(first_version, ""), (second_version, "yaml-input")])
def test_a_skeleton_that_somebody_has_filled_in_is_a_job_file(
    user: User, smlocal_run: Callable[..., Any], program: Callable[[], Path], form: str
) -> None:
    made = user.run(
        [program(), "sagemaker", "create-training-job", "--generate-cli-skeleton", *filter(None, [form])],
        AWS_DEFAULT_REGION="eu-west-1",
    )
    assert made.returncode == 0, made.stderr
    skeleton = yaml.safe_load(made.stdout)
    (untouched := user.own / "untouched").write_text(made.stdout)
    nothing = smlocal_run("fetch", untouched, "-o", "-")
    assert nothing.returncode == 2
    assert "[not-a-training-job]" in nothing.stderr
    refused = smlocal_run("run", untouched)
    assert refused.returncode == 2
    assert "[request-skeleton]" in refused.stderr
    assert "fill in AlgorithmSpecification.TrainingImage" in refused.stderr

    filled = made.stdout
    for member, value in (
        ("TrainingImage", "held:1"),
        ("S3OutputPath", "s3://bucket/out"),
        ("ChannelName", "train"),
        ("S3Uri", "s3://bucket/data"),
    ):
        filled = re.sub(rf"(\"?\b{member}\"?: )(''|\"\")", rf'\1"{value}"', filled, count=1)
    filled = re.sub(r'(?s)("?ResourceConfig"?:.*?InstanceCount"?: )0', r"\g<1>2", filled, count=1)
    (user.own / "filled").write_text(filled)
    fetched = smlocal_run("fetch", "filled", cwd=user.own)
    assert fetched.returncode == 0, fetched.stderr
    assert "nobody may have meant these, which every skeleton has: " in fetched.stderr
    assert "EnableManagedSpotTraining: true" in fetched.stderr
    job = yaml.safe_load((user.own / "job.yaml").read_text())
    assert job["AlgorithmSpecification"]["TrainingImage"] == "held:1"
    assert job["AlgorithmSpecification"].keys() == {
        "TrainingImage",
        "TrainingInputMode",
        "EnableSageMakerMetricsTimeSeries",
    }
    assert job["ResourceConfig"].keys() - {"SelectedInstanceType"} == {"InstanceType", "InstanceCount"}
    assert job["InputDataConfig"][0]["DataSource"].keys() == {"S3DataSource"}
    assert job.keys() < skeleton.keys()
    assert not job.keys() & {"RetryStrategy", "VpcConfig", "Tags", "Environment", "HyperParameters", "DebugHookConfig"}


@pytest.mark.slow(24)
@pytest.mark.long
@pytest.mark.parametrize(("version", "program"), [("1", first_version), ("2", second_version)])
def test_a_shell_script_deploys_a_model_asks_updates_and_deletes_it(
    user: User,
    image: Callable[[str], str],
    assert_nothing_left: Callable[[str], None],
    version: str,
    program: Callable[[], Path],
) -> None:
    name = f"aws-cli-hosted-{version}"
    script: list[str | Path] = [PROGRAMS / "aws_cli_endpoint.sh", program(), image("serve"), name]
    done = user.run([sys.executable, "-m", "smlocal", "exec", "--", *script])
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    arn = f"arn:aws:sagemaker:us-east-1:123456789012:endpoint/{name}"
    assert lines[-6:] == [
        "AllTraffic",
        '{"/opt/ml/model/weights.txt": "trained\\n"}',
        arn,
        "1,2",
        "InService",
        "serving\tserving",
    ]
    assert f"Endpoint {name} of account 000000000000 not found." in done.stderr
    assert_nothing_left(name)
    assert_nothing_left(f"{name}-2")
