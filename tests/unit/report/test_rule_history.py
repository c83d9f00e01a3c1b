from typing import Any

from smlocal.report.page import RuleChange, RuleHistory, rule_history


def status(name: str, status: str, at: float, **more: Any) -> dict[str, Any]:
    return {"RuleConfigurationName": name, "RuleEvaluationStatus": status, "LastModifiedTime": at, **more}


def test_a_job_without_rules() -> None:
    assert rule_history({"CreationTime": 100.0}, (), 10.0) == RuleHistory()


def test_bars_end_with_the_last_change() -> None:
    found = status("Loss", "IssuesFound", 104.0, Step=1040, StatusDetails="met\n", Reason="the loss is flat")
    stopping = status("Slow", "Stopping", 109.0)
    stopped = status("Slow", "Stopped", 110.0, StatusDetails="a stop was requested")
    now = [found, stopped, status("Waits", "InProgress", 100.0)]
    shown = rule_history({"CreationTime": 100.0, "DebugRuleEvaluationStatuses": now}, (found, stopping, stopped), 20.0)
    assert [(bar.name, bar.status, bar.width, bar.issue, bar.running) for bar in shown.bars] == [
        ("Loss", "IssuesFound at step 1,040", 200.0, True, False),
        ("Slow", "Stopped", 500.0, False, False),
        ("Waits", "InProgress", 1000.0, False, True),
    ]
    assert shown.changes == (
        RuleChange(seconds=4.0, name="Loss", status="IssuesFound", details="the loss is flat"),
        RuleChange(seconds=9.0, name="Slow", status="Stopping", details=""),
        RuleChange(seconds=10.0, name="Slow", status="Stopped", details="a stop was requested"),
    )


def test_a_job_of_no_time() -> None:
    now = [status("Loss", "Error", 100.0)]
    shown = rule_history({"CreationTime": 100.0, "DebugRuleEvaluationStatuses": now}, (), 0.0)
    assert [bar.width for bar in shown.bars] == [4.0]
