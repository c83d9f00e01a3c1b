from pathlib import Path

import pytest

from smlocal.jobs.store.remembered import known_image, store_known_image

NOTHING = (), ""


def test_what_was_found_is_remembered_by_the_id(tmp_path: Path) -> None:
    home, known = str(tmp_path), (("/opt/ml/data/x",), "/bin/serve")
    assert known_image(home, "sha256:1") is None
    store_known_image(home, "sha256:1", *known)
    store_known_image(home, "sha256:2", *NOTHING)
    assert known_image(home, "sha256:1") == known
    assert known_image(home, "sha256:2") == NOTHING
    assert [path.name for path in tmp_path.iterdir()] == ["images.json"]


@pytest.mark.slow(0.5)
def test_the_oldest_are_forgotten(tmp_path: Path) -> None:
    for number in range(502):
        store_known_image(str(tmp_path), f"sha256:{number}", *NOTHING)
    assert known_image(str(tmp_path), "sha256:1") is None
    assert known_image(str(tmp_path), "sha256:2") == NOTHING


@pytest.mark.parametrize("damaged", ['{"sha256:1": [', '{"sha256:1": ["/opt/ml/x"]}', '{"sha256:1": {"Files": 1}}'])
def test_a_damaged_file_and_a_missing_home_do_no_harm(tmp_path: Path, damaged: str) -> None:
    (tmp_path / "images.json").write_text(damaged)
    assert known_image(str(tmp_path), "sha256:1") is None
    store_known_image(str(tmp_path), "sha256:1", *NOTHING)
    assert known_image(str(tmp_path), "sha256:1") == NOTHING
    store_known_image(str(tmp_path / "absent"), "sha256:1", *NOTHING)
    assert not (tmp_path / "absent").exists()
