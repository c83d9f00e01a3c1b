"""`smlocal shell`: in the container of a running job, in one that was kept, and in a new one."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

Clean = Callable[[str], None]
Docker = Callable[..., str]
WAITS = "echo ready; until [ -e /opt/ml/output/go ]; do sleep 0.02; done; exit 3"
FAILS = "echo outside >/seen; echo m >/opt/ml/model/m; exit 3"
SECONDS = 120


@pytest.fixture(autouse=True)
def _nothing_stays(life: Any) -> Iterator[None]:
    """Containers that a failing test has kept are removed too."""
    yield
    life("rm", "--stop", "shell-*")


@dataclass(kw_only=True)
class Terminal:
    """A person at a terminal, with one command."""

    process: int
    device: int
    shown: bytes = b""

    def until(self, cue: bytes) -> None:
        """Read until this is shown, and forget what came before."""
        deadline = time.monotonic() + SECONDS
        while cue not in self.shown:
            assert time.monotonic() < deadline, self.shown
            assert self.more(), self.shown
        self.shown = self.shown.partition(cue)[2]

    def more(self) -> bool:
        if not select.select([self.device], [], [], 1)[0]:
            return True
        try:
            piece = os.read(self.device, 4096)
        except OSError:  # what Linux says when the last process has closed it
            piece = b""
        self.shown += piece
        return bool(piece)

    def type(self, keys: bytes) -> None:
        os.write(self.device, keys)

    @property
    def cooked(self) -> bool:
        """True if the terminal itself makes signals of keys, as it does for other commands."""
        return bool(termios.tcgetattr(self.device)[3] & termios.ISIG)

    def ended(self) -> int:
        """The exit code; what is still shown is read meanwhile."""
        while self.more():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


@contextmanager
def terminal(life: Any, *arguments: str | Path) -> Iterator[Terminal]:
    child, device = pty.fork()
    if child == 0:  # pragma: no cover - another process
        os.chdir(life.folder)
        command = [sys.executable, "-m", "smlocal", *map(str, arguments)]
        os.execve(sys.executable, command, {**life.environment, "TERM": "xterm"})
    termios.tcsetwinsize(device, (24, 120))
    # Open here too, so that what smlocal leaves of its settings can be seen when it has ended.
    person = Terminal(process=child, device=device)
    try:
        yield person
    finally:
        os.close(device)


def shell(life: Any, *arguments: str | Path, given: str = "") -> "subprocess.CompletedProcess[str]":
    """Without a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "smlocal", "shell", *arguments],
        input=given,
        cwd=life.folder,
        env=life.environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def containers(docker: Docker, name: str) -> list[str]:
    return docker("ps", "--all", "--format", "{{.Names}}", "--filter", f"label=smlocal.job={name}").split()


def images(docker: Docker, name: str) -> list[str]:
    return docker("images", "--quiet", "--filter", f"label=smlocal.job={name}").split()


def shells(life: Any) -> list[str]:
    folder = life.home / "shells"
    return os.listdir(folder) if folder.exists() else []


def error(done: "subprocess.CompletedProcess[str]") -> str:
    return done.stderr.splitlines()[0].rpartition("[")[2].rstrip("]")


@pytest.mark.slow(1)
def test_a_command_in_a_running_job(life: Any) -> None:
    life.detach("shell-running", WAITS)
    life.until_logged("shell-running", "ready")
    command = "cat; echo wrong >&2; echo $TRAINING_JOB_NAME; ls /opt/ml; exit 7"
    done = shell(life, "shell-running", "--", "sh", "-c", command, given="given\n" * 40_000)
    assert done.returncode == 7
    assert done.stdout == "given\n" * 40_000 + "shell-running\ninput\nmodel\noutput\nsagemaker\n"
    assert done.stderr == "wrong\n"
    # Without a command, the input is the shell's script.
    assert shell(life, "shell-run", given="echo $((40 + 2)); exit 5").stdout == "42\n"
    life.let_go("shell-running")
    assert life("wait", "shell-running").returncode == 1


