"""A home for each pytest that a test runs."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def home(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith(("SMLOCAL_", "AWS_", "PYTEST_XDIST_"))]:
        monkeypatch.delenv(name)
    home = pytester.path / "home"
    monkeypatch.setenv("SMLOCAL_HOME", str(home))
    return home
