import os
import tarfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from smlocal.report import job_report
from smlocal.report.job_report import ArtifactMember, read_contents


def test_files_with_their_sizes_and_what_has_none(tmp_path: Path) -> None:
    path = tmp_path / "model.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name, kind in (("code", tarfile.DIRTYPE), ("code/a.py", tarfile.REGTYPE), ("latest", tarfile.SYMTYPE)):
            header = tarfile.TarInfo(name)
            header.type = kind
            header.linkname = "code" if kind == tarfile.SYMTYPE else ""
            header.size = 5 if kind == tarfile.REGTYPE else 0
            tar.addfile(header, BytesIO(b"print"))
    found = read_contents(str(path), 123)
    assert found.members == (
        ArtifactMember(path="code/", size=None),
        ArtifactMember(path="code/a.py", size=5),
        ArtifactMember(path="latest → code", size=None),
    )
    assert (found.size, found.count, found.complete, found.error) == (123, 3, True, None)


def test_of_many_members_some_are_shown_and_more_are_counted(
    archive: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = archive({f"{number:04}": b"" for number in range(500)})
    found = read_contents(path, 1)
    assert (len(found.members), found.count, found.complete) == (300, 500, True)
    assert read_contents(path, 1) is found  # it has not changed
    os.utime(path, (1, 1))
    monkeypatch.setattr(job_report, "_MAX_COUNTED", 400)
    found = read_contents(path, 1)
    assert (len(found.members), found.count, found.complete) == (300, 400, False)


def test_what_lies_behind_too_many_bytes_is_not_looked_at(
    archive: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_report, "_MAX_BYTES", 5000)
    found = read_contents(archive({"a": b"0" * 4000, "b": b"0" * 4000, "c": b""}), 1)
    assert [member.path for member in found.members] == ["a", "b"]
    assert not found.complete


def test_a_folder_of_artifacts(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.bin").write_bytes(b"123")
    (tmp_path / "a.bin").write_bytes(b"1")
    os.symlink("a.bin", tmp_path / "c")
    found = read_contents(str(tmp_path), 4)
    assert found.members == (
        ArtifactMember(path="a.bin", size=1),
        ArtifactMember(path="c → a.bin", size=None),
        ArtifactMember(path="sub/b.bin", size=3),
    )


def test_what_is_gone_or_broken_says_so(archive: Callable[..., str], tmp_path: Path) -> None:
    assert read_contents(str(tmp_path / "gone.tar.gz"), 1).error == "It no longer exists."
    path = Path(archive({"a": os.urandom(50_000), "b": os.urandom(50_000)}))
    whole = path.read_bytes()
    for broken in (whole[:60_000], whole[:20_000] + bytes(3000) + whole[23_000:], b"no archive", b""):
        path.write_bytes(broken)
        found = read_contents(str(path), 1)
        assert found.error is not None
        assert not found.complete
