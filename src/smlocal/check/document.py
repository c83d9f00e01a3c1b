"""The report of a check as a JSON document."""

from typing import Any

from smlocal.check.interface import CheckReport, Finding, RuleResult, Severity


def check_document(report: CheckReport, fail_on: Severity) -> dict[str, Any]:
    """Everything that was found, with what passed and what was skipped."""
    return {
        "Check": {
            "Image": report.image,
            "ImageId": report.image_id,
            **({"JobFile": report.job_file} if report.job_file else {}),
            "FailOn": fail_on,
            "Passed": not report.fails(fail_on),
            "Rules": [_rule(result) for result in report.results],
        }
    }


def _rule(result: RuleResult) -> dict[str, Any]:
    document: dict[str, Any] = {
        "Id": result.rule.id,
        "Severity": result.severity,
        "Title": result.rule.title,
        "Outcome": result.outcome,
        "Seconds": round(result.seconds, 3),
    }
    if result.skipped:
        document["Skipped"] = result.skipped
    if result.skipped_details:
        document["SkippedDetails"] = [_text(line) for line in result.skipped_details]
    if result.test:
        document["ToTest"] = result.test
    if result.findings:
        document["Remedy"] = result.remedy
        document["Findings"] = [_finding(finding) for finding in result.findings]
    if result.ignored:
        document["Ignored"] = [
            {
                **_finding(each.finding),
                "Reason": each.reason,
                **({"Until": each.until} if each.until else {}),
            }
            for each in result.ignored
        ]
    return document


def _finding(finding: Finding) -> dict[str, Any]:
    """What is known of it; a path that is not UTF-8 is shown with replacements."""
    members = {
        "Message": finding.message,
        "Path": finding.path,
        "Instruction": finding.instruction,
        "Layer": finding.layer,
        "Job": finding.job,
        "Host": finding.host,
        "File": finding.file,
        "Line": finding.line or None,
    }
    document = {name: _text(value) for name, value in members.items() if value not in {None, ""}}
    if finding.details:
        document["Details"] = [_text(line) for line in finding.details]
    return document


def _text(value: Any) -> Any:
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if isinstance(value, str) else value
