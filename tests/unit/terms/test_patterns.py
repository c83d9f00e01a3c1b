import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit import examples

from smlocal.sagemaker.contract.model import describe, shapes
from smlocal.terms.model.structure import Text, matches, translate


@pytest.mark.parametrize(
    ("pattern", "value", "expected"),
    [
        ("a", "a", True),
        ("a", "ab", False),
        ("a", "a\n", False),
        (".*", "any text", True),
        *((".*", f"a{end}b", False) for end in ("\n", "\r", "\x85", "\u2028", "\u2029")),
        (".*", "a\x0bb\x0cc", True),
        (r"[.]", "x", False),
        (r"\.", "x", False),
        (r"[\S\s]*", "a\nb", True),
        (r"\d{12}", "123456789012", True),
        (r"\d{3}", "١٢٣", False),
        (r"\w", "é", False),
        (r"[\p{Alnum}\-]+", "aZ-9", True),
        (r"[\p{Alnum}\-]+", "é", False),
        (r"([a-zA-Z0-9]([a-zA-Z0-9-]){0,62})(?<!-)", "ab-", False),
        (r"([\p{L}\p{Z}\p{N}_.:\/=+\-@]*)${1,128}", "a/é b", True),
        (r"([\p{L}\p{Z}\p{N}_.:\/=+\-@]*)${1,128}", "a;", False),
        (r"[\p{L}\p{M}\p{Z}\p{N}\p{P}]*", "Größe (5 %), v1_[x]!", True),
        (r"[\p{L}\p{M}\p{Z}\p{N}\p{P}]*", "a=b", False),
        (r"[\p{L}\p{M}\p{Z}\p{S}\p{N}\p{P}]*", "a=b → $1", True),
        (r"[\p{L}\p{M}\p{Z}\p{S}\p{N}\p{P}]*", "a\nb", False),
        (r"[\u0020-\uD7FF\uE000-\uFFFD\uD800\uDC00-\uDBFF\uDFFF\t]*", "ab\U0001f600", True),
    ],
)
def test_patterns_are_javas_and_match_the_whole_value(pattern: str, value: str, expected: bool) -> None:
    assert matches(pattern, value) is expected


def test_the_pattern_of_tags_is_exact() -> None:
    pattern = r"([\p{L}\p{Z}\p{N}_.:/=+\-@]*)"
    wrong = [
        hex(code)
        for code in range(0x10000)
        if matches(pattern, chr(code)) != (unicodedata.category(chr(code))[0] in "LZN" or chr(code) in "_.:/=+-@")
    ]
    assert wrong == []


def test_symbols_and_punctuation_of_ascii_are_told_apart() -> None:
    for letter in "SP":
        expected = {chr(code) for code in range(128) if unicodedata.category(chr(code))[0] == letter}
        assert {chr(code) for code in range(128) if matches(rf"[\p{{{letter}}}]", chr(code))} == expected


def test_every_pattern_of_our_models_is_translated() -> None:
    kinds = [*vars(shapes).values(), *vars(describe).values()]
    constraints = [part for kind in kinds for part in getattr(kind, "__metadata__", ())]
    patterns = {part.pattern for part in constraints if isinstance(part, Text) and part.pattern is not None}
    assert len(patterns) > 25
    assert not [pattern for pattern in patterns if r"\p{" in translate(pattern)]
    for pattern in patterns:
        matches(pattern, "anything")


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    "shape",
    [
        "TrainingJobName",
        "ChannelName",
        "S3Uri",
        "RoleArn",
        "FileSystemId",
        "TrainingEnvironmentKey",
        "HyperParameterValue",
        "ExperimentEntityName",
        "TrainingPlanArn",
        "SequenceLength",
    ],
)
@settings(max_examples=examples(40))
@given(data=st.data())
def test_what_a_pattern_describes_is_accepted(service: Any, shape: str, data: st.DataObject) -> None:
    pattern = service["shapes"][shape]["pattern"]
    ascii_only = st.characters(max_codepoint=126, min_codepoint=32)
    value = data.draw(st.from_regex(pattern, fullmatch=True, alphabet=ascii_only))
    assert matches(pattern, value)
