import json
from typing import Any

import pytest

from smlocal.sagemaker.contract.documents.config_files import config_files, homogeneous
from smlocal.sagemaker.contract.paths import container_path, is_own_mount, unusable
from smlocal.terms.checkpoints import overlap

S3URI = "CheckpointConfig.S3Uri"
LOCAL_PATH = "CheckpointConfig.LocalPath"


def files(job: Any) -> dict[str, bytes]:
    hosts = homogeneous(2, "ml.m5.large")
    return config_files(job.request, hosts[0], hosts)


def test_the_config_file_has_the_local_path_alone_and_as_spelled(request_with: Any, read: Any) -> None:
    assert files(read(request_with(LOCAL_PATH, "/state")))["checkpointconfig.json"] == b'{"LocalPath":"/state"}'
    assert files(read(request_with(LOCAL_PATH, "/state/")))["checkpointconfig.json"] == b'{"LocalPath":"/state/"}'
    default = files(read(request_with(S3URI, "./ckpt")))
    assert default["checkpointconfig.json"] == b'{"LocalPath":"/opt/ml/checkpoints"}'


def test_to_the_platform_checkpoints_are_a_hidden_channel(request_with: Any, read: Any) -> None:
    content = files(read(request_with(S3URI, "s3://b/state")))["init-config.json"]
    assert (
        b'"checkpointChannel":{"name":"checkpoints","channel":{"s3DataSource":{"s3DataType":"S3_PREFIX",'
        b'"s3Uri":"s3://b/state","s3DataDistributionType":null,"attributeNames":null},"fileSystemDataSource":null,'
        b'"compressionType":null,"recordWrapper":null,"shuffleConfig":null,"inputMode":"FILE","sharded":false},'
        b'"outputPath":"/opt/ml/checkpoints","allowEmpty":true},"hostConfig":'
    ) in content


def test_without_checkpoints_there_is_neither(request_with: Any, read: Any) -> None:
    made = files(read(request_with()))
    assert "checkpointconfig.json" not in made
    assert json.loads(made["init-config.json"])["checkpointChannel"] is None


@pytest.mark.parametrize(
    ("spelled", "plain"),
    [
        (None, "/opt/ml/checkpoints"),
        ("/opt/ml/checkpoints/", "/opt/ml/checkpoints"),
        ("//state", "/state"),
        ("/a//b/./c/../d/", "/a/b/d"),
        ("/..", "/"),
    ],
)
def test_a_path_has_one_plain_spelling(spelled: str | None, plain: str) -> None:
    assert container_path(spelled) == plain


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("/opt/ml/checkpoints", True),
        ("/state", True),
        ("/opt/ml/code/ckpt", True),
        ("/opt/ml/models", True),
        ("/opt/ml/model", False),
        ("/opt/ml/model/ckpt", False),
        ("/opt/ml/output/data/ckpt", False),
    ],
)
def test_what_lies_in_a_mounted_folder_is_a_part_of_it(path: str, *, own: bool) -> None:
    assert unusable(path, code=False) is None
    assert is_own_mount(path) is own


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("state", "absolute"),
        ("", "absolute"),
        ("/a\0b", "absolute"),
        ("/", "hide"),
        ("/opt", "hide"),
        ("/opt/ml/", "hide"),
        ("/state/../opt/ml", "hide"),
        ("/opt/ml/input", "channels"),
        ("/opt/ml/input/data/train", "channels"),
        ("/opt/ml/output/failure", "failure file"),
    ],
)
def test_a_path_that_cannot_hold_checkpoints(path: str, why: str) -> None:
    assert why in (unusable(path, code=False) or "")


def test_a_folder_is_filled_by_the_code_or_by_checkpoints() -> None:
    assert unusable("/opt/ml/code", code=False) is None
    assert "Local.Code" in (unusable("/opt/ml/code", code=True) or "")
    assert unusable(None, code=True) is None


@pytest.mark.parametrize(
    ("path", "other", "why"),
    [
        ("/a/b", "/a/b", "It is also the folder of X."),
        ("/a/b", "/a", "is inside /a"),
        ("/a", "/a/b", "contains /a/b, the folder of X"),
        ("/a/b", "/a/bc", None),
        ("/a/b", "/a/c", None),
    ],
)
def test_folders_that_share_files(path: str, other: str, why: str | None) -> None:
    said = overlap(path, other, whose="X")
    assert said is None if why is None else why in (said or "")
