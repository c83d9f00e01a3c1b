"""A job of the service run here and compared with it, by name and by files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import WaiterError
from tests.doors.service.conftest import AwsService
from tests.kit import Run

JOB = "reproduced-failing"
SCRIPT = """
cd /opt/ml/input/data
echo fifo of $(wc -c < piped_0) bytes
echo found $(ls filed) and $(ls fast), $(wc -l < filed-manifest) lines in the manifest
echo weights > /opt/ml/model/weights
echo "no rows in ${COLUMN:-x} (host $(hostname -i), $(date +%T))" > /opt/ml/output/failure
echo 'ValueError: no rows'
exit 3
"""


def channel(name: str, mode: str) -> dict[str, Any]:
    source = {"S3DataType": "S3Prefix", "S3Uri": "s3://reproduced-data/rows/"}
    return {"ChannelName": name, "InputMode": mode, "DataSource": {"S3DataSource": source}}


@pytest.fixture(scope="module")
def failed(aws_service: AwsService, image: Callable[[str], str]) -> AwsService:
    """The service with a job that has failed, and its data in S3."""
    s3 = aws_service.client("s3")
    for bucket in ("reproduced-data", "artifacts"):
        s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    for number in range(1, 4):
        s3.put_object(Bucket="reproduced-data", Key=f"rows/{number}", Body=b"row\n" * number)
    with pytest.raises(WaiterError):
        aws_service.run(
            JOB,
            image("sh"),
            SCRIPT,
            InputDataConfig=[channel("filed", "File"), channel("fast", "FastFile"), channel("piped", "Pipe")],
        )
    return aws_service


@pytest.mark.slow(3)
def test_by_name_with_the_log_of_the_service_and_then_with_other_data(
    failed: AwsService, smlocal_run: Run, claim_names: Callable[[Path], None], tmp_path: Path
) -> None:
    claim_names(failed.home)
    done = smlocal_run("reproduce", JOB, "--name", "reproduced-here", env=failed.environment, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fifo of 24 bytes\nfound 1 2 3 and 1 2 3, 4 lines in the manifest\n" in done.stdout
    assert "Last lines of the log, the same there and here\n" in done.stdout
    assert done.stdout.endswith("\nReproduced: the job Failed there and here with the same reason (exit code 3).\n")
    assert "the channel filed is read from S3" in done.stderr
    assert done.stderr.splitlines()[-1] == "  next      smlocal rerun reproduced-here"

    words = ("reproduce", JOB, "--sample", "1", "--name", "reproduced-part", "-q", "--json")
    sampled = smlocal_run(*words, env=failed.environment, cwd=tmp_path)
    assert sampled.returncode == 0, sampled.stderr
    found = json.loads(sampled.stdout)
    assert found["Sentence"].endswith("The run here had only a sample of the data.")
    assert "fifo of 24 bytes" in found["There"]["LastLines"]
    assert found["Here"]["LastLines"][:2] == ["fifo of 4 bytes", "found 1 and 1, 2 lines in the manifest"]
    described = json.loads(smlocal_run("describe", "reproduced-part", "--json", check=True).stdout)
    (said,) = (note["Text"] for note in described["Local"]["Notes"] if note["Id"] == "sample")
    assert said.startswith("only the first object is taken (Local.Sample) of filed (without 2), fast (without 2), ")

    same = smlocal_run(
        *("compare", "reproduced-here", f"service:{JOB}", "--download"), env=failed.environment, cwd=tmp_path
    )
    assert same.returncode == 0, same.stdout + same.stderr
    assert "Nothing differs" in same.stdout
    assert "archives (1 file)" in same.stdout
    mistyped = smlocal_run("compare", f"service:{JOB}", "reproduced-none", env=failed.environment)
    assert (mistyped.returncode, "[job-unknown]" in mistyped.stderr) == (2, True)
    unknown = smlocal_run("compare", "service:reproduced-none", "reproduced-here", env=failed.environment)
    assert (unknown.returncode, "[service-job-unknown]" in unknown.stderr) == (2, True)


def test_a_file_without_credentials_and_an_end_that_is_another(
    failed: AwsService, smlocal_run: Run, claim_names: Callable[[Path], None], tmp_path: Path
) -> None:
    claim_names(failed.home)
    answer = failed.client("sagemaker").describe_training_job(TrainingJobName=JOB)
    (tmp_path / "answer.json").write_text(json.dumps(answer, default=str))
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "1").write_text("row\n")
    (tmp_path / "saved.log").write_text("ValueError: no rows\n")
    local = ("answer.json", "--logs", "saved.log", "--source", f"s3://reproduced-data={tmp_path}", "-q")
    other = smlocal_run("reproduce", *local, "-e", "COLUMN=y", "--name", "reproduced-otherwise", cwd=tmp_path)
    assert "the channel filed" not in other.stderr
    assert other.returncode == 1, other.stdout + other.stderr
    assert "different reasons" in other.stdout
    assert "Last lines of the log there\n  ValueError: no rows\nLast lines of the log here\n" in other.stdout
    assert "\nWhat may explain it\n  the data of filed, fast, piped is from folders of this machine" in other.stdout
    assert "\n  the run has other values than the job: Environment.COLUMN\n" in other.stdout

    compared = smlocal_run("compare", "answer.json", "reproduced-otherwise", "--json", cwd=tmp_path)
    assert compared.returncode == 1
    differing = {
        name: [each["Path"] for each in section["Differences"]]
        for name, section in json.loads(compared.stdout)["Sections"].items()
        if section["Counts"] and section["Differences"]
    }
    assert differing == {"environment": ["Environment.COLUMN"], "reason": ["FailureReason"]}

    refused = smlocal_run("reproduce", "answer.json", "--logs", "none.log", cwd=tmp_path)
    assert (refused.returncode, "[log-file]" in refused.stderr) == (2, True)
    (tmp_path / "running.json").write_text(json.dumps({**answer, "TrainingJobStatus": "InProgress"}, default=str))
    refused = smlocal_run("reproduce", "running.json", cwd=tmp_path)
    assert (refused.returncode, "[service-job-running]" in refused.stderr) == (2, True)


@pytest.fixture
def described(image: Callable[[str], str], tmp_path: Path) -> Callable[..., str]:
    """Writes the description of a job that has failed without saying why, and a folder for its data."""
    for folder in ("rows", "empty"):
        (tmp_path / folder).mkdir()
    (tmp_path / "rows" / "1").write_text("row\n")

    def write(script: str, reason: str, **members: Any) -> str:
        answer = {
            "TrainingJobName": "told",
            "TrainingJobArn": "arn:aws:sagemaker:eu-west-1:111122223333:training-job/told",
            "TrainingJobStatus": "Failed",
            "SecondaryStatus": "Failed",
            "FailureReason": reason,
            "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
            "RoleArn": "arn:aws:iam::111122223333:role/Trainer",
            "InputDataConfig": [channel("train", "File")],
            "OutputDataConfig": {"S3OutputPath": "s3://reproduced-out/"},
            "ResourceConfig": {"InstanceType": "ml.p3.2xlarge", "InstanceCount": 1, "VolumeSizeInGB": 1},
            "StoppingCondition": {"MaxRuntimeInSeconds": 60},
            "Environment": {"SCRIPT": script},
            **members,
        }
        (tmp_path / "told.json").write_text(json.dumps(answer))
        return "told.json"

    return write


LOCAL = ("--source", "s3://reproduced-data/rows=rows", "--allow-cpu")


@pytest.mark.slow(1)
def test_the_table_of_the_console_decides_where_the_reason_has_no_text(
    described: Callable[..., str], smlocal_run: Run, tmp_path: Path
) -> None:
    file = described("echo reading; echo 'KeyError: 3'; exit 1", "AlgorithmError: , exit code: 1")
    for error, code in (("KeyError: 3", 0), ("ValueError", 1)):
        (tmp_path / "log.csv").write_text(f'timestamp,message\n1700000000000,"reading\n"\n1700000000001,"{error}\n"\n')
        done = smlocal_run("reproduce", file, *LOCAL, "--logs", "log.csv", "-q", cwd=tmp_path)
        assert done.returncode == code, done.stdout + done.stderr
    (tmp_path / "log.csv").write_text("@message\nKeyError: 3\n")
    refused = smlocal_run("reproduce", file, *LOCAL, "--logs", "log.csv", "-q", cwd=tmp_path)
    assert (refused.returncode, "no column timestamp" in refused.stderr) == (2, True)


def test_checkpoints_in_s3_without_credentials_say_what_to_do(
    described: Callable[..., str], smlocal_run: Run, tmp_path: Path
) -> None:
    file = described(
        "exit 1", "AlgorithmError: , exit code: 1", CheckpointConfig={"S3Uri": "s3://reproduced-ckpt/told"}
    )
    without = {"AWS_CONFIG_FILE": "none", "AWS_SHARED_CREDENTIALS_FILE": "none", "AWS_EC2_METADATA_DISABLED": "true"}
    refused = smlocal_run("reproduce", file, *LOCAL, env=without, cwd=tmp_path)
    assert refused.returncode == 3, refused.stderr
    assert "without AWS: --source s3://reproduced-ckpt/told=DIR\n" in refused.stderr
    assert "CheckpointConfig.S3Uri: s3://reproduced-ckpt/told" in refused.stderr
    follows = refused.stderr.splitlines()[-1]
    assert follows == (
        "  next      smlocal reproduce told.json --source s3://reproduced-data/rows=rows --allow-cpu "
        "--source s3://reproduced-ckpt/told=./checkpoints"
    )
    done = smlocal_run(*follows.split()[2:], env=without, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    hints = [line for line in done.stderr.splitlines() if line.startswith("! ")]
    assert not any("GPU" in line or "S3" in line for line in hints), hints
    assert len(hints) == len({*hints})


@pytest.mark.slow(2)
def test_memory_that_is_not_enforced_and_the_command_that_enforces_it(
    described: Callable[..., str], smlocal_run: Run, tmp_path: Path
) -> None:
    reason = (
        "ClientError: Please use an instance type with more memory, "
        "or reduce the size of job data processed on an instance."
    )
    file = described("x=$(head -c 80000000 /dev/zero | tr '\\000' a); echo held ${#x}", reason)
    other = smlocal_run("reproduce", file, *LOCAL, cwd=tmp_path)
    assert other.returncode == 1, other.stderr
    assert "the memory of ml.p3.2xlarge (61 GiB) is not enforced here: --enforce-limits\n" in other.stdout
    assert other.stderr.splitlines()[-1].endswith(
        "told.json --source s3://reproduced-data/rows=rows --allow-cpu --enforce-limits"
    )
    same = smlocal_run("reproduce", file, *LOCAL, "--memory", "32m", cwd=tmp_path)
    assert same.returncode == 0, same.stdout + same.stderr


def test_an_empty_folder_stands_for_data_that_could_not_be_downloaded(
    described: Callable[..., str], smlocal_run: Run, tmp_path: Path
) -> None:
    given = ("--source", "s3://reproduced-data/rows=empty", "--allow-cpu")
    gone = (
        'ClientError: Data download failed:No S3 objects found under S3 URL "s3://reproduced-data/rows/" given in input'
    )
    file = described("exit 1", gone)
    other = smlocal_run("reproduce", file, *given, cwd=tmp_path)
    assert other.returncode == 1, other.stderr
    assert "the job Failed there and here, with different reasons" in other.stdout
    reason = next(line for line in other.stderr.splitlines() if line.startswith("Failed: ")).removeprefix("Failed: ")
    assert reason.startswith(gone)
    same = smlocal_run("reproduce", described("exit 1", reason), *given, cwd=tmp_path)
    assert same.returncode == 0, same.stdout + same.stderr

    # A job that had its data does not: an end that only the folder causes says nothing.
    refused = smlocal_run("reproduce", described("exit 1", "AlgorithmError: x"), *given, cwd=tmp_path)
    assert (refused.returncode, "[source-empty]" in refused.stderr) == (2, True)
    assert "Local.Sources maps it to " in refused.stderr
    assert "  next " not in refused.stderr


@pytest.mark.slow(3)
def test_a_processing_job_by_its_arn_and_by_a_file(
    aws_service: AwsService,
    smlocal_run: Run,
    claim_names: Callable[[Path], None],
    image: Callable[[str], str],
    tmp_path: Path,
) -> None:
    claim_names(aws_service.home)
    client = aws_service.client("sagemaker")
    script = 'echo "ValueError: no rows"; printf "no rows in x" > /opt/ml/output/message; exit ${CODE:-3}'
    client.create_processing_job(
        ProcessingJobName="psubmit-failing",
        RoleArn="arn:aws:iam::123456789012:role/Processor",
        AppSpecification={"ImageUri": image("sh"), "ContainerEntrypoint": ["sh", "-c", script]},
        ProcessingResources={"ClusterConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1}},
    )
    with pytest.raises(WaiterError):
        client.get_waiter("processing_job_completed_or_stopped").wait(ProcessingJobName="psubmit-failing")
    there = client.describe_processing_job(ProcessingJobName="psubmit-failing")
    words = ("reproduce", there["ProcessingJobArn"], "--name", "psubmit-again")
    done = smlocal_run(*words, env=aws_service.environment, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Last lines of the log, the same there and here\n  ValueError: no rows\n" in done.stdout
    assert "ExitMessage     no rows in x                     no rows in x\n" in done.stdout
    assert done.stdout.endswith("Failed there and here (exit code 3), with the same ExitMessage.\n")
    assert done.stderr.splitlines()[-1] == "  next      smlocal rerun psubmit-again"

    (tmp_path / "answer.json").write_text(json.dumps(there, default=str))
    changed = ("--name", "psubmit-other", "-e", "CODE=4")
    other = smlocal_run("reproduce", "answer.json", *changed, "--json", "-q", cwd=tmp_path)
    assert other.returncode == 1, other.stderr
    found = json.loads(other.stdout)
    assert (found["There"]["ProcessingJobName"], found["Here"]["ExitCode"]) == ("psubmit-failing", 4)
    assert found["Sentence"].startswith("Not reproduced: the job Failed there and here, with different reasons.")
    assert [each["Text"] for each in found["Explanations"]] == ["the run has other values than the job: Environment"]
    assert found["Next"] == "smlocal describe psubmit-other"
