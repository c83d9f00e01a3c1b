"""Files that a killed process left of a job's artifacts are removed, and nothing else."""

from pathlib import Path

from smlocal.data.artifacts.atomic_write import atomic_write, partial_path, remove_partial


def test_only_the_partial_files_of_one_owner_are_removed(tmp_path: Path) -> None:
    archive, model = (partial_path(str(tmp_path / name), "0123abcd") for name in ("model.tar.gz", "model"))
    other = partial_path(str(tmp_path / "model.tar.gz"), "4567abcd")
    for path in (archive, other):
        Path(path).touch()
    for path in (model, model.replace(".partial", ".old")):
        Path(path).mkdir()
        (Path(path) / "weights").touch()
    (tmp_path / "model.tar.gz").touch()
    (tmp_path / "notes-0123abcd-x.partial").touch()
    remove_partial(str(tmp_path), "0123abcd")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {Path(other).name, "model.tar.gz", "notes-0123abcd-x.partial"}


def test_an_existing_folder_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "old").touch()
    with atomic_write(str(tmp_path / "model"), owner="0123abcd") as partial:
        Path(partial).mkdir()
        assert {path.name for path in tmp_path.iterdir()} == {"model", Path(partial).name}
    assert list((tmp_path / "model").iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_two_partial_paths_differ(tmp_path: Path) -> None:
    destination = str(tmp_path / "model")
    assert partial_path(destination, "0") != partial_path(destination, "0")


def test_a_missing_folder_has_no_partial_files(tmp_path: Path) -> None:
    remove_partial(str(tmp_path / "gone"), "0123abcd")
