"""Other accounts on a machine, and the demands of a server then."""

import pwd
from pathlib import Path

import pytest

from smlocal.base.accounts import other_users
from smlocal.endpoint import endpoint_key
from smlocal.endpoint.endpoint_key import demanded
from smlocal.endpoint.signature import Signatures
from smlocal.errors.of_commands import EndpointKeyError

KEY = Signatures(access_key="a", secret_key="b")


def account(name: str, uid: int, shell: str = "/bin/bash") -> pwd.struct_passwd:
    return pwd.struct_passwd((name, "x", uid, uid, "", f"/home/{name}", shell))


SYSTEM = [
    account("root", 0),
    account("sync", 4, "/bin/sync"),
    account("www-data", 33),
    account("dynamic", 61184, "/usr/sbin/nologin"),
    account("nobody", 65534),
    account("service", 1500, "/usr/sbin/nologin"),
    account("locked", 1501, "/bin/false"),
]


@pytest.mark.parametrize(
    ("owner", "people", "others"),
    [
        (0, [], []),
        (0, [account("me", 1000)], ["me"]),
        (1000, [account("me", 1000)], []),
        (1000, [account("me", 1000), account("you", 1001, ""), account("far", 1_200_345)], ["far", "you"]),
        (1000, [account("me", 1000), account("my-other-name", 1000)], []),
    ],
)
def test_accounts_of_people(tmp_path: Path, owner: int, people: list[pwd.struct_passwd], others: list[str]) -> None:
    assert other_users(owner, accounts=[*SYSTEM, *people], logged_in=str(tmp_path / "none")) == others


def test_who_is_logged_in_is_another_user_without_being_listed(tmp_path: Path) -> None:
    for name in ("0", "1000", "70001", "systemd"):
        (tmp_path / name).mkdir()
    assert other_users(1000, accounts=[*SYSTEM, account("me", 1000)], logged_in=str(tmp_path)) == ["uid 70001"]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_loopback_is_open_where_nobody_else_is(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setattr(endpoint_key, "other_users", list)
    assert demanded(host, chosen=None, asked=None).needed is False
    assert "nobody else has an account" in demanded(host, chosen=None, asked=None).why
    assert demanded(host, chosen=None, asked=True).needed is True
    assert demanded(host, chosen=KEY, asked=None).needed is True


def test_others_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_key, "other_users", lambda: ["a", "b", "c", "d", "e"])
    found = demanded("127.0.0.1", chosen=None, asked=None)
    assert (found.needed, "(a, b, c, 2 more)" in found.why) == (True, True)
    opened = demanded("127.0.0.1", chosen=None, asked=False)
    assert (opened.needed, "every user" in opened.why) == (False, True)


def test_other_addresses_are_never_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_key, "other_users", list)
    assert demanded("0.0.0.0", chosen=None, asked=None).needed is True
    with pytest.raises(EndpointKeyError, match="others can reach"):
        demanded("0.0.0.0", chosen=None, asked=False)
    with pytest.raises(EndpointKeyError, match="SMLOCAL_ACCESS_KEY_ID is set"):
        demanded("127.0.0.1", chosen=KEY, asked=False)
