"""Pipelines of clients written by others."""

from collections.abc import Callable

import pytest
from tests.clients.conftest import User, last_json

BAD = "Completed and bad: 0.25"


@pytest.mark.slow(20)
@pytest.mark.long
def test_a_pipeline_of_sdk_2(user: User, image: Callable[[str], str]) -> None:
    done = user.execute("sdk-2", "sdk2_pipeline.py", image("py"), "Pipe")
    failed = ["Failed", ["Bad", "Failed", BAD], ["Check", "Succeeded", None], ["Evaluate", "Succeeded", None]]
    assert last_json(done.stdout) == {
        "tags": [{"Key": "a", "Value": "b"}, {"Key": "c", "Value": "d"}],
        "version": 2,
        "parameters": [{"Name": "Score", "Value": "0.75"}],
        "good": ["Succeeded", ["Check", "Succeeded", None], ["Evaluate", "Succeeded", None]],
        "bad": failed,
        "retried": failed,
        "selected": ["Succeeded", ["Check", "Succeeded", None], ["Evaluate", "Succeeded", None]],
        "answered": ["Succeeded", ["More", "Succeeded", None], ["Ask", "Succeeded", None]],
        "stopped": "Stopped",
        "refused": "Only pipelines with 'Executing' status can be stopped.",
    }
    assert "wait() of the SageMaker SDK does not know this status" in done.stderr
