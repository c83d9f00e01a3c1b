import json

import pytest

from smlocal.credentials.answers import UNKNOWN, Secret, answer, new_secret, read_head
from smlocal.credentials.issued import SHORT_LIVED_SECONDS, Issued

SECRET = Secret(path="/v2/credentials/proxy-0-customer", token="token")


def head(path: str, *fields: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: 169.254.170.2", *fields]).encode()


@pytest.mark.parametrize(
    ("fields", "with_token", "known"),
    [
        ((), False, True),
        ((), True, False),
        (("authorization: token",), True, True),
        (("Authorization: x",), True, False),
    ],
)
def test_the_path_and_where_it_is_needed_the_token(fields: tuple[str, ...], *, with_token: bool, known: bool) -> None:
    asked = read_head(head(SECRET.path, *fields))
    assert asked is not None
    assert asked.knows(SECRET, with_token=with_token) is known
    stranger = read_head(head(f"{SECRET.path}x", *fields))
    assert stranger is not None
    assert not stranger.knows(SECRET, with_token=with_token)


@pytest.mark.parametrize("text", [b"", b"GET", b"GET /", b"GET / x HTTP/1.1", b"\xff\xfe\x00", b"GET / FTP/1.1"])
def test_what_is_no_request(text: bytes) -> None:
    assert read_head(text) is None


def test_a_path_of_the_services_form_that_nobody_guesses_or_sees() -> None:
    one, other = new_secret(), new_secret()
    assert len(one.path) == len("/v2/credentials/proxy--customer") + 64
    assert one.path != other.path
    assert one.path not in repr(one)
    assert one.token not in repr(one)


def test_the_document() -> None:
    issued = Issued(access_key="AKIA", secret_key="hidden", token="also", expires=1_800_000_000.0)
    assert json.loads(issued.document("arn:role", 0.0)) == {
        "RoleArn": "arn:role",
        "AccessKeyId": "AKIA",
        "SecretAccessKey": "hidden",
        "Token": "also",
        "Expiration": "2027-01-15T08:00:00Z",
    }
    assert "hidden" not in repr(issued)
    assert "also" not in repr(issued)


def test_keys_that_never_expire_are_good_for_an_hour_at_a_time() -> None:
    document = json.loads(Issued(access_key="AKIA", secret_key="x").document("", 1_800_000_000.0))
    assert SHORT_LIVED_SECONDS == 3600
    assert document["Expiration"] == "2027-01-15T09:00:00Z"


def test_an_answer_is_whole() -> None:
    assert answer(200, b"{}").endswith(b"Content-Length: 2\r\nConnection: close\r\n\r\n{}")
    assert UNKNOWN.startswith(b"HTTP/1.1 404 Not Found\r\nServer: smlocal\r\n")
