import re
from xml.etree.ElementTree import Element, fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.base.ci.reports import Case, CaseVerdict, Suite, junit, xml_text

HOSTILE = "\x00\x1b[31m]]>\r\n\t<&\"'\ud800\ufffe\x7f\U0001f600"


def case(verdict: CaseVerdict, **more: object) -> Case:
    given: dict[str, object] = {"name": "n", "group": "g", "seconds": 1.5, "verdict": verdict, **more}
    return Case(**given)  # type: ignore[arg-type]  # every test gives what it needs


def read(*cases: Case, **more: object) -> Element:
    return fromstring(junit([Suite(name="s", cases=cases, **more)]).encode())  # type: ignore[arg-type]  # likewise


def test_every_case_is_there_with_its_time() -> None:
    root = read(
        case(CaseVerdict.PASSED, output="said"),
        case(CaseVerdict.FAILED, kind="Failed", message="why", text="all\nof it", file="d/Dockerfile", line=3),
        case(CaseVerdict.SKIPPED, message="no engine"),
        began=0.0,
    )
    (suite,) = root
    for counted in (root, suite):
        numbers = {name: counted.get(name) for name in ("tests", "failures", "errors", "skipped", "time")}
        assert numbers == {"tests": "3", "failures": "1", "errors": "0", "skipped": "1", "time": "4.500"}
    assert suite.get("timestamp") == "1970-01-01T00:00:00"
    passed, failed, skipped = suite
    assert [each.attrib for each in (passed, skipped)] == [{"classname": "g", "name": "n", "time": "1.500"}] * 2
    assert [(each.tag, each.text) for each in passed] == [("system-out", "said")]
    assert (failed.get("file"), failed.get("line")) == ("d/Dockerfile", "3")
    (failure,) = failed
    assert (failure.tag, failure.attrib, failure.text) == (
        "failure",
        {"type": "Failed", "message": "why"},
        "all\nof it",
    )
    assert [(each.tag, each.attrib) for each in skipped] == [("skipped", {"message": "no engine"})]


def test_what_xml_cannot_hold() -> None:
    (suite,) = read(
        case(
            CaseVerdict.FAILED, name=HOSTILE, group=HOSTILE, message=HOSTILE, text=HOSTILE, output=HOSTILE, file=HOSTILE
        )
    )
    shown = "\\x00\\x1b[31m]]>\n\t<&\"'\\ud800\\ufffe\\x7f\U0001f600"
    (found,) = suite
    assert found.get("name") == found.get("classname") == found.get("file") == shown
    failure, output = found
    assert failure.get("message") == failure.text == output.text == shown


@given(st.text(st.characters(), max_size=60))
def test_whatever_is_written_comes_back_as_it_is_shown(text: str) -> None:
    (suite,) = read(case(CaseVerdict.FAILED, name=text, text=text or "x"))
    assert suite[0].get("name") == xml_text(text)
    assert suite[0][0].text == (xml_text(text) or "x")


@pytest.mark.parametrize("text", ["", "a b\tc\nd", "ü€\U0001f600"])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert xml_text(text) == text


def test_a_document_with_nothing_in_it() -> None:
    text = junit([])
    assert re.match(r'<\?xml version="1.0" encoding="UTF-8"\?>\n<testsuites name="smlocal" tests="0"', text)
