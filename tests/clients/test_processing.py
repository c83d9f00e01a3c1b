"""Processing jobs of clients written by others."""

from collections.abc import Callable

import pytest
from tests.clients.conftest import User, last_json


@pytest.mark.slow(3)
def test_boto3_makes_describes_lists_stops_and_deletes_them(
    user: User, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    done = user.execute(None, "boto3_processing.py", image("sh"), "processing-boto3")
    assert last_json(done.stdout) == {
        "status": "Completed",
        "message": "fine",
        "log": ["copied"],
        "output": "1,2\n",
        "listed": {"processing-boto3": "Completed", "processing-boto3-stopped": "Stopped"},
        "tags": [{"Key": "team", "Value": "a"}],
        "errors": {
            "describe_processing_job 0": "ValidationException",
            "stop_processing_job 1": "ValidationException",
            "create_processing_job 2": "ResourceInUse",
            "create_processing_job 3": "ValidationException",
        },
    }
    assert_nothing_left("processing-boto3")
    assert_nothing_left("processing-boto3-stopped")
