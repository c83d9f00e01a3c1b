"""What a process that was killed has half written of a job, and nothing else, is removed."""

from pathlib import Path

from smlocal.artifacts.drafts import aside_path, draft_path, remove_drafts


def test_only_the_drafts_of_one_owner_are_removed(tmp_path: Path) -> None:
    folder = str(tmp_path)
    archive, model = draft_path(folder, "model.tar.gz", "0123abcd"), draft_path(folder, "model", "0123abcd")
    other = draft_path(folder, "model.tar.gz", "4567abcd")
    for path in (archive, other):
        Path(path).touch()
    for path in (model, aside_path(model)):
        Path(path).mkdir()
        (Path(path) / "weights").touch()
    (tmp_path / "model.tar.gz").touch()
    (tmp_path / "notes-0123abcd-x.partial").touch()
    remove_drafts(folder, "0123abcd")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {Path(other).name, "model.tar.gz", "notes-0123abcd-x.partial"}


def test_a_second_draft_is_another(tmp_path: Path) -> None:
    assert draft_path(str(tmp_path), "model", "0") != draft_path(str(tmp_path), "model", "0")


def test_no_folder_has_no_drafts(tmp_path: Path) -> None:
    remove_drafts(str(tmp_path / "gone"), "0123abcd")
