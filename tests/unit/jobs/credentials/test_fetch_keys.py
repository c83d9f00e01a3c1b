import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from smlocal.errors import CredentialsMissingError
from smlocal.jobs.credentials.server import user_keys


@pytest.fixture(autouse=True)
def nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """No AWS configuration of the user who runs the tests."""
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


def log_in(monkeypatch: pytest.MonkeyPatch, **more: str) -> None:
    for name, value in {"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "hidden", **more}.items():
        monkeypatch.setenv(name, value)


def test_plain_keys_of_which_nobody_knows_how_long_they_are_good(monkeypatch: pytest.MonkeyPatch) -> None:
    log_in(monkeypatch, AWS_SESSION_TOKEN="token")
    found = user_keys()
    assert (found.access_key, found.secret_key, found.token, found.expires) == ("AKIA", "hidden", "token", None)


def test_others_are_found_the_next_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "credentials"
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    for key in ("AKIA1", "AKIA2"):
        file.write_text(f"[default]\naws_access_key_id = {key}\naws_secret_access_key = hidden\n")
        assert user_keys().access_key == key


def test_the_end_of_those_that_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    end = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=2)
    log_in(monkeypatch, AWS_CREDENTIAL_EXPIRATION=end.isoformat())
    assert user_keys().expires == end.timestamp()


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({}, ""),
        ({"AWS_PROFILE": "nobody"}, "the profile nobody is not in the AWS configuration files"),
        (
            {
                "AWS_ACCESS_KEY_ID": "AKIA",
                "AWS_SECRET_ACCESS_KEY": "hidden",
                "AWS_CREDENTIAL_EXPIRATION": "2020-01-01T00:00:00Z",
            },
            "expired",
        ),
    ],
)
def test_none(monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], why: str) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(CredentialsMissingError) as caught:
        user_keys()
    assert "Local.Credentials needs AWS credentials" in caught.value.sentence
    assert why in "".join(caught.value.details)
    assert "hidden" not in "".join(caught.value.details)
