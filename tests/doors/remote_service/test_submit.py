"""`smlocal submit` against a service in another process: what is sent, what is shown, how it ends."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.doors.cli.terminal import Terminal
from tests.doors.remote_service.conftest import AwsService
from tests.kit import Run

Submit = Run
BUCKET = "submitted"
TO = f"s3://{BUCKET}/in"


@pytest.fixture
def job(tmp_path: Path, aws_service: AwsService) -> Path:
    """A job file with a local channel, in a folder of its own; the service has the bucket."""
    client = aws_service.client("s3")
    if BUCKET not in [each["Name"] for each in client.list_buckets()["Buckets"]]:
        client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": client.meta.region_name})
    folder = tmp_path / "work"
    (folder / "data" / "below").mkdir(parents=True)
    (folder / "data" / "below" / "ein ä.txt").write_text(f"of {tmp_path.name}")
    source = {"S3DataType": "S3Prefix", "S3Uri": "./data", "S3DataDistributionType": "FullyReplicated"}
    request = {
        "RoleArn": "arn:aws:iam::123456789012:role/Trainer",
        "AlgorithmSpecification": {
            "TrainingImage": aws_service.image,
            "TrainingInputMode": "File",
            "MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9.]+)"}],
        },
        "InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": source}}],
        "OutputDataConfig": {"S3OutputPath": f"s3://{BUCKET}/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
        "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
        "Local": {"Staging": "copy"},
    }
    (folder / "job.json").write_text(json.dumps(request))
    return folder / "job.json"


@pytest.fixture
def submit(job: Path, aws_service: AwsService, smlocal_run: Callable[..., Any]) -> Submit:
    """Runs the command as a user of the service."""

    def run(*arguments: str | Path, **environment: str) -> "subprocess.CompletedProcess[str]":
        done: subprocess.CompletedProcess[str] = smlocal_run(
            "submit", job, *arguments, env={**aws_service.environment, **environment}, cwd=job.parent
        )
        return done

    return run


@pytest.mark.slow(2)
def test_a_job_is_uploaded_made_and_followed_to_its_end(job: Path, submit: Submit, aws_service: AwsService) -> None:
    script = "cat '/opt/ml/input/data/train/below/ein ä.txt'; echo; echo loss=0.25; touch /opt/ml/model/m"
    report = job.parent / "report.json"
    given = ("--upload-to", TO, "--name", "submit-followed", "--yes", "--env", f"SCRIPT={script}")
    done = submit(*given, "--instance-count", "2", "--report", report)
    assert done.returncode == 0, done.stderr
    # Both hosts, each line with its host in front.
    text = f"of {job.parents[1].name}"
    assert sorted(done.stdout.splitlines()) == [
        f"algo-{host} | {line}" for host in "12" for line in ("loss=0.25", text)
    ]
    said = done.stderr
    for part in (
        "to upload: 1 file, ",
        "may take: 2 × ml.m5.large for at most 1 h: 2 instance-hours",
        "uploaded 1 file",
        f"submit-followed   {aws_service.image} · 2 × ml.m5.large · eu-west-1",
        "✔ Downloading",
        "✔ Training",
        "✔ Uploading",
        "Completed in ",
        f"s3://{BUCKET}/out/submit-followed/output/model.tar.gz",
        "loss",
    ):
        assert part in said, said
    assert said.index("✔ Downloading") < said.index("✔ Training") < said.index("Completed in")
    document = json.loads(report.read_text())
    assert document["TrainingJobStatus"] == "Completed"
    assert [each["MetricName"] for each in document["FinalMetricDataList"]] == ["loss"]
    uri = document["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"]
    (key,) = [each for each in aws_service.keys(BUCKET) if text in _content(aws_service, each)]
    assert f"s3://{BUCKET}/{key}" == f"{uri}below/ein ä.txt"

    # The same name again: an error before anything is uploaded, even though the data is other data now.
    (job.parent / "data" / "more").write_text("more")
    before = aws_service.keys(BUCKET)
    again = submit(*given)
    assert again.returncode == 2
    assert "submit-followed' already exists on the service" in again.stderr
    assert aws_service.keys(BUCKET) == before


def _content(service: AwsService, key: str) -> str:
    body: bytes = service.client("s3").get_object(Bucket=BUCKET, Key=key)["Body"].read()
    return body.decode(errors="replace")


def test_a_failed_job_says_why_as_a_run_does(submit: Submit, aws_service: AwsService) -> None:
    script = "echo 'No space left on device' >&2; printf 'it broke' >/opt/ml/output/failure; exit 3"
    given = ("--upload-to", TO, "--name", "submit-fails", "--yes", "--json", "--env", f"SCRIPT={script}")
    done = submit(*given)
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert document["FailureReason"] == "AlgorithmError: it broke, exit code: 3"
    for part in ("Failed: AlgorithmError: it broke, exit code: 3", "✗ Training", "VolumeSizeInGB", "left on device"):
        assert part in done.stderr, done.stderr
    assert "✗ Uploading" not in done.stderr

    # Nothing has changed in the data, and nobody waits.
    other = submit("--upload-to", TO, "--name", "submit-not-followed", "--yes", "--no-wait", "-e", "SCRIPT=exit 0")
    assert (other.returncode, other.stdout) == (0, "submit-not-followed\n"), other.stderr
    assert "nothing to upload: 1 file in S3 already" in other.stderr
    _until_ended(aws_service, "submit-not-followed")


def _until_ended(service: AwsService, name: str) -> None:
    service.client("sagemaker").get_waiter("training_job_completed_or_stopped").wait(TrainingJobName=name)


@pytest.mark.slow(2)
def test_a_person_is_asked_before_the_start_and_before_the_stop(
    job: Path, aws_service: AwsService, smlocal_home: Path
) -> None:
    terminal = Terminal(columns=120, rows=60)
    kept = {key: os.environ[key] for key in ("PATH", "DOCKER_HOST", "HOME") if key in os.environ}
    environment = {**kept, **aws_service.environment, "SMLOCAL_HOME": str(smlocal_home), "TERM": "xterm-256color"}
    script = "trap 'echo asked to end; exit 0' TERM; echo begun; while :; do sleep 0.1; done"
    command = [sys.executable, "-m", "smlocal", "submit", str(job), "--upload-to", TO, "--env", f"SCRIPT={script}"]

    def shown(text: str) -> Callable[[], bool]:
        return lambda: any(text in line for line in terminal.all_lines())

    terminal.start(
        [*command, "--name", "submit-asked"], cwd=str(job.parent), environment={**environment, "LANG": "C.UTF-8"}
    )
    terminal.until(shown("Start it in eu-west-1? [y/N]"))
    assert shown("may take: 1 × ml.m5.large for at most 1 h: 1 instance-hour")()
    terminal.type(b"y\n")
    terminal.until(shown("begun"))
    terminal.type(b"\x03")
    terminal.until(shown("Stop submit-asked? Otherwise it runs on"))
    terminal.type(b"n\n")
    assert terminal.end() == 130
    assert shown("submit-asked runs on.")()
    assert shown("describe-training-job --training-job-name submit-asked --region eu-west-1")()
    client = aws_service.client("sagemaker")
    assert client.describe_training_job(TrainingJobName="submit-asked")["TrainingJobStatus"] == "InProgress"
    client.stop_training_job(TrainingJobName="submit-asked")

    terminal = Terminal(columns=120, rows=60)
    terminal.start(
        [*command, "--name", "submit-stopped"], cwd=str(job.parent), environment={**environment, "LANG": "C.UTF-8"}
    )
    terminal.until(shown("Start it in"))
    terminal.type(b"y\n")
    terminal.until(shown("begun"))
    terminal.type(b"\x03")
    terminal.until(shown("Stop submit-stopped?"))
    terminal.type(b"y\n")
    assert terminal.end() == 130
    assert shown("asked to end")()
    assert shown("Stopped in ")()
    _until_ended(aws_service, "submit-asked")


@pytest.mark.slow(1)
def test_who_does_not_say_yes_gets_no_job(job: Path, submit: Submit, aws_service: AwsService) -> None:
    (job.parent / "data" / "other").write_text("other")
    before = aws_service.keys(BUCKET)
    done = submit("--upload-to", TO, "--name", "submit-unasked")
    assert done.returncode == 2
    assert "there is no terminal" in done.stderr
    nowhere = submit("--upload-to", "s3://no-such-bucket-here/x", "--name", "submit-unasked", "--yes")
    assert nowhere.returncode == 3
    assert "aws s3 mb s3://no-such-bucket-here" in nowhere.stderr
    assert aws_service.keys(BUCKET) == before
    names = aws_service.client("sagemaker").list_training_jobs(NameContains="submit-unasked")["TrainingJobSummaries"]
    assert names == []


@pytest.mark.slow(2)
def test_a_cancelled_ci_job_leaves_nothing_running(job: Path, aws_service: AwsService, smlocal_home: Path) -> None:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "SMLOCAL_"))}
    script = "trap 'exit 0' TERM; echo begun; while :; do sleep 0.1; done"
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "smlocal", "submit", job, "--upload-to", TO, "--name", "submit-cancelled", "--yes"),
            *("--env", f"SCRIPT={script}"),
        ],
        env={**kept, **aws_service.environment, "SMLOCAL_HOME": str(smlocal_home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=120) == 128 + signal.SIGTERM
    answer = aws_service.client("sagemaker").describe_training_job(TrainingJobName="submit-cancelled")
    assert answer["TrainingJobStatus"] == "Stopped"


@pytest.mark.slow(2)
def test_a_processing_job_is_uploaded_made_and_followed_to_its_end(
    job: Path, submit: Submit, aws_service: AwsService
) -> None:
    root = "/opt/ml/processing"
    script = f"cp '{root}/in/below/ein ä.txt' {root}/split/one; echo copied; printf fine >/opt/ml/output/message"
    request = {
        "RoleArn": "arn:aws:iam::123456789012:role/Trainer",
        "AppSpecification": {"ImageUri": aws_service.image, "ContainerEntrypoint": ["sh", "-c", 'eval "$SCRIPT"']},
        "ProcessingInputs": [{"InputName": "data", "S3Input": {"S3Uri": "./data", "LocalPath": f"{root}/in"}}],
        "ProcessingOutputConfig": {
            "Outputs": [{"OutputName": "split", "S3Output": {"S3Uri": "./out", "LocalPath": f"{root}/split"}}]
        },
        "ProcessingResources": {
            "ClusterConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10}
        },
        "Environment": {"SCRIPT": script},
    }
    job.write_text(json.dumps(request))
    refused = submit("--upload-to", TO, "--name", "psubmit-split", "--yes")
    assert refused.returncode == 2
    assert "--output-to s3://bucket/some/prefix" in refused.stderr
    report = job.parent / "report.json"
    given = ("--upload-to", TO, "--output-to", f"s3://{BUCKET}/out", "--name", "psubmit-split", "--yes")
    done = submit(*given, "--report", report)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "copied\n", done.stderr
    result = f"s3://{BUCKET}/out/psubmit-split/output/split"
    for part in (
        "to upload: 1 file, ",
        "may take: 1 × ml.m5.large for at most 24 h: 24 instance-hours",
        f"psubmit-split   {aws_service.image} · 1 × ml.m5.large · eu-west-1",
        "✔ Starting",
        "✔ Processing",
        "Completed in ",
        "fine",
        f"split: {result}",
    ):
        assert part in done.stderr, done.stderr
    assert json.loads(report.read_text())["ProcessingJobStatus"] == "Completed"
    assert _content(aws_service, f"{result.removeprefix(f's3://{BUCKET}/')}/one") == f"of {job.parents[1].name}"

    again = submit(*given)
    assert again.returncode == 2
    assert "A processing job with the name 'psubmit-split' already exists on the service" in again.stderr

    events = submit(*given[:-2], "psubmit-fails", "--yes", "--progress", "json", "--env", "SCRIPT=exit 3")
    assert events.returncode == 1
    lines = [json.loads(line) for line in events.stderr.splitlines()]
    assert {"ProcessingJobName": "psubmit-fails", "ProcessingJobStatus": "Failed"}.items() <= lines[-1].items()
    assert [each["ProcessingJobName"] for each in lines if each["Event"] == "Submitted"] == ["psubmit-fails"]
