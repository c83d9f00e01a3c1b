"""A real engine, a tiny image, and a job label by which everything is removed again."""

import fcntl
import hashlib
import io
import json
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from smlocal.engine.docker import DockerEngine
from smlocal.engine.engines import connect
from smlocal.engine.interface import JOB_LABEL, ContainerSpec, Resource, ResourceKind

CACHE = Path(__file__).parents[3] / ".cache" / "engine-tests"
IMAGE = "smlocal-test-engine:1"
APPLETS = "sh ls cat sleep echo true kill id stat mkdir seq yes head wc nslookup hostname touch env test dd chmod grep"


@contextmanager
def taking_turns() -> Iterator[None]:
    """Other processes may run tests beside this one, and want the same image."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def root() -> Path:
    """The image's file system: a static busybox and nothing else."""
    root = CACHE / "root"
    with taking_turns():
        if not (root / "bin" / "busybox").exists():
            folder_of_image = Path(__file__).parents[2] / "kit" / "images" / "sh"
            base = _said(str(folder_of_image.parents[3] / "scripts" / "image"), str(folder_of_image))
            container = _said("docker", "create", base)
            _said("docker", "cp", f"{container}:/bin/busybox", str(CACHE / "busybox"))
            _said("docker", "rm", container)
            for folder in ("bin", "tmp", "etc"):
                (root / folder).mkdir(parents=True, exist_ok=True)
            for applet in APPLETS.split():
                (root / "bin" / applet).symlink_to("busybox")
            (CACHE / "busybox").rename(root / "bin" / "busybox")
    return root


def _said(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="session")
def import_image(root: Path) -> Iterator[Callable[..., str]]:
    made: list[str] = []

    def make(name: str, *changes: str) -> str:
        packed = subprocess.run(["tar", "-C", str(root), "-c", "."], check=True, capture_output=True).stdout
        options = [option for change in changes for option in ("-c", change)]
        subprocess.run(["docker", "import", *options, "-", name], input=packed, check=True, capture_output=True)
        made.append(name)
        return name

    yield make
    for name in set(made) - {IMAGE}:  # that one is kept for the next time
        subprocess.run(["docker", "rmi", "-f", name], check=True, capture_output=True)


def write_tar(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


@pytest.fixture(scope="session")
def tar_of() -> Callable[[dict[str, bytes]], bytes]:
    return write_tar


@pytest.fixture(scope="session")
def image_parts() -> Callable[..., tuple[bytes, bytes]]:
    """An image's configuration and its only layer, as registries and `docker load` want them."""

    def make(architecture: str, **config: Any) -> tuple[bytes, bytes]:
        layer = write_tar({"hello": uuid4().hex.encode()})
        diff = f"sha256:{hashlib.sha256(layer).hexdigest()}"
        document = {
            "architecture": architecture,
            "os": "linux",
            "config": config,
            "rootfs": {"type": "layers", "diff_ids": [diff]},
            "history": [{"created_by": "test"}],
        }
        return json.dumps(document).encode(), layer

    return make


@pytest.fixture
def load_image(image_parts: Callable[..., tuple[bytes, bytes]]) -> Iterator[Callable[..., str]]:
    names: list[str] = []

    def load(architecture: str, **config: Any) -> str:
        names.append(f"smlocal-test-engine:{uuid4().hex[:8]}")
        document, layer = image_parts(architecture, **config)
        manifest = json.dumps([{"Config": "config.json", "RepoTags": names[-1:], "Layers": ["layer.tar"]}]).encode()
        packed = write_tar({"config.json": document, "layer.tar": layer, "manifest.json": manifest})
        subprocess.run(["docker", "load"], input=packed, check=True, capture_output=True)
        return names[-1]

    yield load
    for name in names:
        subprocess.run(["docker", "rmi", "-f", name], check=True, capture_output=True)


@pytest.fixture(scope="session")
def image(import_image: Callable[..., str]) -> str:
    with taking_turns():
        if subprocess.run(["docker", "image", "inspect", IMAGE], check=False, capture_output=True).returncode:
            import_image(IMAGE)
    return IMAGE


@pytest.fixture
def engine() -> DockerEngine:
    return connect()


@pytest.fixture
def job(engine: DockerEngine) -> Iterator[str]:
    name = f"engine-test-{uuid4().hex[:8]}"
    yield name
    for resource in engine.owned(name):
        engine.remove(resource)
    assert engine.owned(name) == []


@pytest.fixture
def spec(job: str, image: str) -> Callable[..., ContainerSpec]:
    def make(script: str = "true", **changes: object) -> ContainerSpec:
        values: dict[str, object] = {
            "name": f"{job}-{time.monotonic_ns()}",
            "image": image,
            "labels": {JOB_LABEL: job},
            "entrypoint": ("/bin/sh", "-c"),
            "command": (script,),
            "environment": {},
            "hostname": "algo-1",
        }
        return ContainerSpec(**{**values, **changes})  # type: ignore[arg-type]  # tests know their types

    return make


@pytest.fixture
def run(engine: DockerEngine, spec: Callable[..., ContainerSpec]) -> Callable[..., tuple[int, bytes]]:
    def whole(script: str = "true", **changes: object) -> tuple[int, bytes]:
        container = engine.create(spec(script, **changes))
        output = engine.attach(container)
        try:
            engine.start(container)
        except BaseException:
            output.close()
            raise
        written = b"".join(written.lines for written in output)
        code = engine.wait(container)
        engine.remove(Resource(kind=ResourceKind.CONTAINER, id=container))
        return code, written

    return whole
