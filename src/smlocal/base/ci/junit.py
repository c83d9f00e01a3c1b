"""JUnit XML, as Jenkins, GitLab, GitHub's and Azure's readers take it."""

from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from smlocal.base.ci.xml_text import xml_text
from smlocal.base.quick_dataclass import dataclass


class CaseVerdict(StrEnum):
    """How a case ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One job, or one rule that an image was checked by."""

    name: str
    group: str
    """The key that readers sort by: `classname`."""
    seconds: float
    verdict: CaseVerdict
    kind: str = ""
    """The kind of a failure, such as `Failed` or `Stopped`."""
    message: str = ""
    """The message of a failure or a skip, in one line."""
    text: str = ""
    """The whole text."""
    output: str = ""
    """The output of the test meanwhile."""
    file: str = ""
    """The path in the repository."""
    line: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Suite:
    """Cases that belong together."""

    name: str
    cases: tuple[Case, ...]
    began: float | None = None
    """Epoch seconds."""

    def count(self, verdict: CaseVerdict) -> int:
        """How many cases ended so."""
        return sum(case.verdict is verdict for case in self.cases)


def junit(suites: Iterable[Suite]) -> str:
    """The document, complete with its declaration."""
    suites = list(suites)
    root = Element("testsuites", _totals(suites, "smlocal"))
    for suite in suites:
        element = SubElement(root, "testsuite", _totals([suite], suite.name))
        if suite.began is not None:
            element.set("timestamp", datetime.fromtimestamp(suite.began, UTC).strftime("%Y-%m-%dT%H:%M:%S"))
        for case in suite.cases:
            _add(element, case)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _totals(suites: list[Suite], name: str) -> dict[str, str]:
    return {
        "name": xml_text(name),
        "tests": str(sum(len(suite.cases) for suite in suites)),
        "failures": str(sum(suite.count(CaseVerdict.FAILED) for suite in suites)),
        "errors": "0",
        "skipped": str(sum(suite.count(CaseVerdict.SKIPPED) for suite in suites)),
        "time": f"{sum(case.seconds for suite in suites for case in suite.cases):.3f}",
    }


def _add(suite: Element, case: Case) -> None:
    element = SubElement(
        suite,
        "testcase",
        {"classname": xml_text(case.group), "name": xml_text(case.name), "time": f"{case.seconds:.3f}"},
    )
    if case.file:
        element.set("file", xml_text(case.file))
    if case.line:
        element.set("line", str(case.line))
    if case.verdict is CaseVerdict.FAILED:
        failure = SubElement(element, "failure", {"type": xml_text(case.kind), "message": xml_text(case.message)})
        failure.text = xml_text(case.text)
    elif case.verdict is CaseVerdict.SKIPPED:
        SubElement(element, "skipped", {"message": xml_text(case.message)})
    if case.output:
        SubElement(element, "system-out").text = xml_text(case.output)