@pytest.mark.slow(1)
def test_a_terminal_in_a_running_job(life: Any) -> None:
    life.detach("shell-seen", WAITS)
    life.until_logged("shell-seen", "ready")
    with terminal(life, "shell", "shell-seen", "--host", "algo-1") as person:
        person.until(b"# ")
        assert not person.cooked
        person.type(b"stty size\r")
        person.until(b"24 120")
        termios.tcsetwinsize(person.device, (50, 90))
        while b"50 90" not in person.shown:  # the size follows at some time
            person.type(b"stty size\r")
            assert person.more(), person.shown
        person.type(b"echo $((40 + 2)); cat\r")
        person.until(b"42\r\n")
        person.type(b"typed\r")
        person.until(b"typed\r\ntyped")
        person.type(b"\x03")
        person.until(b"# ")
        person.type(b"exit 6\r")
        assert person.ended() == 6
    life.let_go("shell-seen")
    assert life("wait", "shell-seen").returncode == 1


@pytest.mark.slow(2)
def test_a_kept_job_as_it_was_left(life: Any, docker: Docker, assert_nothing_left: Clean) -> None:
    (life.folder / "data").mkdir()
    (life.folder / "data" / "a").write_text("the data\n")
    channel = {"ChannelName": "train", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}}}
    members = {"HyperParameters": {"lr": "0.1"}, "InputDataConfig": [channel], "EnableNetworkIsolation": True}
    life("run", life.job_file("shell-kept", FAILS, hosts=2, **members), "--keep", "failed")
    kept = containers(docker, "shell-kept")
    look = (
        "cat /seen /opt/ml/model/m /opt/ml/input/data/train/a /opt/ml/input/config/hyperparameters.json; echo; "
        "ls /sys/class/net | wc -l; hostname -i; echo $SCRIPT; echo new >/seen; echo n >/opt/ml/model/n; exit 9"
    )
    for host in ("1", "algo-2"):
        done = shell(life, "shell-kept", "--host", host, "--", "sh", "-c", look)
        assert (done.returncode, done.stderr) == (9, "")
        address = json.loads((life.home / "jobs/shell-kept/plan.json").read_text())["Network"]["Addresses"]
        own = address["algo-1" if host == "1" else host]
        assert done.stdout == f'outside\nm\nthe data\n{{"lr":"0.1"}}\n2\n{own}\n{FAILS}\n'
    # The container that was kept did not change; its folders are those of the job.
    assert shell(life, "shell-kept", "--", "cat", "/seen", "/opt/ml/model/n").stdout == "outside\nn\n"
    assert containers(docker, "shell-kept") == kept
    assert images(docker, "shell-kept") == shells(life) == []
    assert life("rm", "shell-kept").returncode == 0
    assert_nothing_left("shell-kept")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_puts_everything_back(
    life: Any, number: signal.Signals, docker: Docker, assert_nothing_left: Clean
) -> None:
    file = life.job_file("shell-file", "exit 0")
    with terminal(life, "shell", file) as person:
        person.until(b"# ")
        assert len(containers(docker, "shell-file")) == 1
        os.kill(person.process, number)
        # This end of the terminal is open, so its settings can still be asked.
        life.until(lambda: person.cooked)
        assert person.ended() == 143
    assert_nothing_left("shell-file")
    assert shells(life) == []


