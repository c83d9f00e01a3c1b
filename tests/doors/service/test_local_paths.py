"""Manifests that a described job reads: what they name on this machine does not reach its containers."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.kit import Run

FIFO = "/opt/ml/input/data/train_0"


def test_a_line_that_names_a_file_of_this_machine_fails_the_job_and_its_rerun(
    smlocal_run: Run, image: Callable[[str], str], assert_nothing_left: Callable[[str], None], tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("the secret\n")
    (tmp_path / "bucket").mkdir()
    (tmp_path / "bucket" / "lines").write_text(json.dumps({"x-ref": str(tmp_path / "secret")}) + "\n")
    source = {"S3DataType": "AugmentedManifestFile", "S3Uri": "s3://bucket/lines", "AttributeNames": ["x-ref"]}
    request = {
        "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "Pipe"},
        "Environment": {"SCRIPT": f"cat {FIFO}"},
        "InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": source}}],
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
    }
    answer = {
        **request,
        "TrainingJobName": "described-lines",
        "TrainingJobArn": "arn:aws:sagemaker:eu-west-1:123456789012:training-job/described-lines",
        "TrainingJobStatus": "Completed",
    }
    (tmp_path / "answer.json").write_text(json.dumps(answer))
    own = {**source, "S3Uri": "./bucket/lines"}  # the user's own file, and not one that stands for an object of S3
    channels = [{"ChannelName": "train", "DataSource": {"S3DataSource": own}}]
    (tmp_path / "job.json").write_text(json.dumps({**request, "InputDataConfig": channels}))
    (tmp_path / "mapped.json").write_text(json.dumps(request))
    mapped = ("--source", f"s3://bucket={tmp_path}/bucket", "--json")
    commands = {
        "described-lines-run": ("run", "answer.json", *mapped),
        "described-lines-again": ("rerun", "described-lines-run", "--json"),
        "described-lines-own": ("run", "job.json", *mapped),
        "described-lines-mapped": ("run", "mapped.json", *mapped),
    }
    for name, words in commands.items():
        done = smlocal_run(*words, "--name", name, cwd=tmp_path)
        of_the_user = name == "described-lines-own"
        assert done.returncode == (0 if of_the_user else 1), done.stderr
        assert ("the secret" in done.stderr) == of_the_user
        if not of_the_user:
            reason = json.loads(done.stdout)["FailureReason"]
            assert reason.startswith("ClientError: Data download failed:Failed to download data. Augmented manifest ")
            assert "line 1 has no S3 URI of an object as 'x-ref'" in reason
        assert_nothing_left(name)
