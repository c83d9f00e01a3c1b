import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from smlocal.api.artifact import Artifact


def archive(folder: Path) -> Artifact:
    packed = folder.with_suffix(".tar.gz")
    with tarfile.open(packed, "w:gz") as tar:
        for path in sorted(folder.iterdir()):
            tar.add(path, path.name)
    return Artifact(path=str(packed), size=packed.stat().st_size)


def unpacked(folder: Path) -> Artifact:
    return Artifact(path=str(folder), size=1)


@pytest.mark.parametrize("make", [archive, unpacked])
def test_the_files_of_an_artifact(make: Callable[[Path], Artifact], tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "b" / "empty").mkdir(parents=True)
    (folder / "z").write_bytes(b"\x00last")
    (folder / "b" / "ü").write_text("inner")
    (folder / "link").symlink_to("z")
    artifact = make(folder)
    assert artifact.names() == ["b/ü", "link", "z"]
    assert artifact.read("z") == artifact.read("link") == b"\x00last"
    assert artifact.read("b/ü") == b"inner"
    for wrong in ("nothing", "b", "b/empty", "../model/z", "/etc/passwd"):
        with pytest.raises(FileNotFoundError, match="it has b/ü, link, z"):
            artifact.read(wrong)


@pytest.mark.parametrize("make", [archive, unpacked])
def test_a_link_out_of_an_artifact_is_not_followed(make: Callable[[Path], Artifact], tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    folder = tmp_path / "model"
    (folder / "inner").mkdir(parents=True)
    (folder / "z").write_text("last")
    for name, target in {
        "absolute": tmp_path / "secret",
        "above": Path("../secret"),
        "inner/up": Path("../../secret"),
        "loop": Path("loop"),
        "inner/fine": Path("../z"),
    }.items():
        (folder / name).symlink_to(target)
    artifact = make(folder)
    assert artifact.read("inner/fine") == b"last"
    for name in ("absolute", "above", "inner/up", "loop"):
        with pytest.raises(FileNotFoundError, match="has no file behind the link"):
            artifact.read(name)


@pytest.mark.parametrize("target", ["gone", "link", "../outside", "/etc/passwd", "b", "loop"])
def test_a_link_in_an_archive_is_followed_only_to_a_file_of_it(target: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "b").mkdir(parents=True)
    (folder / "link").symlink_to(target)
    (folder / "loop").symlink_to("b/../link")
    (tmp_path / "outside").write_text("secret")
    with pytest.raises(FileNotFoundError, match="has no file behind the link link"):
        archive(folder).read("link")


def test_hard_links_and_links_to_links(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "b").mkdir(parents=True)
    (folder / "b" / "one").write_bytes(b"1")
    (folder / "two").hardlink_to(folder / "b" / "one")
    (folder / "b" / "three").symlink_to("../two")
    artifact = archive(folder)
    assert {name: artifact.read(name) for name in artifact.names()} == dict.fromkeys(("b/one", "b/three", "two"), b"1")


def test_an_archive_that_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "model.tar.gz"
    path.write_bytes(b"no archive")
    with pytest.raises(tarfile.ReadError, match=r"model.tar.gz cannot be read: it is not complete gzip data"):
        Artifact(path=str(path), size=1).names()
