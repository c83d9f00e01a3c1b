"""Answers about many jobs, of which one is removed while they are read."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.endpoint.conftest import Ask
from tests.unit.endpoint.sagemaker.test_tuning_jobs import request as tuning_request
from tests.unit.report.conftest import StoredJob

from smlocal.endpoint.serving import Serving
from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import FAILED

RemovedAfter = Callable[[str, str], None]


@pytest.fixture
def removed_after(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> RemovedAfter:
    """Has a job removed as soon as a method of the store has read it."""

    def remove(method: str, name: str) -> None:
        original = getattr(Store, method)

        def read(self: Store, *args: Any, **more: Any) -> Any:
            found = original(self, *args, **more)
            if name in serving.store.names():
                serving.store.remove(name)
            return found

        monkeypatch.setattr(Store, method, read)

    return remove


def end(serving: Serving, name: str) -> None:
    serving.store.transition(name, status=FAILED.status, phase=FAILED.phase, message=FAILED.message, at=2_000_000_000.0)


def test_search(ask: Ask, store_job: Callable[..., StoredJob], removed_after: RemovedAfter) -> None:
    for name in ("search-stays", "search-goes"):
        store_job(name).end(5)
    removed_after("list", "search-goes")
    found = ask("sagemaker", "Search", Resource="TrainingJob")["Results"]
    assert [each["TrainingJob"]["TrainingJobName"] for each in found] == ["search-stays"]


def test_lists(ask: Ask, serving: Serving, removed_after: RemovedAfter) -> None:
    tuning, processing = "HyperParameterTuningJob", "ProcessingJob"
    cluster = {"InstanceCount": 1, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 1}
    request = {
        "ProcessingResources": {"ClusterConfig": cluster},
        "AppSpecification": {"ImageUri": "python"},
        "RoleArn": "arn:aws:iam::123456789012:role/T",
    }
    for suffix in ("stays", "goes"):
        name = f"list-t-{suffix}"
        ask("sagemaker", f"Create{tuning}", **{**tuning_request(), f"{tuning}Name": name})
        ask("sagemaker", f"Create{processing}", ProcessingJobName=f"list-p-{suffix}", **request)
    for kind, letter in ((tuning, "t"), (processing, "p")):
        name = f"list-{letter}-goes"
        end(serving, name)
        removed_after("find_page", name)
        found = ask("sagemaker", f"List{kind}s")[f"{kind}Summaries"]
        assert [each[f"{kind}Name"] for each in found] == [f"list-{letter}-stays"]


def test_endpoints_and_groups_of_logs(
    ask: Ask, serving: Serving, store_job: Callable[..., StoredJob], removed_after: RemovedAfter
) -> None:
    for name in ("served-stays", "served-goes", "logged-goes"):
        store_job(name, platform="sagemaker_hosting")
        if name != "served-stays":
            end(serving, name)
    removed_after("list", "served-goes")
    assert [each["EndpointName"] for each in ask("sagemaker", "ListEndpoints", NameContains="served")["Endpoints"]] == [
        "served-stays"
    ]
    removed_after("list", "logged-goes")
    found = ask("logs", "DescribeLogGroups", logGroupNamePrefix="/aws/sagemaker/Endpoints/")["logGroups"]
    assert [each["logGroupName"].rpartition("/")[2] for each in found] == ["served-stays"]
