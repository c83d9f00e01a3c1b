"""The AWS CLI, in its first and its second version."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.clients.aws_cli import first_version, second_version
from tests.integration.clients.conftest import PROGRAMS, User


@pytest.mark.long
@pytest.mark.parametrize(("version", "program"), [("1", first_version), ("2", second_version)])
def test_a_shell_script_runs_a_job_waits_for_it_and_reads_log_and_model(
    user: User,
    image: Callable[[str], str],
    assert_nothing_left: Callable[[str], None],
    version: str,
    program: Callable[[], Path],
) -> None:
    name = f"aws-cli-{version}"
    follow = "yes" if version == "2" else "no"
    script: list[str | Path] = [PROGRAMS / "aws_cli.sh", program(), image("sh"), name, follow]
    done = user.run([sys.executable, "-m", "smlocal", "exec", "--", *script])
    assert done.returncode == 0, done.stdout + done.stderr

    job = json.loads((user.own / "described").read_text())
    assert job["TrainingJobStatus"] == "Completed"
    assert done.stdout.splitlines()[-4:] == ["Completed", "weights", "last", "1,2\tlast"]
    assert "The request was rejected because the training job is in status Completed." in done.stderr
    assert "Matched expected service error code: ValidationException" in done.stderr
    if version == "2":
        followed = (user.own / "followed").read_text().splitlines()
        assert [line.partition(" ")[2] for line in followed] == ["1,2", "last"], "each line once"
    else:
        waited = re.search(r"waited until ([0-9.]+)", done.stdout)
        assert waited is not None
        assert float(waited[1]) - job["TrainingEndTime"] < 10, "the waiter's own clock is two minutes"
    assert_nothing_left(name)
