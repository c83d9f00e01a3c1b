"""A folder of the docker command's own, made by the docker command, and TLS files."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Docker = Callable[..., None]


@pytest.fixture
def docker_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """DOCKER_CONFIG: an empty folder, and nothing else in the environment that says where the engine is."""
    for name in ("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "docker home"
    home.mkdir()
    monkeypatch.setenv("DOCKER_CONFIG", str(home))
    return home


@pytest.fixture
def run_docker(docker_home: Path) -> Docker:
    """Runs the docker command, which then writes to the folder."""

    def run(*arguments: str) -> None:
        subprocess.run(["docker", "--config", docker_home, *arguments], check=True, capture_output=True, timeout=60)

    return run


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    """ca.pem, cert.pem and key.pem for localhost, both of the engine and of its client."""
    folder = tmp_path / "certificates"
    folder.mkdir()
    subprocess.run(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
        " -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem",
        shell=True,
        cwd=folder,
        check=True,
        capture_output=True,
        timeout=60,
    )
    (folder / "ca.pem").write_bytes((folder / "cert.pem").read_bytes())
    return folder
