"""Which jobs keep their containers, and the mark that says so."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from smlocal.contract.statuses import JobStatus
from smlocal.job.finish.describe import is_kept, keeps, mark_kept, unmark_kept


@pytest.mark.parametrize(
    ("keep", "kept"), [("none", set()), ("failed", {"Failed"}), ("all", {"Completed", "Failed", "Stopped"})]
)
def test_which_jobs_keep_their_containers(keep: str, kept: set[str]) -> None:
    plan: Any = SimpleNamespace(keep=keep)
    ended = [status for status in JobStatus if status.terminal]
    assert {status.value for status in ended if keeps(plan, status)} == kept


def test_the_mark(tmp_path: Path) -> None:
    folder = str(tmp_path)
    assert not is_kept(folder)
    assert mark_kept(folder)
    assert mark_kept(folder)
    assert is_kept(folder)
    unmark_kept(folder)
    unmark_kept(folder)
    assert not is_kept(folder)
    assert not mark_kept(f"{folder}/gone")
