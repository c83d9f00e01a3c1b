"""The first kilobyte of a message, whole characters only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.sagemaker.processing.supervisor import decoded_message


@given(st.text(max_size=3000))
def test_text_is_cut_between_characters(text: str) -> None:
    found = decoded_message(text.encode())
    assert text.startswith(found)
    assert 1021 <= len(found.encode()) <= 1024 or found == text


@pytest.mark.parametrize("wrong", [b"\xff", b"a" * 1000 + b"\xff" + b"a" * 100, b"a" * 2000 + b"\xff", b"\xc3"])
def test_what_is_no_utf_8_is_an_error_in_the_first_kilobyte(wrong: bytes) -> None:
    if wrong.index(wrong.strip(b"a")) >= 1024:
        assert decoded_message(wrong) == "a" * 1024
        return
    with pytest.raises(UnicodeDecodeError):
        decoded_message(wrong)
