"""A stop ends work on artifacts between two pieces; nothing unfinished is visible then, nothing complete is lost."""

import io
import os
import signal
import tarfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.kit import until

from smlocal.base.files import Check, no_check
from smlocal.data.artifacts.archive import write_archive
from smlocal.data.artifacts.atomic_write import PackingStoppedError, sync_file
from smlocal.data.artifacts.mirror.target import FolderTarget
from smlocal.data.artifacts.model_folder import read_kept_folder, unpack_copy, write_model_folder
from smlocal.data.artifacts.tree import walk

MIB = 1 << 20


def after(calls: int) -> Check:
    """Raises at a later call, as for a request that comes while there is work."""
    left = calls

    def check() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise PackingStoppedError

    return check


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "data").write_bytes(b"x" * 40 * MIB)
    with (folder / "hole").open("wb") as file:
        file.truncate(1 << 40)
    return folder


def archive(model: Path, destination: Path, check: Check) -> None:
    write_archive([walk("algo-1", str(model))], str(destination), check=check)


def folder(model: Path, destination: Path, check: Check) -> None:
    write_model_folder([walk("algo-1", str(model))], str(destination), check=check)


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("calls", [0, 1, 5, 30, 60])
@pytest.mark.parametrize("write", [archive, folder])
def test_what_is_not_complete_is_removed(
    write: Callable[[Path, Path, Check], None], calls: int, model: Path, tmp_path: Path
) -> None:
    calls = min(calls, 4) if write is folder else calls  # which copies in larger pieces
    with pytest.raises(PackingStoppedError):
        write(model, tmp_path / "out/model", after(calls))
    assert list((tmp_path / "out").iterdir()) == []


def test_listing_a_folder_is_stopped(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / f"{number}").mkdir()
    with pytest.raises(PackingStoppedError):
        walk("algo-1", str(tmp_path), check=after(5))


def test_a_mirrored_file_is_stopped(model: Path, tmp_path: Path) -> None:
    target = FolderTarget(path=str(tmp_path / "mirror"), run_id="0123abcd", check=after(2))
    source = os.open(model / "data", os.O_RDONLY)
    with pytest.raises(PackingStoppedError), target.open() as opened:
        opened.write(b"data", source, mtime=0)
    os.close(source)
    assert list((tmp_path / "mirror").iterdir()) == []


def pieces() -> Iterator[bytes]:
    """An archive whose second file never ends."""
    first = io.BytesIO()
    with tarfile.open(fileobj=first, mode="w") as made:
        made.addfile(tarfile.TarInfo("model/"), None)
        complete = tarfile.TarInfo("model/complete")
        complete.size = 4
        made.addfile(complete, io.BytesIO(b"done"))
        yield first.getvalue()[: made.offset]
    endless = tarfile.TarInfo("model/endless")
    endless.size = 1 << 50
    yield endless.tobuf(tarfile.GNU_FORMAT)
    while True:
        yield bytes(MIB)


@pytest.mark.parametrize("keep", [True, False])
def test_a_copy_through_the_engine_is_stopped(keep: bool, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    with pytest.raises(PackingStoppedError):
        unpack_copy("algo-1", pieces(), str(copy), check=after(20), keep=keep)
    assert os.path.exists(f"{copy}.json") is keep
    if keep:
        tree = read_kept_folder("algo-1", str(copy))
        assert [(entry.path, entry.size) for entry in tree.entries] == [(b"complete", 4)]
        assert tree.skipped == ("algo-1: the copy was stopped after 1 files and folders",)


def test_what_is_written_to_the_disk_is_not_waited_for(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(64 * MIB)
        with pytest.raises(PackingStoppedError):
            sync_file(file.fileno(), after(0))
        sync_file(file.fileno(), after(1 << 30))


def test_a_signal_ends_the_wait_for_a_slow_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk writes for ever, but for a file that has become empty: then the kernel has nothing to write."""
    writer: list[threading.Thread] = []

    def fsync(descriptor: int) -> None:
        writer.append(threading.current_thread())
        os.kill(os.getpid(), signal.SIGINT)
        until(lambda: os.fstat(descriptor).st_size == 0)

    with (tmp_path / "large").open("wb") as file:
        file.truncate(64 * MIB)
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", fsync)
            with pytest.raises(KeyboardInterrupt):
                sync_file(file.fileno(), no_check)
            assert writer != [threading.main_thread()]  # a signal does not interrupt the kernel while it writes
            writer[0].join(60)
        assert not writer[0].is_alive()


def test_an_error_of_the_disk_is_the_callers() -> None:
    reading, writing = os.pipe()
    with pytest.raises(OSError, match="Invalid argument"):
        sync_file(writing, after(1 << 30))
    os.close(reading)
    os.close(writing)
