"""The lines of a finding or of a skipped rule that say more, and a remedy of its own, in each form of a report."""

import json

from tests.unit.check.report_example import report, result

from smlocal.base.ci.reports import Case
from smlocal.check.interface import CheckReport, Finding, Severity
from smlocal.check.report_forms import check_annotations, check_document, check_suite, check_summary, sarif

LINES = ("hint: set it", "last lines of the log:", "  no \udcff data")
SHOWN = "hint: set it\nlast lines of the log:\n  no \ufffd data"


def failed() -> CheckReport:
    found = Finding(message="it fails", details=LINES, remedy="Do this.")
    return report(
        result("job-fails", findings=[found]), result("not-judged", skipped="it failed", skipped_details=LINES)
    )


def test_the_document() -> None:
    first, second = check_document(failed(), Severity.ERROR)["Check"]["Rules"]
    assert first["Remedy"] == "Do this."
    assert first["Findings"] == [{"Message": "it fails", "Details": SHOWN.split("\n")}]
    assert (second["Skipped"], second["SkippedDetails"]) == ("it failed", SHOWN.split("\n"))


def test_junit() -> None:
    def cases(fail_on: Severity) -> tuple[Case, ...]:
        return check_suite(failed(), fail_on).cases

    first, second = cases(Severity.ERROR)
    assert (first.message, first.text.partition("\n\n")[0]) == ("it fails", f"it fails\n{SHOWN}")
    assert "\n\nDo this.\n\n" in first.text
    assert (second.message, second.output) == ("it failed", f"skipped: it failed\n{SHOWN}")
    warning = report(result("w", Severity.WARNING, [Finding(message="it fails", details=LINES)]))
    (case,) = check_suite(warning, Severity.ERROR).cases
    assert case.output == f"warning: it fails\n{SHOWN}\nMend w."


def test_sarif() -> None:
    (run,) = json.loads(sarif(failed(), version="1.2.3", place=lambda path: path))["runs"]
    assert run["results"][0]["message"]["text"] == f"it fails. Do this.\n{SHOWN}"
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == f"skipped: it failed\n{SHOWN}"


def test_annotations_and_the_summary() -> None:
    (annotation,) = check_annotations(failed(), lambda path: path)
    assert annotation.message == f"it fails\n{SHOWN}\nDo this."
    text = check_summary(failed())
    assert "it fails<br>hint: set it<br>" in text
    assert f"not-judged: skipped: it failed\n{SHOWN}" in text