@pytest.mark.slow(2)
def test_what_a_killed_shell_leaves_is_taken_away(life: Any, docker: Docker, assert_nothing_left: Clean) -> None:
    life("run", life.job_file("shell-killed", FAILS), "--keep", "failed")

    def kill_one(*arguments: str | Path) -> None:
        with terminal(life, "shell", *arguments) as person:
            person.until(b"# ")
            os.kill(person.process, signal.SIGKILL)
            assert person.ended() == -signal.SIGKILL

    kill_one("shell-killed")
    assert len(containers(docker, "shell-killed")) == 2
    assert len(images(docker, "shell-killed")) == len(shells(life)) == 1
    # The next shell removes it, and so do a run, rm and recover.
    assert shell(life, "shell-killed", "--", "true").returncode == 0
    assert len(containers(docker, "shell-killed")) == 1
    kill_one("shell-killed")
    kill_one(life.job_file("shell-other", "exit 0"))
    assert life("recover").returncode == 0
    assert_nothing_left("shell-other")
    assert len(containers(docker, "shell-killed")) == 1
    kill_one("shell-killed")
    again = life("run", life.folder / "shell-killed.json", "--replace")
    assert again.returncode == 1, again.stderr
    assert_nothing_left("shell-killed")
    assert images(docker, "shell-killed") == shells(life) == []


@pytest.mark.slow(2)
def test_rm_ends_an_open_shell_of_a_kept_job(life: Any, docker: Docker, assert_nothing_left: Clean) -> None:
    life("run", life.job_file("shell-removed", FAILS), "--keep", "failed")
    with terminal(life, "shell", "shell-removed") as person:
        person.until(b"# ")
        removed = life("rm", "shell-removed")
        assert removed.returncode == 0, removed.stderr
        assert person.ended() != 0
    assert_nothing_left("shell-removed")
    assert images(docker, "shell-removed") == shells(life) == []


@pytest.mark.slow(1)
def test_an_ended_job_that_kept_nothing(life: Any, assert_nothing_left: Clean) -> None:
    life("run", life.job_file("shell-ended", FAILS, HyperParameters={"lr": "0.1"}))
    done = shell(life, "shell-ended", "-p", "lr=0.2", "--", "sh", "-c", "cat /seen; cat /opt/ml/input/config/h*; env")
    assert "shell-ended has kept no container: this is a new one" in done.stderr
    assert "cat: can't open '/seen'" in done.stderr
    assert '{"lr":"0.2"}' in done.stdout
    assert "TRAINING_JOB_NAME=shell-ended\n" in done.stdout
    assert life.job("shell-ended").status == "Failed"
    assert_nothing_left("shell-ended")


@pytest.mark.slow(1)
def test_a_job_file(life: Any, assert_nothing_left: Clean) -> None:
    (life.folder / "data").mkdir()
    (life.folder / "data" / "a").write_text("the data\n")
    channels = [
        {
            "ChannelName": mode.lower(),
            "InputMode": mode,
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}},
        }
        for mode in ("File", "FastFile", "Pipe")
    ]
    file = life.job_file("shell-new", "exit 0", hosts=2, InputDataConfig=channels)
    look = (
        "cd /opt/ml/input/data; cat file/a fastfile/a pipe_0 pipe_1; echo changed >file/a; "
        "echo $TRAINING_JOB_NAME; hostname -i; grep -o 'current_host\":\"algo-.' ../config/resourceconfig.json; exit 4"
    )
    done = shell(life, file, "--host", "2", "--", "sh", "-c", look)
    assert done.returncode == 4, done.stderr
    *data, name, address, current = done.stdout.splitlines()
    assert data == ["the data"] * 4
    assert (name, current) == ("shell-new", 'current_host":"algo-2')
    assert address.count(".") == 3
    assert (life.folder / "data" / "a").read_text() == "the data\n"
    assert life.store.count() == 0
    assert shells(life) == []
    assert not (life.folder / "out").exists()
    assert_nothing_left("shell-new")


