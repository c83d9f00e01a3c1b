from collections.abc import Callable
from pathlib import Path

import pytest

from smlocal.engine.endpoint import EngineAddress, find_endpoint, parse_address
from smlocal.errors import EngineRemoteError, EngineUnreachableError

pytestmark = pytest.mark.usefixtures("docker_home")


def test_the_usual_socket() -> None:
    assert find_endpoint() == EngineAddress(address="unix:///var/run/docker.sock", path="/var/run/docker.sock")
    assert find_endpoint().local


@pytest.mark.parametrize("there", ["docker.sock", "podman/podman.sock"])
def test_an_engine_of_the_users_own_where_the_usual_one_is_missing(
    there: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smlocal.engine.endpoint.DEFAULT_ADDRESS", f"unix://{tmp_path}/usual.sock")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "own"))
    found = tmp_path / "own" / there
    found.parent.mkdir(parents=True)
    found.touch()
    assert find_endpoint().path == str(found)
    (tmp_path / "usual.sock").touch()
    assert find_endpoint().path == f"{tmp_path}/usual.sock"


def test_the_order_of_what_says_where(run_docker: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("current", "named"):
        run_docker("context", "create", name, "--docker", f"host=unix:///run/{name}.sock")
    assert find_endpoint().path == "/var/run/docker.sock"
    run_docker("context", "use", "current")
    assert find_endpoint().path == "/run/current.sock"
    monkeypatch.setenv("DOCKER_CONTEXT", "named")
    assert find_endpoint().path == "/run/named.sock"
    monkeypatch.setenv("DOCKER_CONTEXT", "default")
    assert find_endpoint().path == "/var/run/docker.sock"
    monkeypatch.setenv("DOCKER_HOST", "unix:///run/host.sock")
    assert find_endpoint().path == "/run/host.sock"


def test_the_usual_port(monkeypatch: pytest.MonkeyPatch, certificates: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://far")
    assert find_endpoint() == EngineAddress(address="tcp://far", host="far", port=2375)
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(certificates))
    assert find_endpoint().port == 2376
    assert not find_endpoint().local
    monkeypatch.setenv("DOCKER_HOST", "https://far")
    monkeypatch.delenv("DOCKER_TLS_VERIFY")
    monkeypatch.delenv("DOCKER_CERT_PATH")
    assert find_endpoint().port == 2376


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        ("tcp://h:1", "h", 1),
        ("http://h:1/", "h", 1),
        ("h:1", "h", 1),
        ("tcp://[::1]:7", "::1", 7),
        ("tcp://[fe80::1]", "fe80::1", 2375),
        ("tcp://:2375", "localhost", 2375),
    ],
)
def test_network_addresses(address: str, host: str, port: int) -> None:
    endpoint = parse_address(address, None)
    assert (endpoint.host, endpoint.port, endpoint.local, endpoint.tls) == (host, port, False, None)


@pytest.mark.parametrize("address", ["npipe:////./pipe/docker_engine", "fd://"])
def test_what_cannot_be_served_says_so(address: str) -> None:
    with pytest.raises(EngineRemoteError, match=r"supports unix://, tcp:// and ssh://") as caught:
        parse_address(address, None)
    assert address in caught.value.sentence
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("address", "before", "there"),
    [
        ("ssh://far", [], "docker system dial-stdio"),
        ("ssh://me@far:2222", ["-l", "me", "-p", "2222"], "docker system dial-stdio"),
        ("ssh://far/run/my%20own.sock", [], "docker --host 'unix:///run/my own.sock' system dial-stdio"),
    ],
)
def test_ssh_is_run_as_the_docker_command_does(address: str, before: list[str], there: str) -> None:
    endpoint = parse_address(address, None)
    assert not endpoint.local
    assert endpoint.command[0] == "ssh"
    assert [*endpoint.command[-len(before) - 3 : -3], *endpoint.command[-3:]] == [*before, "--", "far", there]


@pytest.mark.parametrize("address", ["ssh://", "ssh://me:secret@far", "ssh://far:port", "ssh://far?x=1"])
def test_an_ssh_address_that_is_none(address: str) -> None:
    with pytest.raises(EngineUnreachableError, match="is not a valid engine address"):
        parse_address(address, None)


@pytest.mark.parametrize("address", ["tcp://h:docker", "tcp://h:70000", "tcp://[::1"])
def test_a_network_address_that_is_none(address: str) -> None:
    with pytest.raises(EngineUnreachableError, match="is not a valid engine address") as caught:
        parse_address(address, None)
    assert caught.value.details


def test_a_configuration_that_is_not_json(docker_home: Path) -> None:
    (docker_home / "config.json").write_text("{")
    with pytest.raises(EngineUnreachableError, match=r"config\.json is not JSON"):
        find_endpoint()


def test_a_configuration_that_cannot_be_read_is_none(docker_home: Path) -> None:
    (docker_home / "config.json").mkdir()
    assert find_endpoint().path == "/var/run/docker.sock"
