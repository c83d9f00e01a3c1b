import json

import pytest

from smlocal.data.sources.s3.aws_session import Credentials
from smlocal.jobs.credentials.listener import (
    ASSUMED_LIFETIME_SECONDS,
    UNKNOWN,
    Secret,
    credentials_response,
    new_secret,
    read_head,
    response,
)

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


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"GET",
        b"GET /",
        b"GET / x HTTP/1.1",
        b"\xff\xfe\x00",
        b"GET / FTP/1.1",
        b"GET / HTTP/1.10",
        head("/", "Authorization : token"),
        head("/", "Authorization: token", "Authorization: other"),
        head("/", "X: a\nAuthorization: token"),
    ],
)
def test_what_is_no_request(text: bytes) -> None:
    assert read_head(text) is None


def test_a_path_of_the_services_form_that_nobody_guesses_or_sees() -> None:
    one, other = new_secret(), new_secret()
    assert len(one.path) == len("/v2/credentials/proxy--customer") + 64
    assert one.path != other.path
    assert one.path not in repr(one)
    assert one.token not in repr(one)


def body(keys: Credentials, role_arn: str, now: float) -> dict[str, str]:
    document: dict[str, str] = json.loads(credentials_response(keys, role_arn, now).partition(b"\r\n\r\n")[2])
    return document


def test_the_document() -> None:
    keys = Credentials(access_key="AKIA", secret_key="hidden", token="also", expires=1_800_000_000.0)
    assert body(keys, "arn:role", 0.0) == {
        "RoleArn": "arn:role",
        "AccessKeyId": "AKIA",
        "SecretAccessKey": "hidden",
        "Token": "also",
        "Expiration": "2027-01-15T08:00:00Z",
    }
    assert "hidden" not in repr(keys)
    assert "also" not in repr(keys)


def test_keys_that_never_expire_are_valid_for_an_hour_at_a_time() -> None:
    assert ASSUMED_LIFETIME_SECONDS == 3600
    document = body(Credentials(access_key="AKIA", secret_key="x"), "", 1_800_000_000.0)
    assert document["Expiration"] == "2027-01-15T09:00:00Z"


def test_a_response_is_complete() -> None:
    assert response(200, b"{}").endswith(b"Content-Length: 2\r\nConnection: close\r\n\r\n{}")
    assert UNKNOWN.startswith(b"HTTP/1.1 404 Not Found\r\nServer: smlocal\r\n")
