import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.terms.log_view import LogView, view_of


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (b"[3]\ttrain-mae:0.5", "[3]#011train-mae:0.5"),
        (b"50%\r", "50%#015"),
        (b"\x1b[31mred\x1b[0m", "#033[31mred#033[0m"),
        (b"\x00\x07\x7f", "#000#007#177"),
        (b"a\nb\n", "a\nb\n"),
        ("naïve 数".encode(), "naïve 数"),
        ("\x85\x9f".encode(), "#302#205#302#237"),
        ("Â\u00a0".encode(), "Â\u00a0"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        # Three bytes of four are one broken character, and a lone surrogate is none at all.
        (b"\xf0\x9f\x98!", "\ufffd!"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        (b"end \xe2\x82", "end \ufffd"),
        (b"\xe2\x82\nnext", "\ufffd\nnext"),
        (b"#011 as it is", "#011 as it is"),
        (b"", ""),
    ],
)
def test_the_service_shows(written: bytes, shown: str) -> None:
    assert view_of(written) == shown


@given(st.lists(st.one_of(st.binary(max_size=8), st.text(max_size=4).map(str.encode)), max_size=12))
def test_pieces_do_not_show(pieces: list[bytes]) -> None:
    view = LogView()
    shown = b"".join(view.feed(piece) for piece in pieces) + view.feed(b"", last=True)
    assert shown.decode() == view_of(b"".join(pieces))


@given(st.binary())
def test_no_control_character_is_left_and_no_line_is_lost(written: bytes) -> None:
    shown = view_of(written)
    assert {each for each in shown if unicodedata.category(each) == "Cc"} <= {"\n"}
    assert shown.count("\n") == written.count(b"\n")


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_plain_text_is_shown_as_it_is(text: str) -> None:
    assert view_of(text.encode()) == text


@given(st.binary())
def test_a_view_is_plain_text(written: bytes) -> None:
    assert view_of(view_of(written).encode()) == view_of(written)


def test_little_is_held_back() -> None:
    view = LogView()
    assert view.feed(b"no newline yet \xf0\x9f\x98") == b"no newline yet "
    assert view.feed(b"\x80") == "😀".encode()
