"""A check as SARIF 2.1.0, as GitHub's code scanning takes it, which asks for more than the schema does.

Each result is at a file of the repository. What is ignored is no result: GitHub shows suppressed ones as alerts.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

from smlocal.check.interface import CheckReport, Finding, RuleResult, Severity
from smlocal.check.reports.text import ignored_lines, skipped_lines, valid_text
from smlocal.ci.repository import as_uri

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}
"""GitHub's names of the severities."""
_MOST_RESULTS = 5000
"""GitHub shows no more."""

Place = Callable[[str], str]


def sarif(report: CheckReport, *, version: str, place: Place) -> str:
    """The document. `place` gives the path of a file relative to the repository.

    A finding that belongs to no file is placed at the Dockerfile of the check, else at its job file.
    """
    results = list(_results(report, place))
    anchor = place(report.dockerfile or report.job_file)
    notes = list(_notes(report, len(results)))
    run = {
        "tool": {
            "driver": {
                "name": "smlocal",
                "semanticVersion": version,
                "rules": [_rule(result) for result in report.results],
            }
        },
        # What GitHub tells analyses of one commit apart by. The name of an image changes with each build.
        "automationDetails": {"id": f"smlocal-check/{valid_text(anchor)}/"},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
        "results": results[:_MOST_RESULTS],
    }
    return f"{json.dumps({'$schema': SCHEMA, 'version': '2.1.0', 'runs': [run]}, indent=2)}\n"


def _rule(result: RuleResult) -> dict[str, Any]:
    rule = result.rule
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": ["container", "sagemaker"], "problem.severity": _PROBLEMS[rule.severity]},
    }


def _results(report: CheckReport, place: Place) -> Iterator[dict[str, Any]]:
    seen: Counter[str] = Counter()
    for index, result in enumerate(report.results):
        for finding in result.findings:
            fingerprint = _fingerprint(result, finding)
            seen[fingerprint] += 1
            yield {
                "ruleId": result.rule.id,
                "ruleIndex": index,
                "level": _LEVELS[result.severity],
                "message": {"text": valid_text("\n".join((f"{finding.message}. {result.remedy}", *finding.details)))},
                "locations": [_location(report, finding, place)],
                "partialFingerprints": {"primaryLocationLineHash": f"{fingerprint}:{seen[fingerprint]}"},
            }


def _location(report: CheckReport, finding: Finding, place: Place) -> dict[str, Any]:
    inside = {"name": finding.path.rpartition("/")[2] or "/", "fullyQualifiedName": finding.path, "kind": "resource"}
    image = {"fullyQualifiedName": report.image, "kind": "resource"}
    return {
        "physicalLocation": {
            "artifactLocation": {
                "uri": as_uri(place(finding.file) or place(report.dockerfile or report.job_file)),
                "uriBaseId": "%SRCROOT%",
            },
            "region": {"startLine": finding.line or 1},
        },
        "logicalLocations": [
            {name: valid_text(text) for name, text in each.items()}
            for each in ((inside,) if finding.path else (image,))
        ],
    }


def _fingerprint(result: RuleResult, finding: Finding) -> str:
    """The same for the same finding in the next image, whatever is measured or named there."""
    same = f"{result.rule.id}\0{finding.path}\0{finding.instruction}"
    return sha256(same.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _notes(report: CheckReport, results: int) -> Iterator[dict[str, Any]]:
    for index, result in enumerate(report.results):
        skipped = ["\n".join(skipped_lines(result))] if result.skipped else []
        for text in (*skipped, *ignored_lines(result)):
            yield {
                "level": "note",
                "message": {"text": text},
                "associatedRule": {"id": result.rule.id, "index": index},
            }
    if results > _MOST_RESULTS:
        yield {"level": "warning", "message": {"text": f"{results - _MOST_RESULTS} more findings are left out"}}
