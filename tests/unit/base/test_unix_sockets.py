"""Sockets below folders with long names, which no system takes as they are."""

import os
from pathlib import Path

import pytest

from smlocal.base import unix_sockets
from smlocal.base.unix_sockets import connect_to, listening_at


@pytest.mark.parametrize(
    "open_files",
    [pytest.param("/proc/self/fd", marks=pytest.mark.linux("the kernel has folders by their descriptors")), "/nowhere"],
)
@pytest.mark.parametrize("relative", [False, True])
def test_a_socket_of_any_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_files: str, *, relative: bool
) -> None:
    monkeypatch.setattr(unix_sockets, "_OPEN_FILES", open_files)
    monkeypatch.chdir(tmp_path)
    folder = Path("" if relative else tmp_path, "long" * 30)
    folder.mkdir()
    path = folder / "invocations.socket"
    with listening_at(str(path)) as listener, connect_to(str(path), seconds=60) as client:
        assert path.is_socket()
        assert path.stat().st_mode & 0o777 == 0o600
        with listener.accept()[0] as accepted:
            client.sendall(b"said")
            assert accepted.recv(4) == b"said"
    assert os.listdir(folder) == []
    with pytest.raises(FileNotFoundError):
        connect_to(str(path), seconds=60)
