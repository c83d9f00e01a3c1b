import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.data.channels.pipe.manifest import BadLineError, values_of

NAMES = st.text(max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, VALUES, max_size=6), st.booleans(), st.sampled_from([None, 1]))
def test_every_member_of_any_object_is_found(document: dict[str, object], ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only, indent=indent)
    found = values_of(text.encode(), tuple(document))
    assert [value for value, _ in found] == list(document.values())
    for value, own in found:
        assert own in text if not isinstance(value, str) else own == value
        assert isinstance(value, str) or json.loads(own) == value


@given(st.text() | st.binary().map(lambda data: data.decode(errors="replace")))
def test_what_the_standard_reader_refuses_is_refused(text: str) -> None:
    try:
        expected = json.loads(text)
    except (ValueError, RecursionError):
        expected = None
    if isinstance(expected, dict):
        assert values_of(text.encode(errors="replace"), ()) == []
    else:
        with pytest.raises(BadLineError):
            values_of(text.encode(errors="replace"), ())
