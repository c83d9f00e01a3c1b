"""Shared parts of tests on a real engine: images made without a registry, the command, and a look at leftovers."""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import datetime
from functools import cache
from http import HTTPStatus
from http.client import HTTPConnection
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.kit import until
from tests.kit.forked import run_smlocal
from tests.kit.known_engine import KnownEngine
from tests.kit.needs_root import why_skipped
from tests.kit.own_engine import OwnEngine
from tests.kit.podman_differs import DIFFERS_ON_PODMAN, DIFFERS_ON_PODMAN_5, MOSTLY_OF_NONE, NOT_OF_AN_ENGINE
from tests.kit.s3_servers import S3Server, S3Servers

from smlocal.engine.docker import MISCOUNTED
from smlocal.engine.engines import connect

ROOT = Path(__file__).parents[2]
IMAGES = Path(__file__).with_name("images")

_FROM_OUTSIDE = ("SMLOCAL_", "AWS_", "NO_COLOR", "FORCE_COLOR")
_IMAGE_SECONDS = 1800.0
_MACHINE_LACKS = 3
"""The exit status of a script that cannot do something on this machine, such as become root."""
_BEGAN = int(time.time())
_MOUNTS = Path("/proc/mounts")
_MOUNTED = frozenset(
    _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines() if _MOUNTS.exists() else ()
)
"""Before the first test: what killed runs have left, and what is none of the tests' business."""
_KINDS = (("containers", "/containers/json?all=true&"), ("volumes", "/volumes?"), ("networks", "/networks?"))


@cache
def build_image(folder: Path) -> str:
    """Have the image in this folder on the engine, built only when its content is new; returns its tag."""
    with clock_stopped():
        built = subprocess.run(
            [ROOT / "scripts" / "image", folder], capture_output=True, text=True, check=False, timeout=_IMAGE_SECONDS
        )
    sys.stderr.write(built.stderr)
    if built.returncode == _MACHINE_LACKS and os.geteuid() != 0:
        pytest.skip(built.stderr.strip())
    assert built.returncode == 0, built.stderr
    return built.stdout.strip()


@contextmanager
def clock_stopped() -> Iterator[None]:
    """Stop the clock of the test's time limit: on a new machine, images take minutes and tests wait for each other."""
    left = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *left)


def run_docker(*arguments: str) -> str:
    """Run the docker client and return what it prints; a failure shows what it said."""
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"docker {' '.join(arguments)}: {done.stderr}"
    return done.stdout


def gateway(docker: Callable[..., str] = run_docker) -> str:
    """This machine, as containers see it; a dockerd that has started for the first time leaves it out of its answer."""
    (found,) = json.loads(docker("network", "inspect", "bridge"))
    config = found["IPAM"]["Config"][0]
    return str(config.get("Gateway") or ip_network(config["Subnet"])[1])


def unused_subnet(within: str) -> str:
    """Room for one network of a job that nothing has on this engine, not even what a killed run has left there."""
    taken = {ip_network(each) for network in connect().networks() for each in network.subnets}
    free = [each for each in ip_network(within).subnets(new_prefix=29) if each not in taken]
    return str(random.choice(free))


def touch_inside(path: Path) -> None:
    """Make a file in a folder of a job, once that is there.

    While the container runs, it belongs to root, whichever user runs it.
    """
    until(lambda: os.path.isdir(path.parent))
    try:
        path.touch()
    except PermissionError:
        touch = ("--entrypoint", "touch", build_image(IMAGES / "sh"), f"/there/{path.name}")
        run_docker("run", "--rm", "--volume", f"{path.parent}:/there", *touch)


class _Engine(HTTPConnection):
    """The engine itself: three starts of its client at the end of each test were a minute of the whole suite."""

    def connect(self) -> None:
        scheme, _, place = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").partition("://")
        if scheme == "unix":
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect(place)
        else:
            host, _, port = place.partition(":")
            self.sock = socket.create_connection((host, int(port)))

    def ask(self, path: str) -> Any:
        self.request("GET", path)
        answer = self.getresponse()
        text = answer.read()
        assert answer.status == HTTPStatus.OK, text
        return json.loads(text)

    def miscounts(self, network: str) -> bool:
        """True for a network that Docker keeps by mistake (`engine.docker.MISCOUNTED`)."""
        self.request("DELETE", f"/networks/{network}")
        answer = self.getresponse()
        refused = b"active endpoints" in answer.read()
        return refused and not self.ask(f"/networks/{network}")["Containers"]


