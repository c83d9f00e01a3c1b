"""Which paths and buckets a job with limited rights may use."""

from pathlib import Path

import pytest

from smlocal.data.sources.local_path import local_path
from smlocal.data.sources.s3.client import open_store
from smlocal.data.sources.s3.interface import S3Error, S3Object
from smlocal.errors import PathNotAllowedError
from smlocal.terms.rights import EVERYTHING, Rights


@pytest.fixture
def rights(tmp_path: Path) -> Rights:
    (tmp_path / "data" / "inner").mkdir(parents=True)
    (tmp_path / "data" / "link").symlink_to(tmp_path)
    (tmp_path / "alias").symlink_to(tmp_path / "data")
    return Rights(folders=(str(tmp_path / "data"), str(tmp_path / "alias")))


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("{}/data", "data"),
        ("file://{}/data/inner", "data/inner"),
        ("file://localhost{}/data/inner", "data/inner"),
        ("{}/data/inner/", "data/inner/"),
        ("{}/data/inner/../new/file", "data/new/file"),
        ("{}/alias/inner", "data/inner"),  # the folder itself may be a link: its owner has named it
    ],
)
def test_paths_in_a_folder_of_the_job(rights: Rights, tmp_path: Path, written: str, found: str) -> None:
    assert local_path(written.format(tmp_path), "/", rights) == f"{tmp_path}/{found}"


def test_a_link_below_a_folder_may_be_allowed_itself(rights: Rights, tmp_path: Path) -> None:
    (tmp_path / "data" / "newest").symlink_to("inner")
    allowed = Rights(folders=(*(rights.folders or ()), f"{tmp_path}/data/newest"))
    assert local_path(f"{tmp_path}/data/newest/x", "/", allowed) == f"{tmp_path}/data/inner/x"


@pytest.mark.parametrize(
    "written",
    [
        "{}",
        "{}/data-of-others",
        "{}/data/../other",
        "{}/data/link",
        "{}/data/link/other",
        "{}/data/inner/../link/data",
        "{}/alias/link",
        "/etc/passwd",
        "file:///etc/passwd",
        "~/secret",
        "inner",
        "{}/data/a\0b",
        "{}/data/\ud800",
    ],
)
def test_other_paths_are_refused(rights: Rights, tmp_path: Path, written: str) -> None:
    with pytest.raises(PathNotAllowedError):
        local_path(written.format(tmp_path), "/", rights)


@pytest.mark.parametrize("rest", ["link/x", "../other", "/../../etc", "inner/../../other"])
def test_what_is_below_a_mapped_folder_is_checked_too(rights: Rights, tmp_path: Path, rest: str) -> None:
    with pytest.raises(PathNotAllowedError):
        local_path(f"{tmp_path}/data", "/", rights, rest)


def test_a_key_never_becomes_an_absolute_path(tmp_path: Path) -> None:
    assert local_path(str(tmp_path), "/", EVERYTHING, "/etc/passwd") == f"{tmp_path}//etc/passwd"


def test_s3_is_not_asked_about_other_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    client = open_store("us-east-1", rights=Rights(buckets=("mine",)), retry_seconds=0.1, connect_seconds=0.1)
    other = S3Object(bucket="other", key="k", size=3)
    for ask in (
        lambda: next(client.list_objects("other", "")),
        lambda: client.head("other", "k"),
        lambda: client.read_into(other, 0, memoryview(bytearray(3))),
        lambda: client.read_first(other, 3),
        lambda: client.call("PutObject", "", lambda aws: aws.put_object(Bucket="other", Key="k", Body=b"")),
        lambda: client.call("DeleteObject", "", lambda aws: aws.delete_object(Bucket="other", Key="k")),
    ):
        with pytest.raises(S3Error) as refused:
            ask()
        assert (refused.value.code, refused.value.status) == ("AccessDenied", 403)
        assert "--allow-bucket other" in refused.value.message
    with pytest.raises(S3Error) as tried:
        client.head("mine", "k")
    assert tried.value.status == 0, "it tried to connect"
