import errno
import os
import stat
from pathlib import Path

import pytest

from smlocal.errors import OutputUnusableError
from smlocal.jobs.finish.report_path import check_report_path, write_report


def test_an_earlier_report_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    for text in ("one ✓", "two"):
        write_report(str(target), text)
        assert target.read_text(encoding="utf-8") == text
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_link_stays_one_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "report.html"
    link.symlink_to(tmp_path / "real" / "there.html")
    write_report(str(link), "text")
    assert link.is_symlink()
    assert (tmp_path / "real" / "there.html").read_text() == "text"


@pytest.mark.parametrize("path", ["gone/report.html", "folder", "file/report.html"])
def test_where_no_file_can_be_is_refused_before_and_after(path: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    for attempt in (check_report_path, lambda path: write_report(path, "text")):
        with pytest.raises(OutputUnusableError, match="cannot be written"):
            attempt(str(tmp_path / path))
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_a_disk_that_is_full_leaves_the_earlier_report_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "report.html"
    write_report(str(target), "one")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputUnusableError, match="No space left"):
        write_report(str(target), "two")
    assert target.read_text() == "one"
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_report(str(pipe), "text")
    assert os.read(reader, 100) == b"text"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
