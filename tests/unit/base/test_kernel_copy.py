"""Every way of copying gives the same bytes, whatever kernel and file system refuse."""

import os
import sys
from collections.abc import Callable
from errno import EINVAL, EIO
from pathlib import Path
from typing import Any

import pytest

from smlocal.base import files
from smlocal.base.files import copy_range

_CONTENT = os.urandom(3 << 20)


@pytest.fixture
def copied(tmp_path: Path) -> Callable[..., tuple[bytes, int, int]]:
    """The copy after one byte that was there; where the copy ended; the sum of the pieces."""

    def run(start: int, end: int | None, content: bytes = _CONTENT) -> tuple[bytes, int, int]:
        (tmp_path / "source").write_bytes(content)
        pieces: list[int] = []
        with open(tmp_path / "source", "rb") as source, open(tmp_path / "target", "w+b", buffering=0) as target:
            target.write(b"-")
            ended = copy_range(source.fileno(), target.fileno(), start, end, pieces.append)
            assert os.lseek(target.fileno(), 0, os.SEEK_CUR) == target.seek(0, os.SEEK_END)
        return (tmp_path / "target").read_bytes()[1:], ended, sum(pieces)

    return run


def refused(*_: Any, **__: Any) -> int:
    raise OSError(EINVAL, os.strerror(EINVAL))


def nothing(*_: Any, **__: Any) -> int:
    """As some kernels do for some file systems, without an error."""
    return 0


_WAYS = ["all", "no ranges", "nothing in the kernel", "ranges are empty", "not Linux"]


@pytest.fixture(params=_WAYS if sys.platform == "linux" else ["not Linux"])
def ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    match request.param:
        case "no ranges":
            monkeypatch.setattr(os, "copy_file_range", refused)
        case "nothing in the kernel":
            monkeypatch.setattr(os, "copy_file_range", refused)
            monkeypatch.setattr(os, "sendfile", refused)
        case "ranges are empty":
            monkeypatch.setattr(os, "copy_file_range", nothing)
            monkeypatch.setattr(os, "sendfile", nothing)
        case "not Linux":
            monkeypatch.setattr(files, "_IN_KERNEL", ())


@pytest.mark.slow(0.5)
@pytest.mark.usefixtures("ways")
@pytest.mark.parametrize(("start", "end"), [(0, None), (0, 1), (5, 5), (7, 2 << 20), (1 << 20, None), (0, 3 << 20)])
def test_a_range_comes_to_the_end_of_the_copy(
    copied: Callable[..., tuple[bytes, int, int]], start: int, end: int | None
) -> None:
    wanted = _CONTENT[start:end]
    assert copied(start, end) == (wanted, start + len(wanted), len(wanted))


@pytest.mark.usefixtures("ways")
def test_a_file_that_is_shorter_than_said_ends_early(copied: Callable[..., tuple[bytes, int, int]]) -> None:
    assert copied(2, 100, b"0123456789") == (b"23456789", 10, 8)
    assert copied(0, 100, b"") == (b"", 0, 0)
    assert copied(0, None, b"") == (b"", 0, 0)


@pytest.mark.usefixtures("ways")
@pytest.mark.linux("files of /proc have no size")
def test_a_file_of_the_kernel_that_has_no_size(tmp_path: Path) -> None:
    with open("/proc/version", "rb") as source, open(tmp_path / "target", "wb") as target:
        copy_range(source.fileno(), target.fileno(), 0, None, lambda _: None)
    assert (tmp_path / "target").read_bytes() == Path("/proc/version").read_bytes()


@pytest.mark.linux("only Linux copies in the kernel")
def test_an_error_of_the_disk_is_no_other_way(
    copied: Callable[..., tuple[bytes, int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> int:
        raise OSError(EIO, os.strerror(EIO))

    monkeypatch.setattr(os, "copy_file_range", broken)
    with pytest.raises(OSError, match=os.strerror(EIO)):
        copied(0, None)
