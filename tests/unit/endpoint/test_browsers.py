"""Which requests are answered, by the name that they use and the page that they come from."""

import pytest
from starlette.requests import Request

from smlocal.endpoint.browsers import Hosts

HERE = {"host": "127.0.0.1:4597"}
CLICKED = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


def refusal(method: str, headers: dict[str, str], *, allowed: frozenset[str] = frozenset()) -> str | None:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": "/", "query_string": b"", "headers": raw}
    return Hosts(allowed=allowed).refusal(Request(scope))


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:4597", "localhost:4597", "[::1]:4597", "10.0.0.7", "host.docker.internal:4597", "b.localhost"],
)
def test_names_of_this_machine_and_addresses_are_answered(host: str) -> None:
    assert refusal("POST", {"host": host}) is None


def test_names_of_aws_are_answered_as_they_come_by_the_tls_door() -> None:
    assert refusal("POST", {"host": "sts.us-east-1.amazonaws.com"}) is None


@pytest.mark.parametrize("host", ["attacker.example", "amazonaws.com.attacker.example", "", "[", "127.0.0.1.nip.io"])
def test_other_names_are_refused(host: str) -> None:
    assert refusal("GET", {"host": host}) is not None


def test_a_name_can_be_allowed() -> None:
    assert refusal("GET", {"host": "trainer:4597"}, allowed=frozenset({"trainer"})) is None


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://attacker.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:8000"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "document"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_pages_of_other_sites_are_refused(method: str, headers: dict[str, str]) -> None:
    assert refusal(method, HERE | headers) is not None


def test_a_link_on_another_site_may_be_followed_and_a_form_may_not_be_sent() -> None:
    assert refusal("GET", HERE | CLICKED) is None
    assert refusal("POST", HERE | CLICKED) is not None
    assert refusal("POST", HERE | CLICKED | {"origin": "https://attacker.example"}) is not None


def test_its_own_page_is_answered() -> None:
    assert refusal("POST", HERE | {"origin": "http://127.0.0.1:4597", "sec-fetch-site": "same-origin"}) is None
