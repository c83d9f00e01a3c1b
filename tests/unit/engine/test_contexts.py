"""Contexts as the docker command writes them, and TLS with an engine."""

import json
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from smlocal.engine.client import Client
from smlocal.engine.endpoint import endpoint_at, endpoint_named, find_endpoint
from smlocal.errors import EngineContextError, EngineTlsError, EngineUnreachableError

PING = b"HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nServer: Docker/20.10.24 (linux)\r\nContent-Length: 2\r\n\r\nOK"
Docker = Callable[..., None]


@pytest.fixture
def server(certificates: Path) -> Iterator[Callable[..., int]]:
    """Starts an engine behind TLS, which greets; returns its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(60)
    threads: list[threading.Thread] = []

    def start(*, asks_for_certificate: bool = True) -> int:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / "cert.pem", certificates / "key.pem")
        if asks_for_certificate:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(certificates / "cert.pem")

        def work() -> None:
            try:
                with context.wrap_socket(listener.accept()[0], server_side=True) as connection:
                    connection.recv(65536)
                    connection.sendall(PING)
            except OSError:
                pass  # the test sees it from the other side

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        return int(listener.getsockname()[1])

    yield start
    with suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)  # for a thread that nobody has connected to
    for thread in threads:
        thread.join()
    listener.close()


def greeting() -> str:
    return Client(find_endpoint()).greet()["api-version"]


def meta_file(home: Path) -> Path:
    [path] = home.glob("contexts/meta/*/meta.json")
    return path


def test_a_context_is_found_where_the_docker_command_keeps_it(
    run_docker: Docker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The SDK looks beside the first config.json that it finds, else in the working directory.
    subprocess.run(
        ["docker", "--config", tmp_path / ".docker", "context", "create", "far", "--docker", "host=tcp://wrong:1"],
        check=True,
        capture_output=True,
        timeout=60,
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path / ".docker")
    run_docker("context", "create", "far", "--docker", "host=tcp://far:1234")
    monkeypatch.setenv("DOCKER_CONTEXT", "far")
    for config in (None, "{}"):
        if config:
            (tmp_path / ".docker" / "config.json").write_text(config)
        endpoint = find_endpoint()
        assert (endpoint.address, endpoint.host, endpoint.port, endpoint.tls) == ("tcp://far:1234", "far", 1234, None)
    run_docker("context", "use", "far")
    monkeypatch.delenv("DOCKER_CONTEXT")
    assert find_endpoint().host == "far"
    monkeypatch.delenv("DOCKER_CONFIG")
    assert find_endpoint().path == "/var/run/docker.sock"
    monkeypatch.setenv("DOCKER_CONTEXT", "far")
    assert find_endpoint().host == "wrong"


@pytest.mark.parametrize("host", ["unix:///run/other.sock", "ssh://me@far"])
def test_a_context_without_a_network_address(host: str, run_docker: Docker) -> None:
    run_docker("context", "create", "other", "--docker", f"host={host}")
    run_docker("context", "use", "other")
    assert find_endpoint().address == host


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("options", "asks_for_certificate"),
    [
        (",ca={0}/ca.pem,cert={0}/cert.pem,key={0}/key.pem", True),
        (",ca={0}/ca.pem", False),
        (",skip-tls-verify=true", False),
        (",skip-tls-verify=true,cert={0}/cert.pem,key={0}/key.pem,ca={0}/ca.pem", True),
    ],
    ids=["all", "authority alone", "unverified", "unverified with certificate"],
)
def test_a_context_behind_tls(
    options: str, certificates: Path, run_docker: Docker, server: Callable[..., int], *, asks_for_certificate: bool
) -> None:
    port = server(asks_for_certificate=asks_for_certificate)
    run_docker("context", "create", "far", "--docker", f"host=tcp://localhost:{port}{options.format(certificates)}")
    run_docker("context", "use", "far")
    assert greeting() == "1.41"
    chosen = endpoint_at(f"tcp://localhost:{port}")
    assert chosen.tls is not None
    assert chosen.tls.verify_mode == (ssl.CERT_NONE if "skip" in options else ssl.CERT_REQUIRED)


@pytest.mark.parametrize(
    "environment",
    [
        {"DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": "{0}"},
        {"DOCKER_TLS_VERIFY": "1", "DOCKER_CONFIG": "{0}"},
        {"DOCKER_CERT_PATH": "{0}"},
    ],
    ids=["path", "configuration", "unverified"],
)
def test_tls_by_the_environment(
    environment: dict[str, str],
    docker_home: Path,  # noqa: ARG001  what is in the environment otherwise goes
    certificates: Path,
    server: Callable[..., int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"tcp://localhost:{server()}")
    for name, value in environment.items():
        monkeypatch.setenv(name, value.format(certificates))
    if "DOCKER_TLS_VERIFY" not in environment:
        (certificates / "ca.pem").unlink()
    assert greeting() == "1.41"


@pytest.mark.slow(0.5)
def test_an_engine_whose_certificate_is_of_nobody_known(
    run_docker: Docker, server: Callable[..., int], certificates: Path
) -> None:
    other = certificates / "other.pem"
    subprocess.run(
        f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other -keyout {other}.key -out {other}",
        shell=True,
        check=True,
        capture_output=True,
        timeout=60,
    )
    port = server(asks_for_certificate=False)
    run_docker("context", "create", "far", "--docker", f"host=tcp://localhost:{port},ca={other}")
    run_docker("context", "use", "far")
    with pytest.raises(EngineUnreachableError) as caught:
        greeting()
    assert "CERTIFICATE_VERIFY_FAILED" in caught.value.details[0]


def test_tls_changes_nothing_for_a_unix_socket(docker_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(docker_home))  # empty
    assert find_endpoint().path == "/var/run/docker.sock"
    monkeypatch.setenv("DOCKER_HOST", "unix:///run/other.sock")
    assert find_endpoint().path == "/run/other.sock"


def test_a_job_is_found_again_whichever_context_is_chosen(
    docker_home: Path, certificates: Path, run_docker: Docker, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_docker("context", "create", "far", "--docker", "host=tcp://far:2376")
    run_docker("context", "use", "far")
    assert endpoint_at("unix:///run/other.sock").path == "/run/other.sock"
    assert endpoint_at("tcp://near:2376").tls is None
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(certificates))
    assert endpoint_at("tcp://near:2376").tls is not None
    assert endpoint_at("tcp://far:2376").tls is None  # that is the context's own affair
    meta_file(docker_home).unlink()
    assert endpoint_at("unix:///run/other.sock").path == "/run/other.sock"


def test_a_job_is_found_again_on_the_engine_of_a_context_that_is_not_the_current_one(
    docker_home: Path, certificates: Path, run_docker: Docker
) -> None:
    files = f"ca={certificates}/ca.pem,cert={certificates}/cert.pem,key={certificates}/key.pem"
    run_docker("context", "create", "a-damaged", "--docker", "host=tcp://far:2376")
    (damaged,) = docker_home.glob("contexts/meta/*/meta.json")
    damaged.write_text("{")
    run_docker("context", "create", "far", "--docker", f"host=tcp://far:2376,{files}")
    run_docker("context", "create", "plain", "--docker", "host=tcp://near:2375")
    assert endpoint_at("tcp://far:2376").tls is not None
    assert endpoint_at("tcp://near:2375").tls is None
    assert endpoint_at("tcp://elsewhere:2376").tls is None
    run_docker("context", "create", "other", "--docker", "host=tcp://far:2376,skip-tls-verify=true")
    run_docker("context", "use", "other")  # of two contexts with one address, the current one counts
    chosen = endpoint_at("tcp://far:2376").tls
    assert chosen is not None
    assert chosen.verify_mode == ssl.CERT_NONE


def test_the_docker_sdk_is_not_imported_for_an_engine_that_has_no_context(run_docker: Docker) -> None:
    run_docker("context", "create", "other", "--docker", "host=tcp://other:2375")
    code = """
