import os
from pathlib import Path

import pytest

from smlocal.ai_platform.run.container_events import checkpoint_advice

_BEGAN = 1_795_000_000.0
_LATE = _BEGAN + 4 * 3600 + 1
_CHECKPOINTS = {"AIP_CHECKPOINT_DIR": "gs://bucket/census/checkpoints/"}


def _write(path: Path, at: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (at, at))


def test_only_a_job_of_more_than_four_hours_gets_it(tmp_path: Path) -> None:
    buckets = {"gs://bucket": str(tmp_path)}
    assert checkpoint_advice(buckets, _CHECKPOINTS, began=_BEGAN, ended=_BEGAN + 4 * 3600) is None
    said = checkpoint_advice(buckets, _CHECKPOINTS, began=_BEGAN, ended=_LATE)
    assert said is not None
    assert "nothing to gs://bucket/census/checkpoints/" in said


@pytest.mark.parametrize(("at", "advised"), [(_BEGAN - 1, True), (_BEGAN + 60, False)])
def test_what_was_written_while_it_ran_is_a_checkpoint(tmp_path: Path, at: float, *, advised: bool) -> None:
    census = tmp_path / "census"  # the inner folder stands for the location
    buckets = {"gs://bucket": str(tmp_path / "bucket"), "gs://bucket/census": str(census)}
    _write(tmp_path / "bucket" / "census" / "checkpoints" / "model.pt", _LATE)
    _write(census / "model" / "model.pt", _LATE)
    _write(census / "checkpoints" / "3" / "model.pt", at)
    assert (checkpoint_advice(buckets, _CHECKPOINTS, began=_BEGAN, ended=_LATE) is not None) == advised


def test_a_job_without_a_folder_for_them_may_use_any_bucket(tmp_path: Path) -> None:
    buckets = {"gs://data": str(tmp_path / "data"), "gs://jobs": str(tmp_path / "jobs")}
    said = checkpoint_advice(buckets, {}, began=_BEGAN, ended=_LATE)
    assert said is not None
    assert "nothing to a bucket" in said
    _write(tmp_path / "jobs" / "checkpoint", _BEGAN + 1)
    assert checkpoint_advice(buckets, {}, began=_BEGAN, ended=_LATE) is None
