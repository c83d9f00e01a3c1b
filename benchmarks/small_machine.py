"""What our commands need at their peak on a machine with 2 processors, 4 GiB of memory and 5 GB of free disk.

The machine is a control group and a file system in a sparse file. An engine of its own, its containers and all that the
commands start are in that group, and the engine's images, home, temporary files, results and the caches of
`scripts/demo` on that disk. It needs root and control groups of version 1.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

from measure import progress
from results import Figure, Size, main, megabytes
from workplace import BIN, PROGRAMS, ROOT, workplace

sys.path.append(str(ROOT))  # the engine is that of the tests

MEMORY = 4 << 30
DISK = 5_000_000_000
PROCESSORS = 2
ROUNDS = 3
"""Peaks differ little from run to run."""
_FILE_SYSTEM = 200_000_000
"""What ext4 itself takes of its disk."""
_CGROUPS = Path("/sys/fs/cgroup")
_CONTROLLERS = ("memory", "cpuset")
_PAUSE_SECONDS = 0.02
_LONGEST_SECONDS = 1200
_EXAMPLE = "examples/decision-tree"
_IMAGE = "smlocal-example-decision-tree:latest"
_SDK = ROOT / "tests" / "clients" / "requirements" / "sdk-2.txt"
_PARTS = ("commands", "engine", "containers")
_ENTER = 'for each in $GROUPS_TO_ENTER; do echo $$ >"$each/cgroup.procs" || exit; done; exec "$@"'


@dataclass(kw_only=True, slots=True)
class Peak:
    """The most that a command needed, and what it left."""

    memory: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("all", *_PARTS), 0))
    """Memory of processes and of tmpfs, without file cache, in bytes; of each part at its own peak."""
    disk: int = 0
    """More than before the command."""
    left: int = 0

    def highest(self, other: "Peak") -> "Peak":
        return Peak(
            memory={part: max(size, other.memory[part]) for part, size in self.memory.items()},
            disk=max(self.disk, other.disk),
            left=max(self.left, other.left),
        )


@dataclass(kw_only=True, slots=True)
class Machine:
    """The group, its disk, and the engine there."""

    name: str
    disk: Path
    environment: Mapping[str, str]

    def group(self, controller: str, part: str = "") -> Path:
        return _CGROUPS / controller / self.name / part

    @contextmanager
    def entered(self, part: str) -> Iterator[None]:
        """This process is in the group, so that what it starts is. What it held before is counted where it was."""
        before = {each: _own_group(each) for each in _CONTROLLERS}
        try:
            for each in _CONTROLLERS:
                (self.group(each, part) / "cgroup.procs").write_text(str(os.getpid()))
            yield
        finally:
            for group in before.values():
                (group / "cgroup.procs").write_text(str(os.getpid()))

    def measure(self, *commands: Sequence[str | Path], folder: Path, outside: bool = False) -> Peak:
        """Run commands one after another. `outside`: in this machine's network, which has a way to packages."""
        peak, ended = Peak(), Event()
        used = self._used()
        watching = Thread(target=self._watch, args=(peak, used, ended))
        watching.start()
        try:
            for each in commands:
                self._run([*(() if outside else ("nsenter", f"--net=/run/netns/{self.name}")), *each], folder)
        finally:
            ended.set()
            watching.join()
        os.sync()
        peak.left = max(0, self._used() - used)
        return peak

    def _run(self, words: Sequence[str | Path], folder: Path) -> None:
        groups = " ".join(str(self.group(each, "commands")) for each in _CONTROLLERS)
        done = subprocess.run(
            ["sh", "-c", _ENTER, "sh", *words],
            cwd=folder,
            env={**self.environment, "GROUPS_TO_ENTER": groups},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LONGEST_SECONDS,
            check=False,
        )
        if done.returncode:
            sys.exit(f"{' '.join(map(str, words))}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")

    def _watch(self, peak: Peak, used: int, ended: Event) -> None:
        while not ended.wait(_PAUSE_SECONDS):
            for part in peak.memory:
                peak.memory[part] = max(peak.memory[part], self._held("" if part == "all" else part))
            peak.disk = max(peak.disk, self._used() - used)

    def _held(self, part: str) -> int:
        try:
            lines = (self.group("memory", part) / "memory.stat").read_text().splitlines()
        except FileNotFoundError:  # there are no containers yet
            return 0
        values = dict(line.split() for line in lines)
        return int(values["total_rss"]) + int(values["total_shmem"])

    def _used(self) -> int:
        seen = os.statvfs(self.disk)
        return (seen.f_blocks - seen.f_bfree) * seen.f_frsize

    def was_killed(self) -> bool:
        """Whether memory ran out for any process of the group."""
        controls = self.group("memory").rglob("memory.oom_control")
        return any("oom_kill 0" not in each.read_text() for each in controls)


