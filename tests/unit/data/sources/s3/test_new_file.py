"""A file's name appears with its last byte, on file systems of both kinds."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from smlocal.data.sources.s3.download import NewFile

_open = os.open


_KINDS = ["nameless", "passing name", "passing name, no links"]


@pytest.fixture(params=_KINDS if sys.platform == "linux" else _KINDS[1:])
def new_file(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], NewFile]:
    def without_nameless(path: str, flags: int, mode: int = 0o777) -> int:
        if sys.platform == "linux" and flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(95, "Operation not supported")
        return _open(path, flags, mode)

    def without_links(*_: str) -> None:
        raise OSError(1, "Operation not permitted")

    if request.param != "nameless":
        monkeypatch.setattr(os, "open", without_nameless)
    if request.param.endswith("no links"):
        monkeypatch.setattr(os, "link", without_links)
    return lambda: NewFile(f"{tmp_path}/name")


def test_what_was_written_can_be_read_before_it_has_a_name(new_file: Callable[[], NewFile], tmp_path: Path) -> None:
    file = new_file()
    data = bytes(range(256)) * 4096
    file.write(memoryview(data), 0)
    assert b"".join(bytes(piece) for piece in file.pieces(5, 700_000)) == data[5:700_005]
    assert b"".join(bytes(piece) for piece in file.pieces(len(data) - 3, 10)) == data[-3:]
    open_now = len(os.listdir("/dev/fd"))
    pieces = file.pieces(0, len(data))
    next(pieces)
    file.discard()
    assert bytes(next(pieces)) == data[256 << 10 : 512 << 10]  # whoever reads has it open for himself
    pieces.close()
    assert len(os.listdir("/dev/fd")) == open_now - 1
    with pytest.raises(ValueError, match="is closed"):
        next(file.pieces(0, 1))
    assert not list(tmp_path.iterdir())


def test_the_name_comes_last(new_file: Callable[[], NewFile], tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        file = new_file()
    finally:
        os.umask(before)
    file.write(memoryview(b"world"), 6)
    file.write(memoryview(b"hello "), 0)
    assert not (tmp_path / "name").exists()
    file.publish()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"name": b"hello world"}
    assert (tmp_path / "name").stat().st_mode & 0o777 == 0o644


def test_what_is_discarded_is_gone(new_file: Callable[[], NewFile], tmp_path: Path) -> None:
    file = new_file()
    file.write(memoryview(b"data"), 0)
    file.discard()
    file.discard()
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="is closed"):
        file.write(memoryview(b"more"), 4)
    with pytest.raises(ValueError, match="is closed"):
        file.publish()


def test_a_name_that_is_taken_stays(new_file: Callable[[], NewFile], tmp_path: Path) -> None:
    (tmp_path / "name").write_bytes(b"mine")
    file = new_file()
    with pytest.raises(OSError, match=r"File exists|not permitted"):
        file.publish()
    file.discard()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"name": b"mine"}
