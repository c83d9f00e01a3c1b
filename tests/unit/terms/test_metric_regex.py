import re
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.errors import RequestInvalidError
from smlocal.terms.metrics import compile_regex, regex_problem, required_text, wanted_controls


@pytest.mark.parametrize(
    ("regex", "text"),
    [
        (r"loss=([0-9.]+)", "loss="),
        (r".*\[[0-9]+\].*#011train-mae:([-+]?[0-9]*\.?[0-9]+)", "#011train-mae:"),
        (r"a(b)c", "abc"),
        (r"^ab\b(?=c)c$()", "abc"),
        (r"ab?c(d)", "cd"),
        (r"(abc){2,}", "abc"),
        (r"(abc)*x", "x"),
        (r"(?:cat|dog)=(.*)", "="),
        (r"(?>atom)ic(.)", "atom"),
        (r"(\d+)", ""),
        (r"(?i)Loss: (.*)", ": "),
        (r"(?i:Loss)=(.*)", "="),
        (r"(?x) loss = ( . )", "loss="),
        (r"[=](.)", "="),
        (r"(?<!val_)loss=(.)", "loss="),
        (r"()", ""),
    ],
)
def test_every_match_has_a_text_in_it(regex: str, text: str) -> None:
    assert required_text(compile_regex(regex)) == text


PARTS = st.sampled_from(
    ["a", "b", "=", "#011", ".", r"\d", "[ab]", "(a|b)", "(ab)+", "(b)?", "x*", "(?i:aB)", "^", "$", r"\b"]
)
LINES = st.text("abAB=#01x ", max_size=20)


@given(st.lists(PARTS, max_size=6).map("".join), LINES)
def test_no_match_is_passed_over(regex: str, line: str) -> None:
    pattern = compile_regex(regex)
    found = pattern.search(line)
    if found is not None:
        assert required_text(pattern) in found[0]


@pytest.mark.parametrize(
    ("regex", "line", "value"),
    [
        (r"(?<loss>[0-9]+)\z", "loss 12", "12"),
        (r"(?<!\d)([0-9])", "x7", "7"),
        (r"(?<=a)([0-9])", "a7", "7"),
        (r"\(?<n>([0-9])", "<n>7", "7"),
        (r"[(?<a]+([0-9])", "(?<a7", "7"),
        (r"[]z]([0-9])", "]7", "7"),
    ],
)
def test_two_spellings_of_java_are_known(regex: str, line: str, value: str) -> None:
    found = compile_regex(regex).search(line)
    assert found is not None
    assert found[1] == value


@pytest.mark.parametrize("regex", ["[[a](.)", "[--b](.)", "(a{5})", "[a||b](.)"])
def test_what_python_would_warn_of_is_nobodys_business(regex: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_regex(regex)


@pytest.mark.parametrize(
    ("regex", "says"),
    [
        ("loss=([0-9", "'loss=([0-9' is not a valid regular expression: unterminated character set at position 6"),
        ("*", "'*' is not a valid regular expression: nothing to repeat at position 0"),
        ("(a){9999999999}", "'(a){9999999999}' is not a valid regular expression: the repetition number is too large"),
        (
            "loss=(?:.*)",
            "'loss=(?:.*)' has no group: the first group matches the value of a metric, as in loss=([0-9.]+)",
        ),
    ],
)
def test_regexes_that_find_nothing_are_refused(regex: str, says: str, request_with: Any, read: Any) -> None:
    assert regex_problem(regex) == says
    with pytest.raises(RequestInvalidError) as caught:
        read(request_with("AlgorithmSpecification.MetricDefinitions[].Regex", regex))
    assert caught.value.exit_code == 2
    assert any(says in detail for detail in caught.value.details)


def test_nesting_without_end_is_refused() -> None:
    assert regex_problem("(" * 250 + ")" * 250) is None
    with pytest.raises(re.error):
        compile_regex("(" * 5000 + ")" * 5000)


@pytest.mark.parametrize(
    ("regex", "controls"),
    [
        (r"loss\t(.*)", (r"\t",)),
        ("loss\t(.*)", (r"\t",)),
        (r"\x1b\[0m(.*)\r", (r"\x1b", r"\r")),
        (r"\0(.)\x7f", (r"\x00", r"\x7f")),
        (r"(?:\t)+(.)", (r"\t",)),
        (r"[\t ](.*)", ()),
        (r"\s(.*)", ()),
        (r"\t?(.*)", ()),
        (r"#011(.*)", ()),
        (r"\\t(.*)", ()),
        ("(", ()),
    ],
)
def test_control_characters_that_are_needed_are_found(regex: str, controls: tuple[str, ...]) -> None:
    assert wanted_controls(regex) == controls