@pytest.mark.slow(2)
def test_an_image_without_a_shell(life: Any, image: Callable[[str], str], assert_nothing_left: Clean) -> None:
    life.image = image("no-shell")
    file = life.job_file("shell-none", "")
    assert life("run", file, "--keep", "failed").returncode == 1
    specification = {
        "TrainingImage": life.image,
        "TrainingInputMode": "File",
        "ContainerArguments": ["1000"],
    }
    life.detach("shell-none-runs", "", AlgorithmSpecification=specification)
    life.until_phase("shell-none-runs", "Training")
    life.until(lambda: shell(life, "shell-none-runs", "--", "/bin/sleep", "0").returncode == 0)
    for subject in ("shell-none", "shell-none-runs", str(file)):
        done = shell(life, subject)
        assert (done.returncode, error(done)) == (2, "shell-missing"), done.stderr
        assert f"the image {life.image} has no shell" in done.stderr
        done = shell(life, subject, "--", "/bin/bash", "-c", "x")
        assert (done.returncode, error(done)) == (2, "command-not-started"), done.stderr
        assert done.stdout == ""
    assert life("rm", "--stop", "shell-none", "shell-none-runs").returncode == 0
    assert_nothing_left("shell-none")
    assert_nothing_left("shell-none-runs")
    assert shells(life) == []


@pytest.mark.slow(2)
def test_a_kept_job_whose_image_is_gone(life: Any, docker: Docker) -> None:
    new = subprocess.run(
        ["docker", "build", "--quiet", "-"],
        input=f"FROM {life.image}\nLABEL shell={os.getpid()}\nRUN true\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    tag = f"smlocal-test-shell-{os.getpid()}"
    docker("tag", new, tag)
    life.image = tag
    life("run", life.job_file("shell-gone", FAILS), "--keep", "failed")
    docker("rmi", "--force", tag, new)
    done = shell(life, "shell-gone")
    assert (done.returncode, error(done)) == (3, "image-missing"), done.stderr
    assert "smlocal rerun shell-gone --keep failed" in done.stderr
    docker("rm", "--volumes", *containers(docker, "shell-gone"))
    done = shell(life, "shell-gone")
    assert (done.returncode, error(done)) == (2, "container-not-running"), done.stderr


@pytest.mark.slow(3)
def test_what_is_refused(life: Any, tmp_path: Path) -> None:
    life.detach("shell-waits", WAITS)
    life.until_logged("shell-waits", "ready")

    def refused(*arguments: str | Path) -> tuple[int, str, str]:
        done = shell(life, *arguments)
        return done.returncode, error(done), done.stderr

    assert refused("-")[:2] == (2, "usage")
    assert refused("shell-waits", "--")[:2] == (2, "usage")
    code, which, said = refused("shell-waits", "--image", "other", "--", "true")
    assert (code, which) == (2, "usage")
    assert "--image changes a job before its container is made" in said
    code, which, said = refused("shell-waits", "--host", "5")
    assert (code, which) == (2, "host-unknown")
    assert "the job 'shell-waits' has no host 5" in said
    assert refused(life.job_file("shell-file", "exit 0"), "--host", "5")[1] == "host-unknown"
    code, which, said = refused("shell-wiats")
    assert (code, which) == (2, "job-unknown")
    assert "Did you mean shell-waits?" in said
    assert f"smlocal shell --image {life.image}" in refused(life.image)[2]
    assert refused("nowhere.yaml")[1] == "job-file-missing"
    life.environment["DOCKER_HOST"] = f"unix://{tmp_path}/none"
    assert refused(life.folder / "shell-file.json")[:2] == (3, "engine-unreachable")
    del life.environment["DOCKER_HOST"]
    assert shells(life) == []


@pytest.mark.slow(2)
def test_a_host_that_has_ended_while_others_run(life: Any) -> None:
    script = f"grep -q current_host.:.algo-2 /opt/ml/input/config/resourceconfig.json && exit 0; {WAITS}"
    life.detach("shell-half", script, hosts=2)
    life.until_logged("shell-half", "ready")
    life.until(lambda: shell(life, "shell-half", "--host", "2", "--", "true").returncode != 0)
    done = shell(life, "shell-half", "--host", "2")
    assert (done.returncode, error(done)) == (2, "container-not-running"), done.stderr
    assert "The job is in the phase Training." in done.stderr
    life.let_go("shell-half")
