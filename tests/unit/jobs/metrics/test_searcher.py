import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.jobs.metrics.metrics_process import Searcher, SearchLimit, try_line
from smlocal.terms.metrics import MetricPattern, number_in

BOMB = r"(a+)+$"


def defined(*regexes: str) -> list[MetricPattern]:
    return [MetricPattern(name=f"m{index}", regex=regex) for index, regex in enumerate(regexes)]


@pytest.fixture
def limit() -> Iterator[SearchLimit]:
    with SearchLimit() as limit:
        yield limit


def test_each_line_gives_its_first_match(limit: SearchLimit) -> None:
    searcher = Searcher(defined(r"loss=([0-9.]+)", r"^acc ([0-9.]+)", r"([0-9]+)$"), limit)
    lines = "epoch 1 loss=0.5 loss=0.4\nacc 0.25\nx acc 0.75\nloss=1\n\nnone\n"
    assert list(searcher.values(lines)) == [(0, 0.5), (0, 1.0), (1, 0.25), (2, 4.0), (2, 25.0), (2, 75.0), (2, 1.0)]


def test_a_value_is_a_number_or_nothing(limit: SearchLimit) -> None:
    searcher = Searcher(defined(r"cat=(.*?);", r"(x)?loss"), limit)
    lines = "cat=dog;\ncat=nan;\ncat=inf;\ncat=-1e3;\ncat=;\nloss\n"
    assert list(searcher.values(lines)) == [(0, -1000.0)]


@pytest.mark.parametrize("regex", [r"a\s+([0-9])", r"a\n([0-9])", r"a[^x]([0-9])", r"a(?:.|\n)+([0-9])"])
def test_no_match_spans_lines(limit: SearchLimit, regex: str) -> None:
    assert list(Searcher(defined(regex), limit).values("a\n7\nba\n8\n")) == []


def test_only_so_much_of_a_line_is_searched(limit: SearchLimit) -> None:
    searcher = Searcher(defined(r"v=([0-9])$", r"([0-9])$"), limit)
    long, longest = "x" * (2**18 - 3) + "v=1", "x" * (2**18 - 2) + "v=2"
    assert list(searcher.values(f"{long}\n{longest}\nv=3\n")) == [(0, 1.0), (0, 3.0), (1, 1.0), (1, 3.0)]


@pytest.mark.slow(0.5)
def test_a_regex_that_takes_too_long_is_switched_off_and_no_other(limit: SearchLimit) -> None:
    searcher = Searcher(defined(BOMB, r"v=(\d)", "(b)$"), limit)
    bad = "a" * 60 + "!v=1\n"
    found = [value for _ in range(5) for value in searcher.values(f"v=9\n{bad}v=2\n")]
    assert found == [(1, 9.0), (1, 1.0), (1, 2.0)] * 5
    first, *others = searcher.searches
    assert first.slow_lines == [bad.rstrip("\n")] * 3
    assert [other.slow_lines for other in others] == [[], []]


REGEXES = [
    r"loss=(\d+)",
    r"(\d)",
    r"^a(\d)",
    r"b.*(\d)$",
    r"(?i)LOSS.(\d)",
    r"a|b(\d)",
    r"\s(\d)",
    r"x{2}(\d)",
    "()",
    r"=\n(\d)",
]


@given(st.text("abxLlos=s1290 \n", max_size=80), st.booleans())
def test_passing_lines_over_changes_nothing(text: str, among_others: bool) -> None:
    text += "\n"
    if among_others:
        text = text.replace("\n", "\n" + "z" * 2000 + "\n")
    with SearchLimit() as limit:
        found = list(Searcher(defined(*REGEXES), limit).values(text))
    expected = []
    for index, regex in enumerate(REGEXES):
        for line in text[:-1].split("\n"):
            match = re.search(regex, line)
            value = number_in(match[1]) if match else None
            if value is not None:
                expected.append((index, value))
    assert found == expected


def test_a_line_is_tried_by_all() -> None:
    tried = try_line(
        defined(r"loss=(\d+)", r"animal=(\w+)", "(absent)", BOMB, "a(b)?"), "loss=7 animal=cat " + "a" * 60 + "!"
    )
    assert [each.verdict for each in tried] == [
        "7.0",
        "no value: the first group matched 'cat', which is not a number",
        "no match",
        "stopped after 100 ms: a line that takes longer has no value",
        "no value: the first group matched nothing, which is not a number",
    ]
