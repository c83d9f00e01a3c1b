"""SDK v2, with data and model in S3."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.clients.conftest import User, last_json


@pytest.mark.slow(11)
@pytest.mark.long
def test_an_estimator_fits_shows_its_log_and_is_attached_to_again(
    user: User, image: Callable[[str], str], smlocal_run: Callable[..., Any], assert_nothing_left: Callable[[str], None]
) -> None:
    done = user.execute("sdk-2", "sdk2_estimator.py", image("sh"), "sdk2-estimator")
    found = last_json(done.stdout)

    role = "arn:aws:iam::000000000000:role/smlocal"
    assert found == {
        "role": role,
        "train": "s3://sagemaker-us-east-1-000000000000/input",
        "attached": [role, True, {"epochs": "3"}],
        "metrics": [["loss", 0.25]],
        "model": ["weights"],
    }
    assert "1,2\nloss=0.25;\n" in done.stdout
    assert "Training job completed" in done.stdout
    assert_nothing_left("sdk2-estimator")

    # Every request of this SDK has these two, with nothing to do: no run says anything about them.
    job = json.loads(smlocal_run("describe", "sdk2-estimator", "--json", check=True).stdout)
    assert {"DebugHookConfig", "ProfilerConfig"} <= job.keys()
    assert not [note for note in job["Local"]["Notes"] if "Debug" in note or "Profiler" in note]
