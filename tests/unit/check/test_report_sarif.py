"""SARIF against its published schema, and against what GitHub asks for beyond it."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.check.report_example import HOSTILE, everything, report, result

from smlocal.check.interface import CheckReport, Finding
from smlocal.check.report_forms import SCHEMA, sarif

PUBLISHED = Path(__file__).with_name("schema") / "sarif-schema-2.1.0.json"
MOST = 5000


def document(of: CheckReport) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(sarif(of, version="1.2.3", place=lambda path: path))
    return read


def results(of: CheckReport) -> list[dict[str, Any]]:
    (run,) = document(of)["runs"]
    found: list[dict[str, Any]] = run["results"]
    return found


@cache
def published() -> Callable[[object], object] | None:
    """The check by the published schema; None where the package for that is not installed."""
    if find_spec("fastjsonschema") is None:
        return None
    import fastjsonschema

    schema = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    assert schema["id"] == SCHEMA
    check: Callable[[object], object] = fastjsonschema.compile(schema)
    return check


def check_for_github(log: dict[str, Any]) -> None:
    """Reports that code scanning refuses or does not show, by its documentation and by reports of refused uploads."""
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules) <= 25_000
    assert run["automationDetails"]["id"].endswith("/")
    for rule in rules:
        assert rule["shortDescription"]["text"]
        assert rule["fullDescription"]["text"]
        assert rule["help"]["text"]
        assert len(rule["properties"]["tags"]) <= 20
        assert rule["properties"]["problem.severity"] in {"error", "warning", "recommendation"}
    assert len(run["results"]) <= 25_000
    for each in run["results"]:
        assert rules[each["ruleIndex"]]["id"] == each["ruleId"]
        assert each["message"]["text"].strip()
        assert "suppressions" not in each
        assert each["partialFingerprints"]["primaryLocationLineHash"]
        (location,) = each["locations"]
        place = location["physicalLocation"]
        uri = place["artifactLocation"]["uri"]
        parts = urlsplit(uri)
        assert not parts.scheme
        assert not parts.netloc
        assert parts.path == uri  # no query, no fragment
        assert uri
        assert not uri.startswith(("/", "../"))
        assert uri.isascii()
        assert place["region"]["startLine"] >= 1


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("of", [everything(), report(), report(result("fine"))], ids=["everything", "no rule", "fine"])
def test_the_published_schema_and_github_take_it(of: CheckReport) -> None:
    fastjsonschema = pytest.importorskip("fastjsonschema")
    validate = published()
    assert validate is not None
    log = document(of)
    validate(log)
    check_for_github(log)
    log["runs"][0]["results"].append({"ruleId": "x"})
    with pytest.raises(fastjsonschema.JsonSchemaException, match="message"):
        validate(log)


TEXT = st.text(st.characters(), min_size=1, max_size=30)


@pytest.mark.slow(0.5)
@given(
    findings=st.lists(
        st.builds(
            Finding,
            message=TEXT,
            path=st.just("") | TEXT.map("/{}".format),
            file=st.just("") | TEXT,
            line=st.integers(0, 9),
        ),
        max_size=4,
    )
)
def test_whatever_is_found(findings: list[Finding]) -> None:
    placed = [replace(each, file=each.file.strip("/.:\\") or "Dockerfile") for each in findings]
    log = document(report(result("a", findings=placed, skipped="b")))
    check_for_github(log)
    if (validate := published()) is not None:
        validate(log)


def test_each_finding_is_at_its_file_and_line_or_at_that_of_the_check() -> None:
    found = results(everything())
    places = [each["locations"][0]["physicalLocation"] for each in found]
    lines = [(each["artifactLocation"]["uri"], each["region"]["startLine"]) for each in places]
    assert lines[:2] == [("images/a%20b/Dockerfile", 7), ("images/a%20b/Dockerfile", 1)]
    assert unquote_to_bytes(lines[2][0]) == f"d/{HOSTILE[:4]}".encode()
    assert lines[3:] == [("images/a%20b/Dockerfile", 1)] * 2
    at_a_job = results(report(result("a", findings=[Finding(message="m")]), dockerfile="", job_file="job.yaml"))
    assert at_a_job[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "job.yaml"


def test_what_it_says() -> None:
    first, *_, hostile, warning, note = results(everything())
    assert first["message"]["text"] == "first. Mend bad-files."
    assert first["locations"][0]["logicalLocations"] == [
        {"name": "a", "fullyQualifiedName": "/opt/ml/input/a", "kind": "resource"}
    ]
    assert warning["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "my-image:1", "kind": "resource"}]
    assert [each["level"] for each in (first, warning, note)] == ["error", "warning", "note"]
    assert hostile["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == HOSTILE.replace("\udcff", "\ufffd")


def test_fingerprints_stay_when_the_words_or_the_line_change_and_differ_where_findings_do() -> None:
    def prints(*findings: Finding) -> list[str]:
        of = report(result("a", findings=findings), result("b", findings=findings))
        return [each["partialFingerprints"]["primaryLocationLineHash"] for each in results(of)]

    before = prints(Finding(message="3 s", path="/a", line=3), Finding(message="m", path="/a"), Finding(message="m"))
    assert len(set(before)) == 6
    assert (
        prints(Finding(message="4 s", path="/a", job="x"), Finding(message="n", path="/a"), Finding(message="o"))
        == before
    )


def test_what_was_skipped_or_ignored_is_a_note_and_no_result() -> None:
    log = document(everything())
    (run,) = log["runs"]
    assert {each["ruleId"] for each in run["results"]} == {"bad-files", "bad-user", "remark"}
    notes = run["invocations"][0]["toolExecutionNotifications"]
    said = [(each["associatedRule"]["id"], each["message"]["text"]) for each in notes]
    assert said == [
        ("bad-files", "skipped: the image went away"),
        ("not-seen", "skipped: no files " + HOSTILE.replace("\udcff", "\ufffd")),
        ("lived-with", "ignored (only here): known"),
    ]


@pytest.mark.slow
def test_more_than_github_shows_are_counted() -> None:
    many = [Finding(message=f"number {number}", path=f"/{number}") for number in range(MOST + 7)]
    log = document(report(result("a", findings=many)))
    (run,) = log["runs"]
    assert len(run["results"]) == MOST
    assert run["invocations"][0]["toolExecutionNotifications"][-1]["message"]["text"] == "7 more findings are left out"
    check_for_github(log)


def test_a_finding_at_a_file_outside_the_repository_is_put_at_the_dockerfile() -> None:
    of = report(result("a", findings=[Finding(message="m", file="/elsewhere", line=3)]))
    text = sarif(of, version="1", place=lambda path: "" if path.startswith("/") else path)
    assert json.loads(text)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
