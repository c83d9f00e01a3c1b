"""Jobs that go on by themselves: begun, looked at from outside, and brought down in every way."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.kit import until
from tests.kit.engine_relay import EngineRelay
from tests.kit.fixtures import touch_inside
from tests.kit.forked import run_smlocal

from smlocal.jobs.control.requests import ask_to_stop
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord

_PATIENCE_SECONDS = 200.0
"""Enough for a busy machine, where one request to the engine may take a quarter of a minute."""


@dataclass(kw_only=True)
class Life:
    """One home with its jobs, as other processes see it."""

    folder: Path
    home: Path
    image: str
    environment: dict[str, str] = field(default_factory=dict)
    commands: "list[subprocess.Popen[str]]" = field(default_factory=list)
    """Those that need not be waited for until the test ends."""

    def __post_init__(self) -> None:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("SMLOCAL_", "AWS_"))}
        self.environment = {**kept, "SMLOCAL_HOME": str(self.home), **self.environment}
        self.store = Store.open(str(self.home))

    def begin(self, *arguments: str | Path) -> "subprocess.Popen[str]":
        """A command that goes on beside the test."""
        return subprocess.Popen(
            [sys.executable, "-m", "smlocal", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *arguments: str | Path, timeout: float = 240) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end."""
        return run_smlocal(arguments, cwd=self.folder, environment=self.environment, timeout=timeout)

    def job_file(self, name: str, script: str, *, hosts: int = 1, **members: Any) -> Path:
        """Describe a job; its containers carry out the script."""
        request: dict[str, Any] = {
            "TrainingJobName": name,
            "AlgorithmSpecification": {"TrainingImage": self.image, "TrainingInputMode": "File"},
            "Environment": {"SCRIPT": script},
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": hosts},
            **members,
        }
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(request))
        return path

    def detach(self, name: str, script: str, *, hosts: int = 1, flags: tuple[str, ...] = (), **members: Any) -> None:
        """Start a job in the background."""
        done = self("run", "--detach", self.job_file(name, script, hosts=hosts, **members), *flags)
        assert (done.returncode, done.stdout) == (0, f"{name}\n"), done.stderr

    def launch(self, name: str, script: str, *, hosts: int = 1, **members: Any) -> None:
        """Begin a detached job and come back at the first moment at which it is recorded."""
        before = self.store.count()
        self.commands.append(self.begin("run", "--detach", self.job_file(name, script, hosts=hosts, **members)))
        self.until(lambda: self.store.count() > before)

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that must come about."""
        until(condition)

    def until_phase(self, name: str, *phases: str) -> None:
        """Wait for a phase, or for the end of a job that was faster."""
        self.until(lambda: (record := self.job(name)).phase in phases or record.status.terminal)

    def until_logged(self, name: str, line: str, host: str = "algo-1") -> None:
        """Wait for a word of the container's."""
        self.until(lambda: line in self.log(name, host))

    def let_go(self, name: str, host: str = "algo-1") -> None:
        """Make the file that a container waits for."""
        touch_inside(self.home / "jobs" / name / "hosts" / host / "output" / "go")

    def ask_to_stop(self, name: str) -> None:
        """As `smlocal stop` does, which on a busy machine takes seconds to start."""
        ask_to_stop(self.store, name, grace=None)

    def job(self, name: str) -> JobRecord:
        return self.store.get(name)

    def log(self, name: str, host: str = "algo-1") -> str:
        path = self.home / "jobs" / name / "logs" / f"{host}.log"
        return path.read_text() if path.exists() else ""

    def describe(self, name: str) -> dict[str, Any]:
        done = self("describe", name, "--json")
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def phases(self, name: str) -> list[str]:
        return [transition.status for transition in self.store.transitions(name)]

    def model(self, name: str) -> list[str]:
        """The files in the packed model; none where there is no archive."""
        path = self.folder / "out" / name / "output" / "model.tar.gz"
        if not path.exists():
            return []
        listed = subprocess.run(["tar", "-tzf", path], capture_output=True, text=True, check=True)
        return sorted(line for line in listed.stdout.splitlines() if not line.endswith("/"))

    def crash(self, name: str) -> None:
        """Kill the supervisor as hard as can be, and wait until it is gone."""
        pid = self.job(name).supervisor_pid
        assert pid is not None
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        self.until(lambda: not _alive(pid))

    def close(self, docker: Callable[..., str]) -> None:
        """End what a failed test left behind."""
        for record in self.end():
            for each in docker("ps", "--all", "--quiet", "--filter", f"label=smlocal.job={record.name}").split():
                docker("rm", "--force", "--volumes", each)
            for kind in ("network", "volume"):
                for each in docker(kind, "ls", "--quiet", "--filter", f"label=smlocal.job={record.name}").split():
                    docker(kind, "rm", each)

    def end(self) -> list[JobRecord]:
        """End all processes; returns the jobs that had not ended."""
        for command in self.commands:
            command.communicate(timeout=_PATIENCE_SECONDS)
        unfinished = self.store.unfinished()
        for record in unfinished:
            if record.supervisor_pid != os.getpid():  # a thread of this process ends with its job
                self.crash(record.name)
        self.store.close()
        return unfinished


def _alive(pid: int) -> bool:
    """A process that is dead but not yet waited for holds nothing any more, once the last of its threads is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        threads = len(os.listdir(f"/proc/{pid}/task"))
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z" or threads > 1


@pytest.fixture
def life(tmp_path: Path, smlocal_home: Path, image: Callable[[str], str], docker: Callable[..., str]) -> Iterator[Life]:
    it = Life(folder=tmp_path, home=smlocal_home, image=image("sh"))
    try:
        yield it
    finally:
        it.close(docker)


@pytest.fixture
def life_on(tmp_path: Path, image: Callable[[str], str]) -> Iterator[Callable[[Any], Life]]:
    """The same on an engine of the test's own."""
    made: list[Life] = []

    def make(engine: Any) -> Life:
        tag = image("sh")
        engine.load(tag)
        environment: Mapping[str, str] = {"DOCKER_HOST": engine.address}
        made.append(Life(folder=tmp_path, home=tmp_path / "home", image=tag, environment=dict(environment)))
        return made[-1]

    yield make
    for each in made:
        each.end()


@pytest.fixture
def relay() -> Iterator[EngineRelay]:
    # A short path: a socket's may have 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="smlocal-relay-"))
    relay = EngineRelay(folder / "engine.sock")
    yield relay
    relay.vanish()
    shutil.rmtree(folder)


@pytest.fixture
def relayed(life: Life, relay: EngineRelay) -> Life:
    """Jobs that reach the engine through the relay."""
    life.environment["DOCKER_HOST"] = relay.address
    return life
