"""A Python that is too old, as macOS's own, which a checkout may be run with."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[3] / "src"
_OLD = "import sys; sys.version_info = (3, 9, 6, 'final', 0)\n"
_PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")


def installed() -> list[str]:
    """Old Pythons of this machine, if it has any."""
    return sorted(str(path) for minor in ("8", "9", "10") for path in _PYENV.glob(f"3.{minor}.*/bin/python"))


@pytest.mark.parametrize("python", [sys.executable, *installed()])
def test_it_is_said_in_a_sentence(python: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    words = [python, "-c", f"{_OLD if python == sys.executable else ''}import smlocal"]
    for command in (words, *([] if python == sys.executable else [[python, "-m", "smlocal", "--version"]])):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        last = done.stderr.splitlines()[-1]
        assert (done.returncode, "smlocal needs Python 3.11 or newer, and" in last) == (1, True), done.stderr
        assert "is Python 3." in last