import sys
from smlocal.engine.endpoint import endpoint_at, endpoint_named
endpoint_at("tcp://far:2375"), endpoint_named("tcp://far:2375"), endpoint_named("default")
print("docker" in sys.modules)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ended.stdout == "False\n"


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("far", "tcp://far:2375"),
        ("near", "unix:///run/near.sock"),
        ("default", "unix:///var/run/docker.sock"),
        ("ssh://me@elsewhere", "ssh://me@elsewhere"),
        ("unix:///run/other.sock", "unix:///run/other.sock"),
    ],
)
def test_an_engine_by_its_name(name: str, address: str, run_docker: Docker, monkeypatch: pytest.MonkeyPatch) -> None:
    run_docker("context", "create", "far", "--docker", "host=tcp://far:2375")
    run_docker("context", "create", "near", "--docker", "host=unix:///run/near.sock")
    run_docker("context", "use", "far")
    assert endpoint_named(name).address == address
    monkeypatch.setenv("DOCKER_HOST", "tcp://host:2375")
    assert endpoint_named(name).address == ("tcp://host:2375" if name == "default" else address)  # docker context ls


def test_a_named_address_has_the_tls_files_of_the_environment(
    docker_home: Path,  # noqa: ARG001  what is in the environment otherwise goes
    certificates: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert endpoint_named("tcp://far:2376").tls is None
    monkeypatch.setenv("DOCKER_CERT_PATH", str(certificates))
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    assert endpoint_named("tcp://far:2376").tls is not None
    assert endpoint_named("unix:///run/other.sock").tls is None


@pytest.mark.usefixtures("docker_home")
@pytest.mark.parametrize("name", ["gone", "far:2375", "../default"])
def test_a_name_that_is_no_context(name: str) -> None:
    with pytest.raises(EngineContextError, match=f'the Docker context "{name}" does not exist') as caught:
        endpoint_named(name)
    assert "ssh://HOST" in caught.value.remedy[1]


def test_a_context_with_a_similar_name_is_suggested(run_docker: Docker) -> None:
    run_docker("context", "create", "gpu-box", "--docker", "host=ssh://gpu")
    for name, details in (("gpubox", ('Did you mean "gpu-box"?',)), ("Default", ('Did you mean "default"?',))):
        with pytest.raises(EngineContextError) as caught:
            endpoint_named(name)
        assert caught.value.details == details


@pytest.mark.usefixtures("docker_home")
def test_a_missing_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_CONTEXT", "gone")
    with pytest.raises(EngineContextError, match='the Docker context "gone" does not exist') as caught:
        find_endpoint()
    assert (caught.value.exit_code, caught.value.id) == (3, "engine-context")


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    "text", ["{", "[]", '{"Name": "far"}', json.dumps({"Name": "far", "Metadata": {}, "Endpoints": {"kubernetes": {}}})]
)
def test_a_damaged_context(text: str, docker_home: Path, run_docker: Docker) -> None:
    run_docker("context", "create", "far", "--docker", "host=tcp://far:1234")
    run_docker("context", "use", "far")
    meta_file(docker_home).write_text(text)
    with pytest.raises(EngineContextError, match='the Docker context "far" cannot be read') as caught:
        find_endpoint()
    assert caught.value.details


