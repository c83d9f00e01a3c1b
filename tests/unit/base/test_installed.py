"""The commands that add to smlocal and renew it, by how it was installed."""

import sys
from pathlib import Path

import pytest

from smlocal.base.installed import install_command, upgrade_command


@pytest.mark.parametrize(
    ("left", "install", "upgrade"),
    [
        ("pyvenv.cfg", "pip install 'smlocal[serve]'", "pip install --upgrade smlocal"),
        ("pipx_metadata.json", "pipx install --force 'smlocal[serve]'", "pipx upgrade smlocal"),
        ("uv-receipt.toml", "uv tool install 'smlocal[serve]'", "uv tool upgrade smlocal"),
    ],
)
def test_a_tool_is_not_changed_by_pip(
    left: str, install: str, upgrade: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / left).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert (install_command("serve"), upgrade_command()) == (install, upgrade)
