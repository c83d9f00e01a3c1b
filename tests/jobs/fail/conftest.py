"""One failing job, held against its row of `reasons.yaml`; and the ways to make one fail."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.kit import Run
from tests.kit.fixtures import leftovers
from tests.kit.reasons import ROWS, assert_failed

Answer = dict[str, Any]
_OWN_TRACEBACK = re.compile(r'File ".*/smlocal/')
_ENGINE = os.environ.get("DOCKER_HOST", "/var/run/docker.sock").removeprefix("unix://")


def remove_all(job: str, docker: Callable[..., str]) -> None:
    """The leftovers of a job that had to be killed."""
    for kind, listed in (("container", ("--all",)), ("volume", ()), ("network", ())):
        for found in docker(kind, "ls", "--quiet", *listed, "--filter", f"label=smlocal.job={job}").split():
            docker(kind, "rm", *(("--force",) if kind == "container" else ()), found)


@pytest.fixture
def fails(
    tmp_path: Path,
    image: Callable[[str | Path], str],
    smlocal_run: Run,
    assert_nothing_left: Callable[[str], None],
    docker: Callable[..., str],
) -> Callable[..., Answer]:
    """Runs a job named like its row, and holds the reason and the path to Failed; `more` goes into the request."""

    def run(
        name: str,
        script: str = "",
        *,
        more: Mapping[str, Any] | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = 240,
    ) -> Answer:
        row = ROWS[name]
        algorithm: dict[str, Any] = {"TrainingInputMode": "File"}
        if "TrainingImage" not in (more or {}):
            algorithm["TrainingImage"] = image(row.get("image", "sh"))
        if "entrypoint" in row:
            algorithm["ContainerEntrypoint"] = row["entrypoint"]
        request = {
            "TrainingJobName": name,
            "AlgorithmSpecification": algorithm,
            "Environment": {"SCRIPT": script},
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": row.get("hosts", 1)},
            **(more or {}),
        }
        if "TrainingImage" in request:
            algorithm["TrainingImage"] = request.pop("TrainingImage")
        (tmp_path / "job.yaml").write_text(yaml.safe_dump(request))
        try:
            done = smlocal_run("run", "job.yaml", "--json", cwd=tmp_path, env=env, timeout=timeout)
        except subprocess.TimeoutExpired:
            remove_all(name, docker)
            raise
        assert done.returncode == 1, done.stderr
        assert not _OWN_TRACEBACK.search(done.stderr), done.stderr
        answer: Answer = json.loads(done.stdout)
        assert_failed(name, answer)
        assert leftovers(answer) == []
        assert_nothing_left(name)
        return answer

    return run


@pytest.fixture
def beside(docker: Callable[..., str]) -> Iterator[Callable[..., Callable[[], Any]]]:
    """Begins a function beside the test and waits until the job's containers run; what comes back waits for its end."""
    with ThreadPoolExecutor(1) as pool:

        def begin(function: Callable[..., Any], name: str, *arguments: Any, **named: Any) -> Callable[[], Any]:
            begun = pool.submit(function, name, *arguments, **named)
            wanted = ROWS[name].get("hosts", 1) if name in ROWS else 1
            for _ in range(2000):
                running = docker("ps", "--quiet", "--filter", f"label=smlocal.job={name}").split()
                if begun.done() or len(running) >= wanted:
                    return begun.result
                time.sleep(0.1)
            return begun.result

        yield begin


@pytest.fixture
def container(docker: Callable[..., str]) -> Callable[[str], str]:
    """The id of the one container of a job."""

    def find(job: str) -> str:
        (found,) = docker("ps", "--quiet", "--filter", f"label=smlocal.job={job}").split()
        return found

    return find


@pytest.fixture
def no_override(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on smlocal may read files that its user may read, even where that user is root."""
    wrapper = tmp_path / "python"
    drop = "setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-dac_override,-dac_read_search"
    wrapper.write_text(f'#!/bin/sh\nexec {drop if os.geteuid() == 0 else ""} {sys.executable} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(wrapper))


class Relay:
    """A socket that leads to the engine, where a test can do something between a request and its delivery."""

    def __init__(self, path: Path) -> None:
        self.address = f"unix://{path}"
        self.seen: list[str] = []
        self._hooks: list[tuple[re.Pattern[bytes], Callable[[], None]]] = []
        self._open: set[socket.socket] = set()
        self._lost = False
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen(64)
        self._threads = [threading.Thread(target=self._serve)]
        self._threads[0].start()

    def before(self, request: str, action: Callable[[], None]) -> None:
        """Do it once, before the engine gets to see a request that begins like this."""
        self._hooks.append((re.compile(request.encode()), action))

    def lose(self) -> None:
        """Break off every connection; new ones get nothing until `find`."""
        self._lost = True
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def find(self) -> None:
        """Have the engine back."""
        self._lost = False

    def close(self) -> None:
        self.lose()
        self._server.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._server.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            self._threads.append(threading.Thread(target=self._pass_on, args=(client,)))
            self._threads[-1].start()

    def _pass_on(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as engine:
            self._open |= {client, engine}
            with suppress(OSError):
                begin = client.recv(65536)
                self._hear(begin)
                if not self._lost:
                    engine.connect(_ENGINE)
                    engine.sendall(begin)
                    back = threading.Thread(target=_pump, args=(engine, client))
                    back.start()
                    _pump(client, engine)
                    back.join()
            self._open -= {client, engine}

    def _hear(self, begin: bytes) -> None:
        self.seen.append(begin.partition(b"\r\n")[0].decode())
        for hook in [hook for hook in self._hooks if hook[0].match(begin)]:
            self._hooks.remove(hook)
            hook[1]()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


@pytest.fixture
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Relay]:
    made = Relay(tmp_path_factory.mktemp("r") / "s")
    yield made
    made.close()
