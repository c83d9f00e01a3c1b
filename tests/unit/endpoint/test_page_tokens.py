"""A token comes back as it went, and what was not made here is refused."""

import base64

import pytest

from smlocal.endpoint.page_tokens import key_of, token_of


@pytest.mark.parametrize(
    ("key", "kinds"),
    [
        (("a/key with \u00e9",), (str,)),
        ((1700000000.25, 7), (str | float, int)),
        (("name", -1), (str | float, int)),
        ((3, "host", 0), (int, str, int)),
    ],
)
def test_a_key_comes_back(key: tuple[str | float, ...], kinds: tuple[type, ...]) -> None:
    token = token_of(*key)
    assert token.isascii()
    assert key_of(token, *kinds) == key


@pytest.mark.parametrize(
    "token",
    [
        "",
        "none",
        "\u00e9",
        base64.urlsafe_b64encode(b"\xff").decode(),
        base64.urlsafe_b64encode(b"[" * 100_000).decode(),
        *(base64.urlsafe_b64encode(text).decode() for text in (b"3", b"[]", b"[3,4]", b"[1.5]", b"[true]", b'["3"]')),
    ],
)
def test_what_is_no_key_of_one_number_is_refused(token: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any: whoever reads tokens says so in the words of its service
        key_of(token, int)


def test_half_a_character_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        key_of(base64.urlsafe_b64encode(b'["\\ud800"]').decode(), str)
