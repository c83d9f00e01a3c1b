"""An engine that dies, hangs or talks nonsense at the n-th call of a job, for every n: each job comes to an end."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import pytest
from tests.kit import Run, until

from smlocal.engine.endpoint import EngineAddress, find_endpoint
from smlocal.engine.engines import connect_to
from smlocal.engine.http import VARIABLE
from smlocal.jobs.planning.aspects.engines.look_folders import tried_key
from smlocal.jobs.store.remembered import remember_tried

SECONDS: Final = "12"
"""In which a lost engine ends a job; a minute outside of tests. With six, a busy machine's Podman counts as lost."""
NOTHING: Final = "nothing"
AT_ONCE: Final = 6
SHARES: Final = {"SharesFolders": True, "SameMounts": True, "Slowness": None}
ENDINGS: Final = {"Completed", "Failed", "Stopped"}
HERE: Final = b'"Name":"%s"' % os.uname().nodename.encode()
THERE: Final = HERE[:-2] + b'#"'
"""The machine that the engine reports: with an address of the network, it is another one."""
NONSENSE: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


class Faulty:
    """Leads to the engine; at the n-th call something goes wrong, once or from then on."""

    def __init__(self, fault: str, number: int, folder: Path, *, remote: bool) -> None:
        self.calls: list[str] = []
        self.struck = threading.Event()
        self._fault, self._number = fault, number
        self._engine: EngineAddress = find_endpoint()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._open: set[socket.socket] = set()
        if remote:
            self._server = socket.create_server(("127.0.0.1", 0), backlog=64)
            self.address = f"tcp://127.0.0.1:{self._server.getsockname()[1]}"
        else:
            self._server = socket.socket(socket.AF_UNIX)
            self._server.bind(str(folder / f"{fault}-{number}"))
            self._server.listen(64)
            self.address = f"unix://{folder}/{fault}-{number}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._over.set()
        self._break_off()
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def strike(self) -> None:
        """Go wrong now, with whatever is under way too."""
        self.struck.set()
        if self._fault == "dies":
            self._break_off()

    def _break_off(self) -> None:
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            begin = client.recv(65536)
            if self._goes_wrong(begin.partition(b"\r\n")[0].decode()):
                if self._fault.startswith("hangs"):
                    self._over.wait(300)
                elif self._fault == "answers {} once":
                    client.sendall(NONSENSE)
                return
            with self._engine.connect() as engine:
                self._open |= {client, engine}
                engine.sendall(begin)
                back = threading.Thread(target=self._pump, args=(engine, client, THERE), daemon=True)
                back.start()
                self._pump(client, engine)
                back.join(300)
                self._open -= {client, engine}

    def _goes_wrong(self, request: str) -> bool:
        with self._lock:
            if "/_ping" not in request:  # how often it is asked for depends on how long everything takes
                self.calls.append(request)
                if len(self.calls) == self._number + 1:
                    self.strike()
                    return True
            return self.struck.is_set() and not self._fault.endswith("once")

    def _pump(self, source: socket.socket, target: socket.socket, name: bytes = HERE) -> None:
        with suppress(OSError):
            while piece := source.recv(65536).replace(HERE, name):
                if self.struck.is_set() and self._fault == "hangs":
                    self._over.wait(300)
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)


