"""Models in every form: archives and files, of this machine and in S3, further ones, and none."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.kit.s3_servers import S3Server

Clean = Callable[[str], None]
MODEL = "/opt/ml/model"
FURTHER = "/opt/ml/additional-model-data-sources"


def source(uri: str, data_type: str, compression: str = "None") -> dict[str, Any]:
    return {"S3DataSource": {"S3Uri": uri, "S3DataType": data_type, "CompressionType": compression}}


def deployed(hosting: Any, name: str, container: Mapping[str, Any], **local: Any) -> dict[str, str]:
    """The files that the container sees."""
    document = {
        "PrimaryContainer": {"Image": hosting.image, "Environment": {"ANSWER": "files"}, **container},
        "Local": {"StopGraceSeconds": 5, **local},
    }
    path = hosting.life.folder / f"{name}.json"
    path.write_text(json.dumps(document))
    done = hosting.life("deploy", path, "--name", name)
    assert done.returncode == 0, done.stderr
    seen: dict[str, str] = json.loads(hosting.invoke(name).stdout)
    return seen


def folder_of(life: Any, name: str, **files: str) -> Path:
    made: Path = life.folder / name
    made.mkdir()
    for each, text in files.items():
        (made / each).write_text(text)
    return made


@pytest.mark.slow(3)
def test_an_uncompressed_model_and_a_further_one(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    folder_of(life, "whole", weights="1", config="2")
    folder_of(life, "draft", small="3")
    container = {
        "ModelDataSource": source("./whole", "S3Prefix"),
        "AdditionalModelDataSources": [{"ChannelName": "draft", **source("./draft/small", "S3Object")}],
    }
    assert deployed(hosting, "many-plain", container) == {
        f"{MODEL}/weights": "1 read-only",
        f"{MODEL}/config": "2 read-only",
        f"{FURTHER}/draft/small": "3 read-only",
    }
    assert life("rm", "--stop", "many-plain").returncode == 0
    assert_nothing_left("many-plain")
    assert (life.folder / "draft" / "small").read_text() == "3"


@pytest.mark.slow(3)
def test_a_mapped_bucket_and_an_archive(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    folder_of(life, "models", weights="1")
    hosting.archive({"packed": "2"})
    container = {
        "ModelDataUrl": "s3://bucket/model.tar.gz",
        "AdditionalModelDataSources": [{"ChannelName": "all", **source("s3://bucket/models/", "S3Prefix")}],
    }
    seen = deployed(hosting, "many-mapped", container, Sources={"s3://bucket": "."})
    assert seen[f"{MODEL}/packed"] == "2"
    assert seen[f"{FURTHER}/all/weights"] == "1 read-only"
    life("rm", "--stop", "many-mapped")
    assert_nothing_left("many-mapped")


@pytest.mark.slow(3)
def test_without_a_model_the_image_has_its_own(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    assert deployed(hosting, "many-none", {}) == {}
    life("rm", "--stop", "many-none")
    assert_nothing_left("many-none")


@pytest.mark.slow(5)
def test_models_in_s3_are_downloaded(hosting: Any, life: Any, s3: S3Server, assert_nothing_left: Clean) -> None:
    bucket = s3.make_bucket()
    s3.put(bucket, "m/model.tar.gz", hosting.archive({"packed": "1"}).read_bytes())
    s3.put(bucket, "plain/weights", b"2")
    s3.put(bucket, "plain/code/serve.py", b"3")
    life.environment.update(s3.environment)
    container = {
        "ModelDataUrl": f"s3://{bucket}/m/model.tar.gz",
        "AdditionalModelDataSources": [
            {"ChannelName": "folder", **source(f"s3://{bucket}/plain/", "S3Prefix")},
            {"ChannelName": "one", **source(f"s3://{bucket}/plain/weights", "S3Object")},
            {"ChannelName": "gzip", **source(f"s3://{bucket}/m/model.tar.gz", "S3Object", "Gzip")},
        ],
    }
    assert deployed(hosting, "many-s3", container) == {
        f"{MODEL}/packed": "1",
        f"{FURTHER}/folder/weights": "2 read-only",
        f"{FURTHER}/folder/code/serve.py": "3 read-only",
        f"{FURTHER}/one/weights": "2 read-only",
        f"{FURTHER}/gzip/packed": "1",
    }
    life.crash("many-s3")
    assert hosting.invoke("many-s3").returncode == 0
    life("rm", "--stop", "many-s3")
    assert_nothing_left("many-s3")


def test_a_model_that_is_not_in_s3_is_refused(hosting: Any, life: Any, s3: S3Server) -> None:
    life.environment.update(s3.environment)
    path = hosting.model_file("many-absent", container={"ModelDataUrl": f"s3://{s3.make_bucket()}/absent.tar.gz"})
    done = life("deploy", path, "--name", "many-absent")
    assert (done.returncode, "[model-missing]" in done.stderr) == (2, True), done.stderr
    assert life.store.count() == 0


@pytest.mark.slow(2)
def test_a_damaged_archive_of_one_container_fails_all(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    (life.folder / "bad.tar.gz").write_bytes(b"no archive")
    row = [{"Image": hosting.image}, {"Image": hosting.image, "ModelDataUrl": "bad.tar.gz"}]
    (life.folder / "many-bad.json").write_text(json.dumps({"Containers": row}))
    assert life("deploy", life.folder / "many-bad.json", "--name", "many-bad").returncode == 1
    reason = hosting.described("many-bad")["FailureReason"]
    assert reason.startswith('Failed to extract model data archive for container "container_2" from URL "bad.tar.gz"')
    assert_nothing_left("many-bad")


def test_a_model_that_is_larger_than_the_free_space_is_refused(hosting: Any, life: Any, small_disk: Path) -> None:
    hosting.archive({"large": "0" * (8 << 20)})
    life.environment["SMLOCAL_HOME"] = str(small_disk / "home")
    done = life("deploy", hosting.model_file("large-model"), "--name", "large-model")
    assert done.returncode == 3, done.stderr
    assert "has at least 8.0 MiB unpacked, and 1." in done.stderr
    assert "[disk-too-small]" in done.stderr


@pytest.mark.slow(2)
def test_instances_do_not_share_what_was_unpacked(hosting: Any, life: Any, assert_nothing_left: Clean) -> None:
    hosting.in_service("many-copies", ProductionVariants=[{"VariantName": "Blue", "InitialInstanceCount": 2}])
    staged = life.home / "jobs" / "many-copies" / "staged"
    assert sorted(each.name for each in staged.iterdir() if (each / "model" / "weights.txt").exists()) == [
        "Blue",
        "Blue.2",
    ]
    life("rm", "--stop", "many-copies")
    assert_nothing_left("many-copies")
