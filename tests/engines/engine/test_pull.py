"""A real engine pulling from a registry of our own: one that gives, one that refuses, one that is not there."""

import base64
import gzip
import hashlib
import json
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from smlocal.engine.docker import DockerEngine
from smlocal.engine.interface import PullState, RegistryLogin
from smlocal.errors import EngineError, ImagePullError, RegistryUnreachableError
from smlocal.errors.of_jobs import DiskTooSmallError

GZIP = b"\x1f\x8b"
MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"


class Registry(ThreadingHTTPServer):
    """Serves what is put into it; `login` makes it ask for one, `status` makes it answer with nothing else."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content: dict[str, tuple[str, bytes]] = {}
        self.digest = ""
        self.login: str | None = None
        self.status = 0
        self.endless = 0
        """If not 0, the size of each layer, of which only a part comes: a test that fails must fill no disk."""
        self.host = f"127.0.0.1:{self.server_address[1]}"

    def put(self, repository: str, tag: str, config: bytes, layer: bytes) -> str:
        packed = gzip.compress(layer)
        manifest = json.dumps(
            {
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "config": self._blob(repository, "application/vnd.docker.container.image.v1+json", config),
                "layers": [self._blob(repository, "application/vnd.docker.image.rootfs.diff.tar.gzip", packed)],
            }
        ).encode()
        digest = f"sha256:{hashlib.sha256(manifest).hexdigest()}"
        for name in (tag, digest):
            self.content[f"/v2/{repository}/manifests/{name}"] = (MANIFEST, manifest)
        return digest

    def _blob(self, repository: str, kind: str, data: bytes) -> dict[str, Any]:
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        self.content[f"/v2/{repository}/blobs/{digest}"] = ("application/octet-stream", data)
        return {"mediaType": kind, "size": len(data), "digest": digest}


class Handler(BaseHTTPRequestHandler):
    server: Registry
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's name
        pass

    def do_GET(self) -> None:
        if self.server.status:
            return self._send(self.server.status, "text/plain", b"not today")
        if self.server.login and self.headers.get("Authorization") != f"Basic {self.server.login}":
            return self._send(401, "application/json", _errors("UNAUTHORIZED", "authentication required"))
        if self.path == "/v2/":
            return self._send(200, "application/json", b"{}")
        if self.path in self.server.content:
            kind, data = self.server.content[self.path]
            if self.server.endless and self.command == "GET" and data.startswith(GZIP):
                return self._send_endlessly()
            return self._send(200, kind, data)
        return self._send(404, "application/json", _errors("MANIFEST_UNKNOWN", "manifest unknown"))

    do_HEAD = do_GET  # noqa: N815  the base class's name

    def _send_endlessly(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(self.server.endless))
        self.end_headers()
        with suppress(OSError):  # the engine hangs up
            for _ in range(1 << 14):
                self.wfile.write(bytes(1 << 16))

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Docker-Content-Digest", f"sha256:{hashlib.sha256(data).hexdigest()}")
        if status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="stub"')
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)


def _errors(code: str, message: str) -> bytes:
    return json.dumps({"errors": [{"code": code, "message": message}]}).encode()


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Registry]:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    with Registry() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def published(registry: Registry, image_parts: Callable[..., tuple[bytes, bytes]]) -> Iterator[str]:
    registry.digest = registry.put("team/held", "v1", *image_parts("amd64", Cmd=["pulled"]))
    name = f"{registry.host}/team/held:v1"
    yield name
    subprocess.run(["docker", "rmi", "-f", name], check=False, capture_output=True)


def test_a_pull_brings_the_image_and_tells_of_progress(engine: DockerEngine, published: str) -> None:
    lines: list[str] = []
    assert engine.image(published) is None
    states: list[PullState] = []
    engine.pull(published, None, lines.append, states.append)
    facts = engine.image(published)
    assert facts is not None
    assert facts.command == ("pulled",)
    assert states[0].layers == 0
    assert states[-1].layers == states[-1].total_layers == 1
    assert states[-1].bytes == states[-1].total_bytes
    assert any("Downloaded newer image" in line for line in lines)


def test_an_image_that_is_larger_than_the_disk_is_not_pulled(engine: DockerEngine, registry: Registry) -> None:
    """The registry says how large a layer is when it begins to send it."""
    if engine.disk_room() is None:
        pytest.skip("this engine has other mounts than the tests: nobody knows how much room its disk has")
    registry.put("team/huge", "v1", b'{"rootfs":{"type":"layers","diff_ids":["sha256:00"]}}', b"layer")
    registry.endless = 1 << 50
    with pytest.raises(DiskTooSmallError, match=r"has at least 1024\.0 TiB, compressed, and .* are free at /"):
        engine.pull(f"{registry.host}/team/huge:v1", None, lambda _: None)


def test_a_pull_by_digest(engine: DockerEngine, registry: Registry, published: str) -> None:
    name = f"{registry.host}/team/held@{registry.digest}"
    engine.pull(name, None, lambda _: None)
    facts = engine.image(name)
    assert facts is not None
    subprocess.run(["docker", "rmi", "-f", facts.id], check=True, capture_output=True)
    assert engine.image(published) is None


def test_a_registry_without_the_image_refuses(engine: DockerEngine, registry: Registry) -> None:
    for name in (f"{registry.host}/team/never", f"{registry.host}/team/never:v9"):
        with pytest.raises(ImagePullError, match=r"manifest .*unknown|not found") as caught:
            engine.pull(name, None, lambda _: None)
        assert caught.value.exit_code == 1


def test_a_registry_that_wants_a_login_refuses_without(
    engine: DockerEngine, registry: Registry, published: str
) -> None:
    registry.login = "bm9ib2R5Om5vdGhpbmc="
    for login in (None, RegistryLogin(username="u", password="wrong", server=registry.host)):
        with pytest.raises(ImagePullError, match=r"no basic auth credentials|unauthorized|authentication required"):
            engine.pull(published, login, lambda _: None)


def test_a_login_is_shown_to_the_registry(engine: DockerEngine, registry: Registry, published: str) -> None:
    registry.login = base64.b64encode("AWS:s3cret/+é".encode()).decode()
    engine.pull(published, RegistryLogin(username="AWS", password="s3cret/+é", server=registry.host), lambda _: None)
    assert engine.image(published) is not None


def test_a_login_saved_by_the_docker_command_is_used(
    engine: DockerEngine, registry: Registry, published: str, tmp_path: Path
) -> None:
    registry.login = base64.b64encode(b"me:mine").decode()
    (tmp_path / "config.json").write_text(json.dumps({"auths": {registry.host: {"auth": registry.login}}}))
    engine.pull(published, None, lambda _: None)
    assert engine.image(published) is not None


def test_a_login_from_a_credential_helper_is_used(
    engine: DockerEngine,
    registry: Registry,
    published: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registry.login = base64.b64encode(b"helped:out").decode()
    helper = tmp_path / "docker-credential-smlocaltest"
    helper.write_text(
        '#!/bin/sh\nread server\ntest "$1" = get || exit 1\n'
        'printf \'{"ServerURL":"%s","Username":"helped","Secret":"out"}\' "$server"\n'
    )
    helper.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (tmp_path / "config.json").write_text(json.dumps({"credHelpers": {registry.host: "smlocaltest"}}))
    engine.pull(published, None, lambda _: None)
    assert engine.image(published) is not None


def test_a_credential_helper_that_fails_is_told_and_the_pull_goes_on_without(
    engine: DockerEngine, published: str, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text('{"credsStore": "smlocal-never-made"}')
    lines: list[str] = []
    engine.pull(published, None, lines.append)
    assert engine.image(published) is not None
    assert "docker-credential-smlocal-never-made is not installed" in lines[0]


def test_a_registry_that_is_down_is_not_a_refusal(engine: DockerEngine, registry: Registry) -> None:
    registry.status = 503
    with pytest.raises(RegistryUnreachableError) as caught:
        engine.pull(f"{registry.host}/team/held:v1", None, lambda _: None)
    assert caught.value.exit_code == 3


def test_no_registry_listens(engine: DockerEngine) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        name = f"127.0.0.1:{closed.getsockname()[1]}/x:1"
        with pytest.raises(RegistryUnreachableError) as caught:
            engine.pull(name, None, lambda _: None)
    assert caught.value.sentence.startswith(f"image {name} is not available locally, and its registry 127.0.0.1:")
    assert "connection refused" in caught.value.details[0]
    assert f"docker build -t {name} ." in caught.value.remedy[0]


def test_a_registry_whose_name_does_not_resolve(engine: DockerEngine) -> None:
    with pytest.raises(RegistryUnreachableError, match=r"registry smlocal-test\.invalid is unreachable"):
        engine.pull("smlocal-test.invalid/x", None, lambda _: None)


def test_a_damaged_layer_is_an_error(engine: DockerEngine, registry: Registry, published: str) -> None:
    for path, (kind, data) in list(registry.content.items()):
        if "/blobs/" in path:
            registry.content[path] = (kind, data[:-1] + b"\x00")
    with pytest.raises(EngineError):
        engine.pull(published, None, lambda _: None)
    assert engine.image(published) is None
