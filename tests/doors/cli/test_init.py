"""The job file that `smlocal init` writes runs as it is."""

from collections.abc import Callable
from pathlib import Path

from tests.kit import Run


def test_the_new_file_runs(smlocal_run: Run, image: Callable[[str], str], tmp_path: Path) -> None:
    here = tmp_path / "project"
    (here / "data").mkdir(parents=True)
    (here / "data" / "a.csv").write_text("1\n")
    assert smlocal_run("init", image("sh"), cwd=here).returncode == 0
    script = "cp /opt/ml/input/data/training/a.csv /opt/ml/model/"
    done = smlocal_run("run", "job.yaml", "--name", "from-init", "-e", f"SCRIPT={script}", cwd=here)
    assert done.returncode == 0, done.stderr
    assert (here / "smlocal-output" / "from-init" / "output" / "model.tar.gz").is_file()
