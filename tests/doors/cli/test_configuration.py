"""A configuration file above the current folder, and a job that runs by it."""

from collections.abc import Callable
from pathlib import Path

from tests.kit import Run


def test_a_run_takes_its_defaults(smlocal_run: Run, image: Callable[[str], str], tmp_path: Path) -> None:
    below = tmp_path / "project" / "below"
    below.mkdir(parents=True)
    (below.parent / "smlocal.toml").write_text(
        f'output = "artifacts"\nimage = "{image("sh")}"\n[run]\nenv = ["SCRIPT=echo hi >/opt/ml/model/a"]\n'
    )
    done = smlocal_run("run", "--name", "by-file", cwd=below)
    assert done.returncode == 0, done.stderr
    assert (below.parent / "artifacts" / "by-file" / "output" / "model.tar.gz").is_file()
