"""An engine of a test's own, to be killed without harm to the one that everybody uses."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest


@dataclass(kw_only=True)
class OwnEngine:
    """A dockerd with everything of its own, in a network namespace of its own."""

    folder: Path
    process: subprocess.Popen[bytes] | None = field(default=None)
    containerd: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def address(self) -> str:
        return f"unix://{self.folder}/docker.sock"

    def start(self) -> None:
        """Start it, or start it again after a kill, and wait until it answers."""
        (self.folder / "docker.pid").unlink(missing_ok=True)
        # As on a real machine, containerd is a service beside dockerd and outlives it.
        socket = self.folder / "containerd.sock"
        if self.containerd is None:
            self.containerd = self._launch(
                "containerd",
                *("--address", socket, "--root", self.folder / "containerd", "--state", self.folder / "state"),
            )
        self.process = self._launch(
            *("unshare", "--net", "dockerd", "--host", self.address, "--pidfile", self.folder / "docker.pid"),
            *("--data-root", self.folder / "data", "--exec-root", self.folder / "exec", "--containerd", socket),
        )
        for _ in range(300):
            answer = subprocess.run(["docker", "-H", self.address, "version"], capture_output=True, check=False)
            if answer.returncode == 0:
                return
            time.sleep(0.1)
        pytest.fail((self.folder / "log").read_text()[-2000:])

    def _launch(self, *command: str | Path) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    def kill(self) -> None:
        """End it as a crash does: what runs in its containers runs on."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def docker(self, *arguments: str, stdin: bytes | None = None) -> str:
        """Run the docker client against it."""
        done = subprocess.run(["docker", "-H", self.address, *arguments], input=stdin, capture_output=True, check=True)
        return done.stdout.decode()

    def load(self, tag: str) -> None:
        """Bring an image over from the engine that everybody uses."""
        self.docker("load", stdin=subprocess.run(["docker", "save", tag], capture_output=True, check=True).stdout)

    def close(self) -> None:
        """End everything of it, containers and their shims too, and unmount what is left."""
        for process in (self.process, self.containerd):
            if process is not None and process.poll() is None:
                process.terminate()
                process.wait()
        shims = set(self._processes())
        for process_id in (*_children(shims), *shims):
            with suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGKILL)
        time.sleep(0.2)
        for line in reversed(Path("/proc/mounts").read_text().splitlines()):
            if str(self.folder) in (path := line.split()[1]):
                subprocess.run(["umount", "--lazy", path], check=False, capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _processes(self) -> Iterator[int]:
        """Everything that was started with one of our folders: what is left then are the containers' shims."""
        here = str(self.folder).encode()
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                if entry.name.isdigit() and int(entry.name) != os.getpid() and here in (entry / "cmdline").read_bytes():
                    yield int(entry.name)


def _children(parents: set[int]) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and int((entry / "stat").read_text().rpartition(")")[2].split()[1]) in parents:
                yield int(entry.name)


@pytest.fixture
def own_engine() -> Iterator[OwnEngine]:
    # A short path: a socket's may have 107 characters.
    engine = OwnEngine(folder=Path(tempfile.mkdtemp(prefix="smlocal-engine-")))
    try:
        engine.start()
        yield engine
    finally:
        engine.close()


@pytest.fixture
def wait_until() -> Callable[[Callable[[], bool]], None]:
    """Polls for something that must come about within a minute."""

    def wait(condition: Callable[[], bool]) -> None:
        for _ in range(600):
            if condition():
                return
            time.sleep(0.1)
        pytest.fail("it did not come about within a minute")

    return wait