def leftovers(answer: Mapping[str, Any]) -> list[str]:
    """The leftovers that a job reports, without networks that Docker keeps by mistake."""
    return [left for left in answer["Local"]["Leftovers"] if MISCOUNTED not in left]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what this user cannot run. On Podman, leave out what differs there, and what has nothing to do with it."""
    for item in items:
        if why := why_skipped(item.nodeid.removeprefix("tests/")):
            item.add_marker(pytest.mark.skip(reason=why))
    if "DOCKER_HOST" not in os.environ or not any(item.get_closest_marker("engine") for item in items):
        return
    with closing(_Engine("engine")) as engine:
        engine.request("GET", "/_ping")
        server = engine.getresponse().headers.get("Server", "")
        if not server.startswith("Libpod/"):
            return
    older = server.startswith(("Libpod/3.", "Libpod/4."))
    differs = DIFFERS_ON_PODMAN if older else {**DIFFERS_ON_PODMAN, **DIFFERS_ON_PODMAN_5}
    apart = []
    for item in items:
        path = item.nodeid.removeprefix("tests/")
        asks = set(getattr(item, "fixturenames", ()))
        alone = path.startswith(MOSTLY_OF_NONE) and not asks & {"docker", "image"}
        if path.startswith(NOT_OF_AN_ENGINE) or "own_engine" in asks or alone:
            apart.append(item)
        for begin, why in differs.items():
            if path.startswith(begin):
                item.add_marker(pytest.mark.skip(reason=why))
    items[:] = [item for item in items if item not in apart]
    config.hook.pytest_deselected(items=apart)


def left_of(job: str) -> list[str]:
    """Everything of this job that is on the engine or mounted, without what earlier runs of the tests have left."""
    left = []
    filters = quote(json.dumps({"label": [f"smlocal.job={job}"]}))
    with closing(_Engine("engine")) as engine:
        for kind, path in _KINDS:
            found = engine.ask(f"{path}filters={filters}")
            named = (found["Volumes"] or ()) if isinstance(found, dict) else found
            ids = [each.get("Id") or each["Name"] for each in named if _created(each) >= _BEGAN]
            left += [f"{kind}: {each}" for each in ids if kind != "networks" or not engine.miscounts(each)]
    mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    # Volumes of the job's, and what is mounted in its folder or on it. The id of the run tells `name` from `name-2`.
    own = re.compile(rf"smlocal-{re.escape(job)}-[0-9a-f]{{8}}-|/{re.escape(job)}[/ ]")
    return left + [f"mounted: {line}" for line in mounts if own.search(line) and line not in _MOUNTED]


def _created(document: Mapping[str, Any]) -> float:
    when = document.get("CreatedAt") or document["Created"]
    return float(when) if isinstance(when, int) else datetime.fromisoformat(when).timestamp()


@pytest.fixture(scope="session")
def docker() -> Callable[..., str]:
    return run_docker


@pytest.fixture(scope="session")
def image() -> Callable[[str | Path], str]:
    """Builds `tests/kit/images/<name>/`, or any folder, and returns the tag."""

    def make(folder: str | Path) -> str:
        return build_image(IMAGES / folder)

    return make


@pytest.fixture(scope="session")
def known_engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> KnownEngine:
    base = tmp_path_factory.getbasetemp()
    return KnownEngine((base.parent if hasattr(request.config, "workerinput") else base) / "known-engine")


@pytest.fixture
def smlocal_home(tmp_path: Path, claim_names: Callable[[Path], None], known_engine: KnownEngine) -> Iterator[Path]:
    """Where the jobs of this test are remembered. It knows the engine, as the home of somebody who has had a job."""
    home = tmp_path / "home"
    known_engine.give(home)
    yield home
    known_engine.learn(home)
    claim_names(home)


@pytest.fixture
def new_home(smlocal_home: Path) -> Path:
    """The same before the first job, for tests of what that one finds out."""
    shutil.rmtree(smlocal_home, ignore_errors=True)
    return smlocal_home


@pytest.fixture
def smlocal_run(smlocal_home: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `smlocal <arguments>` as a process of its own, away from the settings of the user who runs the tests."""

    def run(
        *arguments: str | Path, env: Mapping[str, str] | None = None, check: bool = False, **more: Any
    ) -> subprocess.CompletedProcess[str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(_FROM_OUTSIDE)}
        environment = {**kept, "SMLOCAL_HOME": str(smlocal_home), **(env or {})}
        done = run_smlocal(arguments, environment=environment, **more)
        if check:
            done.check_returncode()
        return done

    return run


@pytest.fixture(scope="session")
def assert_nothing_left() -> Callable[[str], None]:
    """Fails when anything that carries the job's label is on the engine, or anything of it is mounted."""

    def check(job: str) -> None:
        left = left_of(job)
        assert not left, f"the job {job} left:\n" + "\n".join(left)

    return check


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", str(disk)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"cannot mount here: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.fixture
def own_engine() -> Iterator[OwnEngine]:
    if os.geteuid() != 0:
        pytest.skip("only root can start a dockerd")
    engine = OwnEngine()
    try:
        engine.start()
        yield engine
    finally:
        engine.close()


@pytest.fixture(scope="session")
def s3_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Servers]:
    """`s3_servers("rclone")`: that one server, for a test that needs no other."""
    servers = S3Servers(tmp_path_factory.mktemp("s3"))
    try:
        yield servers
    finally:
        servers.close()


@pytest.fixture
def s3(request: pytest.FixtureRequest, s3_servers: S3Servers) -> S3Server:
    """A real S3 server; a test makes buckets of its own with `s3.make_bucket()`.

    It is rclone's. Tests of what that one cannot do take moto (`ON_MOTO`), and those of our client itself, in `s3` and
    `sources`, run on each of the two.
    """
    server = s3_servers(getattr(request, "param", "rclone"))
    server.forget()
    return server
