"""Jobs that reach what runs beside them: on a network of the engine, and on this machine."""

import secrets
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.kit import until
from tests.kit.jobs import Ran

from smlocal.engine.containers import idle_spec
from smlocal.engine.engines import connect
from smlocal.engine.interface import JOB_LABEL
from smlocal.errors import EngineError

RunJob = Callable[..., Ran]
ASKS = "import urllib.request; print(urllib.request.urlopen('http://{}:{}/', timeout=60).read().decode())"
ANSWERS = """
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'from the service')
server = HTTPServer(('', 8000), Handler)
print('listening', flush=True)
server.serve_forever()
"""
WORDS = b"from this machine"


@pytest.fixture
def network(docker: Callable[..., str], image: Callable[[str], str]) -> Iterator[str]:
    """A network with a service that is called `mlflow` there, as docker compose makes them."""
    name = f"joined-{secrets.token_hex(4)}"
    docker("network", "create", name)
    try:
        service = ("--network", name, "--network-alias", "mlflow", "-e", f"SCRIPT={ANSWERS}", image("py"), "train")
        docker("run", "-d", "--name", name, *service)
        until(lambda: "listening" in docker("logs", name))
        yield name
        docker("rm", "-f", "-v", name)
    finally:
        docker("network", "rm", name)


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a service of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(WORDS)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield server.server_port
        server.shutdown()


@pytest.mark.parametrize("hosts", [1, 2])
@pytest.mark.slow(4)
def test_a_service_of_another_network_is_reached_by_its_name(
    run_job: RunJob, network: str, hosts: int, docker: Callable[..., str]
) -> None:
    resources = {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": hosts}}
    ran = run_job([], ASKS.format("mlflow", 8000), runs="py", flags=["--network", network], **resources)
    assert ran.exit == 0, ran.stderr
    for number in range(1, hosts + 1):
        assert "from the service" in ran.log(f"algo-{number}")
    assert "networks-joined" in ran.notes
    assert network in docker("network", "ls", "--format", "{{.Name}}").split()


@pytest.mark.slow(4)
def test_a_service_of_this_machine_is_reached_by_a_name(run_job: RunJob, port: int) -> None:
    script = ASKS.format("host.docker.internal", port)
    ran = run_job([], script, runs="py", flags=["--add-host", "host.docker.internal=host-gateway"])
    assert ran.exit == 0, ran.stderr
    assert WORDS.decode() in ran.log()
    assert "hosts-added" in ran.notes


ON_THE_HOST = """
import socket, urllib.request
print(urllib.request.urlopen('http://127.0.0.1:{}/', timeout=60).read().decode())
print('algo-1 is', socket.gethostbyname('algo-1'))
"""


@pytest.mark.slow(4)
def test_a_job_on_the_network_of_this_machine(run_job: RunJob, port: int) -> None:
    ran = run_job([], ON_THE_HOST.format(port), runs="py", flags=["--host-network"])
    assert ran.exit == 0, ran.stderr
    lines = ran.log().splitlines()
    assert lines[:2] == [WORDS.decode(), "algo-1 is 127.0.0.1"]
    assert "host-network" in ran.notes


@pytest.mark.slow(4)
def test_the_script_of_such_a_job_does_the_same(
    job_file: Callable[..., Path], smlocal_run: Callable[..., Any], port: int, tmp_path: Path
) -> None:
    path = job_file([], ON_THE_HOST.format(port), runs="py", local={"Network": "host"})
    script = smlocal_run("plan", path, "--script", check=True, cwd=tmp_path).stdout
    done = subprocess.run(["bash", "-s"], input=script, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == [WORDS.decode(), "algo-1 is 127.0.0.1"]


HOST_NETWORK_REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "hosts": (
        {},
        {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2}},
        ["with 2 hosts: they would share all ports", "--network NAME", "[host-network]"],
    ),
    "networks": ({"Networks": ["none"]}, {}, ["with Local.Networks: a container on that network", "[host-network]"]),
    "debugger": ({"DebugPort": 5678}, {}, ["with Local.DebugPort: everybody who reaches", "[host-network]"]),
    "credentials": ({"Credentials": "inherit"}, {}, ["with Local.Credentials: they are given to", "[host-network]"]),
    "isolation": ({}, {"EnableNetworkIsolation": True}, ["Local.Network and EnableNetworkIsolation", "[isolated-job]"]),
    "another": ({"Network": "bridge"}, {}, ["is 'bridge' and must be host", "Local.Networks (--network)"]),
}


@pytest.mark.parametrize("case", HOST_NETWORK_REFUSED)
def test_what_the_network_of_this_machine_cannot_have_is_refused(
    case: str, job_file: Callable[..., Path], smlocal_run: Callable[..., Any]
) -> None:
    local, request, said = HOST_NETWORK_REFUSED[case]
    done = smlocal_run("plan", job_file([], "true", local={"Network": "host", **local}, **request))
    assert done.returncode == 2
    for each in said:
        assert each in done.stderr


def test_a_network_that_is_not_there_is_refused_before_the_job_is_made(
    job_file: Callable[..., Path], smlocal_run: Callable[..., Any]
) -> None:
    for name in ("joined-absent", "host", "bridge"):
        done = smlocal_run("run", job_file([], "true", local={"Networks": [name]}))
        assert done.returncode == 3
        assert f"has no network '{name}' that a job can join" in done.stderr
        assert "docker compose up -d" in done.stderr
    assert '"TrainingJobSummaries": []' in smlocal_run("jobs", "--json").stdout


@pytest.mark.slow(4)
def test_the_script_of_a_job_joins_the_network_too(
    job_file: Callable[..., Path], smlocal_run: Callable[..., Any], network: str, tmp_path: Path
) -> None:
    path = job_file([], ASKS.format("mlflow", 8000), runs="py")
    script = smlocal_run("plan", path, "--network", network, "--script", check=True, cwd=tmp_path).stdout
    done = subprocess.run(["bash", "-s"], input=script, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "from the service" in done.stdout


def test_a_container_that_cannot_join_is_not_left(image: Callable[[str], str]) -> None:
    engine, job = connect(), f"joined-{secrets.token_hex(4)}"
    spec = replace(idle_spec(image("sh"), {JOB_LABEL: job}, name=job), joined=("host",))
    with pytest.raises(EngineError, match="host"):
        engine.create(spec)
    assert engine.owned(job) == []
