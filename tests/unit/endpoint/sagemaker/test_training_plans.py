"""ListTrainingJobs with training plans, which are recorded."""

from collections.abc import Callable
from typing import Any

from tests.unit.endpoint.conftest import Ask
from tests.unit.report.conftest import StoredJob

ONE, OTHER = (f"arn:aws:sagemaker:eu-west-1:123456789012:training-plan/{name}" for name in ("one", "other"))


def test_jobs_are_listed_with_their_training_plan_and_by_it(ask: Ask, store_job: Callable[..., StoredJob]) -> None:
    store_job("plan-none", request={"ResourceConfig": None})
    for name, plan in (("plan-a", ONE), ("plan-b", OTHER), ("plan-c", ONE)):
        store_job(name, request={"ResourceConfig": {"TrainingPlanArn": plan}})
    store_job("plan-elsewhere", platform="ai_platform", request={"ResourceConfig": {"TrainingPlanArn": ONE}})

    def listed(**asked: Any) -> dict[str, str | None]:
        answer = ask("sagemaker", "ListTrainingJobs", SortBy="Name", SortOrder="Ascending", **asked)
        return {each["TrainingJobName"]: each.get("TrainingPlanArn") for each in answer["TrainingJobSummaries"]}

    assert listed() == {"plan-a": ONE, "plan-b": OTHER, "plan-c": ONE, "plan-none": None}
    assert listed(TrainingPlanArnEquals=ONE) == {"plan-a": ONE, "plan-c": ONE}
    assert listed(TrainingPlanArnEquals=ONE, WarmPoolStatusEquals="Available") == {}
    assert listed(TrainingPlanArnEquals=f"{ONE}-none") == {}


def test_a_plan_leaves_out_parts_of_a_page(ask: Ask, store_job: Callable[..., StoredJob]) -> None:
    for name, plan in (("plan-a", ONE), ("plan-b", OTHER), ("plan-c", ONE)):
        store_job(name, request={"ResourceConfig": {"TrainingPlanArn": plan}})
    asked = {"SortBy": "Name", "SortOrder": "Ascending", "MaxResults": 1, "TrainingPlanArnEquals": OTHER}
    first = ask("sagemaker", "ListTrainingJobs", **asked)
    assert (first["TrainingJobSummaries"], "NextToken" in first) == ([], True)
    second = ask("sagemaker", "ListTrainingJobs", NextToken=first["NextToken"], **asked)
    assert [each["TrainingJobName"] for each in second["TrainingJobSummaries"]] == ["plan-b"]