@pytest.mark.parametrize("missing", ["ca.pem", "cert.pem", "key.pem"])
def test_missing_tls_files(missing: str, certificates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://localhost:1")
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(certificates))
    (certificates / missing).unlink()
    with pytest.raises(EngineTlsError, match=f"the TLS files in {certificates} cannot be used") as caught:
        find_endpoint()
    assert (caught.value.exit_code, caught.value.id) == (3, "engine-tls")


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("wrong", ["ca.pem", "cert.pem", "key.pem"])
@pytest.mark.parametrize("by", ["environment", "context"])
def test_wrong_tls_files_are_named(
    wrong: str, by: str, certificates: Path, run_docker: Docker, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by == "context":
        files = f"ca={certificates}/ca.pem,cert={certificates}/cert.pem,key={certificates}/key.pem"
        run_docker("context", "create", "far", "--docker", f"host=tcp://localhost:1,{files}")
        run_docker("context", "use", "far")
        [folder] = Path(certificates.parent).glob("docker home/contexts/tls/*/docker")
    else:
        monkeypatch.setenv("DOCKER_HOST", "tcp://localhost:1")
        monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
        monkeypatch.setenv("DOCKER_CERT_PATH", str(certificates))
        folder = certificates
    (folder / wrong).write_text("nothing of the kind")
    with pytest.raises(EngineTlsError) as caught:
        find_endpoint()
    assert f"{folder}/{wrong}" in caught.value.details[0]


def test_nobody_is_asked_for_the_passphrase_of_a_key(
    certificates: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    key = certificates / "key.pem"
    subprocess.run(
        ["openssl", "ec", "-aes256", "-passout", "pass:secret", "-in", key, "-out", f"{key}.new"],
        check=True,
        capture_output=True,
        timeout=60,
    )
    key.with_suffix(".pem.new").rename(key)
    monkeypatch.setenv("DOCKER_HOST", "tcp://localhost:1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(certificates))
    with pytest.raises(EngineTlsError, match="cannot be used"):
        find_endpoint()
    assert capfd.readouterr().err == ""
