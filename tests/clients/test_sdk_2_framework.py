"""SDK v2: code of the user's that the SDK uploads and the toolkit runs."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.clients.conftest import User, last_json


@pytest.mark.slow(33)
@pytest.mark.long
def test_a_framework_runs_the_users_code_and_jobs_stop_and_fail(
    user: User, image: Callable[[str], str], smlocal_run: Callable[..., Any], assert_nothing_left: Callable[[str], None]
) -> None:
    done = user.execute("sdk-2", "sdk2_framework.py", image("toolkit"), image("sh"), "sdk2-framework")
    found = last_json(done.stdout)

    assert found["stopped"] == "Stopped"
    assert found["failed"].startswith(
        "Failed: Error for Training job sdk2-framework-failed: Failed. Reason: AlgorithmError: no rows, exit code: 2"
    )
    log = smlocal_run("logs", "sdk2-framework", check=True).stdout
    assert "rate is 0.125" in log
    # The program has not waited for this one, and its endpoint has ended.
    assert smlocal_run("wait", "sdk2-framework-left").returncode == 0
    assert "rate is 0.125" in smlocal_run("logs", "sdk2-framework-left", check=True).stdout
    # What Airflow would upload is used as it is here: the job has its code without S3.
    assert smlocal_run("fetch", "airflow.json", cwd=user.own).returncode == 0
    fetched = smlocal_run("run", "job.yaml", "--name", "sdk2-framework-airflow", cwd=user.own)
    assert fetched.returncode == 0, fetched.stderr
    assert "rate is 0.125" in fetched.stdout
    for job in (
        "sdk2-framework",
        "sdk2-framework-airflow",
        "sdk2-framework-left",
        "sdk2-framework-stopped",
        "sdk2-framework-failed",
    ):
        assert_nothing_left(job)
