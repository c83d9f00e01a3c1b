"""What CI services read: reports in JUnit's XML, and the page of a run in Markdown."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from html import escape
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from smlocal.base.quick_dataclass import dataclass

_NOT_XML = "[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\x7f-\x84\x86-\x9f]"
"""XML 1.0 has no control characters, no surrogates and no U+FFFE, escaped or not.

DEL to U+009F are allowed, but no program shows them. A carriage return is allowed, and every reader turns it into a
newline. Compiled when it is needed: that takes 2 ms.
"""


def xml_text(text: str) -> str:
    r"""Write what XML cannot hold as escapes: `\x1b`, `\r`."""
    return re.sub(_NOT_XML, _escape, text.replace("\r\n", "\n"))


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


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


_LARGEST = 500_000
"""Bytes; GitHub refuses a summary of more than 1 MiB, and earlier parts of the step have written theirs."""
_MORE = "<p>There is more than fits here.</p>\n\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells of text; each may have several lines. Rows at the end that do not fit are left out."""
    begin, end = f"<table>\n{_row('th', head)}", "</table>\n\n"
    shown = list(_fitting(_row("td", row) for row in rows))
    return begin + "".join(shown) + end + (_MORE if len(shown) < len(rows) else "")


def folded(title: str, text: str) -> str:
    """Text that is shown when somebody asks for it, as it was written; of a long one the end."""
    lines = list(_fitting(f"{_text(line)}\n" for line in reversed(text.splitlines())))
    return f"<details><summary>{_text(title)}</summary>\n<pre>{''.join(reversed(lines))}</pre>\n</details>\n\n"


def heading(text: str) -> str:
    """A heading for what follows."""
    return f"<h3>{_text(' '.join(text.split()))}</h3>\n\n"


def limited(parts: Iterable[str]) -> str:
    """As many of these as a service takes."""
    parts = list(parts)
    shown = list(_fitting(parts))
    return "".join(shown) + (_MORE if len(shown) < len(parts) else "")


def _fitting(parts: Iterable[str]) -> Iterator[str]:
    room = _LARGEST
    for part in parts:
        room -= len(part.encode())
        if room < 0:
            return
        yield part


def _row(cell: str, texts: Sequence[str]) -> str:
    cells = "".join(f"<{cell}>{'<br>'.join(_text(text).splitlines())}</{cell}>" for text in texts)
    return f"<tr>{cells}</tr>\n"


def _text(text: str) -> str:
    return escape(xml_text(text))
