"""Saving mirrored folders was stopped: what the containers wrote to them is moved, not removed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from smlocal.data.artifacts.atomic_write import PackingStoppedError
from smlocal.jobs.finish.cleanup import clear_disk
from smlocal.jobs.mirrored.saving import all_names, keep_not_saved, not_saved_document, save_mirrored
from smlocal.jobs.planning.model import JobPlan, checkpoint_directory
from smlocal.terms.listing import Listing

Planner = Callable[..., JobPlan]


def stopped() -> None:
    raise PackingStoppedError


def test_checkpoints_that_were_not_saved_are_kept(plan: Planner, listing: Listing, tmp_path: Path) -> None:
    made = plan(
        {"CheckpointConfig": {"S3Uri": "s3://bucket/checkpoints", "LocalPath": "/opt/ml/checkpoints"}},
        checkpoints=replace(listing, root=str(tmp_path / "checkpoints"), paths=()),
        output=str(tmp_path / "out"),
        job_directory=str(tmp_path / "job"),
    )
    (host,) = made.hosts
    folder = Path(checkpoint_directory(made, host))
    folder.mkdir(parents=True)
    (folder / "step-1").write_text("state")
    engine: object = None
    with pytest.raises(PackingStoppedError):
        save_mirrored(made, [(host, "container", engine)], last=True, check=stopped)  # type: ignore[list-item]
    document = not_saved_document(made, all_names(made))
    assert keep_not_saved(made, document) == []
    assert clear_disk(made.job_directory) == []
    kept = tmp_path / "job" / "not-saved" / "checkpoints" / "algo-1" / "step-1"
    assert kept.read_text() == "state"
    assert document == {"/opt/ml/checkpoints": str(kept.parents[1])}
    assert not_saved_document(made, all_names(made)) == document  # another process asks again
    assert not folder.exists()
