import hashlib
import json
from pathlib import Path

import pytest

from smlocal.engine.endpoint import Endpoint, Tls, endpoint_at, find_endpoint, parse_address
from smlocal.errors import EngineRemoteError, EngineUnreachableError


@pytest.fixture(autouse=True)
def docker_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    return tmp_path


def make_context(home: Path, name: str, host: str, *, skip_verify: bool = False, tls: bool = False) -> Path:
    digest = hashlib.sha256(name.encode()).hexdigest()
    folder = home / "contexts" / "meta" / digest
    folder.mkdir(parents=True)
    endpoint = {"Host": host, "SkipTLSVerify": skip_verify}
    (folder / "meta.json").write_text(json.dumps({"Name": name, "Metadata": {}, "Endpoints": {"docker": endpoint}}))
    certificates = home / "contexts" / "tls" / digest / "docker"
    if tls:
        certificates.mkdir(parents=True)
    return certificates


def test_the_usual_socket() -> None:
    assert find_endpoint() == Endpoint(address="unix:///var/run/docker.sock", path="/var/run/docker.sock")
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


def test_the_configuration_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOCKER_CONFIG")
    monkeypatch.setenv("HOME", str(tmp_path))
    make_context(tmp_path / ".docker", "mine", "unix:///run/mine.sock")
    (tmp_path / ".docker" / "config.json").write_text('{"currentContext": "mine"}')
    assert find_endpoint().path == "/run/mine.sock"


def test_the_order_of_what_says_where(docker_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_context(docker_home, "current", "unix:///run/current.sock")
    make_context(docker_home, "named", "unix:///run/named.sock")
    (docker_home / "config.json").write_text('{"currentContext": "current"}')
    assert find_endpoint().path == "/run/current.sock"
    monkeypatch.setenv("DOCKER_CONTEXT", "named")
    assert find_endpoint().path == "/run/named.sock"
    monkeypatch.setenv("DOCKER_CONTEXT", "default")
    assert find_endpoint().path == "/var/run/docker.sock"
    monkeypatch.setenv("DOCKER_HOST", "unix:///run/host.sock")
    assert find_endpoint().path == "/run/host.sock"


def test_a_context_with_certificates(docker_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_context(docker_home, "far", "tcp://far:1234", tls=True, skip_verify=True)
    monkeypatch.setenv("DOCKER_CONTEXT", "far")
    assert find_endpoint() == Endpoint(
        address="tcp://far:1234", host="far", port=1234, tls=Tls(folder=str(folder), verify=False)
    )


def test_tls_by_the_environment(docker_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://far")
    assert find_endpoint() == Endpoint(address="tcp://far", host="far", port=2375)
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    assert find_endpoint() == Endpoint(address="tcp://far", host="far", port=2376, tls=Tls(folder=str(docker_home)))
    monkeypatch.setenv("DOCKER_CERT_PATH", "/certs")
    assert find_endpoint().tls == Tls(folder="/certs")
    assert not find_endpoint().local


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
    with pytest.raises(EngineRemoteError, match=r"speaks over unix://, tcp:// and ssh://") as caught:
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
    with pytest.raises(EngineUnreachableError, match="is not an engine's address"):
        parse_address(address, None)


def test_an_unknown_context_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_CONTEXT", "gone")
    with pytest.raises(EngineUnreachableError, match='the Docker context "gone" is not known'):
        find_endpoint()


def test_a_port_that_is_none() -> None:
    with pytest.raises(EngineUnreachableError, match="'docker' is no port"):
        parse_address("tcp://h:docker", None)


def test_a_configuration_that_is_not_json(docker_home: Path) -> None:
    (docker_home / "config.json").write_text("{")
    with pytest.raises(EngineUnreachableError, match=r"config\.json is not JSON"):
        find_endpoint()


def test_a_configuration_that_cannot_be_read_is_none(docker_home: Path) -> None:
    (docker_home / "config.json").mkdir()
    assert find_endpoint().path == "/var/run/docker.sock"


def test_the_engine_of_a_job_whatever_is_chosen_now(docker_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_context(docker_home, "far", "tcp://far:2376", tls=True)
    monkeypatch.setenv("DOCKER_CONTEXT", "far")
    chosen = find_endpoint()
    assert endpoint_at("tcp://far:2376") == chosen
    assert chosen.tls is not None
    assert endpoint_at("unix:///run/other.sock") == Endpoint(address="unix:///run/other.sock", path="/run/other.sock")
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    assert endpoint_at("tcp://near:2376").tls == Tls(folder=str(docker_home))
