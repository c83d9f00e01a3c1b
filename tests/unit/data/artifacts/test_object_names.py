"""The objects of a folder, even for links, none of which may lead out of it."""

import os
from pathlib import Path

import pytest

from smlocal.data.artifacts.s3_publish import folder_objects
from smlocal.data.artifacts.tree import walk
from smlocal.errors import ArtifactError

MODEL = "/opt/ml/model"


def names(root: Path) -> dict[str, bytes]:
    """Each object with the path of the file that it gets its bytes from."""
    return {each.name: each.entry.path for each in folder_objects(walk("", str(root)), original=MODEL).objects}


def notes(root: Path) -> tuple[str, ...]:
    return folder_objects(walk("", str(root)), original=MODEL).notes


def test_files_are_objects_and_folders_are_not(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "weights é.bin").touch()
    (tmp_path / "a").touch()
    (tmp_path / "empty" / "inner").mkdir(parents=True)
    assert names(tmp_path) == {"a": b"a", "deep/er/weights é.bin": "deep/er/weights é.bin".encode()}
    assert notes(tmp_path) == ("empty/inner/ is empty and was not uploaded: S3 has no directories",)


@pytest.mark.parametrize(
    "target",
    [
        *("../blobs/b", "../././blobs//b", "../direct/b", "/opt/ml/model/blobs/b"),
        *("again", "/opt/ml/model/snapshots/again"),
    ],
)
def test_a_link_to_a_file_of_the_model_becomes_its_bytes(tmp_path: Path, target: str) -> None:
    for folder in ("blobs", "snapshots", "top"):
        (tmp_path / folder).mkdir()
    (tmp_path / "blobs" / "b").write_text("b")
    (tmp_path / "direct").symlink_to("blobs")
    (tmp_path / "snapshots" / "again").symlink_to("../blobs/b")
    (tmp_path / "snapshots" / "link").symlink_to(target)
    assert names(tmp_path)["snapshots/link"] == b"blobs/b"


@pytest.mark.parametrize(
    "target",
    [
        *("/etc/passwd", "../../outside", "nowhere", "folder", ".", "link", "f/.", "f/x", "/opt/ml/model", "/opt/ml/f"),
        *("folder/../../tree/f", "/opt/ml/model/../f"),
    ],
)
def test_any_other_link_is_left_out_and_told(tmp_path: Path, target: str) -> None:
    tree = tmp_path / "tree"
    (tree / "folder").mkdir(parents=True)
    (tree / "folder" / "g").touch()
    (tree / "f").touch()
    (tmp_path / "f").write_text("of somebody else")
    (tmp_path / "outside").write_text("of somebody else")
    (tree / "link").symlink_to(target)
    assert names(tree) == {"f": b"f", "folder/g": b"folder/g"}
    assert notes(tree) == ("link is a link to a file outside the model and was not uploaded",)


def test_links_without_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "loop").symlink_to("loop/loop/loop")
    assert names(tmp_path) == {}
    assert len(notes(tmp_path)) == 3


def test_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9")).touch()
    with pytest.raises(ArtifactError, match=r"^Artifact upload failed:the name caf\\xe9 is not UTF-8"):
        folder_objects(walk("", str(tmp_path)), original=MODEL)
