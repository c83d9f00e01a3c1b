"""The files in artifacts."""

import io
import os
import tarfile
from pathlib import Path

from smlocal.service.compare.subject import File, read_archive, read_stream


def packed(folder: Path, *, when: float) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path in sorted(folder.rglob("*")):
            header = archive.gettarinfo(path, arcname=str(path.relative_to(folder)))
            header.mtime = when
            with path.open("rb") if path.is_file() and not path.is_symlink() else io.BytesIO() as file:
                archive.addfile(header, file)
    return buffer.getvalue()


def model(folder: Path) -> Path:
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "weights").write_bytes(b"w" * 3_000_000)
    (folder / "empty").touch()
    (folder / "link").symlink_to("deep/weights")
    return folder


def test_times_do_not_matter_and_an_archive_is_as_its_folder(tmp_path: Path) -> None:
    folder = model(tmp_path / "model")
    one, other = (
        read_stream(io.BytesIO(packed(folder, when=when)), place="x", size=1) for when in (1.0, 1_700_000_000.0)
    )
    assert one == other
    assert one.files == read_archive(str(folder)).files
    assert one.files is not None
    assert one.files["link"] == File(size=None, digest="→ deep/weights")
    assert one.files["deep/weights"].size == 3_000_000
    assert sorted(one.files) == ["deep/weights", "empty", "link"]


def test_contents_matter(tmp_path: Path) -> None:
    folder = model(tmp_path / "model")
    before = read_archive(str(folder)).files
    (folder / "deep" / "weights").write_bytes(b"v" * 3_000_000)
    after = read_archive(str(folder)).files
    assert before is not None
    assert after is not None
    assert before["deep/weights"] != after["deep/weights"]
    assert before["empty"] == after["empty"]


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    file = tmp_path / "model.tar.gz"
    assert read_archive(str(file)).trouble == "it is no longer there"
    whole = packed(model(tmp_path / "model"), when=1)
    for content in (b"no gzip", whole[: len(whole) // 2], b""):
        file.write_bytes(content)
        found = read_archive(str(file))
        assert found.files is None
        assert found.trouble is not None
        assert found.size == len(content)
    os.mkfifo(tmp_path / "fifo")
    assert read_archive(str(tmp_path / "fifo")).trouble == "it is not a regular file"
