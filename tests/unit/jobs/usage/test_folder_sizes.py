from pathlib import Path

import pytest

from smlocal.jobs.usage.sampler import folder_sizes


def test_what_folders_hold_links_not_followed(tmp_path: Path) -> None:
    model, output = tmp_path / "model", tmp_path / "output"
    (model / "deep" / "er").mkdir(parents=True)
    output.mkdir()
    (model / "deep" / "er" / "weights").write_bytes(b"1" * 1_000_000)
    (output / "link").symlink_to(model)
    (output / "loop").symlink_to(".")
    sizes = folder_sizes(
        [(str(model), "/opt/ml/model"), (str(output), "/opt/ml/output"), (str(tmp_path / "no"), "/no")]
    )
    assert list(sizes) == ["/opt/ml/model", "/opt/ml/output", "/no"]
    assert 1_000_000 <= (sizes["/opt/ml/model"] or 0) < 1_100_000
    assert (sizes["/opt/ml/output"] or 0) < 100_000
    assert sizes["/no"] is None


def test_a_hole_takes_no_room(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    assert (folder_sizes([(str(tmp_path), "/x")])["/x"] or 0) < 1_000_000


@pytest.mark.slow(2)
def test_too_many_entries_are_not_counted(tmp_path: Path) -> None:
    few, many = tmp_path / "few", tmp_path / "many"
    for folder, count in ((few, 10), (many, 10_001)):
        folder.mkdir()
        for number in range(count):
            (folder / str(number)).touch()
    sizes = folder_sizes([(str(few), "/few"), (str(many), "/many"), (str(few), "/after")])
    assert sizes == {"/few": sizes["/few"], "/many": None, "/after": None}
    assert sizes["/few"] is not None
