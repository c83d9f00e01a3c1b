import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smlocal.data.artifacts.model_folder import write_model_folder
from smlocal.data.artifacts.tree import walk
from smlocal.errors import ArtifactError

Look = Callable[[Path], dict[bytes, tuple[int, int, bytes]]]


@pytest.mark.slow(0.5)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_the_copy_is_the_tree_and_its_owner_can_read_it(
    data: st.DataObject,
    tmp_path: Path,
    plant: Callable[..., Path],
    look: Look,
    any_plan: st.SearchStrategy[Mapping[Any, Any]],
) -> None:
    place = tmp_path / uuid4().hex
    tree = plant(place / "tree", data.draw(any_plan.filter(bool)))
    report = write_model_folder([walk("algo-1", str(tree))], str(place / "out" / "model"))
    assert report is not None
    expected = look(tree)
    copied = look(place / "out" / "model")
    assert report.members == len(expected)
    assert {path: (mtime, body) for path, (_, mtime, body) in copied.items()} == {
        path: (mtime, body) for path, (_, mtime, body) in expected.items()
    }
    for path, (mode, _, _) in copied.items():
        if stat.S_ISLNK(mode):
            continue
        assert mode & 0o600 == 0o600
        assert mode & 0o7000 == 0
        assert mode & 0o077 == expected[path][0] & 0o077


def test_hard_links_stay_links(tmp_path: Path) -> None:
    (tmp_path / "tree" / "d").mkdir(parents=True)
    (tmp_path / "tree" / "d" / "one").write_text("data")
    (tmp_path / "tree" / "two").hardlink_to(tmp_path / "tree" / "d" / "one")
    report = write_model_folder([walk("algo-1", str(tmp_path / "tree"))], str(tmp_path / "model"))
    assert report is not None
    assert report.members == 3
    assert (tmp_path / "model" / "two").read_text() == "data"
    assert (tmp_path / "model" / "two").samefile(tmp_path / "model" / "d" / "one")


def test_the_model_of_a_job_that_is_replaced_goes(tmp_path: Path) -> None:
    for name in ("tree", "model"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"of {name}").write_text("")
    sources = [walk("algo-1", str(tmp_path / "tree"))]
    with pytest.raises(ArtifactError, match="already exists"):
        write_model_folder(sources, str(tmp_path / "model"))
    write_model_folder(sources, str(tmp_path / "model"), replace=True)
    assert [path.name for path in (tmp_path / "model").iterdir()] == ["of tree"]


def test_nothing_gives_no_folder(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    assert write_model_folder([walk("algo-1", str(tmp_path / "tree"))], str(tmp_path / "out" / "model")) is None
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("there", ["others/file", "new", "folder"])
def test_a_folder_with_anything_else_in_it_stays(tmp_path: Path, there: str) -> None:
    (tmp_path / "tree" / "folder").mkdir(parents=True)
    (tmp_path / "tree" / "new").write_text("new")
    path = tmp_path / "out" / "model" / there
    path.parent.mkdir(parents=True)
    path.write_text("of somebody else")
    with pytest.raises(ArtifactError, match=r"/out/model already exists$") as caught:
        write_model_folder([walk("algo-1", str(tmp_path / "tree"))], str(tmp_path / "out" / "model"))
    assert there.partition("/")[0] in caught.value.details[0]
    assert path.read_text() == "of somebody else"


def test_a_file_in_place_of_the_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "new").write_text("new")
    (tmp_path / "model").write_text("of somebody else")
    with pytest.raises(ArtifactError, match=r"/model already exists$"):
        write_model_folder([walk("algo-1", str(tmp_path / "tree"))], str(tmp_path / "model"))
    assert (tmp_path / "model").read_text() == "of somebody else"


@pytest.mark.slow(0.5)
def test_holes_stay_holes(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    for name, pieces in {
        "middle": {0: b"a", 32 << 20: b"b"},
        "end": {1 << 20: b"a" * 5000},
        "all": {},
    }.items():
        with (tmp_path / "tree" / name).open("wb") as file:
            for place, data in pieces.items():
                file.seek(place)
                file.write(data)
            file.truncate(64 << 20)
    write_model_folder([walk("algo-1", str(tmp_path / "tree"))], str(tmp_path / "model"))
    for name in ("middle", "end", "all"):
        copy = tmp_path / "model" / name
        assert copy.read_bytes() == (tmp_path / "tree" / name).read_bytes()
        assert copy.stat().st_blocks * 512 < 1 << 20


def test_what_an_earlier_try_left_is_replaced_whole(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "new").write_text("x")
    assert write_model_folder([walk("algo-1", str(tmp_path / "tree"))], str(out / "model")) is not None
    seen: list[tuple[int, int]] = []
    report = write_model_folder(
        [walk("algo-1", str(tmp_path / "tree"))],
        str(out / "model"),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert report is not None
    assert report.bytes_in == 1
    assert seen[-1] == (1, 1)
    assert [path.name for path in out.iterdir()] == ["model"]
    assert [path.name for path in (out / "model").iterdir()] == ["new"]


def test_a_full_disk_leaves_nothing(tmp_path: Path, small_disk: Path) -> None:
    (tmp_path / "tree" / "a").mkdir(parents=True)
    (tmp_path / "tree" / "a" / "f").write_bytes(os.urandom(6_000_000))
    (small_disk / "model").mkdir()
    with pytest.raises(ArtifactError, match=r"^Artifact upload failed:Insufficient disk space$"):
        write_model_folder([walk("algo-1", str(tmp_path / "tree"))], str(small_disk / "model"))
    assert [path.name for path in small_disk.iterdir()] == ["model"]


def test_a_copy_that_the_kernel_does_not_make_itself(tmp_path: Path) -> None:
    """Files of /proc have no size, and copy_file_range refuses them."""
    tree = walk("algo-1", "/proc/sys/fs/epoll") if Path("/proc/sys/fs/epoll").exists() else None
    if tree is None or not tree.entries:
        pytest.skip("no such files here")
    write_model_folder([tree], str(tmp_path / "model"))
    name = os.fsdecode(tree.entries[0].path)
    assert (tmp_path / "model" / name).read_bytes() == (Path("/proc/sys/fs/epoll") / name).read_bytes()
