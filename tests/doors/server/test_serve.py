"""The life of `smlocal serve`: killed, ended, doubled, without a disk or an engine, and its answers lost."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError
from tests.jobs.tuning.conftest import LOSS, WAIT, Tuning
from tests.kit.answer_shapes import client_of

from smlocal.engine.http import VARIABLE
from smlocal.jobs.store.jobs import Store

WAITS = "echo ready; until [ -e /opt/ml/output/go ]; do sleep 0.02; done"
_END_SECONDS = 60.0
"""It takes one or two; the rest is for a busy machine."""
PATIENT = """
import sys
from smlocal.cli.main import run_command_line
from smlocal.endpoint import http_server, serving
http_server._END_SECONDS = serving._END_SECONDS = 600.0
sys.exit(run_command_line(sys.argv[1:]))
"""
"""The same command, which would wait for ever for what does not end by itself."""
Clean = Callable[[str], None]


class Server:
    """`smlocal serve` as a process of its own."""

    def __init__(self, life: Any, *options: str, program: tuple[str, str] = ("-m", "smlocal")) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *program, "serve", "--port", "0", "--no-key", *options],
            env=life.environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        said = self.process.stderr.readline()
        found = re.search(r"http://\S+:(\d+)", said)
        assert found is not None, said + self.process.stderr.read()
        self.address, self.port = found[0], int(found[1])
        self.said = ""
        while (line := self.process.stderr.readline()).strip() != self.address:  # how it is used
            assert line
            self.said += line
        self._image = life.image

    def client(self, service: str = "sagemaker", **config: Any) -> Any:
        return client_of(self.address, service, **config)

    def create(self, name: str, script: str = "true", client: Any = None) -> None:
        (client or self.client()).create_training_job(**self.request(name, script))

    def request(self, name: str, script: str) -> dict[str, Any]:
        return {
            "TrainingJobName": name,
            "RoleArn": "arn:aws:iam::000000000000:role/any",
            "AlgorithmSpecification": {"TrainingImage": self._image, "TrainingInputMode": "File"},
            "Environment": {"SCRIPT": script},
            "OutputDataConfig": {"S3OutputPath": "s3://artifacts/models"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
            "StoppingCondition": {"MaxRuntimeInSeconds": 600},
        }

    def status(self, name: str) -> tuple[str, str]:
        answer = self.client().describe_training_job(TrainingJobName=name)
        return answer["TrainingJobStatus"], answer["SecondaryStatus"]

    def until_completed(self, *names: str) -> None:
        for name in names:
            self.client().get_waiter("training_job_completed_or_stopped").wait(TrainingJobName=name)
            assert self.status(name)[0] == "Completed"

    def children(self) -> list[int]:
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return [int(each) for task in tasks for each in (task / "children").read_text().split()]

    def end(self, how: signal.Signals = signal.SIGTERM) -> str:
        """End it; returns what it has said."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        assert self.process.stderr is not None
        with self.process, self.process.stderr as stderr:
            said = stderr.read()
            self.process.wait(_END_SECONDS)
        assert "Traceback" not in said, said
        return said


@pytest.fixture
def serve(life: Any) -> Iterator[Callable[..., Server]]:
    """Starts servers on the home of the test."""
    yield from _servers(lambda *options, **more: Server(life, *options, **more))


def _servers(make: Callable[..., Server]) -> Iterator[Callable[..., Server]]:
    made: list[Server] = []

    def start(*options: str, **more: Any) -> Server:
        made.append(make(*options, **more))
        return made[-1]

    try:
        yield start
    finally:
        for each in made:
            if each.process.poll() is None:
                each.end()


