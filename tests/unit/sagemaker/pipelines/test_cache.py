"""When the result of an earlier execution is used, and what a miss says."""

from typing import Any

import pytest

from smlocal.sagemaker.pipelines.cache import Change, Earlier, ask_cache
from smlocal.sagemaker.pipelines.definition import CacheConfig, Step
from smlocal.sagemaker.pipelines.step_types import STEP_TYPES

NOW = 100_000.0
TRAINED = {
    "AlgorithmSpecification": {"TrainingImage": "i"},
    "HyperParameters": {"a": "1", "b": "2"},
    "InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": {"S3Uri": "s3://b/1"}}}],
    "ResourceConfig": {"InstanceType": "ml.m5.large"},
    "RoleArn": "r",
}


def step(kind: str = "Training", *, enabled: bool = True, seconds: float | None = 1_000) -> Step:
    cache = CacheConfig(enabled=enabled, seconds=seconds)
    return Step(name="S", type=STEP_TYPES[kind], path=(), given={}, arguments={}, cache=cache)


def earlier(
    arguments: dict[str, Any] | None = None,
    *,
    name: str = "one",
    whole: str = "Succeeded",
    own: str = "Succeeded",
    ended: float = NOW - 10,
    kind: str = "Training",
) -> Earlier:
    return Earlier(
        execution=name,
        execution_status=whole,
        step_status=own,
        ended=ended,
        type=kind,
        arguments=TRAINED if arguments is None else arguments,
    )


def test_the_newest_result_with_the_same_keys_is_used() -> None:
    other = {**TRAINED, "HyperParameters": {"a": "2"}}
    runs = [earlier(name="old", ended=NOW - 20), earlier(name="new"), earlier(other, name="other", ended=NOW - 5)]
    assert ask_cache(step(), TRAINED, runs, NOW).source == "new"


@pytest.mark.parametrize(
    "arguments",
    [
        {**TRAINED, "ResourceConfig": {"InstanceType": "ml.p4d.24xlarge"}},
        {**TRAINED, "RoleArn": "another"},
        {**TRAINED, "OutputDataConfig": {"S3OutputPath": "s3://elsewhere"}},
        {**TRAINED, "Environment": None},
    ],
)
def test_what_is_no_key_does_not_count(arguments: dict[str, Any]) -> None:
    assert ask_cache(step(), arguments, [earlier()], NOW).source == "one"


def test_a_miss_says_which_key_changed_with_both_values() -> None:
    now = {
        **TRAINED,
        "HyperParameters": {"a": "1", "c": "3"},
        "InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": {"S3Uri": "s3://b/2"}}}],
    }
    answer = ask_cache(step(), now, [earlier(), earlier(ended=NOW - 50, name="older")], NOW)
    assert answer.source is None
    assert answer.compared == "one"
    assert answer.changes == (
        Change(key="HyperParameters.c", before=None, after="3"),
        Change(key="HyperParameters.b", before="2", after=None),
        Change(key="InputDataConfig[0].DataSource.S3DataSource.S3Uri", before="s3://b/1", after="s3://b/2"),
    )
    assert answer.why == "HyperParameters.c and 2 more differ from the last run"


def test_of_a_tuning_job_five_members_of_its_definition_count() -> None:
    before = {"HyperParameterTuningJobConfig": {}, "TrainingJobDefinition": {"RoleArn": "r", "InputDataConfig": [1]}}
    same = {"HyperParameterTuningJobConfig": {}, "TrainingJobDefinition": {"RoleArn": "s", "InputDataConfig": [1]}}
    other = {"HyperParameterTuningJobConfig": {}, "TrainingJobDefinition": {"RoleArn": "r", "InputDataConfig": [2]}}
    runs = [earlier(before, kind="Tuning")]
    assert ask_cache(step("Tuning"), same, runs, NOW).source == "one"
    answer = ask_cache(step("Tuning"), other, runs, NOW)
    assert answer.why == "TrainingJobDefinition.InputDataConfig[0] differs from the last run"


@pytest.mark.parametrize(
    ("asked", "runs", "why"),
    [
        (step("Model"), [earlier()], "the service caches no step of type Model"),
        (step("Condition"), [earlier()], "the service caches no step of type Condition"),
        (step(enabled=False), [earlier()], "the step has no CacheConfig with Enabled: true"),
        (step(), [], "no earlier execution has run it"),
        (step(), [earlier(own="Failed", whole="Failed")], "in the last execution it ended as Failed"),
        (
            step(),
            [earlier(whole="Failed")],
            "the last execution ended as Failed, and only a whole one that succeeded counts",
        ),
        (step(), [earlier(ended=NOW - 2_000)], "its last result is older than ExpireAfter, or of another type"),
        (step(), [earlier(kind="Processing")], "its last result is older than ExpireAfter, or of another type"),
    ],
)
def test_why_there_is_no_result(asked: Step, runs: list[Earlier], why: str) -> None:
    answer = ask_cache(asked, TRAINED, runs, NOW)
    assert (answer.source, answer.why) == (None, why)


def test_without_an_age_all_results_count() -> None:
    assert ask_cache(step(seconds=None), TRAINED, [earlier(ended=1)], NOW).source == "one"
