"""The model of an endpoint: found, and unpacked without leaving its folder."""

import io
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from smlocal.base.foreign_archive.stream import ArchiveError
from smlocal.errors import SmlocalError
from smlocal.errors.hosting import ModelMissingError, ModelUnmappedError
from smlocal.jobfile.document import Document
from smlocal.sagemaker.hosting.model_data import ModelData, find_model, unpack_model
from smlocal.sagemaker.hosting.model_file import read_model


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


def found(tmp_path: Path, container: dict[str, Any], **data: Any) -> ModelData:
    document = Document(
        {"PrimaryContainer": {"Image": "held", **container}, **data}, name="model.yaml", directory=str(tmp_path)
    )
    return find_model(read_model(document))


def source(uri: str, kind: str = "None") -> dict[str, Any]:
    return {"ModelDataSource": {"S3DataSource": {"S3Uri": uri, "S3DataType": "S3Prefix", "CompressionType": kind}}}


def test_a_model_is_found_here(tmp_path: Path) -> None:
    (tmp_path / "m.tar.gz").touch()
    (tmp_path / "folder").mkdir()
    path = f"{tmp_path}/m.tar.gz"
    assert found(tmp_path, {"ModelDataUrl": "m.tar.gz"}).archive == path
    assert found(tmp_path, {"ModelDataUrl": f"file://{path}"}).archive == path
    assert found(tmp_path, source("m.tar.gz", "Gzip")).archive == path
    assert found(tmp_path, source("folder")).folder == f"{tmp_path}/folder"
    mapped = {"Local": {"Sources": {"s3://bucket/models": "."}}}
    assert found(tmp_path, {"ModelDataUrl": "s3://bucket/models/m.tar.gz"}, **mapped).archive == path
    assert found(tmp_path, {}) == ModelData(uri="")


@pytest.mark.parametrize(
    ("container", "error"),
    [
        ({"ModelDataUrl": "absent.tar.gz"}, ModelMissingError),
        (source("absent"), ModelMissingError),
        ({"ModelDataUrl": "s3://bucket/m.tar.gz"}, ModelUnmappedError),
    ],
)
def test_a_model_that_is_not_here_is_an_error(
    tmp_path: Path, container: dict[str, Any], error: type[SmlocalError]
) -> None:
    with pytest.raises(error) as raised:
        found(tmp_path, container)
    assert raised.value.details[0].startswith("model.yaml   PrimaryContainer.ModelData")
