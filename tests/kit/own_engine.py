"""A dockerd of a test's own, which may be killed, lose its network, and see only a part of this machine's folders."""

import http.client
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.kit.borrowed_layers import borrow_image

_START_SECONDS = 200.0
_END_SECONDS = 200.0
_PAUSE_SECONDS = 0.05
_CGROUPS = Path("/sys/fs/cgroup")
_HIDE = """
set -e
mount -t tmpfs tmpfs /mnt
number=0
for each; do
    case $each in
        --) break ;;
        +*) number=$((number + 1)); mkdir /mnt/$number; mount --rbind "${each#+}" /mnt/$number ;;
    esac
done
for each; do
    case $each in
        --) break ;;
        -*) test ! -d "${each#-}" || mount -t tmpfs tmpfs "${each#-}" ;;
    esac
done
number=0
while [ "$1" != -- ]; do
    case $1 in +*) number=$((number + 1)); mkdir -p "${1#+}"; mount --rbind /mnt/$number "${1#+}" ;; esac
    shift
done
umount --recursive --lazy /mnt
shift
exec "$@"
"""
"""Mounts an empty file system on each folder `-FOLDER` before `--`, and each `+FOLDER` at its place again. Then it runs
what follows."""


def short_folder() -> Path:
    """A new folder with a short path: that of a socket may have 107 characters."""
    return Path(tempfile.mkdtemp(prefix="smlocal-engine-"))


@dataclass(kw_only=True)
class OwnEngine:
    """A dockerd with a containerd, in a network namespace of their own."""

    folder: Path = field(default_factory=short_folder)
    environment: Mapping[str, str] = field(default_factory=dict)
    """The environment of dockerd, beside the usual one."""
    namespace: str = ""
    """The network namespace, as `ip netns` names it; empty: a new one at each start."""
    hidden: tuple[Path, ...] = ()
    """Folders of this machine that are empty for this engine. If there are any, it has a mount namespace of its own."""
    shared: tuple[Path, ...] = ()
    """Folders in these that it sees nevertheless."""
    image: str = ""
    """An image that it has from the start on."""
    options: tuple[str, ...] = ()
    """More options of dockerd."""
    process: subprocess.Popen[bytes] | None = field(default=None)
    containerd: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def address(self) -> str:
        return f"unix://{self.folder}/docker.sock"

    def start(self) -> None:
        """Start it, or start it again after a kill, and wait until it answers."""
        (self.folder / "docker.pid").unlink(missing_ok=True)
        # As on a real machine, containerd is a service beside dockerd and outlives it.
        address = self.folder / "containerd.sock"
        if self.containerd is None:
            apart = ("unshare", "--mount", "--propagation", "slave", "sh", "-c", _HIDE, "sh")
            self.containerd = self._launch(
                *(self._in_network() if self.namespace else ()),
                *((*apart, *self._folders(), "--") if self.hidden else ()),
                *("containerd", "--address", address, "--root", self.folder / "containerd"),
                *("--state", self.folder / "state"),
            )
        self._await("containerd", address.exists)
        first = self.process is None
        borrowed = first and self.image and borrow_image(self.image, self.folder / "data")
        there = ("nsenter", f"--mount=/proc/{self.containerd.pid}/ns/mnt")
        self.process = self._launch(
            *self._in_network(),
            *(there if self.hidden else ()),
            *("dockerd", "--host", self.address, "--pidfile", self.folder / "docker.pid", "--containerd", address),
            *("--data-root", self.folder / "data", "--exec-root", self.folder / "exec"),
            *self.options,
        )
        self._await("dockerd", self._answers)
        if first and self.image and not borrowed:
            self.load(self.image)

    def _folders(self) -> Iterator[str]:
        yield from (f"-{each}" for each in self.hidden)
        if self.shared:
            yield from (f"+{each}" for each in (self.folder, *self.shared))

    def make_empty(self, folder: Path) -> None:
        """Have an empty folder where only this engine has one."""
        assert self.containerd is not None
        there = ("nsenter", f"--mount=/proc/{self.containerd.pid}/ns/mnt")
        subprocess.run([*there, "mkdir", "--parents", folder], check=True)

    def _in_network(self) -> tuple[str, ...]:
        return ("nsenter", f"--net=/run/netns/{self.namespace}") if self.namespace else ("unshare", "--net")

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as connection, suppress(OSError, http.client.HTTPException):
            connection.settimeout(_START_SECONDS)
            connection.connect(f"{self.folder}/docker.sock")
            connection.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
            answer = http.client.HTTPResponse(connection)
            answer.begin()
            return answer.status == http.client.OK
        return False

    def _await(self, what: str, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                pytest.fail(f"{what} does not start:\n{(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(_PAUSE_SECONDS)

    def _launch(self, *command: str | Path) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            environment = {**os.environ, **self.environment}
            return subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)

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
        """Bring an image over from the Docker that has all of them, which Podman would save under another name."""
        there = os.environ.get("SMLOCAL_IMAGES_FROM")
        save = ["docker", *(("-H", there) if there else ()), "save", tag]
        with subprocess.Popen(save, stdout=subprocess.PIPE) as saving:
            subprocess.run(["docker", "-H", self.address, "load"], stdin=saving.stdout, capture_output=True, check=True)
        assert saving.returncode == 0

    def close(self) -> None:
        """End everything of it, containers and their shims too, and unmount and remove what is left."""
        containers = folder.iterdir() if (folder := self.folder / "data" / "containers").is_dir() else ()
        ids = [each.name for each in containers]
        # Killed, because a dockerd that ends in order first waits for its containers.
        for process in (self.process, self.containerd):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
        deadline = time.monotonic() + _END_SECONDS
        while shims := set(self._processes()):
            for process_id in (*_children(shims), *shims):
                with suppress(ProcessLookupError):
                    os.kill(process_id, signal.SIGKILL)
            assert time.monotonic() < deadline, f"processes of the engine do not end: {shims}"
            time.sleep(_PAUSE_SECONDS)
        for line in reversed(Path("/proc/mounts").read_text().splitlines()):
            if str(self.folder) in (path := line.split()[1]):
                subprocess.run(["umount", "--lazy", path], check=False, capture_output=True)
        for each in ids:
            for group in (*_CGROUPS.glob(f"docker/{each}"), *_CGROUPS.glob(f"*/docker/{each}")):
                _remove_group(group, deadline)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _processes(self) -> Iterator[int]:
        """Everything that was started with one of our folders: what is left then are the containers' shims."""
        here = str(self.folder).encode()
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                if entry.name.isdigit() and int(entry.name) != os.getpid() and here in (entry / "cmdline").read_bytes():
                    yield int(entry.name)


def _remove_group(group: Path, deadline: float) -> None:
    """Remove a control group as soon as the last process in it, which has been killed, is gone."""
    while True:
        try:
            group.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            assert time.monotonic() < deadline, f"processes of a container do not end: {group}"
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def _children(parents: set[int]) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and int((entry / "stat").read_text().rpartition(")")[2].split()[1]) in parents:
                yield int(entry.name)
