"""Checkpoints, TensorBoard's logs and the debugger's tensors mirrored to S3, when told."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run, until
from tests.kit.fixtures import touch_inside
from tests.kit.jobs import Background, Ran
from tests.kit.reasons import assert_failed
from tests.kit.s3_servers import S3Server, S3Servers

RunJob = Callable[..., Ran]
Clean = Callable[[str], None]

UNTIL_TOLD = "until_told() { until [ -e /opt/ml/output/$1 ]; do sleep 0.05; done; }; cd /opt/ml/checkpoints;"
STEPS = f"""
{UNTIL_TOLD}
cat old; exec 3>/opt/ml/output/tensorboard/events; echo one >&3
echo tensor >/opt/ml/output/tensors/step-1
mkdir deep; echo new >deep/new; echo changed >old; head -c 20000000 /dev/zero | tr '\\0' x >large
until_told deleted; rm deep/new gone; echo two >&3
until_told over; echo late >late; rm large
"""


def tell(job: Background, word: str, host: str = "algo-1") -> None:
    """Make the file that a container waits for."""
    touch_inside(job.home / "jobs" / job.name / "hosts" / host / "output" / word)


def objects(s3: S3Server, bucket: str) -> dict[str, str]:
    """Every object by its key; of a large one the size."""
    client = s3.client()
    found = {}
    for each in client.list_objects_v2(Bucket=bucket).get("Contents", ()):
        found[each["Key"]] = str(each["Size"])
        if each["Size"] < 1000:
            with suppress(client.exceptions.NoSuchKey):  # deleted meanwhile
                found[each["Key"]] = client.get_object(Bucket=bucket, Key=each["Key"])["Body"].read().decode()
    return found


def request(bucket: str, **more: Any) -> dict[str, Any]:
    return {
        "InputDataConfig": None,
        "CheckpointConfig": {"S3Uri": f"s3://{bucket}/ckpt/run"},
        "local": {"Publish": True, **more},
    }


def test_mirrored_while_the_job_runs(
    job_file: Callable[..., Path],
    background: Callable[..., Background],
    s3_servers: S3Servers,
    tmp_path: Path,
) -> None:
    s3 = s3_servers("moto")
    bucket = s3.make_bucket()
    for key in ("ckpt/run/old", "ckpt/run/gone", "ckpt/run/kept", "ckpt/run-2"):
        s3.put(bucket, key, b"old\n")
    kept = s3.client().head_object(Bucket=bucket, Key="ckpt/run/kept")["LastModified"]
    others = {key: {"S3OutputPath": f"s3://{bucket}/logs/"} for key in ("TensorBoardOutputConfig", "DebugHookConfig")}
    path = job_file([], STEPS, **request(bucket), **others)
    job = background(path, s3.environment)
    logs = {
        f"logs/{job.name}/tensorboard-output/events": "one\n",
        f"logs/{job.name}/debug-output/step-1": "tensor\n",
    }
    there = {"ckpt/run/old": "changed\n", "ckpt/run/kept": "old\n", "ckpt/run-2": "old\n", "ckpt/run/large": "20000000"}
    begun = {**there, **logs, "ckpt/run/deep/new": "new\n", "ckpt/run/gone": "old\n"}
    until(lambda: job.process.poll() is not None or objects(s3, bucket) == begun)
    assert job.process.poll() is None
    tell(job, "deleted")
    logs[f"logs/{job.name}/tensorboard-output/events"] = "one\ntwo\n"
    until(lambda: objects(s3, bucket) == {**there, **logs})
    tell(job, "over")
    answer = job.finish()
    assert answer["TrainingJobStatus"] == "Completed"
    assert job.output() == "old\n"
    del there["ckpt/run/large"]
    logs[f"logs/{job.name}/debug-output/training_job_end.ts"] = ""
    assert objects(s3, bucket) == {**there, **logs, "ckpt/run/late": "late\n"}
    assert s3.client().head_object(Bucket=bucket, Key="ckpt/run/kept")["LastModified"] == kept
    assert answer["Local"]["Artifacts"]["Notes"] == []
    noted = {note["Id"] for note in answer["Local"]["Notes"]}
    assert "mirrors-published" in noted
    assert not noted & {"checkpoints", "collectors", "publish-unused"}
    assert not (tmp_path / "out").exists()


def test_nothing_is_written_unless_told(run_job: RunJob, s3_servers: S3Servers) -> None:
    s3 = s3_servers("moto")
    bucket = s3.make_bucket()
    s3.put(bucket, "ckpt/run/old", b"old\n")
    others = {key: {"S3OutputPath": f"s3://{bucket}/logs"} for key in ("TensorBoardOutputConfig", "DebugHookConfig")}
    script = "cd /opt/ml; rm checkpoints/old; for each in checkpoints output/tensorboard; do echo 1 >$each/new; done"
    ran = run_job([], script, env=s3.environment, **request(bucket, Publish=False), **others)
    assert ran.exit == 0, ran.reason
    assert objects(s3, bucket) == {"ckpt/run/old": "old\n"}
    assert {"checkpoints", "collectors"} <= ran.notes
    assert "mirrors-published" not in ran.notes


@pytest.mark.slow(1)
def test_the_last_of_it_after_a_stop(
    job_file: Callable[..., Path],
    background: Callable[..., Background],
    smlocal_run: Callable[..., Any],
    s3_servers: S3Servers,
) -> None:
    s3 = s3_servers("moto")
    bucket = s3.make_bucket()
    trap = "trap 'echo last >&3; exit 1' TERM; echo ready"
    script = f"cd /opt/ml/checkpoints; exec 3>open; {trap}; while :; do sleep 0.1; done"
    job = background(job_file([], script, **request(bucket)), s3.environment)
    until(lambda: "ready" in job.output())
    assert smlocal_run("stop", job.name).returncode == 0
    assert job.finish()["TrainingJobStatus"] == "Stopped"
    assert objects(s3, bucket) == {"ckpt/run/open": "last\n"}


@pytest.mark.slow(2)
def test_after_an_interruption_it_goes_on_from_s3(
    job_file: Callable[..., Path],
    background: Callable[..., Background],
    smlocal_run: Callable[..., Any],
    s3_servers: S3Servers,
) -> None:
    s3 = s3_servers("moto")
    bucket = s3.make_bucket()
    s3.put(bucket, "ckpt/run/a", b"old\n")
    script = """
    cd /opt/ml/checkpoints; ls; cat ../input/data/checkpoints-manifest
    if [ -e n ]; then exit 0; fi
    rm a
    trap 'echo 1 >n; exit 1' TERM; echo ready
    while :; do sleep 0.05; done
    """
    spot = {
        "EnableManagedSpotTraining": True,
        "StoppingCondition": {"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 600},
    }
    job = background(job_file([], script, **request(bucket), **spot), s3.environment)
    until(lambda: "ready" in job.output())
    assert smlocal_run("interrupt", job.name).returncode == 0
    answer = job.finish()
    assert answer["TrainingJobStatus"] == "Completed", answer
    root = f"ckpt/run\ns3://{bucket}/ckpt/run"
    assert job.output() == f"a\n{root}/a\nready\nn\n{root}/n\n"
    assert objects(s3, bucket) == {"ckpt/run/n": "1\n"}


@pytest.mark.slow(1)
def test_two_hosts_share_a_prefix_and_fail(run_job: RunJob, s3_servers: S3Servers) -> None:
    s3 = s3_servers("moto")
    bucket = s3.make_bucket()
    script = """
    cd /opt/ml/checkpoints
    me=$(sed 's/.*current_host":"\\([^"]*\\).*/\\1/' /opt/ml/input/config/resourceconfig.json)
    echo $me >$me; echo $me >same
    # Neither ends before the other has written.
    if [ $me = algo-1 ]; then nc -l -p 4000 </dev/null; else
        until nc algo-1 4000 </dev/null 2>/dev/null; do sleep 0.1; done
    fi
    ls; exit 3
    """
    resources = {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2}}
    ran = run_job([], script, env=s3.environment, **request(bucket), **resources)
    assert ran.exit == 1
    assert [ran.log(host) for host in ("algo-1", "algo-2")] == ["algo-1\nsame\n", "algo-2\nsame\n"]
    found = objects(s3, bucket)
    assert found.pop("ckpt/run/same") in {"algo-1\n", "algo-2\n"}
    assert found == {"ckpt/run/algo-1": "algo-1\n", "ckpt/run/algo-2": "algo-2\n"}
    (note,) = ran.answer["Local"]["Artifacts"]["Notes"]
    assert note.startswith("same: both algo-")


@pytest.mark.slow(1)
def test_what_s3_does_not_take_is_here_and_can_be_sent_later(
    run_job: RunJob, s3_servers: S3Servers, smlocal_run: Callable[..., Any]
) -> None:
    s3 = s3_servers("moto")
    bucket = s3.make_bucket()
    missing = f"{bucket}-missing"
    script = "cd /opt/ml; echo 1 >checkpoints/n; echo 2 >output/tensorboard/events; echo 3 >model/m"
    board = {"TensorBoardOutputConfig": {"S3OutputPath": f"s3://{missing}/logs"}}
    ran = run_job([], script, env=s3.environment, **request(bucket), **board)
    name = ran.answer["TrainingJobName"]
    assert ran.exit == 1
    assert_failed("publish-mirror-refused", ran.answer)
    # As much as possible is saved, and the model is not lost either.
    assert objects(s3, bucket) == {"ckpt/run/n": "1\n"}
    assert ran.model("m") == b"3\n"
    kept = ran.folder / "out" / name / "tensorboard-output"
    assert (kept / "events").read_text() == "2\n"
    prefix = f"s3://{missing}/logs/{name}/tensorboard-output/"
    assert f"files that are missing in {prefix} are in {kept}" in ran.answer["Local"]["Artifacts"]["Notes"]
    s3.client().create_bucket(Bucket=missing, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    again = smlocal_run("publish", name, env=s3.environment)
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines() == [f"{prefix}events  2 B"]
    assert objects(s3, missing) == {f"logs/{name}/tensorboard-output/events": "2\n"}
    nothing = smlocal_run("publish", name, env=s3.environment)
    assert (nothing.returncode, "[nothing-to-publish]" in nothing.stderr) == (2, True)


@pytest.mark.slow(2)
def test_who_takes_over_goes_on(
    job_file: Callable[..., Path],
    background: Callable[..., Background],
    smlocal_run: Run,
    s3_servers: S3Servers,
    assert_nothing_left: Clean,
) -> None:
    s3 = s3_servers("moto")
    bucket = s3.make_bucket()
    script = f"{UNTIL_TOLD} echo 1 >a; echo 2 >b; until_told deleted; rm a; until_told over; echo 3 >c"
    job = background(job_file([], script, **request(bucket)), s3.environment)
    until(lambda: objects(s3, bucket) == {"ckpt/run/a": "1\n", "ckpt/run/b": "2\n"})
    job.process.kill()
    job.process.communicate()
    # A killed supervisor may leave parts that are not visible.
    parts = s3.client().create_multipart_upload(Bucket=bucket, Key="ckpt/run/large")["UploadId"]
    journal = job.home / "jobs" / job.name / "uploads-of-checkpoints.json"
    journal.write_text(json.dumps({parts: [bucket, "ckpt/run/large"]}))
    tell(job, "deleted")
    recovering = subprocess.Popen(
        [sys.executable, "-m", "smlocal", "recover"],
        env={**os.environ, **s3.environment, "SMLOCAL_HOME": str(job.home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: objects(s3, bucket) == {"ckpt/run/b": "2\n"})
    finally:
        tell(job, "over")
        assert recovering.wait(240) == 0
    assert objects(s3, bucket) == {"ckpt/run/b": "2\n", "ckpt/run/c": "3\n"}
    assert s3.client().list_multipart_uploads(Bucket=bucket).get("Uploads", []) == []
    answer = json.loads(smlocal_run("describe", job.name, "--json").stdout)
    assert answer["TrainingJobStatus"] == "Completed"
    assert_nothing_left(job.name)


def test_without_credentials(smlocal_run: Run, job_file: Callable[..., Path]) -> None:
    board = {"TensorBoardOutputConfig": {"S3OutputPath": "s3://some-bucket/x"}}
    path = job_file([], "true", InputDataConfig=None, **board)
    nobody = {"AWS_EC2_METADATA_DISABLED": "true", "HOME": str(path.parent)}
    done = smlocal_run("run", path.name, "--publish", cwd=path.parent, env=nobody)
    assert (done.returncode, "[credentials-missing]" in done.stderr) == (3, True), done.stderr


def test_everything_that_is_sent_is_encrypted(run_job: RunJob, s3_servers: S3Servers) -> None:
    s3 = s3_servers("moto")
    bucket = s3.make_bucket()
    script = "cd /opt/ml; echo 1 >checkpoints/n; echo 2 >model/m"
    output = {"OutputDataConfig": {"S3OutputPath": f"s3://{bucket}/out", "KmsKeyId": "alias/mine"}}
    ran = run_job([], script, env=s3.environment, **request(bucket, Output="./out"), **output)
    assert ran.exit == 0, ran.reason
    model = f"out/{ran.answer['TrainingJobName']}/output/model.tar.gz"
    for key in ("ckpt/run/n", model):
        head = s3.client().head_object(Bucket=bucket, Key=key)
        assert (head.get("ServerSideEncryption"), head.get("SSEKMSKeyId")) == ("aws:kms", "alias/mine")
    assert "encryption" not in ran.notes
