"""A socket's other end, as the kernel tells it."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smlocal.engine.docker import DockerEngine
from smlocal.engine.endpoint import EngineAddress
from smlocal.engine.engine_facts import has_our_mounts, is_owned_by_root, is_rootless_podman, socket_identity

pytestmark = pytest.mark.linux("only Linux tells who listens at a socket; elsewhere an engine is in a virtual machine")
NOBODY = 65534
_LISTEN = """
import os, socket, sys
path, name, user = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
os.chmod(path, 0o777)
with open("/proc/self/comm", "w") as file:
    file.write(name)
if int(user) != os.getuid():
    os.setuid(int(user))
listener.listen()
print("ready", flush=True)
while True:
    with listener.accept()[0] as connection:
        asked = connection.recv(65536)
        if asked.startswith(b"GET /_ping "):
            connection.sendall(
                b"HTTP/1.1 200 OK\\r\\nApi-Version: 1.41\\r\\nLibpod-Api-Version: 5.4.2\\r\\n"
                b"Server: Libpod/5.4.2 (linux)\\r\\nContent-Length: 2\\r\\n\\r\\nOK"
            )
        elif asked:
            sys.exit("asked for more")
"""
Listen = Callable[..., EngineAddress]


@pytest.fixture
def listen(tmp_path: Path) -> Iterator[Listen]:
    processes: list[subprocess.Popen[str]] = []

    def start(name: str, user: int, *before: str) -> EngineAddress:
        path = str(tmp_path / f"{len(processes)}.sock")
        process = subprocess.Popen(
            [*before, sys.executable, "-c", _LISTEN, path, name, str(user)],
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return EngineAddress(address=f"unix://{path}", path=path)

    yield start
    for process in processes:
        assert process.poll() is None  # it was asked for nothing but a greeting
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("name", "own"), [("podman", True), ("systemd", True), ("gvproxy", False), ("ssh", False), ("podmans", False)]
)
def test_the_podman_of_a_user(listen: Listen, name: str, own: bool) -> None:
    user = os.getuid() or NOBODY
    assert is_rootless_podman(listen(name, user)) is own


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_the_podman_of_root_is_none_of_them(listen: Listen) -> None:
    endpoint = listen("podman", 0)
    assert not is_rootless_podman(endpoint)
    assert is_owned_by_root(endpoint)
    os.chown(endpoint.path, NOBODY, NOBODY)
    assert not is_rootless_podman(endpoint)
    assert not is_owned_by_root(endpoint)


def test_the_podman_of_a_user_is_asked_for_a_greeting_alone(listen: Listen) -> None:
    facts = DockerEngine(listen("podman", os.getuid() or NOBODY)).facts()
    assert (facts.product, facts.version, facts.rootless, facts.local, facts.desktop) == (
        "podman",
        "5.4.2",
        True,
        True,
        False,
    )


def test_where_nobody_listens(tmp_path: Path) -> None:
    for endpoint in (
        EngineAddress(address="unix:///none", path=str(tmp_path / "none")),
        EngineAddress(address="tcp://127.0.0.1:1", host="127.0.0.1", port=1),
    ):
        assert not is_rootless_podman(endpoint)
        assert not is_owned_by_root(endpoint)
        assert not has_our_mounts(endpoint)
        assert socket_identity(endpoint) == ""


def test_a_socket_that_is_made_again_is_another_one(listen: Listen) -> None:
    endpoint = listen("podman", os.getuid())
    first = socket_identity(endpoint)
    assert first == socket_identity(endpoint)
    Path(endpoint.path).rename(f"{endpoint.path}.old")
    with socket.socket(socket.AF_UNIX) as second:
        second.bind(endpoint.path)
        assert socket_identity(endpoint) not in {"", first}


def test_a_process_beside_this_one_has_its_mounts(listen: Listen) -> None:
    assert has_our_mounts(listen("dockerd", os.getuid()))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_process_in_a_mount_namespace_of_its_own(listen: Listen) -> None:
    assert not has_our_mounts(listen("any", 0, "unshare", "--mount"))
    # A user's own engine is in a copy of this namespace and sees what is mounted later.
    slave = ("unshare", "--mount", "--propagation", "slave")
    assert has_our_mounts(listen("dockerd", NOBODY, *slave))
    # Another program of a user's passes on the socket of a virtual machine, whose kernel may be the same.
    for own in ((), slave):
        assert not has_our_mounts(listen("limactl", NOBODY, *own))
