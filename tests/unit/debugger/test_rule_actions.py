import json

import pytest

from smlocal.debugger.rule_actions import RuleAction, actions_of, job_to_stop, without_actions

STOP = {"name": "StopTraining", "training_job_prefix": "my-job"}
MAIL = {"name": "email", "endpoint": "me@example.com"}
BY_SDK_2 = json.dumps([STOP, MAIL]).replace('"', '\\"')


@pytest.mark.parametrize("text", [json.dumps([STOP, MAIL]), BY_SDK_2])
def test_actions_as_they_are_written(text: str) -> None:
    asked = [RuleAction(name="stoptraining", prefix="my-job"), RuleAction(name="email", endpoint="me@example.com")]
    assert actions_of({"action_json": text}) == asked
    assert without_actions({"action_json": text, "threshold": "1"}) == {"threshold": "1"}


@pytest.mark.parametrize("text", ["", "{", "7", "[7]", '{"name": "dance"}', "[]"])
def test_what_is_no_action(text: str) -> None:
    assert actions_of({"action_json": text}) == []


def test_what_cannot_be_read_is_left_to_the_evaluator() -> None:
    assert without_actions({"action_json": "{"}) == {"action_json": "{"}


def test_a_stalled_job() -> None:
    parameters = {"rule_to_invoke": "StalledTrainingRule", "stop_training_on_fire": "True"}
    assert actions_of(parameters) == [RuleAction(name="stoptraining")]
    assert without_actions(parameters)["stop_training_on_fire"] == "False"


@pytest.mark.parametrize(
    ("running", "stopped"),
    [(["My-Job-1", "other"], "My-Job-1"), (["my-job-1", "my-job-2"], None), (["other"], None), ([], None)],
)
def test_the_one_job_that_is_stopped(running: list[str], stopped: str | None) -> None:
    assert job_to_stop("my-job", running) == stopped
