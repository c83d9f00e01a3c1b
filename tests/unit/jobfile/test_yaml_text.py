from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from smlocal.jobfile.reading import load_document
from smlocal.jobfile.yaml_text import yaml_text

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.from_regex(
    r"[-+.0-9eExo_:]+", fullmatch=True
)
VALUES = st.recursive(
    TEXTS | st.booleans() | st.none() | st.integers(-(10**12), 10**12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow(0.5)
@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=5))
def test_it_reads_back_as_the_same_data(data: dict[str, Any]) -> None:
    text = yaml_text(data)
    assert load_document(text, name="job.yaml", directory="/").data == data
    assert yaml.safe_load(text) == data


@pytest.mark.parametrize(
    "text", ["1e3", "010", "yes", "null", "1:30", "2026-01-01", "", " a", "a: b", "=", "~", "<<", "\u2028"]
)
def test_strings_that_look_like_something_else_stay_strings(text: str) -> None:
    written = yaml_text({"a": text, text or "b": 1})
    assert yaml.safe_load(written)["a"] == text
    assert load_document(written, name="job.yaml", directory="/").data["a"] == text


def test_plain_words_are_not_quoted() -> None:
    data = {"A": {"Image": "my-image:1", "Uri": "s3://bucket/key"}, "B": [{"C": "d", "F": 1}, "x y"]}
    assert yaml_text(data) == 'A:\n  Image: my-image:1\n  Uri: s3://bucket/key\nB:\n  - C: d\n    F: 1\n  - "x y"\n'
