"""SDK v3's pipelines, unmodified."""

from collections.abc import Callable

import pytest
from tests.clients.conftest import User, last_json, skip_without_python_of_images
from tests.clients.test_sdk_2_model_pipelines import execute_with_stand_ins

HALF = "def handler(event, context):\n    return {'told': event['number'] / 2}\n"


@pytest.mark.slow(40)
@pytest.mark.long
def test_a_pipeline_of_jobs_with_a_for_each_and_steps_after_failures(user: User, image: Callable[[str], str]) -> None:
    images = [image(name) for name in ("train-serve", "py", "sdk-3")]
    printed = execute_with_stand_ins(
        user, "sdk-3", "sdk3_pipeline.py", *images, "models", Half=HALF, Again=HALF, Sorry=HALF
    )
    found = last_json(printed)
    items = [f"{name}-{index}" for name in ("Half", "Again") for index in range(3)]
    each = dict.fromkeys(("Each", *items, "Check", "Make", "Register"), "Succeeded")
    jobs = ("Prepare", "Train")
    assert found["first"] == {**each, **dict.fromkeys(jobs, "Succeeded"), "": "Succeeded"}
    counts = {"InputItemCount": 3, "TotalStepCount": 6, "SucceededStepCount": 6, "FailedStepCount": 0}
    assert found["of the first"] == {
        "each": {
            "Status": "Succeeded",
            **counts,
            "StoppedStepCount": 0,
            "Selector": {"StepName": "Again-1", "Index": 1},
        },
        "item": {"ParentStepName": "Each", "Index": 1, "Item": '{"factor": 4}'},
        "best": "1.0",
        "approved": "Approved",
        "versions": [1],
    }
    cached = dict.fromkeys(jobs, "Succeeded from the cache")
    assert found["few"] == {**each, **cached, "Few": "Failed: Succeeded 100", "": "Failed"}
    reason = found["without"].pop("Half-0")
    assert reason.startswith("Failed: The Lambda function tell failed: TypeError: unsupported operand type")
    assert found["without"] == {
        "Prepare": "Succeeded",
        "Each": "Failed",
        "Sorry": "Succeeded",
        "": "CompletedWithFailures",
    }
    skip_without_python_of_images("sdk-3")
    assert found["functions"] == {**dict.fromkeys(("once", "twice", ""), "Succeeded"), "result": 20}
