"""Clients of the endpoint, and the containers of their jobs, try to reach files of this machine.

Nothing is read or written.
"""

import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, WaiterError

from smlocal.endpoint.serving import ClientRights, Options

SECRET = "the-content-of-a-secret-file"
PROGRAM = {
    "SCRIPT": 'eval "$READ"; eval "$WRITE"; eval "$LINKS"',
    "READ": """
find /opt/ml/input /opt/ml/checkpoints -type f | xargs cat 2>/dev/null || true
if [ -p /opt/ml/input/data/train_0 ]; then cat /opt/ml/input/data/train_0; fi
""",
    "WRITE": """
for place in /opt/ml/checkpoints /opt/ml/output/tensorboard /opt/ml/output/tensors /opt/ml/input/data/*; do
    mkdir -p $place 2>/dev/null && echo written >$place/evil || true
done
""",
    "LINKS": """
cd /opt/ml/model
ln -s /etc folder
ln -s /etc/passwd file
mkdir real && ln -s ../../../etc real/inner
echo weights >real/weights
""",
}
"""Reads whatever it finds, writes wherever it may, and leaves links in its model."""


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A folder of the owner that no client was given."""
    folder = tmp_path / "secret"
    folder.mkdir()
    (folder / "file").write_text(SECRET)
    return folder


@pytest.fixture
def allowed(tmp_path: Path) -> Path:
    folder = tmp_path / "allowed"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "a").write_text("allowed data\n")
    return folder


@pytest.fixture
def endpoint(make_endpoint: Callable[..., Any], allowed: Path, secret: Path) -> Iterator[Any]:
    """A server with a bucket. Somebody has put links into the bucket and into the folder that clients may name."""
    with make_endpoint(options=Options(rights=ClientRights(allowed_paths=(str(allowed),)))) as running:
        s3 = running.client("s3")
        s3.create_bucket(Bucket="bucket")
        s3.put_object(Bucket="bucket", Key="train/a", Body=b"data\n")
        s3.put_object(Bucket="bucket", Key="mixed/a", Body=b"data\n")
        bucket = Path(running.serving.buckets) / "bucket"
        for place in (bucket, bucket / "mixed", allowed):
            (place / "folder").symlink_to(secret)
            (place / "file").symlink_to(secret / "file")
        yield running


def request(name: str, image: str, **more: Any) -> dict[str, Any]:
    return {
        "TrainingJobName": name,
        "AlgorithmSpecification": {"TrainingImage": image, "TrainingInputMode": "File"},
        "RoleArn": "arn:aws:iam::000000000000:role/any",
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
        "Environment": PROGRAM,
        **more,
    }


def channel(uri: str, kind: str = "S3Prefix", **more: Any) -> dict[str, Any]:
    source: dict[str, Any] = {"S3DataType": kind, "S3Uri": uri}
    if kind == "AugmentedManifestFile":
        source["AttributeNames"] = ["source-ref"]
    return {"InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": source}, **more}]}


def file_system(identifier: str, path: str, **local: Any) -> dict[str, Any]:
    source = {
        "FileSystemId": identifier,
        "FileSystemAccessMode": "rw",
        "FileSystemType": "EFS",
        "DirectoryPath": path,
    }
    return {
        "InputDataConfig": [{"ChannelName": "train", "DataSource": {"FileSystemDataSource": source}}],
        **({"Local": local} if local else {}),
    }


def rule(**parameters: str) -> dict[str, Any]:
    return {
        "DebugHookConfig": {"S3OutputPath": "s3://bucket/tensors"},
        "DebugRuleConfigurations": [
            {"RuleConfigurationName": "r", "RuleEvaluatorImage": "any", "RuleParameters": parameters}
        ],
    }


def end_of(endpoint: Any, job: dict[str, Any]) -> tuple[str, str]:
    """The status and the reason of a job; `refused` and the message if it was not accepted."""
    sagemaker = endpoint.client("sagemaker")
    try:
        sagemaker.create_training_job(**job)
    except ClientError as error:
        return "refused", str(error)
    return ended(sagemaker, job["TrainingJobName"])


def ended(sagemaker: Any, name: str) -> tuple[str, str]:
    with suppress(WaiterError):  # of a job that has failed
        sagemaker.get_waiter("training_job_completed_or_stopped").wait(
            TrainingJobName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 100}
        )
    answer = sagemaker.describe_training_job(TrainingJobName=name)
    return answer["TrainingJobStatus"], answer.get("FailureReason", "")


def put(endpoint: Any, key: str, content: Any) -> None:
    endpoint.client("s3").put_object(Bucket="bucket", Key=key, Body=json.dumps(content).encode() + b"\n")


def all_bytes_below(folder: Path) -> bytes:
    paths = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return b"".join(path.read_bytes() for path in paths)


ATTEMPTS: dict[str, dict[str, Any]] = {
    "output-through-a-link": {"OutputDataConfig": {"S3OutputPath": "s3://bucket/folder/out"}},
    "output-in-a-link": {"OutputDataConfig": {"S3OutputPath": "s3://bucket/folder"}},
    "output-above": {"OutputDataConfig": {"S3OutputPath": "s3://bucket/../../../secret"}},
    "checkpoints-in-a-link": {"CheckpointConfig": {"S3Uri": "s3://bucket/folder"}},
    "checkpoints-through-a-link": {"CheckpointConfig": {"S3Uri": "s3://bucket/folder/new"}},
    "tensorboard": {"TensorBoardOutputConfig": {"S3OutputPath": "s3://bucket/folder"}},
    "tensors": {"DebugHookConfig": {"S3OutputPath": "s3://bucket/folder/new"}},
    "channel-of-a-link": channel("s3://bucket/folder/"),
    "channel-of-a-linked-file": channel("s3://bucket/file"),
    "channel-with-links": channel("s3://bucket/mixed/"),
    "fast-file-with-links": channel("s3://bucket/mixed/", InputMode="FastFile"),
    "pipe-with-links": channel("s3://bucket/mixed/", InputMode="Pipe"),
    "pipe-of-a-link": channel("s3://bucket/fold", InputMode="Pipe"),
    "manifest-through-a-link": channel("s3://bucket/manifests/link", "ManifestFile"),
    "manifest-of-a-path": channel("s3://bucket/manifests/path", "ManifestFile"),
    "manifest-beside": channel("s3://bucket/manifests/beside", "ManifestFile"),
    "manifest-is-a-link": channel("s3://bucket/file", "ManifestFile"),
    "augmented-of-a-path": channel("s3://bucket/manifests/augmented", "AugmentedManifestFile", InputMode="Pipe"),
    "augmented-through-a-link": channel("s3://bucket/manifests/linked", "AugmentedManifestFile", InputMode="Pipe"),
    "bucket-as-a-file-system": {
        **file_system("s3://bucket", "/"),
        "TensorBoardOutputConfig": {"S3OutputPath": "s3://bucket/tb"},
    },
    "tensors-of-another-trial": rule(rule_to_invoke="Custom", other_trial_0="SECRET"),
    "source-of-a-rule": rule(rule_to_invoke="Custom", source_s3_uri="SECRET/file"),
}


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_nothing_of_this_machine_is_read_or_written(
    endpoint: Any, image: Callable[[str], str], secret: Path, attempt: str
) -> None:
    put(endpoint, "manifests/link", [{"prefix": "s3://bucket/folder/"}, "file"])
    put(endpoint, "manifests/path", [{"prefix": f"file://{secret}/"}, "file"])
    put(endpoint, "manifests/beside", [{"prefix": f"file://{endpoint.serving.buckets}"}, "/../../secret/file", "x"])
    put(endpoint, "manifests/augmented", {"source-ref": f"{secret}/file"})
    put(endpoint, "manifests/linked", {"source-ref": "s3://bucket/folder/file"})
    text = json.dumps(ATTEMPTS[attempt]).replace("SECRET", str(secret))
    job = request(f"attempt-{attempt}"[:63], image("sh"), **json.loads(text))
    status, reason = end_of(endpoint, job)

    assert sorted(os.listdir(secret)) == ["file"], (status, reason)
    assert (secret / "file").read_text() == SECRET
    bucket = Path(endpoint.serving.buckets) / "bucket"
    assert SECRET.encode() not in all_bytes_below(bucket)
    links = {str(path.relative_to(bucket)) for path in bucket.rglob("*") if path.is_symlink()}
    assert links == {"folder", "file", "mixed/folder", "mixed/file"}, "no job lays a link into a bucket"
    if status != "refused":
        assert SECRET.encode() not in all_bytes_below(Path(endpoint.store.directory(job["TrainingJobName"])) / "logs")
    assert "validation error" not in reason or attempt == "bucket-as-a-file-system"
    if attempt not in {"channel-with-links", "fast-file-with-links", "pipe-with-links", "output-above"}:
        assert status in {"refused", "Failed"}, "it is refused with a reason, not ignored"
        assert reason


def test_links_of_a_model_that_is_not_packed_stay_behind(endpoint: Any, image: Callable[[str], str]) -> None:
    output = {"S3OutputPath": "s3://bucket/out", "CompressionType": "NONE"}
    assert end_of(endpoint, request("attack-unpacked", image("sh"), OutputDataConfig=output)) == ("Completed", "")

    model = Path(endpoint.serving.buckets) / "bucket" / "out" / "attack-unpacked" / "output" / "model"
    assert {str(path.relative_to(model)) for path in model.rglob("*")} == {"real", "real/weights"}
    notes = endpoint.store.document("attack-unpacked", "local")["Artifacts"]["Notes"]
    assert "algo-1: file is a link, which a bucket cannot have, and was skipped" in notes


@pytest.mark.parametrize("where", ["folder", "file", "folder/file", "data/../folder"])
@pytest.mark.parametrize("how", ["channel", "file-system", "source"])
def test_links_below_an_allowed_folder_are_not_followed(
    endpoint: Any, image: Callable[[str], str], allowed: Path, secret: Path, how: str, where: str
) -> None:
    if how == "channel":
        asked = channel(f"file://{allowed}/{where}")
    elif how == "source":
        asked = {**channel("s3://elsewhere/x"), "Local": {"Sources": {"s3://elsewhere/x": f"{allowed}/{where}"}}}
    else:
        asked = file_system("fs-12345678", f"/{where}", Sources={"fs-12345678": str(allowed)})
    status, reason = end_of_document(endpoint, request(f"below-{how}", image("sh"), **asked))
    assert status in {"refused", "Failed"}
    assert "link" in reason or "no local folder can replace" in reason
    assert sorted(os.listdir(secret)) == ["file"]


@pytest.mark.slow(1)
def test_an_allowed_folder_is_used(endpoint: Any, image: Callable[[str], str], allowed: Path) -> None:
    asked = file_system("fs-12345678", "/data", Sources={"fs-12345678": str(allowed)})
    assert end_of_document(endpoint, request("attack-file-system", image("sh"), **asked)) == ("Completed", "")
    assert (allowed / "data" / "evil").read_text() == "written\n"
    job = request("attack-channel", image("sh"), **channel(f"file://{allowed}/data"))
    assert end_of_document(endpoint, job) == ("Completed", "")
    log = Path(endpoint.store.directory("attack-channel")) / "logs" / "algo-1.log"
    assert "allowed data" in log.read_text()


def end_of_document(endpoint: Any, job: dict[str, Any]) -> tuple[str, str]:
    """As `end_of`, of a request that no SDK makes: with the block `Local`."""
    asked = urllib.request.Request(
        endpoint.address,
        json.dumps(job).encode(),
        {"X-Amz-Target": "SageMaker.CreateTrainingJob", "Content-Type": "application/x-amz-json-1.1"},
    )
    try:
        urllib.request.urlopen(asked, timeout=60).close()
    except urllib.error.HTTPError as error:
        return "refused", error.read().decode()
    return ended(endpoint.client("sagemaker"), job["TrainingJobName"])
