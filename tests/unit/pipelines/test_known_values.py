"""Files and folders that steps refer to while an execution runs."""

import os
from pathlib import Path
from typing import Any

import pytest

from smlocal.jobfile.document import Document
from smlocal.pipelines.known_values import KnownValues, may_use
from smlocal.sagemaker.pipelines.deciding import Progress
from smlocal.sagemaker.pipelines.definition import Definition
from smlocal.sagemaker.pipelines.listing import Listed
from smlocal.sagemaker.pipelines.stored import StoredStep
from smlocal.sagemaker.pipelines.values import Known, ValueUnknownError, evaluate

NOT_HERE = "no step of this execution has written it, and its bucket has no folder here"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "buckets" / "bucket"
    path.mkdir(parents=True)
    return path


@pytest.fixture
def known(folder: Path, tmp_path: Path) -> Known:
    (tmp_path / "written").mkdir()
    step = StoredStep(
        listed=Listed(name="S", type="Processing", progress=Progress()),
        folders={"s3://far/written": str(tmp_path / "written")},
    )
    return KnownValues(
        definition=Definition(
            parameters={}, steps={}, stand_ins={}, given={}, document=Document({}, name="p", directory="/")
        ),
        parameters={},
        execution={},
        steps={"S": step},
        buckets=str(folder.parent),
    ).now()


def value(known: Known, uri: str, path: str = "a") -> Any:
    return evaluate({"Std:JsonGet": {"S3Uri": uri, "Path": path}}, known)


@pytest.mark.parametrize(
    ("uri", "sentence"),
    [
        ("s3://bucket/a\0b", "'a\\x00b' cannot be the name of a file"),
        ("s3://bucket/\ud800", "'\\ud800' cannot be the name of a file"),
        ("s3://far/written/a\0b", "'a\\x00b' cannot be the name of a file"),
        ("s3://bucket/link", "link leads out of its folder by a link"),
        ("s3://bucket/fifo", "s3://bucket/fifo is not a regular file"),
        ("s3://bucket/../other", "s3://bucket/../other is not there"),
        ("s3://../etc", f"s3://../etc: {NOT_HERE}"),
        (
            "s3://Own/x.json",
            f"s3://Own/x.json: {NOT_HERE}",
        ),
        ("/etc/passwd", f"/etc/passwd: {NOT_HERE}"),
    ],
)
def test_a_location_that_is_no_file_here(known: Known, folder: Path, uri: str, sentence: str) -> None:
    (folder / "link").symlink_to("/etc/passwd")
    os.mkfifo(folder / "fifo")
    (folder.parent / "Own").mkdir()  # no bucket can have this name: it is another folder of the user's
    (folder.parent / "Own" / "x.json").write_text('{"a": 1}')
    with pytest.raises(ValueUnknownError) as caught:
        value(known, uri)
    assert str(caught.value) == sentence


def test_a_file_is_read_once_for_the_values_of_a_step(known: Known, folder: Path) -> None:
    """Else a definition of a mebibyte could keep the leader busy for hours with a file of ten."""
    (folder / "x.json").write_text('{"a": 1}')
    assert value(known, "s3://bucket/x.json") == 1
    (folder / "x.json").write_text('{"a": 2}')
    assert value(known, "s3://bucket/x.json") == 1


def test_what_another_execution_has_written_is_for_a_client_only_where_it_may_read(tmp_path: Path) -> None:
    client = {"Folders": [str(tmp_path / "artifacts")]}
    inside = {"s3://b/a": str(tmp_path / "artifacts" / "job")}
    outside = {**inside, "s3://b/c": str(tmp_path / "secret")}
    assert may_use(inside, client)
    assert not may_use(outside, client)
    assert may_use(outside, {})
