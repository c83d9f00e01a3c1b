"""A program that asks an SDK for its local mode is told the lines to change, and runs here with them."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.clients.conftest import PROGRAMS, User, client_folder

NO_JOB = "smlocal: this program sent no training job to smlocal. It uses the local mode of the SageMaker SDK"
CHANGE = re.compile(r"^  in        train\.py:(\d+)\n  this      (.*)\n  to this   (.*)$", re.MULTILINE)


@pytest.mark.slow(22)
@pytest.mark.long
@pytest.mark.parametrize(
    ("sdk", "program", "lines"),
    [
        ("sdk-2", "sdk2_local_mode.py", 3),
        ("sdk-2", "sdk2_local_session.py", 2),
        ("sdk-3", "sdk3_local_mode.py", 2),
    ],
)
def test_a_program_for_local_mode_runs_here_with_the_lines_that_it_is_told(
    sdk: str,
    program: str,
    lines: int,
    user: User,
    image: Callable[[str], str],
    assert_nothing_left: Callable[[str], None],
) -> None:
    name = Path(program).stem.replace("_", "-")
    (user.own / "data").mkdir()
    (user.own / "data" / "rows.csv").write_text("1,2\n")
    script = user.own / "train.py"
    script.write_text((PROGRAMS / program).read_text())

    def run() -> "subprocess.CompletedProcess[str]":
        python = client_folder(sdk) / "bin" / "python"
        command = [sys.executable, "-m", "smlocal", "exec", "--", str(python), "train.py", image("sh"), name]
        # Docker compose may be here or not: the SDK's own containers are none of this test's.
        return user.run(command, PATH=os.path.dirname(sys.executable))

    alone = run()
    assert alone.returncode != 0, alone.stdout
    assert NO_JOB in alone.stderr
    assert alone.stderr.endswith("  more      smlocal help local-mode\n")

    text = script.read_text().splitlines()
    changes = CHANGE.findall(alone.stderr)
    assert len(changes) == lines
    for number, this, instead in changes:
        assert text[int(number) - 1].strip() == this
        text[int(number) - 1] = text[int(number) - 1].replace(this, instead.replace("(leave it out)", ""))
    script.write_text("\n".join(text))
    changed = run()
    assert changed.returncode == 0, changed.stdout + changed.stderr
    said = changed.stderr[changed.stderr.index("smlocal: 1 training job of this program\n") :]
    assert re.search(rf"^  {name}\S*   Completed in [\d.]+ s\n  model     \S+/model\.tar\.gz  ", said, re.MULTILINE)
    (job,) = (path.name for path in (user.home / "jobs").iterdir())
    assert_nothing_left(job)
