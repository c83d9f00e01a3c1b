"""The pictures of the README show what a run shows today."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_pictures_are_not_old() -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "pictures", "--check"], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
