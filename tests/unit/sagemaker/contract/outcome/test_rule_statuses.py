from typing import Any

import pytest

from smlocal.sagemaker.contract.outcome.reasons import RuleStatus, rule_status, shown_statuses

ARN = "arn:aws:sagemaker:eu-west-1:123456789012:training-job/a-job-with-a-name-that-is-long"
REQUEST = {"DebugRuleConfigurations": [{"RuleConfigurationName": "One"}, {"RuleConfigurationName": "Two"}]}


def shown(stored: list[dict[str, Any]] | None, over: float | None = None) -> dict[str, str]:
    entries = shown_statuses(stored, REQUEST, arn=ARN, created=1.0, over=over)
    return {each["RuleConfigurationName"]: each["RuleEvaluationStatus"] for each in entries}


def test_rules_that_have_not_begun() -> None:
    assert shown(None) == {"One": "InProgress", "Two": "InProgress"}
    assert shown(None, over=2.0) == {"One": "Stopped", "Two": "Stopped"}


def test_nothing_is_in_progress_after_the_end() -> None:
    stored = [
        rule_status("One", RuleStatus.STOPPING, arn=ARN, created=1.0, at=2.0),
        {**rule_status("Two", RuleStatus.ISSUES_FOUND, arn=ARN, created=1.0, at=2.0), "Step": 4},
    ]
    assert shown(stored) == {"One": "Stopping", "Two": "IssuesFound"}
    assert shown(stored, over=3.0) == {"One": "Stopped", "Two": "IssuesFound"}
    first, second = shown_statuses(stored, REQUEST, arn=ARN, created=1.0, over=3.0)
    assert (first["LastModifiedTime"], second["LastModifiedTime"]) == (3.0, 2.0)
    assert "Step" not in second


@pytest.mark.parametrize(("length", "kept"), [(1024, 1024), (1025, 1024)])
def test_details_of_any_length(length: int, kept: int) -> None:
    entry = rule_status("One", RuleStatus.ERROR, arn=ARN, created=1.0, at=2.0, details="x" * length)
    assert len(entry["StatusDetails"]) == kept


def test_the_arn_has_the_name_of_job_and_rule() -> None:
    arns = {rule_status(name, RuleStatus.ERROR, arn=ARN, created=1.0, at=2.0)["RuleEvaluationJobArn"] for name in "AB"}
    assert len(arns) == 2
    head = "arn:aws:sagemaker:eu-west-1:123456789012:processing-job/a-job-with-a-name-that-is--"
    assert {arn[: len(head) + 2] for arn in arns} == {f"{head}a-", f"{head}b-"}