@pytest.mark.slow(2)
def test_jobs_outlive_a_killed_server_and_the_next_one_starts_those_that_wait(
    life: Any, serve: Callable[..., Server], assert_nothing_left: Clean
) -> None:
    first = serve("--max-instances", "1")
    first.create("killed-runs", WAITS)
    first.create("killed-waits")
    life.until_logged("killed-runs", "ready")
    first.end(signal.SIGKILL)

    assert life.job("killed-runs").status == "InProgress"
    assert life.job("killed-waits").pending
    listed = life("jobs").stdout
    assert "killed-runs" in listed
    assert "Pending" in listed
    second = serve("--max-instances", "1")
    assert second.status("killed-runs") == ("InProgress", "Training")
    assert second.status("killed-waits") == ("InProgress", "Pending")
    life.let_go("killed-runs")
    second.until_completed("killed-runs", "killed-waits")
    for name in ("killed-runs", "killed-waits"):
        assert_nothing_left(name)


@pytest.mark.slow(6)
def test_a_search_of_the_command_line_begins_at_once_and_counts(
    life: Any, serve: Callable[..., Server], assert_nothing_left: Clean
) -> None:
    server, tuning = serve("--max-instances", "1"), Tuning(life=life)
    path = tuning.file("search-counts", f"{LOSS}; {WAIT}", values=["1", "2"])
    assert life("run", "--detach", path).returncode == 0
    tuning.until_training("search-counts", 2)
    server.create("search-waits")
    assert server.status("search-waits") == ("InProgress", "Pending")
    for child in tuning.children("search-counts"):
        life.let_go(child.name)
    server.until_completed("search-waits")
    assert tuning.wait("search-counts")["TrainingJobStatusCounters"]["Completed"] == 2
    assert "above 1 instance jobs of clients wait; jobs of the command line start at once, and count too" in server.said
    assert_nothing_left("search-waits")


@pytest.mark.slow(5)
def test_two_servers_of_one_home_keep_one_limit_and_start_no_job_twice(
    life: Any, serve: Callable[..., Server], assert_nothing_left: Clean
) -> None:
    servers = [serve("--max-instances", "2"), serve("--max-instances", "2")]
    names = [f"doubled-{number}" for number in range(6)]
    for number, name in enumerate(names):
        servers[number % 2].create(name)
        assert servers[1 - number % 2].status(name)[0] in {"InProgress", "Completed"}
    servers[0].until_completed(*names)

    spans = []
    for name in names:
        transitions = life.store.transitions(name)
        spans.append((transitions[1].started, transitions[-1].started))
        assert [event.kind for event in life.store.events(name)].count("beginning") == 1
        assert_nothing_left(name)
    assert max(sum(begin <= moment < end for begin, end in spans) for moment, _ in spans) <= 2


@pytest.mark.slow(1)
def test_the_port_of_another_server_is_named_with_its_program(serve: Callable[..., Server], life: Any) -> None:
    taken = serve()
    done = life("serve", "--port", str(taken.port))
    assert done.returncode == 3
    assert f"(process {taken.process.pid}) has it" in done.stderr
    assert "[port-unusable]" in done.stderr


@pytest.mark.slow(2)
def test_it_ends_at_once_whatever_is_open_and_leaves_nothing(
    life: Any, serve: Callable[..., Server], assert_nothing_left: Clean
) -> None:
    server = serve(program=("-c", PATIENT))
    server.create("ended-runs", WAITS)
    life.until_logged("ended-runs", "ready")
    (starter,) = server.children()
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: SageMaker.DescribeTrainingJob\r\n"
    body = b'{"TrainingJobName":"ended-runs"}'
    requests = {
        "idle": b"",
        "half a head": head[:40],
        "half a body": head + b"Content-Length: 100\r\n\r\n{",
        "held": head + b"User-Agent: m/B\r\nContent-Length: %d\r\n\r\n" % len(body) + body,
        "page": b"GET /-/jobs/ended-runs HTTP/1.1\r\nHost: localhost\r\n\r\n",
    }
    clients = [socket.create_connection(("127.0.0.1", server.port), 200) for _ in requests]
    for client, sent in zip(clients, requests.values(), strict=True):
        client.sendall(sent)
    time.sleep(0.5)

    said = server.end()
    for client in clients:
        client.close()
    assert (server.process.returncode, said) == (0, "")
    assert not Path(f"/proc/{starter}").exists()
    assert life.job("ended-runs").status == "InProgress"
    life.let_go("ended-runs")
    life.until(lambda: life.job("ended-runs").status.terminal)
    assert life.job("ended-runs").status == "Completed"
    assert_nothing_left("ended-runs")