def measure(size: Size) -> list[Figure]:
    if os.geteuid() != 0 or not (_CGROUPS / "memory" / "memory.limit_in_bytes").exists():
        sys.exit("This needs root, and control groups of version 1.")
    peaks: dict[str, Peak] = {}
    with workplace() as place, small_machine(place.environment, whole=size.scale >= 1) as machine:
        clone = machine.disk / "smlocal"
        name, rounds = place.new_name(), min(size.rounds, ROUNDS)
        progress("copying the repository")
        _clone(clone)
        example = clone / _EXAMPLE
        sdk = _sdk_python()
        progress("scripts/demo")
        peaks["scripts/demo"] = machine.measure([clone / "scripts" / "demo"], folder=clone, outside=True)
        for number in range(1, rounds + 1):
            job, endpoint = f"{name}-{number}", f"{name}-endpoint-{number}"
            steps: dict[str, list[list[str | Path]]] = {
                "smlocal demo": [["demo", "--base", _IMAGE]],
                "smlocal run": [["run", "job.yaml", "--name", job]],
                "smlocal check": [["check", "job.yaml"]],
                "smlocal deploy, invoke, stop": [
                    ["deploy", job, "--name", endpoint],
                    ["invoke", endpoint, "--body-file", "request.csv", "--content-type", "text/csv"],
                    ["stop", endpoint],
                ],
                "smlocal exec, fit() of SDK v2": [["exec", "--", sdk, PROGRAMS / "sdk2_fit.py", _IMAGE, "data"]],
            }
            for what, commands in steps.items():
                progress(f"{what}, round {number} of {rounds}")
                found = machine.measure(*([BIN / "smlocal", *words] for words in commands), folder=example)
                peaks[what] = found.highest(peaks.get(what, Peak()))
        killed = machine.was_killed()
    return [figure for what, peak in peaks.items() for figure in _figures(what, peak, killed=killed)]


def _figures(what: str, peak: Peak, *, killed: bool) -> Iterator[Figure]:
    held = peak.memory
    yield Figure(
        what=f"memory, `{what}`",
        ours=megabytes(held["commands"]),
        theirs=f"engine {megabytes(held['engine'])}, containers {megabytes(held['containers'])}",
        figure=megabytes(held["all"]),
        bound=megabytes(MEMORY),
        met=held["all"] <= MEMORY and not killed,
    )
    yield Figure(
        what=f"disk, `{what}`",
        ours=f"{megabytes(peak.left)} stay",
        theirs="",
        figure=megabytes(peak.disk),
        bound=megabytes(DISK),
        met=peak.disk <= DISK,
    )


def _clone(folder: Path) -> None:
    """The commit, as `git clone` has it."""
    folder.mkdir()
    with subprocess.Popen(["git", "-C", ROOT, "archive", "HEAD"], stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "-C", folder, "-x"], stdin=archive.stdout, check=True)


