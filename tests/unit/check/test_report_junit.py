from xml.etree.ElementTree import fromstring

from tests.unit.check.report_example import HOSTILE, everything

from smlocal.base.ci.reports import Case, CaseVerdict, junit
from smlocal.check.interface import Severity
from smlocal.check.report_forms import check_suite


def cases(fail_on: Severity = Severity.ERROR) -> dict[str, Case]:
    return {case.name: case for case in check_suite(everything(), fail_on).cases}


def test_each_rule_is_a_case() -> None:
    assert {name: case.verdict for name, case in cases().items()} == {
        "bad-files": CaseVerdict.FAILED,
        "bad-user": CaseVerdict.PASSED,
        "remark": CaseVerdict.PASSED,
        "fine": CaseVerdict.PASSED,
        "not-seen": CaseVerdict.SKIPPED,
        "lived-with": CaseVerdict.PASSED,
    }
    assert {case.seconds for case in cases().values()} == {0.25}


def test_what_fails_is_what_the_command_fails_on() -> None:
    failed = [name for name, case in cases(Severity.INFO).items() if case.verdict is CaseVerdict.FAILED]
    assert failed == ["bad-files", "bad-user", "remark"]


def test_what_a_case_says() -> None:
    found = cases()
    failed = found["bad-files"]
    assert failed.kind == "error"
    assert failed.message == "first (images/a b/Dockerfile:7), and 2 more"
    assert failed.text.startswith("first (images/a b/Dockerfile:7)\nfirst again\nhostile /opt/")
    assert failed.text.endswith("\n\nMend bad-files.\n\nWhy bad-files.")
    assert failed.output == "skipped: the image went away"
    assert (failed.file, failed.line) == ("images/a b/Dockerfile", 7)
    assert found["bad-user"].output == "warning: a warning (job-1, algo-2)\nMend bad-user."
    assert found["not-seen"].message == "no files " + HOSTILE.replace("\udcff", "\ufffd")
    assert found["lived-with"].output == "ignored (only here): known"
    assert found["fine"].output == ""


def test_it_can_be_written() -> None:
    root = fromstring(junit([check_suite(everything(), Severity.ERROR)]).encode())
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("6", "1", "1")
