"""SDK v3 and sagemaker-core."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.clients.conftest import User, last_json


@pytest.mark.slow(13)
@pytest.mark.long
def test_a_trainer_runs_the_users_code_and_resources_of_jobs_are_found_and_stopped(
    user: User, image: Callable[[str], str], smlocal_run: Callable[..., Any], assert_nothing_left: Callable[[str], None]
) -> None:
    done = user.execute("sdk-3", "sdk3_trainer.py", image("toolkit"), image("sh"), "sdk3-trainer")
    found = last_json(done.stdout)

    assert found == {"status": "Completed", "channels": ["code", "sm_drivers", "train"], "stopped": "Stopped"}
    assert "rows: 1,2" in done.stdout, "the job's log"
    assert "Training Container Execution Completed" in done.stdout, "the last line of it"
    (job,) = (path.name for path in (user.home / "jobs").iterdir() if path.name != "sdk3-trainer-stopped")
    assert_nothing_left(job)
    assert_nothing_left("sdk3-trainer-stopped")

    fetched = smlocal_run("fetch", "trainer.json", cwd=user.own)
    assert fetched.returncode == 0, fetched.stderr
    assert fetched.stderr.count("is read from S3 with your AWS credentials") == 3
    assert smlocal_run("validate", "job.yaml", "trainer.json", cwd=user.own).returncode == 0
