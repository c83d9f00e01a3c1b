"""Checkpoints in S3 that nothing here stands for: read once, and kept in the job's output."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kit import Run, until
from tests.kit.jobs import Background, Ran
from tests.kit.s3_servers import S3Server

RunJob = Callable[..., Ran]
AT = "/opt/ml/checkpoints"


@pytest.fixture
def bucket(s3: S3Server) -> str:
    """A bucket with two checkpoints below `ckpt/run`."""
    name = s3.make_bucket()
    for key, data in {"ckpt/run/a": b"one\n", "ckpt/run/b/c": b"two\n", "ckpt/run-2": b"no"}.items():
        s3.put(name, key, data)
    return name


def files_in(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("end", ["", "/"])
def test_restored_and_kept(run_job: RunJob, s3: S3Server, bucket: str, end: str) -> None:
    script = (
        f"cd {AT}; find . -type f | sort; cat a b/c ../input/data/checkpoints-manifest; rm a; echo new >b/c; echo 3 >d"
    )
    uri = f"s3://{bucket}/ckpt/run{end}"
    ran = run_job([], script, env=s3.environment, InputDataConfig=None, CheckpointConfig={"S3Uri": uri})
    assert ran.exit == 0, ran.reason
    prefix = f"ckpt/run{end}"
    assert ran.log() == (f"./a\n./b/c\none\ntwo\n{prefix}\ns3://{bucket}/ckpt/run/a\ns3://{bucket}/ckpt/run/b/c\n")
    output = ran.folder / "out" / ran.answer["TrainingJobName"]
    assert files_in(output / "checkpoints") == {"b/c": "new\n", "d": "3\n"}
    assert "checkpoints" in ran.notes
    # What S3 has stays as it was.
    assert [each["Key"] for each in s3.client().list_objects_v2(Bucket=bucket)["Contents"]] == [
        "ckpt/run-2",
        "ckpt/run/a",
        "ckpt/run/b/c",
    ]


def test_an_empty_prefix(run_job: RunJob, s3: S3Server, bucket: str) -> None:
    config = {"S3Uri": f"s3://{bucket}/none/yet"}
    ran = run_job(
        [], f"ls -A {AT}; echo 1 >{AT}/first", env=s3.environment, InputDataConfig=None, CheckpointConfig=config
    )
    assert (ran.exit, ran.log()) == (0, "")
    assert files_in(ran.folder / "out" / ran.answer["TrainingJobName"] / "checkpoints") == {"first": "1\n"}


@pytest.mark.slow(1)
def test_every_host_has_them_all(run_job: RunJob, s3: S3Server, bucket: str) -> None:
    ran = run_job(
        [],
        f"cat {AT}/a {AT}/b/c",
        env=s3.environment,
        InputDataConfig=None,
        CheckpointConfig={"S3Uri": f"s3://{bucket}/ckpt/run"},
        ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 2},
    )
    assert (ran.log("algo-1"), ran.log("algo-2")) == ("one\ntwo\n", "one\ntwo\n")


@pytest.mark.slow(1)
def test_after_an_interruption_it_goes_on_from_what_is_kept(
    job_file: Callable[..., Path],
    background: Callable[..., Background],
    smlocal_run: Run,
    s3: S3Server,
    bucket: str,
) -> None:
    script = f"""
    cd {AT}; ls
    if [ -e n ]; then exit 0; fi
    rm a
    trap 'echo 1 >n; exit 1' TERM; echo ready
    while :; do sleep 0.05; done
    """
    path = job_file(
        [],
        script,
        InputDataConfig=None,
        CheckpointConfig={"S3Uri": f"s3://{bucket}/ckpt/run"},
        EnableManagedSpotTraining=True,
        StoppingCondition={"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 600},
    )
    job = background(path, s3.environment)
    until(lambda: "ready" in job.output())
    assert smlocal_run("interrupt", job.name).returncode == 0
    answer = job.finish()
    assert answer["TrainingJobStatus"] == "Completed", answer
    assert job.output() == "a\nb\nready\nb\nn\n"


@pytest.mark.slow(1)
def test_what_an_earlier_job_left_is_moved_aside(run_job: RunJob, s3: S3Server, bucket: str) -> None:
    name = "s3-checkpoints-twice"
    folder = Path()
    for _ in range(2):
        ran = run_job(
            [],
            f"ls {AT}; echo mine >{AT}/mine",
            env={**s3.environment, "SMLOCAL_HOME": str(folder / "other-home")} if folder != Path() else s3.environment,
            InputDataConfig=None,
            CheckpointConfig={"S3Uri": f"s3://{bucket}/ckpt/run"},
            TrainingJobName=name,
        )
        folder = ran.folder
        assert ran.log() == "a\nb\n"
    (aside,) = (folder / "out" / name).glob("checkpoints-until-*")
    assert files_in(aside) == {"a": "one\n", "b/c": "two\n", "mine": "mine\n"}
    assert "already existed" in ran.stderr


def test_a_bucket_that_is_not_there(smlocal_run: Run, job_file: Callable[..., Path], s3: S3Server) -> None:
    path = job_file([], "true", InputDataConfig=None, CheckpointConfig={"S3Uri": "s3://no-such-bucket-here/x"})
    done = smlocal_run("run", path.name, cwd=path.parent, env=s3.environment)
    assert done.returncode == 2
    assert "no-such-bucket-here" in done.stderr


def test_without_credentials(smlocal_run: Run, job_file: Callable[..., Path]) -> None:
    path = job_file([], "true", InputDataConfig=None, CheckpointConfig={"S3Uri": "s3://some-bucket/x"})
    nobody = {"AWS_EC2_METADATA_DISABLED": "true", "HOME": str(path.parent)}
    done = smlocal_run("run", path.name, cwd=path.parent, env=nobody)
    assert (done.returncode, "[credentials-missing]" in done.stderr) == (3, True), done.stderr
