"""Jobs of another platform are not known to SageMaker."""

from collections.abc import Callable
from typing import Any

import pytest

from smlocal.endpoint.call import ServiceError

NAME = {"TrainingJobName": "of-the-other"}


def test_calls_leave_out_jobs_of_another_platform(
    ask: Callable[..., dict[str, Any]], store_job: Callable[..., Any]
) -> None:
    store_job("of-this")
    store_job("of-the-other", platform="ai_platform")
    summaries = ask("sagemaker", "ListTrainingJobs")["TrainingJobSummaries"]
    assert [each["TrainingJobName"] for each in summaries] == ["of-this"]
    found = ask("sagemaker", "Search", Resource="TrainingJob")["Results"]
    assert [each["TrainingJob"]["TrainingJobName"] for each in found] == ["of-this"]
    assert ask("logs", "DescribeLogStreams", logGroupName="/aws/sagemaker/TrainingJobs")["logStreams"] == []
    assert ask("cloudwatch", "ListMetrics")["Metrics"] == []
    changes: dict[str, dict[str, Any]] = {
        "DescribeTrainingJob": {},
        "StopTrainingJob": {},
        "DeleteTrainingJob": {},
        "UpdateTrainingJob": {},
    }
    for operation, parameters in changes.items():
        with pytest.raises(ServiceError, match="Requested resource not found"):
            ask("sagemaker", operation, **NAME, **parameters)
