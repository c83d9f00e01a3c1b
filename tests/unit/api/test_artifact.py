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
