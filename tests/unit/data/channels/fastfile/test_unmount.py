from pathlib import Path

import pytest

from smlocal.data.channels.fastfile import availability
from smlocal.data.channels.fastfile.availability import unmount_below

ESCAPED = {32: "\\040", 9: "\\011", 92: "\\134"}


def test_only_what_is_below_the_folder_goes_the_innermost_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    job = tmp_path / "a job"
    job.mkdir()
    places = [job, job / "one", job / "one" / "inner", tmp_path / "a job too", tmp_path, job / "tab\tand\\back"]
    table = tmp_path / "mountinfo"
    table.write_text(
        "".join(
            f"{number} 1 0:{number} / {str(place).translate(ESCAPED)} rw - fuse x rw\n"
            for number, place in enumerate(places)
        )
    )
    gone: list[str] = []
    monkeypatch.setattr(availability, "_MOUNTS", str(table))
    monkeypatch.setattr(availability, "unmount", gone.append)
    unmount_below(str(job))
    assert gone == [str(job / "tab\tand\\back"), str(job / "one" / "inner"), str(job / "one")]


def test_no_table_no_mounts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(availability, "_MOUNTS", str(tmp_path / "absent"))
    unmount_below(str(tmp_path))
