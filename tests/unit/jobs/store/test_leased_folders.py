"""Folders of a process, which others remove once the process is gone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from smlocal.jobs.store.lease import Lease, leased_folders, make_leased


def test_a_folder_is_seen_with_its_lease_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parent = tmp_path / "owners"
    seen: list[list[str]] = []
    rename = os.rename

    def rename_and_look(source: str, target: str) -> None:
        seen.append(leased_folders(str(parent)))
        assert Lease.take(source) is None
        rename(source, target)

    monkeypatch.setattr(os, "rename", rename_and_look)
    folder = str(parent / "one")
    held = make_leased(folder)
    assert held is not None
    assert (seen, leased_folders(str(parent))) == ([[]], [folder])
    assert os.stat(folder).st_mode & 0o777 == 0o700
    assert Lease.take(folder) is None
    held.release()
    assert Lease.take(folder) is not None


def test_the_folder_of_a_process_that_was_killed_can_be_had(tmp_path: Path) -> None:
    program = """
import os, signal, sys
from smlocal.jobs.store.lease import make_leased
lease = make_leased(sys.argv[1])
os.kill(os.getpid(), signal.SIGKILL)
"""
    folder = tmp_path / "one"
    assert subprocess.run([sys.executable, "-c", program, folder], check=False).returncode == -9
    assert leased_folders(str(tmp_path)) == [str(folder)]
    assert Lease.take(str(folder)) is not None


def test_where_there_is_no_folder_there_is_none(tmp_path: Path) -> None:
    assert leased_folders(str(tmp_path / "absent")) == []
