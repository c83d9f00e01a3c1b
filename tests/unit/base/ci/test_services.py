"""Log commands, read back as the services' own readers take them apart."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.base.ci.services import (
    Annotation,
    CiService,
    Level,
    annotation_lines,
    found_service,
    group_begin,
    group_end,
    harmless,
)

TEXT = st.text(st.characters(), max_size=40)
HOSTILE = "a\nb\r%0A;]::,=##[add-path]x ##vso[task.setvariable variable=A]x\n::set-env name=A::x"


def lines(service: CiService, *annotations: Annotation) -> list[str]:
    return list(annotation_lines(service, annotations))


def read_github(line: str) -> tuple[str, dict[str, str], str]:
    """As the runner does: up to the next `::` is the command, then its data."""
    assert line.startswith("::")
    command, _, data = line[2:].partition("::")
    name, _, given = command.partition(" ")
    properties = dict(each.split("=", 1) for each in given.split(",") if each)

    def plain(text: str, *codes: str) -> str:
        for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
            if code in {"%0D", "%0A", "%25", *codes}:
                text = text.replace(code, character)
        return text

    return name, {key: plain(value, "%3A", "%2C") for key, value in properties.items()}, plain(data)


def read_azure(line: str) -> tuple[str, dict[str, str], str]:
    """As the agent does: from the first `##vso[` to the next `]` is the command."""
    command, _, data = line[line.index("##vso[") + len("##vso[") :].partition("]")
    name, _, given = command.partition(" ")
    properties = dict(each.split("=", 1) for each in given.split(";") if each)

    def plain(text: str) -> str:
        for code, character in (("%3B", ";"), ("%0D", "\r"), ("%0A", "\n"), ("%5D", "]"), ("%AZP25", "%")):
            text = text.replace(code, character)
        return text

    return name, {key: plain(value) for key, value in properties.items()}, plain(data)


@pytest.mark.parametrize(
    ("variables", "service"),
    [
        ({"GITHUB_ACTIONS": "true"}, CiService.GITHUB),
        ({"GITLAB_CI": "true"}, CiService.GITLAB),
        ({"TF_BUILD": "True"}, CiService.AZURE),
        ({"GITHUB_ACTIONS": "", "CI": "true"}, CiService.PLAIN),
        ({"GITLAB_CI": "false"}, CiService.PLAIN),
        ({}, CiService.PLAIN),
    ],
)
def test_the_service_is_found(variables: dict[str, str], service: CiService) -> None:
    assert found_service(variables) is service


@given(file=TEXT, title=TEXT, message=TEXT, line=st.integers(0, 9), level=st.sampled_from(Level))
def test_github_reads_what_was_meant(file: str, title: str, message: str, line: int, level: Level) -> None:
    (text,) = lines(CiService.GITHUB, Annotation(level=level, title=title, message=message, file=file, line=line))
    assert len(re.split("[\r\n]", text)) == 1
    name, properties, data = read_github(text)
    expected = {"file": file, "line": str(line or 1) if file else "", "title": title}
    assert (name, properties, data) == (level.value, {key: value for key, value in expected.items() if value}, message)


@given(file=TEXT, title=TEXT, message=TEXT, line=st.integers(0, 9), level=st.sampled_from([Level.ERROR, Level.WARNING]))
def test_azure_reads_what_was_meant(file: str, title: str, message: str, line: int, level: Level) -> None:
    (text,) = lines(CiService.AZURE, Annotation(level=level, title=title, message=message, file=file, line=line))
    assert len(re.split("[\r\n]", text)) == 1
    name, properties, data = read_azure(text)
    expected = {"type": level.value, "sourcepath": file, "linenumber": str(line or 1) if file else "", "code": title}
    assert name == "task.logissue"
    assert properties == {key: value for key, value in expected.items() if value}
    assert data == message


def test_a_notice_on_azure_is_a_line_without_commands() -> None:
    (line,) = lines(CiService.AZURE, Annotation(level=Level.NOTICE, title="rule", message=HOSTILE))
    assert line.startswith("rule: a b")
    assert "##" not in line


@pytest.mark.parametrize("service", [CiService.GITLAB, CiService.PLAIN])
def test_elsewhere_there_are_none(service: CiService) -> None:
    assert lines(service, Annotation(level=Level.ERROR, title="t", message="m")) == []


@pytest.mark.parametrize(
    ("service", "begin", "end"),
    [
        (CiService.GITHUB, "::group::check my/image:1", "::endgroup::"),
        (CiService.AZURE, "##[group]check my/image:1", "##[endgroup]"),
        (
            CiService.GITLAB,
            "\x1b[0Ksection_start:7:check_my_image_1\r\x1b[0Kcheck my/image:1",
            "\x1b[0Ksection_end:7:check_my_image_1\r\x1b[0K",
        ),
        (CiService.PLAIN, "", ""),
    ],
)
def test_groups(service: CiService, begin: str, end: str) -> None:
    assert group_begin(service, "check my/image:1", 7.2) == begin
    assert group_end(service, "check my/image:1", 7.2) == end


@pytest.mark.parametrize("service", CiService)
def test_the_title_of_a_group_is_one_line_without_commands(service: CiService) -> None:
    begin = group_begin(service, HOSTILE, 0)
    assert "\n" not in begin
    assert "##vso[" not in begin
    assert begin.count("##[") == (service is CiService.AZURE)


def test_text_of_others_holds_no_command() -> None:
    shown = harmless(HOSTILE)
    assert "##[" not in shown
    assert "##vso[" not in shown
    assert not re.search(r"^\s*::", shown, re.MULTILINE)
    assert harmless("a: b::c ## [x] #[y]") == "a: b::c ## [x] #[y]"
    assert not re.search(r"^\s*::", harmless("\t ::error::x\n  ::a"), re.MULTILINE)