@pytest.fixture
def attempt_run(
    tmp_path: Path,
    smlocal_home: Path,
    image: Callable[[str | Path], str],
    smlocal_run: Run,
    docker: Callable[..., str],
) -> Callable[..., Mapping[str, Any]]:
    """One job whose engine goes wrong at a call; returns the calls and what became of it."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "a").write_text("1")
    smlocal_home.mkdir(mode=0o700, exist_ok=True)
    tag = image("sh")

    def run(fault: str, number: int, *, remote: bool) -> Mapping[str, Any]:
        name = f"{re.sub('[^a-z]', '', fault)}-{'far' if remote else 'near'}-{number}"
        with closing(Faulty(fault, number, tmp_path, remote=remote)) as faulty:
            environment = {"DOCKER_HOST": faulty.address}
            if not remote:  # whether folders are shared is tried once for an engine, not at each run
                facts = connect_to(faulty.address).facts()
                remember_tried(str(smlocal_home), tried_key(facts, str(smlocal_home)), SHARES)
            if fault != NOTHING:  # a busy machine is not a fault
                environment[VARIABLE] = SECONDS
            arguments = ("run", "--image", tag, "--name", name, "--channel", "train=./data", "--output", f"./{name}")
            try:
                done = smlocal_run(
                    *arguments,
                    "--env",
                    "SCRIPT=echo a; sleep 0.1",
                    "--json",
                    cwd=tmp_path,
                    env=environment,
                    timeout=300,
                )
            finally:
                _remove_all(name, docker)
            assert "Traceback" not in done.stderr, f"{name}: {faulty.calls[number:]}: {done.stderr}"
            shown = smlocal_run("describe", name, "--json", cwd=tmp_path, env=environment, timeout=120)
            document = json.loads(shown.stdout)
            return {"name": name, "calls": faulty.calls, "code": done.returncode, "said": done.stderr, **document}

    return run


@pytest.mark.slow(2)
@pytest.mark.parametrize("asked", ["Ctrl-C", "Ctrl-C twice", "stop", "MaxRuntimeInSeconds"])
def test_an_engine_that_hangs_keeps_nobody_from_stopping_the_job(
    tmp_path: Path,
    smlocal_home: Path,
    smlocal_run: Run,
    image: Callable[[str | Path], str],
    docker: Callable[..., str],
    asked: str,
) -> None:
    name = f"hanging-{re.sub('[^a-z]', '', asked.lower())}"
    with closing(Faulty("hangs", 10_000, tmp_path, remote=False)) as faulty:
        environment = {
            **os.environ,
            "SMLOCAL_HOME": str(smlocal_home),
            "DOCKER_HOST": faulty.address,
            VARIABLE: SECONDS,
        }
        runtime = "1" if asked == "MaxRuntimeInSeconds" else "600"
        command = ("run", "--image", image("sh"), "--name", name, "--env", "SCRIPT=sleep 600", "--max-run", runtime)
        process = subprocess.Popen(
            [sys.executable, "-m", "smlocal", *command],
            cwd=tmp_path,
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            until(lambda: any("/wait?" in call for call in faulty.calls))
            faulty.strike()
            if asked == "stop":
                assert smlocal_run("stop", name, env=environment).returncode == 0
            elif asked != "MaxRuntimeInSeconds":
                process.send_signal(signal.SIGINT)
            if asked == "Ctrl-C twice":
                until(
                    lambda: (
                        json.loads(smlocal_run("describe", name, "--json").stdout)["TrainingJobStatus"] != "InProgress"
                    )
                )
                process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=120)[1]
        finally:
            process.kill()
            _remove_all(name, docker)
    described = json.loads(smlocal_run("describe", name, "--json").stdout)
    assert described["TrainingJobStatus"] == "Stopped", said
    assert process.returncode == (130 if asked.startswith("Ctrl-C") else 4), said
    assert "Traceback" not in said


def _remove_all(job: str, docker: Callable[..., str]) -> None:
    for kind, listed in (("container", ("--all",)), ("volume", ()), ("network", ())):
        for found in docker(kind, "ls", "--quiet", *listed, "--filter", f"label=smlocal.job={job}").split():
            docker(kind, "rm", *(("--force",) if kind == "container" else ()), found)


@pytest.mark.slow(13)
@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "remote"),
    [
        ("dies", False),
        ("dies once", False),
        ("hangs", False),
        ("hangs once", False),
        ("answers {} once", False),
        ("dies", True),
        ("hangs", True),
    ],
)
def test_whatever_the_engine_does_at_any_call_the_job_ends(
    attempt_run: Callable[..., Mapping[str, Any]], fault: str, *, remote: bool
) -> None:
    whole = attempt_run(NOTHING, 10_000, remote=remote)
    assert whole["TrainingJobStatus"] == "Completed"
    numbers = range(len(whole["calls"]))
    assert len(numbers) > 8
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda number: attempt_run(fault, number, remote=remote), numbers))
    made = [answer for answer in answers if "TrainingJobStatus" in answer]
    assert len(made) > len(numbers) // 2
    for answer in answers:
        if "TrainingJobStatus" not in answer:  # nothing was begun
            assert answer["Error"]["Id"] == "job-unknown", answer
            assert answer["code"] in {1, 3}, answer
            continue
        assert answer["TrainingJobStatus"] in ENDINGS, answer
        if answer["TrainingJobStatus"] == "Completed":
            assert Path(answer["Local"]["Hosts"][0]["Log"]).read_text() == "a\n", answer
        if answer["TrainingJobStatus"] == "Failed":
            assert answer["FailureReason"].startswith(("InternalServerError: ", "ClientError: ")), answer
            assert "unexpected error in smlocal" not in (answer["Local"]["Explanation"] or ""), answer
