"""Logins as the docker command and credential helpers save them."""

import base64
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smlocal.engine.pull import saved_login

HUB = "https://index.docker.io/v1/"


class Reported(list[str]):
    """The messages to the user."""

    @property
    def only(self) -> str:
        [line] = self
        return line


@pytest.fixture
def reported() -> Reported:
    return Reported()


@pytest.fixture
def config(docker_home: Path) -> Callable[..., None]:
    def write(**members: Any) -> None:
        (docker_home / "config.json").write_text(json.dumps(members))

    return write


@pytest.fixture
def helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Installs a credential helper; the server that it is asked for is in `$server`. Returns its name."""

    def install(script: str) -> str:
        path = tmp_path / "docker-credential-smlocaltest"
        path.write_text(f'#!/bin/sh\ntest "$1" = get || exit 9\nread server\n{script}\n')
        path.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
        return "smlocaltest"

    return install


def packed(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_no_login_is_saved(config: Callable[..., None], reported: Reported) -> None:
    assert saved_login("reg.io", reported.append) is None
    config(currentContext="default")
    assert saved_login("reg.io", reported.append) is None
    config(auths={"other.io": {"auth": packed("a:b")}, "reg.io": {}})
    assert saved_login("reg.io", reported.append) is None
    assert reported == []


@pytest.mark.parametrize("key", ["reg.io", "https://reg.io", "https://reg.io/v2/"])
def test_a_saved_login(key: str, config: Callable[..., None], reported: Reported) -> None:
    config(auths={key: {"auth": packed("me:se:cret")}})
    login = saved_login("reg.io", reported.append)
    assert login == {"username": "me", "password": "se:cret", "serveraddress": key}
    assert reported == []


@pytest.mark.parametrize(("host", "server"), [("docker.io", HUB), ("reg.io", "reg.io")])
def test_an_identity_token(host: str, server: str, config: Callable[..., None], reported: Reported) -> None:
    config(auths={server: {"auth": packed("me:"), "identitytoken": "t"}})
    assert saved_login(host, reported.append) == {"identitytoken": "t", "serveraddress": server}


@pytest.mark.parametrize("store", ["credsStore", "credHelpers"])
@pytest.mark.parametrize(("host", "server"), [("docker.io", HUB), ("reg.io:5000", "reg.io:5000")])
def test_a_credential_helper(
    store: str,
    host: str,
    server: str,
    helper: Callable[[str], str],
    config: Callable[..., None],
    reported: Reported,
) -> None:
    name = helper('printf \'{"Username":"me of %s","Secret":"out"}\' "$server"')
    config(**{store: name if store == "credsStore" else {server: name}})
    login = saved_login(host, reported.append)
    assert login == {"username": f"me of {server}", "password": "out", "serveraddress": server}


def test_an_identity_token_of_a_helper(
    helper: Callable[[str], str], config: Callable[..., None], reported: Reported
) -> None:
    config(credsStore=helper('echo \'{"Username":"<token>","Secret":"t"}\''))
    assert saved_login("reg.io", reported.append) == {"identitytoken": "t", "serveraddress": "reg.io"}


def test_a_helper_that_has_nothing_leaves_it_to_the_file(
    helper: Callable[[str], str], config: Callable[..., None], reported: Reported
) -> None:
    name = helper("echo credentials not found in native keychain; exit 1")
    config(credsStore=name, auths={"reg.io": {"auth": packed("me:mine")}})
    login = saved_login("reg.io", reported.append)
    assert login is not None
    assert login["password"] == "mine"
    assert saved_login("other.io", reported.append) is None
    assert reported == []


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo the keychain is locked; exit 1", "the keychain is locked"),
        ("echo not JSON", "Expecting value"),
        ("echo '{}'", "Username"),
        ("echo '[]'", "list"),
    ],
)
def test_a_helper_that_fails_is_no_login_and_reported(
    script: str, reason: str, helper: Callable[[str], str], config: Callable[..., None], reported: Reported
) -> None:
    config(credsStore=helper(script))
    assert saved_login("reg.io", reported.append) is None
    assert "pulling without a login for reg.io" in reported.only
    assert reason in reported.only


def test_a_missing_helper_is_no_login_and_reported(config: Callable[..., None], reported: Reported) -> None:
    config(credsStore="smlocal-never-made")
    assert saved_login("reg.io", reported.append) is None
    assert "docker-credential-smlocal-never-made is not installed" in reported.only


@pytest.mark.slow(0.5)
def test_a_helper_that_does_not_answer_is_ended(
    helper: Callable[[str], str],
    config: Callable[..., None],
    reported: Reported,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("smlocal.engine.pull._HELPER_SECONDS", 1.0)
    config(credsStore=helper(f"echo $$ > '{tmp_path}/pid'\nexec sleep 600"))
    assert saved_login("reg.io", reported.append) is None
    assert "timed out after 1.0 seconds" in reported.only
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"auths": {"reg.io": {"auth": "not base 64 at all"}}}',
        '{"auths": {"reg.io": {"auth": "bm90aGluZw=="}}}',
        '{"auths": {"reg.io": 5}}',
        '{"auths": [5]}',
        '{"credHelpers": 5}',
    ],
)
def test_a_damaged_file_is_no_login_and_reported(text: str, docker_home: Path, reported: Reported) -> None:
    (docker_home / "config.json").write_text(text)
    assert saved_login("reg.io", reported.append) is None
    assert "pulling without a login for reg.io" in reported.only
