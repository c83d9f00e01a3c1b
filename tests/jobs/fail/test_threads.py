"""A defect in one of our own threads: the job ends, says so, and leaves nothing."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

_BROKEN: Final = """
import sys
from importlib import import_module
from smlocal.cli.main import run_command_line

def broken(*_, **__):
    raise KeyError("a member")

module, name, method = sys.argv[1:4]
setattr(getattr(import_module(module), name), method, broken)
sys.exit(run_command_line(sys.argv[4:]))
"""


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize(
    ("module", "name", "method", "thread"),
    [
        ("smlocal.jobs.container_run", "ContainerRun", "_drain", "algo-1-wait"),
        ("smlocal.jobs.usage.usage_watch", "UsageWatch", "close", "algo-1-wait"),
        ("smlocal.jobs.logs.log_file", "LogFile", "write", "algo-1-output"),
        ("smlocal.jobs.container_run", "ContainerRun", "_watch", ""),
        ("smlocal.engine.docker", "DockerEngine", "start", ""),
    ],
)
def test_a_thread_that_dies_ends_the_job(
    tmp_path: Path,
    smlocal_home: Path,
    image: Callable[[str | Path], str],
    assert_nothing_left: Callable[[str], None],
    module: str,
    name: str,
    method: str,
    thread: str,
) -> None:
    job = f"thread-{method.strip('_')}"
    # It writes more than a pipe takes, and must not be left to wait for somebody who reads it.
    script = "SCRIPT=head -c 10000000 /dev/zero"
    command = ("run", "--image", image("sh"), "--name", job, "--env", script, "--json")
    done = subprocess.run(
        [sys.executable, "-c", _BROKEN, module, name, method, *command],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "SMLOCAL_HOME": str(smlocal_home)},
        capture_output=True,
        text=True,
        errors="backslashreplace",
        check=False,
        timeout=120,
    )
    assert done.returncode == 1, done.stderr
    answer = json.loads(done.stdout)
    assert answer["FailureReason"].startswith("InternalServerError: ")
    where = f" ({thread})" if thread else ""
    assert answer["Local"]["Explanation"] == f"unexpected error in smlocal: KeyError: 'a member'{where}"
    assert answer["Local"]["Leftovers"] == []
    assert_nothing_left(job)
