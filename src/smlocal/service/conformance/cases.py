"""The jobs that show most of a container with the least, and their image: each one's purpose, request and data."""

import json
import os
from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import Any

from smlocal.errors import OutputUnusableError

PREFIX = "s3://BUCKET/smlocal-conformance"
"""Where data is read and artifacts are written, in requests that were not filled in."""
IMAGE = "ACCOUNT.dkr.ecr.REGION.amazonaws.com/smlocal-conformance:latest"
ROLE = "arn:aws:iam::ACCOUNT:role/ROLE"

READY = "smlocal-conformance ready to be stopped"
"""The line that the probe prints once the job may be stopped."""
_HOSTS = {"everything": 2, "stopped": 1, "failed": 2}
_LONGEST_SECONDS = 1200


class ConformanceCase(StrEnum):
    """One job."""

    EVERYTHING = "everything"
    """Two hosts and a channel of each input mode; it completes."""
    STOPPED = "stopped"
    """One host without channels. It is stopped, and lives on until it is killed."""
    FAILED = "failed"
    """Two hosts without channels: the second fails while the first runs."""


DATA: Mapping[str, bytes] = {
    "file/first.txt": b"one\n",
    "file/folder/second.bin": bytes(range(256)),
    "file/folder/deeper/third.txt": b"three\n",
    "file/empty": b"",
    "sharded/part-1": b"1",
    "sharded/part-10": b"10",
    "sharded/part-2": b"2",
    "sharded/part-3": b"3",
    "sharded/part-4": b"4",
    "fast/first.txt": b"one\n",
    "fast/folder/second.bin": bytes(range(256)),
    "pipe/first": b"first without an end of line",
    "pipe/second": b"second\n",
    "records/first": b"12345",
    "records/second": b"",
}
"""The objects below the prefix of the data: their keys and contents."""


def request(
    case: ConformanceCase, *, name: str, image: str = IMAGE, role: str = ROLE, prefix: str = PREFIX
) -> dict[str, Any]:
    """A CreateTrainingJob request that the service takes."""
    asked: dict[str, Any] = {
        "TrainingJobName": name,
        "AlgorithmSpecification": {
            "TrainingImage": image,
            "TrainingInputMode": "File",
            "MetricDefinitions": [{"Name": "conformance:version", "Regex": "smlocal-conformance version ([0-9]+)"}],
        },
        "RoleArn": role,
        "HyperParameters": {"conformance_case": str(case), "text": "with a space", "document": '{"a": [1, "two"]}'},
        "Environment": {"CONFORMANCE_TEXT": "with a space", "CONFORMANCE_EMPTY": ""},
        "OutputDataConfig": {"S3OutputPath": f"{prefix}/output"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": _HOSTS[case], "VolumeSizeInGB": 10},
        "StoppingCondition": {"MaxRuntimeInSeconds": _LONGEST_SECONDS},
    }
    if case is ConformanceCase.EVERYTHING:
        asked["InputDataConfig"] = _channels(f"{prefix}/data")
        asked["CheckpointConfig"] = {"S3Uri": f"{prefix}/output/{name}/checkpoints"}
    return asked


def _channels(data: str) -> list[dict[str, Any]]:
    return [
        _channel("file", data, ContentType="text/plain"),
        _channel("sharded", data, distribution="ShardedByS3Key"),
        _channel("fast", data, InputMode="FastFile"),
        _channel("pipe", data, InputMode="Pipe"),
        _channel("records", data, InputMode="Pipe", RecordWrapperType="RecordIO"),
    ]


def _channel(name: str, data: str, *, distribution: str = "FullyReplicated", **more: str) -> dict[str, Any]:
    source = {"S3DataType": "S3Prefix", "S3Uri": f"{data}/{name}/", "S3DataDistributionType": distribution}
    return {"ChannelName": name, "DataSource": {"S3DataSource": source}, **more}


DEFAULT_BASE = "python:3.11-slim-bookworm"
"""As the Dockerfile says too."""
_HERE = os.path.dirname(__file__)
_CONTEXT_FILES = ("Dockerfile", "probe.py")


def image_tag(base: str) -> str:
    """The name of the image on this base: another one with each change of the probe."""
    digest = sha256("\0".join([base, *(_package_file(name) for name in _CONTEXT_FILES)]).encode()).hexdigest()
    return f"smlocal-conformance:{digest[:12]}"


def write_context(folder: str, *, base: str = DEFAULT_BASE) -> None:
    """Write the files for `docker build`."""
    for name in _CONTEXT_FILES:
        write_file(folder, name, _package_file(name).replace(f"BASE={DEFAULT_BASE}\n", f"BASE={base}\n").encode())


def write_jobs(folder: str) -> None:
    """A request for each job, in which image, role and bucket are to be filled in; and the data."""
    for case in ConformanceCase:
        asked = request(case, name=f"conformance-{case}")
        write_file(folder, f"{case}.json", f"{json.dumps(asked, indent=2)}\n".encode())
    write_data(os.path.join(folder, "data"))


def write_data(folder: str) -> None:
    """The objects of the channels, as files."""
    for name, content in DATA.items():
        write_file(folder, name, content)


def _package_file(name: str) -> str:
    with open(os.path.join(_HERE, name), encoding="utf-8") as file:
        return file.read()


def write_file(folder: str, name: str, content: bytes) -> None:
    """`OutputUnusableError` if that is not possible."""
    path = os.path.join(folder, name)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    except OSError as error:
        raise OutputUnusableError(
            f"{path} cannot be written: {error.strerror}", remedy=["Choose another folder with --output."]
        ) from error
