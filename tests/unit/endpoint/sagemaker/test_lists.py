"""Lists of all kinds: a page is taken first, and then filtered."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.endpoint.conftest import Ask
from tests.unit.report.conftest import StoredJob
from tests.unit.sagemaker.tuning.test_tuning_file import REQUEST

from smlocal.endpoint.call import ServiceError
from smlocal.endpoint.serving import Serving
from smlocal.jobs.store.resources import StoredResource
from smlocal.sagemaker.processing.facts import NAME as PROCESSING
from smlocal.sagemaker.serving.facts import NAME as HOSTING
from smlocal.sagemaker.training.facts import NAME as TRAINING
from smlocal.sagemaker.transform.facts import NAME as TRANSFORM
from smlocal.sagemaker.tuning.facts import NAME as TUNING
from smlocal.sagemaker.tuning.facts import TUNING as STATE
from smlocal.sagemaker.tuning.trials import Trial, document_kind

JOBS = {
    "ListTrainingJobs": (TRAINING, "TrainingJobSummaries", "TrainingJobName"),
    "ListProcessingJobs": (PROCESSING, "ProcessingJobSummaries", "ProcessingJobName"),
    "ListTransformJobs": (TRANSFORM, "TransformJobSummaries", "TransformJobName"),
    "ListHyperParameterTuningJobs": (TUNING, "HyperParameterTuningJobSummaries", "HyperParameterTuningJobName"),
    "ListEndpoints": (HOSTING, "Endpoints", "EndpointName"),
}
RESOURCES = {
    "ListModels": ("model", "Models", "ModelName"),
    "ListEndpointConfigs": ("endpoint_config", "EndpointConfigs", "EndpointConfigName"),
}
LISTS = {**JOBS, **RESOURCES}
NAMES = ("aa-1", "bb-1", "aa-2", "bb-2")
"""From the oldest to the newest."""


@pytest.fixture
def listed(ask: Ask, serving: Serving, store_job: Callable[..., StoredJob]) -> Callable[..., list[list[str]]]:
    """The names of each page, until no token is left."""

    def pages(operation: str, **asked: Any) -> list[list[str]]:
        kind, member, name = LISTS[operation]
        if not serving.store.names() and not serving.store.resources(kind):
            for number, each in enumerate(NAMES):
                if operation in JOBS:
                    store_job(each, platform=kind, request=REQUEST)
                    with serving.store._write() as connection:
                        connection.execute("UPDATE jobs SET created = ? WHERE name = ?", (float(number), each))
                else:
                    new = StoredResource(
                        kind=kind, name=each, arn=each, created=float(number), modified=number, body={}
                    )
                    assert serving.store.add_resource(new)
        found: list[list[str]] = []
        token = None
        while token is not None or not found:
            answer = ask("sagemaker", operation, **asked, **({} if token is None else {"NextToken": token}))
            found.append([each[name] for each in answer[member]])
            token = answer.get("NextToken")
        return found

    return pages


@pytest.mark.parametrize("operation", LISTS)
def test_a_name_leaves_out_parts_of_a_page_that_was_taken_before(
    listed: Callable[..., list[list[str]]], operation: str
) -> None:
    assert listed(operation, NameContains="aa", MaxResults=1) == [[], ["aa-2"], [], ["aa-1"]]
    assert listed(operation, NameContains="bb-1", MaxResults=3) == [["bb-1"], []]
    assert listed(operation, NameContains="AA") == [["aa-2", "aa-1"]]


@pytest.mark.parametrize("operation", LISTS)
def test_a_time_of_creation_selects_before_a_page_is_taken(
    listed: Callable[..., list[list[str]]], operation: str
) -> None:
    assert listed(operation, CreationTimeBefore=1.5, MaxResults=1) == [["bb-1"], ["aa-1"]]
    assert listed(operation, CreationTimeAfter=1e10) == [[]]


@pytest.mark.parametrize("operation", LISTS)
def test_the_newest_come_first_unless_it_is_told_otherwise(
    listed: Callable[..., list[list[str]]], operation: str
) -> None:
    assert listed(operation) == [["bb-2", "aa-2", "bb-1", "aa-1"]]
    assert listed(operation, SortBy="Name", SortOrder="Ascending") == [["aa-1", "aa-2", "bb-1", "bb-2"]]


@pytest.mark.parametrize("operation", JOBS)
def test_a_status_and_a_time_of_change_leave_out_parts_of_a_page(
    listed: Callable[..., list[list[str]]], operation: str
) -> None:
    assert listed(operation, StatusEquals="Failed", MaxResults=2) == [[], []]
    assert listed(operation, LastModifiedTimeAfter=1e12, MaxResults=2) == [[], []]
    assert listed(operation, LastModifiedTimeAfter=0.0) == [["bb-2", "aa-2", "bb-1", "aa-1"]]


def test_a_status_of_training_jobs_of_a_tuning_job(
    ask: Ask, serving: Serving, store_job: Callable[..., StoredJob]
) -> None:
    store_job("parent", platform=TUNING, request=REQUEST)
    serving.store.put_document("parent", STATE, {"Count": 4})
    for number, status in enumerate(("Completed", "Failed", "Completed", "Failed"), start=1):
        value = 12.0 - number if status == "Completed" else None
        trial = Trial(number=number, name=f"child-{number}", status=status, created=float(number), value=value)
        serving.store.put_document("parent", document_kind(number), trial.document())

    def page(**asked: Any) -> tuple[list[str], str | None]:
        operation = "ListTrainingJobsForHyperParameterTuningJob"
        answer = ask("sagemaker", operation, HyperParameterTuningJobName="parent", **asked)
        return [each["TrainingJobName"] for each in answer["TrainingJobSummaries"]], answer.get("NextToken")

    first, token = page(StatusEquals="Failed", MaxResults=3)
    assert first == ["child-2"]
    assert page(StatusEquals="Failed", MaxResults=3, NextToken=token) == (["child-4"], None)
    assert page(SortBy="FinalObjectiveMetricValue") == (["child-3", "child-1"], None)
    assert page(SortBy="CreationTime", SortOrder="Descending", MaxResults=4) == (
        ["child-4", "child-3", "child-2", "child-1"],
        None,
    )


def test_a_token_of_another_order_is_refused(ask: Ask, listed: Callable[..., list[list[str]]]) -> None:
    listed("ListModels")
    token = ask("sagemaker", "ListModels", MaxResults=1)["NextToken"]
    with pytest.raises(ServiceError, match="Invalid pagination token"):
        ask("sagemaker", "ListModels", SortBy="Name", NextToken=token)


@pytest.mark.parametrize(
    ("operation", "more"),
    [
        ("ListTrainingJobs", {}),
        ("ListModels", {}),
        ("Search", {"Resource": "TrainingJob"}),
    ],
)
@pytest.mark.parametrize("token", ["x", "3", "Wy0xXQ=="])
def test_a_token_that_was_not_made_here_is_refused(ask: Ask, operation: str, more: dict[str, str], token: str) -> None:
    with pytest.raises(ServiceError, match="Invalid pagination token"):
        ask("sagemaker", operation, NextToken=token, **more)
