"""The stand-in for the engine of SageMaker Studio, which other tests rely on: what it refuses, and in which words."""

import json
import os
import socket
import subprocess
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from tests.kit.studio_engine import BIND, BUILD, NETWORK, NOT_ALLOWED, PRIVILEGED, UNKNOWN, StudioPlace

pytestmark = [pytest.mark.engine, pytest.mark.slow(6, together=True)]

_LISTEN = """
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    print(server.getsockname()[1], flush=True)
    for _ in range(2):
        connection, _ = server.accept()
        connection.sendall(b"from the place\\n")
        connection.close()
"""
_CREATE = "POST /v1.41/containers/create"
_REFUSED: list[tuple[str, Any, int, str]] = [
    ("GET /_ping", None, 301, ""),
    ("POST /containers/create", {}, 301, ""),
    *(
        (call, None, 403, NOT_ALLOWED)
        for call in (
            "GET /v1.41/info",
            "GET /v1.41/events",
            "GET /v1.41/networks",
            "GET /v1.41/networks/bridge",
            "POST /v1.41/networks/create",
            "GET /v1.41/containers/x/stats",
            "GET /v1.41/containers/x/top",
            "GET /v1.41/containers/x/changes",
            "PUT /v1.41/containers/x/archive?path=/",
            "POST /v1.41/containers/x/exec",
            "POST /v1.41/commit",
            "GET /v1.41/images/x/get",
            "GET /v1.41/images/x/history",
        )
    ),
    (_CREATE, {"HostConfig": {}}, 403, NETWORK),
    (_CREATE, {"HostConfig": {"NetworkMode": "host"}}, 403, NETWORK),
    (_CREATE, {"HostConfig": {"NetworkMode": "sagemaker", "Privileged": True}}, 403, PRIVILEGED),
    (_CREATE, {"HostConfig": {"NetworkMode": "sagemaker", "Binds": ["/etc:/x:ro"]}}, 403, f"{BIND}: /etc"),
    (
        _CREATE,
        {"HostConfig": {"NetworkMode": "sagemaker", "Mounts": [{"Type": "bind", "Source": "/etc", "Target": "/x"}]}},
        403,
        f"{BIND}: /etc",
    ),
    (_CREATE, {"HostConfig": {"NetworkMode": "sagemaker", "CapAdd": ["ALL"]}}, 403, f"{UNKNOWN}CapAdd"),
    ("POST /v1.41/volumes/create", {"Name": "x", "DriverOpts": {"type": "tmpfs"}}, 403, NOT_ALLOWED),
    ("POST /v1.41/build", None, 403, BUILD),
    ("POST /v1.41/build?networkmode=host", None, 403, BUILD),
]


def ask(socket_path: Path, call: str, document: Any) -> tuple[int, str]:
    method, _, path = call.partition(" ")
    connection = HTTPConnection("engine")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(socket_path))
    connection.request(method, path, body=None if document is None else json.dumps(document))
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_what_is_not_known_to_be_allowed_is_refused(place: StudioPlace) -> None:
    for call, document, status, reason in _REFUSED:
        body = json.dumps({"message": reason}) if reason else ""
        assert ask(place.engine.path, call, document) == (status, body), call
    assert [each.status for each in place.engine.refused] == [status for _, _, status, _ in _REFUSED]
    assert place.engine.calls == []


def test_a_container_shares_the_network_of_the_place(
    place: StudioPlace, image: Callable[[str | Path], str], tmp_path: Path
) -> None:
    """The docker command works through it, with streams in both directions and builds, if it is told the version."""
    (place.home / "data").mkdir()
    listener = place.begin("python3", "-c", _LISTEN)
    assert listener.stdout is not None
    port = listener.stdout.readline().strip()

    def docker(*arguments: str, said: str = "") -> str:
        environment = {**os.environ, "DOCKER_HOST": f"unix://{place.engine.path}", "DOCKER_API_VERSION": "1.41"}
        environment["DOCKER_BUILDKIT"] = "0"
        done = subprocess.run(
            ["docker", *arguments], input=said, capture_output=True, text=True, env=environment, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    (tmp_path / "Dockerfile").write_text(f"FROM {image('sh')}\nRUN nc 127.0.0.1 {port} > /built\n")
    built = docker("build", "--quiet", "--network", "sagemaker", str(tmp_path)).strip()
    script = f"cat > /data/said; cat /built; nc 127.0.0.1 {port}"
    mounted = f"{place.home}/data:/data"
    run = ("run", "--rm", "--interactive", "--network", "sagemaker", "--volume", mounted, built, "sh", "-c", script)
    heard = docker(*run, said="to the container")

    assert heard == "from the place\n" * 2
    assert (place.home / "data" / "said").read_text() == "to the container"
    listener.communicate()
    docker("rmi", built)
    # Its pings have no version, and it goes on without an answer.
    assert {each.path for each in place.engine.refused} == {"/_ping"}
