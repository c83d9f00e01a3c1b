from pathlib import Path

import pytest

from smlocal.jobs.store.remembered import remember_tried, tried


def test_what_was_found_is_remembered_by_the_engine(tmp_path: Path) -> None:
    home = str(tmp_path)
    assert tried(home, "one") is None
    remember_tried(home, "one", {"SharesFolders": False})
    remember_tried(home, "two", {"SharesFolders": True})
    assert tried(home, "one") == {"SharesFolders": False}
    remember_tried(home, "one", {"SharesFolders": True})
    assert tried(home, "one") == {"SharesFolders": True}
    assert [path.name for path in tmp_path.iterdir()] == ["engines.json"]


def test_the_oldest_are_forgotten(tmp_path: Path) -> None:
    for number in range(202):
        remember_tried(str(tmp_path), str(number), {})
    assert tried(str(tmp_path), "1") is None
    assert tried(str(tmp_path), "2") == {}


@pytest.mark.parametrize("text", ['{"one": {', "[]", '{"one": 3}', "[" * 100_000, "\0"])
def test_a_damaged_file_does_no_harm(tmp_path: Path, text: str) -> None:
    (tmp_path / "engines.json").write_text(text)
    assert tried(str(tmp_path), "one") is None
    remember_tried(str(tmp_path), "one", {})
    assert tried(str(tmp_path), "one") == {}


def test_a_missing_home_does_no_harm(tmp_path: Path) -> None:
    remember_tried(str(tmp_path / "absent"), "one", {})
    assert not (tmp_path / "absent").exists()
