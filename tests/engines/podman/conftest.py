"""A Podman of the tests' own, in a network namespace of its own, that answers in Docker's API."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.kit.fixtures import IMAGES, ROOT, build_image

_NEEDED = ("/usr/bin/podman", "/usr/lib/podman/netavark", "/usr/lib/podman/aardvark-dns", "/usr/sbin/runc")


@pytest.fixture(scope="session")
def podman_address() -> Iterator[str]:
    """The address of the service; skipped where there is no Podman (scripts/test installs it)."""
    missing = [file for file in _NEEDED if not os.access(file, os.X_OK)]
    if missing or os.geteuid() != 0:
        pytest.skip(f"no Podman for these tests: {', '.join(missing) or 'they run as root only'}")
    # A short path: a socket's may have 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="smlocal-podman-"))
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["unshare", "--net", ROOT / "scripts" / "podman", folder],
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    address = f"unix://{folder}/podman.sock"
    try:
        for _ in range(600):
            if not subprocess.run(["docker", "-H", address, "version"], capture_output=True, check=False).returncode:
                break
            time.sleep(0.1)
        else:
            pytest.fail(log.read_text()[-2000:])
        yield address
    finally:
        _end_network_of(process)
        process.wait()
        subprocess.run(["bash", "-c", ". scripts/lib/setup.sh; forget_name_server"], cwd=ROOT, check=True, timeout=60)
        for line in reversed(Path("/proc/mounts").read_text().splitlines()):
            if str(folder) in (path := line.split()[1]):
                subprocess.run(["umount", "--lazy", path], check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


def _end_network_of(service: "subprocess.Popen[bytes]") -> None:
    """End the service, and the name server that it has started and would leave to itself."""
    if service.poll() is not None:
        return
    network = os.readlink(f"/proc/{service.pid}/ns/net")
    if network == os.readlink("/proc/self/ns/net"):  # it did not come as far as to have one
        service.terminate()
        return
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.readlink(process / "ns" / "net") == network:
                os.kill(int(process.name), signal.SIGTERM)


@pytest.fixture(scope="session")
def podman_images(podman_address: str) -> Callable[[str | Path], str]:
    """As `image`, for the Podman: built once by the engine of all tests, and brought over."""
    there: set[str] = set()

    def make(folder: str | Path) -> str:
        tag = build_image(IMAGES / folder)
        if tag not in there:
            saved = subprocess.run(["docker", "save", tag], capture_output=True, check=True).stdout
            subprocess.run(["docker", "-H", podman_address, "load"], input=saved, capture_output=True, check=True)
            there.add(tag)
        return tag

    return make


@pytest.fixture
def image(podman_images: Callable[[str | Path], str], monkeypatch: pytest.MonkeyPatch) -> Callable[[str | Path], str]:
    """As for all tests, with images that the Podman has."""

    def make(folder: str | Path) -> str:
        with monkeypatch.context() as elsewhere:
            elsewhere.delenv("DOCKER_HOST")
            return podman_images(folder)

    return make


@pytest.fixture(autouse=True)
def on_podman(podman_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of a test here, smlocal and docker alike, goes to the Podman."""
    monkeypatch.setenv("DOCKER_HOST", podman_address)