@pytest.mark.slow(1)
def test_a_client_that_lost_the_answer_and_asks_again_makes_no_second_job(
    life: Any, serve: Callable[..., Server], assert_nothing_left: Clean
) -> None:
    server = serve("--max-instances", "1")
    client = server.client(retries={"total_max_attempts": 3, "mode": "standard"})
    attempts = []

    def lose_the_first(request: Any, **_: Any) -> None:
        attempts.append(request)
        if len(attempts) == 1:
            sent = Request(request.url, data=request.body, headers=dict(request.headers.items()))
            with urlopen(sent, timeout=200) as answer:
                assert answer.status == 200
            raise ConnectionClosedError(endpoint_url=request.url)

    client.meta.events.register("before-send.sagemaker.CreateTrainingJob", lose_the_first)
    with pytest.raises(ClientError) as refused:
        server.create("lost-answer", client=client)
    assert refused.value.response["Error"]["Code"] == "ResourceInUse"
    assert len(attempts) == 2
    server.until_completed("lost-answer")
    assert [record.name for record in life.store.list()] == ["lost-answer"]
    assert_nothing_left("lost-answer")


@pytest.mark.slow(3)
def test_a_full_disk_refuses_and_harms_nothing(life: Any, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", disk], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"cannot mount here: {mounted.stderr.strip()}")
    silent = socket.socket(socket.AF_UNIX)  # an engine that accepts connections and never answers
    silent.bind(str(tmp_path / "engine"))
    silent.listen(64)
    life.environment |= {"SMLOCAL_HOME": str(disk), "DOCKER_HOST": f"unix://{tmp_path}/engine", VARIABLE: "1200"}
    server = Server(life)
    try:
        server.create("disk-before")
        with closing(Store.open(str(disk))) as store:
            # From then on it waits for the engine: what it writes or frees could leave room for the next.
            life.until(lambda: "beginning" in {event.kind for event in store.events("disk-before")})
        _fill(disk / "ballast")
        with pytest.raises(ClientError, match="disk with the job records is full") as refused:
            server.create("disk-full")
        assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500
        assert server.status("disk-before")[0] in {"InProgress", "Failed"}
        with pytest.raises(ClientError, match="Requested resource not found"):
            server.status("disk-full")
        silent.close()
        (tmp_path / "engine").unlink()
        (disk / "ballast").unlink()
        server.create("disk-full")
        life.until(lambda: server.status("disk-full")[0] == "Failed")
        life.until(lambda: server.status("disk-before")[0] == "Failed")
    finally:
        silent.close()
        said = server.end()
        subprocess.run(["umount", disk], check=True)
    assert "disk with the job records is full" in said


def _fill(path: Path) -> None:
    with closing(os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY), "wb", buffering=0)) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


@pytest.mark.slow(5)
def test_it_answers_without_an_engine_and_goes_on_when_there_is_one(
    life_on: Callable[[Any], Any], own_engine: Any
) -> None:
    life = life_on(own_engine)
    server = Server(life)
    try:
        server.create("engine-runs", WAITS)
        life.until_logged("engine-runs", "ready")
        own_engine.kill()
        server.create("engine-gone")
        life.until(lambda: server.status("engine-gone")[0] == "Failed")
        reason = server.client().describe_training_job(TrainingJobName="engine-gone")["FailureReason"]
        assert reason.startswith("InternalServerError")
        assert server.status("engine-runs")[0] == "InProgress"

        own_engine.start()
        server.create("engine-back")
        server.until_completed("engine-back")
        life.until(lambda: server.status("engine-runs")[0] != "InProgress")
    finally:
        said = server.end()
    assert "engine-gone" not in said or "cannot" in said
