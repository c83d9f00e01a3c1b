import pytest

from smlocal.data.channels.fastfile.tree import Unread
from smlocal.jobs.decide.hints import unread_advice, unread_facts


def unread(code: str, number: int = 1) -> tuple[str, Unread]:
    return "train", Unread(uri=f"s3://b/{number}", code=code, why=f"{code}: said")


def test_the_first_few_are_named() -> None:
    facts = unread_facts([unread("NoSuchKey", number) for number in range(5)])
    assert facts[0] == (
        'reading s3://b/0 of FastFile channel "train" failed, the container got an I/O error (EIO): NoSuchKey: said'
    )
    assert facts[3:] == ["reading 2 more objects also failed"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("NoSuchKey", "deleted"),
        ("PreconditionFailed", "replaced"),
        ("AccessDenied", "s3:GetObject"),
        ("Forbidden", "s3:GetObject"),
        ("ExpiredToken", "expired"),
        ("RequestTimeout", "unreachable"),
        ("RequestError", "unreachable"),
    ],
)
def test_what_s3_says_is_explained(code: str, words: str) -> None:
    (advice,) = unread_advice([unread(code), unread(code, 2)])
    assert words in advice


def test_nothing_is_made_up() -> None:
    assert unread_advice([unread("InvalidObjectState"), unread("")]) == []
