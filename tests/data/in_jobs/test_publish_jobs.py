"""Artifacts in S3: only when told, whole or not at all, and a job that says so."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit.jobs import Ran
from tests.kit.reasons import assert_failed
from tests.kit.s3_servers import S3Server

RunJob = Callable[..., Ran]
SCRIPT = "cd /opt/ml; echo model >model/file; mkdir model/deep; echo x >model/deep/x; echo o >output/data/o"


def output(bucket: str, **more: Any) -> dict[str, Any]:
    return {"OutputDataConfig": {"S3OutputPath": f"s3://{bucket}/out/", **more}}


def objects(s3: S3Server, bucket: str) -> dict[str, bytes]:
    client = s3.client()
    keys = [each["Key"] for each in client.list_objects_v2(Bucket=bucket).get("Contents", ())]
    return {key: client.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys}


def test_nothing_is_written_unless_told(run_job: RunJob, s3: S3Server, tmp_path: Path) -> None:
    bucket = s3.make_bucket()
    ran = run_job([], SCRIPT, env=s3.environment, local={"Output": str(tmp_path / "out")}, **output(bucket))
    assert ran.exit == 0
    assert objects(s3, bucket) == {}
    assert "output-local" in ran.notes


def test_archives_are_uploaded_and_stay_here(run_job: RunJob, s3: S3Server, tmp_path: Path) -> None:
    bucket = s3.make_bucket()
    local = {"Output": str(tmp_path / "out")}
    ran = run_job([], SCRIPT, env=s3.environment, local=local, flags=("--publish",), **output(bucket))
    assert ran.exit == 0, ran.reason
    name = ran.answer["TrainingJobName"]
    folder = tmp_path / "out" / name / "output"
    assert objects(s3, bucket) == {
        f"out/{name}/output/{archive}": (folder / archive).read_bytes() for archive in ("model.tar.gz", "output.tar.gz")
    }
    assert ran.answer["ModelArtifacts"]["S3ModelArtifacts"] == f"s3://{bucket}/out/{name}/output/model.tar.gz"
    assert {each["S3Uri"] for each in ran.answer["Local"]["Artifacts"]["Published"]} == {
        f"s3://{bucket}/out/{name}/output/{archive}" for archive in ("model.tar.gz", "output.tar.gz")
    }
    assert "output-published" in ran.notes


def test_files_without_compression(run_job: RunJob, s3: S3Server) -> None:
    bucket = s3.make_bucket()
    request = output(bucket, CompressionType="NONE")
    ran = run_job([], SCRIPT, env=s3.environment, local={"Publish": True, "Output": "./out"}, **request)
    prefix = f"out/{ran.answer['TrainingJobName']}/output"
    found = objects(s3, bucket)
    assert {key: text for key, text in found.items() if "/model/" in key and not key.endswith("/")} == {
        f"{prefix}/model/file": b"model\n",
        f"{prefix}/model/deep/x": b"x\n",
    }
    assert f"{prefix}/output.tar.gz" in found


@pytest.mark.parametrize("exits", [0, 3])
def test_an_upload_that_is_refused(
    run_job: RunJob, s3: S3Server, smlocal_run: Callable[..., Any], tmp_path: Path, exits: int
) -> None:
    bucket = f"no-such-{s3.make_bucket()}"
    local = {"Output": str(tmp_path / "out"), "Publish": True}
    ran = run_job([], f"{SCRIPT}; exit {exits}", env=s3.environment, local=local, **output(bucket))
    name = ran.answer["TrainingJobName"]
    assert ran.answer["TrainingJobStatus"] == "Failed"
    if exits:
        assert ran.reason == "AlgorithmError: , exit code: 3"
    else:
        assert_failed("publish-no-bucket", ran.answer)
    assert (tmp_path / "out" / name / "output" / "model.tar.gz").exists()
    s3.client().create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    again = smlocal_run("publish", name, env=s3.environment)
    assert again.returncode == 0, again.stderr
    assert sorted(objects(s3, bucket)) == [f"out/{name}/output/{kind}.tar.gz" for kind in ("model", "output")]
