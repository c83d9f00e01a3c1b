"""Documents in logs, as people save them."""

import json

import pytest

from smlocal.errors import ConformanceDocumentError
from smlocal.service.conformance.probe import printed_parts
from smlocal.service.conformance.reading import documents, saved_signs, signs

SEEN = {"Schema": 1, "Case": "stopped", "Host": "algo-1", "Text": "".join(str(each**7) for each in range(2000))}
LINES = [*printed_parts(json.dumps(SEEN), "algo-1")]


def test_in_any_order_between_other_lines_and_behind_times() -> None:
    text = "\n".join(f"2026-11-23T13:00:00 algo-1-1 {line}\nsomething else" for line in reversed(LINES))
    assert documents("log", text) == {"algo-1": SEEN}


def test_in_what_the_command_line_of_aws_prints() -> None:
    events = {"events": [{"timestamp": 1, "message": line} for line in LINES]}
    assert documents("log", json.dumps(events, indent=4)) == {"algo-1": SEEN}


def test_of_two_hosts() -> None:
    other = {**SEEN, "Host": "algo-2"}
    text = "\n".join([*LINES, *printed_parts(json.dumps(other), "algo-2")])
    assert documents("log", text) == {"algo-1": SEEN, "algo-2": other}


def test_a_part_that_is_missing_is_said() -> None:
    assert len(LINES) > 1
    with pytest.raises(ConformanceDocumentError, match=f"lacks 1 of the {len(LINES)} parts of the document of algo-1"):
        documents("log", "\n".join(LINES[1:]))


def test_a_part_that_was_changed_or_cut_is_refused() -> None:
    for text in (LINES[0][:-8] + "AAAAAAAA", LINES[0][:-8]):
        with pytest.raises(ConformanceDocumentError, match="damaged"):
            documents("log", "\n".join([text, *LINES[1:]]))


def test_no_part_is_no_document() -> None:
    assert documents("log", "hello\n") == {}


def test_signs_of_life() -> None:
    text = "x smlocal-conformance sign algo-1 SIGTERM 10.500\nsmlocal-conformance sign algo-1 alive 12.000\n"
    assert signs(text) == {"algo-1": [("SIGTERM", 10.5), ("alive", 12.0)]}
    assert saved_signs("SIGTERM 10.500\nalive 12.000\nali") == [("SIGTERM", 10.5), ("alive", 12.0)]
