"""The key of a server: the owner's, or one of the home."""

import stat
from pathlib import Path

import pytest

from smlocal.endpoint.endpoint_key import ACCESS_KEY, SECRET_KEY, is_loopback, key_of_environment, key_of_home
from smlocal.errors.of_commands import EndpointKeyError


def test_the_owner_chooses_a_key_or_none() -> None:
    assert key_of_environment({}) is None
    key = key_of_environment({ACCESS_KEY: "a", SECRET_KEY: "b"})
    assert key is not None
    assert (key.access_key, key.secret_key) == ("a", "b")


@pytest.mark.parametrize("given", [ACCESS_KEY, SECRET_KEY])
def test_half_a_key_is_refused(given: str) -> None:
    with pytest.raises(EndpointKeyError, match="is not set, and the other half of the key is") as refused:
        key_of_environment({given: "a"})
    assert "a" not in str(refused.value).split()


def test_the_key_of_a_home_stays_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    key = key_of_home(str(tmp_path))
    assert key_of_home(str(tmp_path)) == key
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    other = tmp_path / "other"
    other.mkdir()
    assert key_of_home(str(other)) != key


@pytest.mark.parametrize(
    ("host", "here"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],
)
def test_which_addresses_only_this_machine_reaches(host: str, here: bool) -> None:
    assert is_loopback(host) is here
