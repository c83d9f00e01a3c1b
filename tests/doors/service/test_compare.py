"""The service's data about a job, for a comparison: artifacts in S3, by botocore."""

import gzip
from typing import Any

import pytest
from tests.doors.service.conftest import REGION, AwsService

from smlocal.service.compare.find import archives_in_s3
from smlocal.service.compare.subject import File
from smlocal.service.service import Service

BUCKET = "compared"


@pytest.fixture
def service(aws_service: AwsService, monkeypatch: pytest.MonkeyPatch) -> Service:
    for name, value in aws_service.environment.items():
        monkeypatch.setenv(name, value)
    return Service(region=REGION)


def made_by(key: str) -> dict[str, Any]:
    return {"ModelArtifacts": {"S3ModelArtifacts": f"s3://{BUCKET}/{key}"}}


def test_artifacts_that_are_whole_broken_uncompressed_and_not_there(aws_service: AwsService, service: Service) -> None:
    s3 = aws_service.client("s3")
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    s3.put_object(Bucket=BUCKET, Key="a/output/model.tar.gz", Body=gzip.compress(bytes(10240)))
    s3.put_object(Bucket=BUCKET, Key="a/output/output.tar.gz", Body=b"no archive")
    for name in ("b/output/model/w", "b/output/model/deep/v"):
        s3.put_object(Bucket=BUCKET, Key=name, Body=b"12345")
    packed = archives_in_s3(service, made_by("a/output/model.tar.gz"))
    model, output = packed["model.tar.gz"], packed["output.tar.gz"]
    assert model is not None
    assert (model.files, model.trouble) == ({}, None)
    assert output is not None
    assert output.trouble is not None
    folders = archives_in_s3(service, made_by("b/output/model/"))
    assert folders["output.tar.gz"] is None
    assert folders["model.tar.gz"] is not None
    size = File(size=5, digest=None)
    assert folders["model.tar.gz"].files == {"deep/v": size, "w": size}
    assert archives_in_s3(service, made_by("none/output/model.tar.gz")) == {"model.tar.gz": None, "output.tar.gz": None}
    assert archives_in_s3(service, {}) == {"model.tar.gz": None, "output.tar.gz": None}
