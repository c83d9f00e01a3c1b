"""The model of an endpoint: found, and unpacked without leaving its folder."""

import io
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from smlocal.base.foreign_archive.stream import ArchiveError
from smlocal.errors.of_jobs import ModelMissingError, ModelUnmappedError
from smlocal.jobfile.document import Document
from smlocal.jobs.planning.aspects.serving.plan import ModelPlan
from smlocal.sagemaker.hosting.model_data import fill_folder, local_files, unpack_model
from smlocal.sagemaker.hosting.planning import find_models
from smlocal.sagemaker.serving.model_file import read_model


def nothing() -> None:
    pass


def archive(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> str:
    with tarfile.open(path, "w:gz") as file:
        for info, content in members:
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return str(path)


def member(name: str, **more: Any) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    for key, value in more.items():
        setattr(info, key, value)
    return info


def test_a_model_is_unpacked_with_its_folders(tmp_path: Path) -> None:
    packed = archive(tmp_path / "m.tar.gz", (member("code/inference.py"), b"pass"), (member("weights"), b"1"))
    unpack_model(packed, str(tmp_path / "model"), check=nothing)
    assert (tmp_path / "model" / "code" / "inference.py").read_bytes() == b"pass"
    assert (tmp_path / "model" / "weights").read_bytes() == b"1"


@pytest.mark.parametrize(
    "bad",
    [
        member("../outside"),
        member("a/../../outside"),
        member("link", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        member("link", type=tarfile.SYMTYPE, linkname="../outside"),
        member("hard", type=tarfile.LNKTYPE, linkname="../../outside"),
        member("device", type=tarfile.CHRTYPE),
        member("fifo", type=tarfile.FIFOTYPE),
    ],
    ids=lambda info: f"{info.name} {info.linkname}",
)
def test_what_leads_out_is_refused(tmp_path: Path, bad: tarfile.TarInfo) -> None:
    packed = archive(tmp_path / "m.tar.gz", (bad, b""))
    below = tmp_path / "below"
    below.mkdir()
    with pytest.raises(ArchiveError):
        unpack_model(packed, str(below / "model"), check=nothing)
    assert sorted(os.listdir(tmp_path)) == ["below", "m.tar.gz"]


def test_an_absolute_path_stays_in_the_folder(tmp_path: Path) -> None:
    packed = archive(tmp_path / "m.tar.gz", (member("/weights"), b"1"))
    unpack_model(packed, str(tmp_path / "model"), check=nothing)
    assert os.listdir(tmp_path / "model") == ["weights"]


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08\0damaged"])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.tar.gz").write_bytes(content)
    with pytest.raises(ArchiveError):
        unpack_model(str(tmp_path / "m.tar.gz"), str(tmp_path / "model"), check=nothing)


def test_unpacking_can_be_interrupted(tmp_path: Path) -> None:
    packed = archive(tmp_path / "m.tar.gz", (member("weights"), os.urandom(1 << 20)))
    seen: list[int] = []

    def check() -> None:
        seen.append(1)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        unpack_model(packed, str(tmp_path / "model"), check=check)


def test_unpacking_can_be_interrupted_between_two_members_of_one_piece(tmp_path: Path) -> None:
    packed = archive(tmp_path / "m.tar.gz", *((member(str(number)), b"1") for number in range(100)))
    model = tmp_path / "model"

    def check() -> None:
        if (model / "10").exists():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        unpack_model(packed, str(model), check=check)
    assert len(os.listdir(model)) == 11


def found(tmp_path: Path, container: dict[str, Any], **data: Any) -> tuple[ModelPlan, ...]:
    document = Document(
        {"PrimaryContainer": {"Image": "held", **container}, **data}, name="model.yaml", directory=str(tmp_path)
    )
    (models,) = find_models(read_model(document)).values()
    return models


def source(uri: str, kind: str = "None", data_type: str = "S3Prefix") -> dict[str, Any]:
    return {"S3DataSource": {"S3Uri": uri, "S3DataType": data_type, "CompressionType": kind}}


def test_a_model_is_found_here(tmp_path: Path) -> None:
    (tmp_path / "m.tar.gz").touch()
    (tmp_path / "folder").mkdir()
    path = f"{tmp_path}/m.tar.gz"
    mapped = {"Local": {"Sources": {"s3://bucket/models": "."}}}
    for container, data, form, where in (
        ({"ModelDataUrl": "m.tar.gz"}, {}, "archive", path),
        ({"ModelDataUrl": f"file://{path}"}, {}, "archive", path),
        ({"ModelDataSource": source("m.tar.gz", "Gzip", "S3Object")}, {}, "archive", path),
        ({"ModelDataSource": source("folder")}, {}, "folder", f"{tmp_path}/folder"),
        ({"ModelDataSource": source("m.tar.gz", "None", "S3Object")}, {}, "object", path),
        ({"ModelDataUrl": "s3://bucket/models/m.tar.gz"}, mapped, "archive", path),
        ({"ModelDataSource": source("s3://bucket/models/folder/")}, mapped, "folder", f"{tmp_path}/folder"),
    ):
        (model,) = found(tmp_path, container, **data)
        assert (model.form, model.path, model.target) == (form, where, "/opt/ml/model")
    assert found(tmp_path, {}) == ()


def test_further_models_are_found_too(tmp_path: Path) -> None:
    (tmp_path / "m.tar.gz").touch()
    (tmp_path / "draft").mkdir()
    further = [{"ChannelName": "draft", **source("draft")}]
    first, second = found(tmp_path, {"ModelDataUrl": "m.tar.gz", "AdditionalModelDataSources": further})
    assert first.target == "/opt/ml/model"
    assert (second.form, second.target) == ("folder", "/opt/ml/additional-model-data-sources/draft")


@pytest.mark.parametrize(
    "container",
    [
        {"ModelDataUrl": "absent.tar.gz"},
        {"ModelDataUrl": "https://bucket/m.tar.gz"},
        {"ModelDataSource": source("absent")},
        {"ModelDataSource": source("absent", "None", "S3Object")},
    ],
)
def test_a_model_that_is_not_here_is_an_error(tmp_path: Path, container: dict[str, Any]) -> None:
    with pytest.raises(ModelMissingError) as raised:
        found(tmp_path, container)
    assert raised.value.details[0].startswith("model.yaml   PrimaryContainer.ModelData")


@pytest.mark.parametrize("key", ["../", "../outside/", "a/../../outside/", "./", "a//b/", "../outside"])
def test_a_key_does_not_lead_out_of_its_mapped_folder(tmp_path: Path, key: str) -> None:
    for name in ("bucket/a/b", "outside"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "m.tar.gz").touch()
    mapped = {"Local": {"Sources": {"s3://bucket": "./bucket"}}}
    uri = f"s3://bucket/{key}"
    containers: list[dict[str, Any]] = [{"ModelDataUrl": f"{uri.rstrip('/')}/m.tar.gz"}]
    if uri.endswith("/"):
        containers.append({"ModelDataSource": source(uri)})
        containers.append({"AdditionalModelDataSources": [{"ChannelName": "draft", **source(uri)}]})
    for container in containers:
        with pytest.raises(ModelMissingError, match=r"no file below \./bucket can have this key"):
            found(tmp_path, container, **mapped)
    (model,) = found(tmp_path, {"ModelDataSource": source("s3://bucket/")}, **mapped)
    assert model.path == f"{tmp_path}/bucket"


def test_a_model_in_s3_needs_credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in os.environ if each.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/dev/null")
    with pytest.raises(ModelUnmappedError) as raised:
        found(tmp_path, {"ModelDataUrl": "s3://bucket/m.tar.gz"})
    assert "Local.Sources" in raised.value.remedy[-1]


def bring(model: ModelPlan) -> None:
    def nowhere(*_: Any) -> Any:
        raise AssertionError

    fill_folder(model, local_files(model, list_remote=nowhere, download=nowhere), check=nothing)


def test_one_file_is_brought_into_a_folder(tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(b"1")
    folder = f"{tmp_path}/staged/model"
    bring(ModelPlan(name="model", uri="weights", target="/t", form="object", path=f"{tmp_path}/weights", folder=folder))
    assert {name: (tmp_path / "staged" / "model" / name).read_bytes() for name in os.listdir(folder)} == {
        "weights": b"1"
    }


def test_an_archive_is_brought_into_a_folder(tmp_path: Path) -> None:
    packed = archive(tmp_path / "m.tar.gz", (member("weights"), b"1"))
    folder = f"{tmp_path}/staged/model"
    bring(ModelPlan(name="model", uri="m", target="/t", form="archive", path=packed, folder=folder))
    assert (tmp_path / "staged" / "model" / "weights").read_bytes() == b"1"
