"""`tests/unit/jobs/store` has what the two files in the home hold."""

import os
from pathlib import Path

from smlocal.jobs.store.remembered import Remembered


def test_those_written_last_are_kept(tmp_path: Path) -> None:
    known = Remembered(str(tmp_path / "known.json"), most=2, kind=int)
    for key, entry in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        known.put(key, entry)
    assert [known.get(key) for key in "abc"] == [3, None, 4]
    assert os.listdir(tmp_path) == ["known.json"]


def test_what_is_of_another_kind_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "known.json").write_text('{"a": 1, "b": "text", "c": null}')
    known = Remembered(str(tmp_path / "known.json"), most=9, kind=str)
    assert [known.get(key) for key in "abc"] == [None, "text", None]
