from tests.unit.check.report_example import everything, report, result

from smlocal.base.ci.services import Level
from smlocal.check.interface import Finding, Severity
from smlocal.check.report_forms import check_annotations, check_summary


def test_each_finding_the_worst_first() -> None:
    findings = [Finding(message="m")]
    of = report(
        result("c", Severity.INFO, findings), result("b", Severity.WARNING, findings), result("a", findings=findings)
    )
    found = list(check_annotations(of, lambda path: path))
    assert [(each.title, each.level) for each in found] == [
        ("a", Level.ERROR),
        ("b", Level.WARNING),
        ("c", Level.NOTICE),
    ]
    assert {(each.file, each.line, each.message.partition("\n")[0]) for each in found} == {
        ("images/a b/Dockerfile", 0, "m")
    }


def test_where() -> None:
    first, *_ = check_annotations(everything(), lambda path: path.upper())
    assert (first.file, first.line, first.message) == ("IMAGES/A B/DOCKERFILE", 7, "first\nMend bad-files.")
    first, *_ = check_annotations(everything(), lambda _: "")
    assert (first.file, first.line) == ("", 0)


def test_the_summary() -> None:
    text = check_summary(everything())
    assert text.startswith("<h3>smlocal check my-image:1</h3>\n\n1 of 6 rules passed.\n\n<table>")
    assert "<td>error</td><td>bad-files</td><td>first<br>Mend bad-files.</td><td>images/a b/Dockerfile:7</td>" in text
    assert "not-seen: skipped: no files /opt/&lt;&amp;" in text
    assert "lived-with: ignored (only here): known" in text
    assert "<table>" not in check_summary(report(result("fine")))
