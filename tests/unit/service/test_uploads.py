import os
from collections.abc import Callable
from pathlib import Path

import pytest

from smlocal.data.sources.local_listing import list_source
from smlocal.errors.of_commands import UploadNameError, UploadSourceChangedError
from smlocal.service.uploads import Upload, plan_upload

BELOW = "s3://bucket/jobs/train/"


@pytest.fixture
def plan(tmp_path: Path) -> Callable[..., Upload]:
    """The upload of a channel whose S3Uri is this path."""

    def make(uri: str, **mapping: str) -> Upload:
        listing = list_source(
            uri, channel="train", directory=str(tmp_path), mapping={"s3://own/": uri} | mapping, region="", role=""
        )
        return plan_upload(listing, subject='channel "train"', below=BELOW)

    return make


def test_a_folder_is_named_by_names_and_bytes_of_all_files(tmp_path: Path, plan: Callable[..., Upload]) -> None:
    data = tmp_path / "data"
    (data / "sub").mkdir(parents=True)
    (data / "a.txt").write_text("one")
    (data / "sub" / "b.txt").write_text("two")
    first = plan("./data")
    assert [(file.path, file.size) for file in first.files] == [("a.txt", 3), ("sub/b.txt", 3)]
    assert first.uri == first.prefix
    assert first.uri.startswith(BELOW)
    assert len(first.uri) == len(BELOW) + 17
    os.utime(data / "a.txt", (1, 1))
    assert plan("./data").uri == first.uri
    (data / "a.txt").write_text("uno")
    changed = plan("./data")
    (data / "a.txt").write_text("one")
    (data / "a.txt").rename(data / "c.txt")
    renamed = plan("./data")
    (data / "c.txt").rename(data / "a.txt")
    assert len({first.uri, changed.uri, renamed.uri}) == 3
    assert plan("./data").uri == first.uri


def test_one_file_is_named_itself(tmp_path: Path, plan: Callable[..., Upload]) -> None:
    (tmp_path / "a.csv").write_text("1,2")
    (tmp_path / "b.csv").write_text("3,4")
    found = plan("a.csv")
    assert [file.path for file in found.files] == ["a.csv"]
    assert found.uri == f"{found.prefix}a.csv"


def test_a_mapped_prefix_that_names_the_beginning_of_names_stays_one(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name in ("part-0", "part-1", "other"):
        (tmp_path / "data" / name).write_text(name)
    listing = list_source(
        "s3://own/x/part-",
        channel="train",
        directory=str(tmp_path),
        mapping={"s3://own/x": "./data"},
        region="",
        role="",
    )
    found = plan_upload(listing, subject="", below=BELOW)
    assert [file.path for file in found.files] == ["part-0", "part-1"]
    assert found.uri == f"{found.prefix}part-"


def test_links_and_odd_names_are_uploaded_as_what_they_lead_to(tmp_path: Path, plan: Callable[..., Upload]) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (tmp_path / "elsewhere").write_bytes(b"far")
    for name in ("ein ä %2F+?#.txt", " leading", "a&b<c>", "new\nline"):
        (data / name).write_text(name)
    (data / "link").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(data / "fifo")
    found = plan("data")
    assert {file.path for file in found.files} == {"ein ä %2F+?#.txt", " leading", "a&b<c>", "new\nline", "link"}
    assert {file.path: file.size for file in found.files}["link"] == 3


def test_a_name_that_no_object_can_have_is_refused(tmp_path: Path, plan: Callable[..., Upload]) -> None:
    (tmp_path / "data").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/data/caf\xe9")).write_text("")
    with pytest.raises(UploadNameError, match=r"caf\\xe9 is not UTF-8"):
        plan("data")


def test_a_path_that_is_too_long_for_a_key_is_refused(tmp_path: Path, plan: Callable[..., Upload]) -> None:
    deep = tmp_path / "data" / "/".join(["d" * 200] * 5)
    deep.mkdir(parents=True)
    (deep / "file").write_text("")
    with pytest.raises(UploadNameError, match=r"too long for a key of S3: 1009 bytes, and 996 are left"):
        plan("data")


def test_a_file_that_goes_away_or_may_not_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_text("")
    listing = list_source("data", channel="t", directory=str(tmp_path), mapping={}, region="", role="")
    (tmp_path / "data" / "a").unlink()
    with pytest.raises(UploadSourceChangedError, match="a has changed"):
        plan_upload(listing, subject="x", below=BELOW)