def _sdk_python() -> Path:
    """On the disk of this machine: a user of an SDK has it already."""
    made = subprocess.run(
        [ROOT / "scripts" / "client-environment", _SDK], stdout=subprocess.PIPE, text=True, check=True
    )
    return Path(made.stdout.strip()) / "bin" / "python"


@contextmanager
def small_machine(environment: Mapping[str, str], *, whole: bool) -> Iterator[Machine]:
    """`whole`: without the images and downloads of this machine."""
    from tests.kit.own_engine import OwnEngine

    name = f"smlocal-small-{os.getpid()}"
    folder = Path(tempfile.mkdtemp(prefix="smlocal-small-"))
    disk = folder / "disk"
    machine = Machine(name=name, disk=disk, environment={})
    subprocess.run(["ip", "netns", "add", name], check=True)
    engine = OwnEngine(folder=disk / "engine", namespace=name, options=("--cgroup-parent", f"/{name}/containers"))
    try:
        _make_disk(folder / "file", disk)
        _make_groups(machine)
        subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
        (disk / "engine").mkdir()
        progress("starting an engine")
        with machine.entered("engine"):
            engine.start()
        machine.environment = {
            **environment,
            **{variable: str(_made(disk / below)) for variable, below in _PLACES.items()},
            "DOCKER_HOST": engine.address,
            **_borrowed(whole=whole),
        }
        yield machine
    finally:
        progress("clearing up")
        engine.close()
        subprocess.run(["umount", disk], check=False)
        subprocess.run(["ip", "netns", "delete", name], check=False)
        _remove_groups(machine)
        shutil.rmtree(folder)


_PLACES = {"HOME": "home", "SMLOCAL_HOME": "home/.smlocal", "TMPDIR": "tmp", "XDG_CACHE_HOME": "home/.cache"}


def _borrowed(*, whole: bool) -> dict[str, str]:
    """To try this script out: the downloads of this machine, and the images of its engine."""
    if whole:
        return {}
    cache = os.environ.get("XDG_CACHE_HOME") or f"{Path.home()}/.cache"
    engine = os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    return {"SMLOCAL_CACHE": f"{cache}/smlocal-setup", "SMLOCAL_IMAGES_FROM": engine}


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _make_disk(file: Path, disk: Path) -> None:
    with file.open("wb") as sparse:
        sparse.truncate(DISK + _FILE_SYSTEM)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", file], check=True)
    disk.mkdir()
    subprocess.run(["mount", "-o", "loop", file, disk], check=True)
    # What is free is what is meant.
    free = (seen := os.statvfs(disk)).f_bavail * seen.f_frsize
    subprocess.run(["fallocate", "--length", str(max(1, free - DISK)), disk / "filler"], check=True)


def _make_groups(machine: Machine) -> None:
    for controller in _CONTROLLERS:
        top = machine.group(controller)
        top.mkdir()
        if controller == "memory":
            (top / "memory.limit_in_bytes").write_text(str(MEMORY))
        for group in (top, *(top / part for part in _PARTS)):
            group.mkdir(exist_ok=True)
            if sys.platform == "linux" and controller == "cpuset":
                few = sorted(os.sched_getaffinity(0))[:PROCESSORS]
                (group / "cpuset.cpus").write_text(",".join(map(str, few)))
                (group / "cpuset.mems").write_text((_CGROUPS / "cpuset" / "cpuset.mems").read_text())


def _remove_groups(machine: Machine) -> None:
    """Those that the engine has made for other controllers too, the innermost first."""
    for controller in _CGROUPS.iterdir():
        top = controller / machine.name
        for group in sorted((each for each in (top, *top.rglob("*")) if each.is_dir()), reverse=True):
            for _ in range(100):
                with suppress(OSError):
                    group.rmdir()
                if not group.exists():
                    break
                time.sleep(_PAUSE_SECONDS)


def _own_group(controller: str) -> Path:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return _CGROUPS / controller / path.lstrip("/")
    sys.exit(f"This process is in no control group of {controller}.")


if __name__ == "__main__":
    main(measure)
