"""Folders that stand for EFS and FSx."""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from smlocal.data.sources.local_listing import locate_file_system
from smlocal.data.sources.source_errors import RequestedSource
from smlocal.errors import SourceMissingError, SourceUnmappedError, SourceUnreadableError

ID = "fs-0123abcd"


def locate(directory: Path, path: str, mapping: Mapping[str, str] | None = None) -> str:
    system = RequestedSource(
        subject='channel "train"', member="FileSystemId", uri=ID, where="job.yaml:9", directory=str(directory)
    )
    return locate_file_system(
        system,
        replace(system, member="DirectoryPath", uri=path),
        mapping={ID: "./efs", "s3://b/": "x"} if mapping is None else mapping,
    )


@pytest.mark.parametrize(
    ("path", "below"), [("/", ""), ("", ""), ("/a", "/a"), ("/a/b/", "/a/b"), ("a", "/a"), ("//a//b", "/a/b")]
)
def test_the_directory_path_goes_below_the_folder(tmp_path: Path, path: str, below: str) -> None:
    (tmp_path / "efs" / "a" / "b").mkdir(parents=True)
    assert locate(tmp_path, path) == f"{tmp_path}/efs{below}"
    assert locate(tmp_path, path, {ID: f"file://{tmp_path}/efs/"}) == f"{tmp_path}/efs{below}"


@pytest.mark.parametrize("path", ["/..", "/../beside", "/a/../../beside", "..", "/a/.", "/a\0", "/" + "n" * 256])
def test_nothing_leads_out_of_it(tmp_path: Path, path: str) -> None:
    (tmp_path / "efs" / "a").mkdir(parents=True)
    (tmp_path / "beside").mkdir()
    with pytest.raises(SourceUnmappedError) as caught:
        locate(tmp_path, path)
    assert caught.value.sentence == f'channel "train": no local folder can replace {path}'


def test_the_users_own_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "efs").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "efs" / "a").symlink_to("../elsewhere")
    assert os.path.samefile(locate(tmp_path, "/a"), tmp_path / "elsewhere")


def test_an_unmapped_file_system_shows_the_setting_to_write(tmp_path: Path) -> None:
    with pytest.raises(SourceUnmappedError) as caught:
        locate(tmp_path, "/", {"fs-0123abce": ".", "s3://b/": "."})
    assert caught.value.sentence == 'channel "train": no local folder is mapped to the file system fs-0123abcd'
    assert caught.value.details == ("job.yaml:9   FileSystemId: fs-0123abcd",)
    assert caught.value.remedy == (
        'Map it in the job file: Local: {Sources: {"fs-0123abcd": ./some/folder}}',
        "Did you mean fs-0123abce?",
    )


def test_what_is_missing_or_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceMissingError) as caught:
        locate(tmp_path, "/")
    assert caught.value.details[-1] == "Local.Sources maps it to ./efs"
    (tmp_path / "efs").mkdir()
    (tmp_path / "efs" / "file").touch()
    with pytest.raises(SourceMissingError, match=r"/efs/gone does not exist$"):
        locate(tmp_path, "/gone")
    for path in ("/file", "/file/x"):
        with pytest.raises(SourceMissingError, match=r"does not exist|is not a folder"):
            locate(tmp_path, path)


def test_a_folder_that_may_not_be_read_is_refused(
    open_folder: Path, as_user: Callable[[], AbstractContextManager[None]]
) -> None:
    (open_folder / "efs").mkdir(mode=0)
    with as_user(), pytest.raises(SourceUnreadableError):
        locate(open_folder, "/")
