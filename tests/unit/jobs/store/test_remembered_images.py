from pathlib import Path

import pytest

from smlocal.jobs.store.remembered import image_files, store_image_files


def test_what_was_found_is_remembered_by_the_id(tmp_path: Path) -> None:
    home = str(tmp_path)
    assert image_files(home, "sha256:1") is None
    store_image_files(home, "sha256:1", ["/opt/ml/data/x"])
    store_image_files(home, "sha256:2", [])
    assert image_files(home, "sha256:1") == ("/opt/ml/data/x",)
    assert image_files(home, "sha256:2") == ()
    assert [path.name for path in tmp_path.iterdir()] == ["images.json"]


@pytest.mark.slow(0.5)
def test_the_oldest_are_forgotten(tmp_path: Path) -> None:
    for number in range(502):
        store_image_files(str(tmp_path), f"sha256:{number}", [])
    assert image_files(str(tmp_path), "sha256:1") is None
    assert image_files(str(tmp_path), "sha256:2") == ()


def test_a_damaged_file_and_a_missing_home_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "images.json").write_text('{"sha256:1": [')
    assert image_files(str(tmp_path), "sha256:1") is None
    store_image_files(str(tmp_path), "sha256:1", [])
    assert image_files(str(tmp_path), "sha256:1") == ()
    store_image_files(str(tmp_path / "absent"), "sha256:1", [])
    assert not (tmp_path / "absent").exists()
