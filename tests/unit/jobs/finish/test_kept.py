"""Which jobs keep their containers, and the mark that says so."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from smlocal.jobs.finish.artifacts import unpacked_directory
from smlocal.jobs.finish.describe import (
    has_kept_containers,
    keeps_containers,
    mark_containers_kept,
    unmark_containers_kept,
)
from smlocal.terms.statuses import JobStatus


@pytest.mark.parametrize(
    ("keep", "kept"), [("none", set()), ("failed", {"Failed"}), ("all", {"Completed", "Failed", "Stopped"})]
)
def test_which_jobs_keep_their_containers(keep: str, kept: set[str]) -> None:
    plan: Any = SimpleNamespace(kept=SimpleNamespace(containers=keep))
    ended = [status for status in JobStatus if status.terminal]
    assert {status.value for status in ended if keeps_containers(plan, status)} == kept


def test_the_mark(tmp_path: Path) -> None:
    folder = str(tmp_path)
    assert not has_kept_containers(folder)
    assert mark_containers_kept(folder)
    assert mark_containers_kept(folder)
    assert has_kept_containers(folder)
    unmark_containers_kept(folder)
    unmark_containers_kept(folder)
    assert not has_kept_containers(folder)
    assert not mark_containers_kept(f"{folder}/gone")


def test_files_that_were_not_packed_are_no_kept_containers(tmp_path: Path) -> None:
    plan: Any = SimpleNamespace(job_directory=str(tmp_path))
    os.makedirs(unpacked_directory(plan))
    assert not has_kept_containers(str(tmp_path))
    assert mark_containers_kept(str(tmp_path))
