"""The report of a check in the forms that programs read: JSON, JUnit, annotations, a summary on a page, SARIF."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

from smlocal.base.ci.reports import Case, CaseVerdict, Suite, folded, heading, limited, table
from smlocal.base.ci.repository import as_uri
from smlocal.base.ci.services import Annotation, Level
from smlocal.check.interface import CheckReport, Finding, Outcome, RuleResult, Severity

_SURROGATES = re.compile("[\\ud800-\\udfff]")


def valid_text(text: str) -> str:
    """A path that is not UTF-8, or an odd string of a JSON file, is shown with replacements."""
    return _SURROGATES.sub("\ufffd", text)


def where(finding: Finding) -> str:
    """`Dockerfile:3, job, algo-2`; empty where nothing is known."""
    file = f"{finding.file}:{finding.line}" if finding.line else finding.file
    return ", ".join(place for place in (file, finding.job, finding.host) if place)


def finding_line(finding: Finding) -> str:
    """One finding with its place."""
    place = where(finding)
    return valid_text(f"{finding.message} ({place})" if place else finding.message)


def finding_lines(finding: Finding) -> list[str]:
    """The same, and the lines that say more."""
    return [finding_line(finding), *map(valid_text, finding.details)]


def skipped_lines(result: RuleResult) -> list[str]:
    """Why a rule could not be judged; nothing for one that was."""
    if not result.skipped:
        return []
    to_test = [f"to test it: {result.test}"] if result.test else []
    return [f"skipped: {valid_text(result.skipped)}", *map(valid_text, result.skipped_details), *to_test]


def ignored_lines(result: RuleResult) -> list[str]:
    """The ignored findings, and the reasons."""
    return [f"ignored ({each.reason}): {finding_line(each.finding)}" for each in result.ignored]


def check_document(report: CheckReport, fail_on: Severity) -> dict[str, Any]:
    """All findings, and the rules that passed or were skipped."""
    return {
        "Check": {
            "Image": report.image,
            "ImageId": report.image_id,
            **({"JobFile": report.job_file} if report.job_file else {}),
            "FailOn": fail_on,
            "Passed": not report.fails(fail_on) and not report.not_run,
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
    """The known facts about it; a path that is not UTF-8 is shown with replacements."""
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


_GROUP = "smlocal.check"


def check_suite(report: CheckReport, fail_on: Severity) -> Suite:
    """Findings that make the command fail are failures. Other findings are in the output of a case that passed."""
    return Suite(name=report.image, cases=tuple(_case(result, fail_on) for result in report.results))


def _case(result: RuleResult, fail_on: Severity) -> Case:
    rule = result.rule
    found = [finding_line(each) for each in result.findings]
    fails = bool(found) and result.severity.rank >= fail_on.rank
    skipped = result.outcome is Outcome.SKIPPED
    first = result.findings[0] if found else None
    return Case(
        name=rule.id,
        group=_GROUP,
        seconds=result.seconds,
        verdict=CaseVerdict.FAILED if fails else CaseVerdict.SKIPPED if skipped else CaseVerdict.PASSED,
        kind=result.severity,
        message=_message(found) if fails else valid_text(result.skipped),
        text="\n".join([*_found(result), "", result.remedy, "", rule.why]) if fails else "",
        output="\n".join(_output(result, found, fails=fails)),
        file=first.file if first is not None and fails else "",
        line=first.line if first is not None and fails else 0,
    )


def _found(result: RuleResult) -> list[str]:
    return [line for finding in result.findings for line in finding_lines(finding)]


def _message(found: list[str]) -> str:
    return found[0] if len(found) == 1 else f"{found[0]}, and {len(found) - 1} more"


def _output(result: RuleResult, found: list[str], *, fails: bool) -> list[str]:
    notes = []
    if found and not fails:
        severity = result.severity
        notes = ["\n".join((f"{severity}: {first}", *more)) for first, *more in map(finding_lines, result.findings)]
        notes.append(result.remedy)
    broken_off = skipped_lines(result) if found or result.skipped_details or result.test else []
    return [*notes, *broken_off, *ignored_lines(result)]


_LEVELS = {Severity.ERROR: Level.ERROR, Severity.WARNING: Level.WARNING, Severity.INFO: Level.NOTICE}


def check_annotations(report: CheckReport, place: Callable[[str], str]) -> Iterator[Annotation]:
    """One for each finding, the worst first: services show only some. `place` makes a path relative to the repository.

    A finding that belongs to no file is placed at the Dockerfile or the job file of the check.
    """
    for result in _worst_first(report):
        for finding in result.findings:
            file = place(finding.file) or place(report.dockerfile or report.job_file)
            yield Annotation(
                level=_LEVELS[result.severity],
                title=result.rule.id,
                message=valid_text("\n".join((finding.message, *finding.details, result.remedy))),
                file=file,
                line=finding.line if file else 0,
            )


def check_summary(report: CheckReport) -> str:
    """A table of the findings, with skipped and ignored ones below it."""
    found = [
        (
            result.severity,
            result.rule.id,
            valid_text("\n".join((finding.message, *finding.details, result.remedy))),
            where(finding),
        )
        for result in _worst_first(report)
        for finding in result.findings
    ]
    outcomes = [result.outcome for result in report.results]
    passed = f"{outcomes.count(Outcome.PASSED)} of {len(outcomes)} rules passed."
    others = [f"{each.rule.id}: " + "\n".join(skipped_lines(each)) for each in report.results if each.skipped]
    others += [f"{each.rule.id}: {line}" for each in report.results for line in ignored_lines(each)]
    return limited(
        [
            heading(f"smlocal check {report.image}"),
            f"{passed}\n\n",
            *([table(("severity", "rule", "finding", "where"), found)] if found else []),
            *([folded("Skipped and ignored", "\n".join(others))] if others else []),
        ]
    )


def _worst_first(report: CheckReport) -> list[RuleResult]:
    return sorted(report.results, key=lambda result: -result.severity.rank)


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_SARIF_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}
"""GitHub's names of the severities."""
_MOST_RESULTS = 5000
"""GitHub shows no more."""
Place = Callable[[str], str]


def sarif(report: CheckReport, *, version: str, place: Place) -> str:
    """A check as SARIF 2.1.0. `place` gives the path of a file relative to the repository.

    GitHub's code scanning asks for more than the schema does: each result is at a file of the repository. Ignored
    findings are not results, because GitHub shows suppressed ones as alerts.

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
                "rules": [_sarif_rule(result) for result in report.results],
            }
        },
        # What GitHub tells analyses of one commit apart by. The name of an image changes with each build.
        "automationDetails": {"id": f"smlocal-check/{valid_text(anchor)}/"},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
        "results": results[:_MOST_RESULTS],
    }
    return f"{json.dumps({'$schema': SCHEMA, 'version': '2.1.0', 'runs': [run]}, indent=2)}\n"


def _sarif_rule(result: RuleResult) -> dict[str, Any]:
    rule = result.rule
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": _SARIF_LEVELS[rule.severity]},
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
                "level": _SARIF_LEVELS[result.severity],
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
