"""Prints and saves what a training container can see, as one JSON document.

This file is the whole program of an image: it needs Python 3.7 or newer, and nothing else. So it imports nothing of
smlocal, and no look may end the program: a failure is recorded in place of the result.
"""

from __future__ import annotations

import base64
import errno
import fcntl
import hashlib
import http.client
import json
import os
import platform
import re
import resource
import signal
import socket
import stat
import struct
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

SCHEMA = 1
MARK = "smlocal-conformance"
"""The first word of every line that this program prints."""

_ROOT = "/opt/ml"
_MODEL = "/opt/ml/model"
_CONFIG = "/opt/ml/input/config"
_DATA = "/opt/ml/input/data"
_MOST_ENTRIES = 3000
_MOST_TEXT = 65_536
_LINE_LETTERS = 4000
"""Far below any limit of a log."""
_RESOLVE_SECONDS = 60.0
_CONNECT_SECONDS = 1.0
_PEER_SECONDS = 120.0
_PEER_PORT = 27182
_SIGN_SECONDS = 0.25
_PRINTED_SECONDS = 1.0
"""Signs of life are printed more rarely than they are written."""
_LONGEST_WAIT_SECONDS = 900.0
_FAILURE = b"x" * 1023 + "é".encode() + b" the rest"
"""The first 1024 bytes end within a character."""
_EXIT_CODE = 3

# Masking. It is done here, before anything leaves the container.

_SECRET = re.compile(
    r"(?i)key|secret|token|passw|passphrase|_pwd$|credential|auth|signature|cookie|private|dsn|webhook"
)
_ABOUT = re.compile(r"(?i)_(uri|url|path|dir|file|region|name|type|version)$")
"""With such an end, a name says where a secret is. Its value is masked as in any other text."""
_HIDDEN = "<hidden>"
_MASKS = (
    (re.compile(r"//[^/@\s\"]+@"), f"//{_HIDDEN}@"),
    (re.compile(r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,}\b"), "<key id>"),
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "<uuid>"),
    (re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{32,}(?![0-9A-Za-z])"), lambda found: f"<{len(found.group())} hex>"),
    (re.compile(r"(?<![0-9.])[0-9]{12}(?![0-9.])"), "<account>"),
    (re.compile(r"(?<=dkr\.ecr)\.[^\s\"]+"), ".<registry>"),
    (re.compile(r"\b[0-9]{12}(?=\.dkr\.ecr)"), "<account>"),
    (re.compile(r":role/[^\s\",]+"), ":role/<role>"),
    (re.compile(r"\bs3://[^/\s\"]+"), "s3://<bucket>"),
)
_PAIR = re.compile(r'"((?:[^"\\]|\\.)+)"(\s*:\s*)"((?:[^"\\]|\\.)*)"')


def masked_text(text: str) -> str:
    """The text without accounts, keys, ids, buckets and roles."""
    for pattern, instead in _MASKS:
        text = pattern.sub(instead, text)
    return text


def masked_value(name: str, value: str) -> str:
    """The value of a variable: hidden if its name says that it is a secret."""
    if value and _SECRET.search(name) and not _ABOUT.search(name):
        return _HIDDEN
    return masked_pairs(value)


def masked_pairs(text: str) -> str:
    """A text that may be JSON, without members that are secret by their name."""

    def shown(found: re.Match[str]) -> str:
        return f'"{found.group(1)}"{found.group(2)}"{masked_value(found.group(1), found.group(3))}"'

    return masked_text(_PAIR.sub(shown, text))


def masked_tree(tree: Any) -> Any:
    """A document with every string masked; the names of members stay."""
    if isinstance(tree, dict):
        return {key: masked_tree(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [masked_tree(each) for each in tree]
    return masked_text(tree) if isinstance(tree, str) else tree


# The files below /opt/ml.


def tree(root: str = _ROOT) -> dict[str, Any]:
    """Everything below a folder: kind, mode, owner, size."""
    found = {root: entry(root)}
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted([*folders, *files]):
            if len(found) >= _MOST_ENTRIES:
                return {**found, "…": {"Kind": "more than could be listed"}}
            found[os.path.join(folder, name)] = entry(os.path.join(folder, name))
    return found


def entry(path: str) -> dict[str, Any]:
    """One file, folder, link or FIFO."""
    try:
        seen = os.lstat(path)
    except OSError as error:
        return {"Error": _name_of(error)}
    kind = _KINDS.get(stat.S_IFMT(seen.st_mode), "?")
    described = {"Kind": kind, "Mode": f"{stat.S_IMODE(seen.st_mode):04o}", "User": seen.st_uid, "Group": seen.st_gid}
    if kind == "file":
        described["Size"] = seen.st_size
    elif kind == "link":
        described["Target"] = os.readlink(path)
    return {**described, "AgeSeconds": round(time.time() - seen.st_mtime, 1)}


_KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
}


def mounts(text: str) -> dict[str, Any]:
    """The mount points of /proc/self/mountinfo: type and options. Mounts there have names of others."""
    found = {}
    for line in text.splitlines():
        words = line.split(" ")
        after = words.index("-")
        found[words[4]] = {"Type": words[after + 1], "Options": sorted(words[5].split(","))}
    return found


def config(folder: str = _CONFIG) -> dict[str, str]:
    """The files in a folder, as text."""
    paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    return {os.path.basename(path): masked_pairs(_read(path)) for path in paths if os.path.isfile(path)}


def channels(config_folder: str = _CONFIG, data: str = _DATA) -> dict[str, Any]:
    """The files of each channel, and whether it can be written to."""
    with open(os.path.join(config_folder, "inputdataconfig.json"), encoding="utf-8") as file:
        described = json.load(file)
    return {name: _looked_at(_channel, name, each.get("TrainingInputMode"), data) for name, each in described.items()}


def _channel(name: str, mode: str, data: str) -> dict[str, Any]:
    if mode == "Pipe":
        return {"Epochs": [_epoch(os.path.join(data, f"{name}_{number}")) for number in (0, 1)]}
    folder = os.path.join(data, name)
    contents = {}
    for parent, _, files in os.walk(folder):
        for each in files:
            with open(os.path.join(parent, each), "rb") as file:
                path = os.path.relpath(os.path.join(parent, each), folder)
                contents[path] = _digest(file.read())
    return {"Files": dict(sorted(contents.items())), "Writing": writing(folder)}


def _epoch(path: str) -> dict[str, Any]:
    """Read a FIFO to its end; it may come late."""
    began = time.monotonic()
    while not os.path.exists(path):
        if time.monotonic() - began > _RESOLVE_SECONDS:
            return {"Error": "it did not come"}
        time.sleep(0.05)
    late = round(time.monotonic() - began, 1)
    with open(path, "rb") as file:
        content = file.read()
    return {"Bytes": len(content), "Sha256": _digest(content), "CameAfterSeconds": late}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def writing(folder: str) -> str:
    """The result of making a file there."""
    path = os.path.join(folder, ".smlocal-conformance")
    try:
        with open(path, "xb"):
            pass
        os.unlink(path)
    except OSError as error:
        return _name_of(error)
    return "works"


def places_to_write() -> dict[str, str]:
    """The folders that programs write to."""
    folders = ("/", "/tmp", "/dev/shm", _ROOT, "/opt/ml/input", _CONFIG, _DATA, _MODEL, "/opt/ml/output")  # noqa: S108 - looked at
    return {folder: writing(folder) for folder in folders}


# Limits and the machine.


def limits() -> dict[str, Any]:
    """Resource limits, control groups, sizes of file systems."""
    names = sorted(name for name in dir(resource) if name.startswith("RLIMIT_") and name != "RLIMIT_OFILE")
    found = {}
    for name in names:
        with suppress(OSError, ValueError):
            found[name] = [_limit(each) for each in resource.getrlimit(getattr(resource, name))]
    return {
        "Resources": found,
        "ControlGroup": _looked_at(control_group),
        "SharedMemory": _looked_at(_size, "/dev/shm"),  # noqa: S108 - looked at
        "Disks": {path: _looked_at(_size, path) for path in ("/", "/tmp", _MODEL, _DATA)},  # noqa: S108 - looked at
    }


def _limit(value: int) -> int | str:
    return "unlimited" if value == resource.RLIM_INFINITY else value


def _size(path: str) -> int:
    seen = os.statvfs(path)
    return seen.f_blocks * seen.f_frsize


def control_group(root: str = "/sys/fs/cgroup") -> dict[str, Any]:
    """Limits of the container's control group, alike for both versions. None: there is no limit."""
    if os.path.exists(os.path.join(root, "cgroup.controllers")):
        quota, _, period = _word(root, "cpu.max").partition(" ")
        return {
            "Version": 2,
            "Memory": _number(_word(root, "memory.max")),
            "Swap": _number(_word(root, "memory.swap.max")),
            "Cpus": _cpus(quota, period),
            "Processes": _number(_word(root, "pids.max")),
            "CpuSet": _word(root, "cpuset.cpus.effective"),
        }
    return {
        "Version": 1,
        "Memory": _number(_word(root, "memory/memory.limit_in_bytes")),
        "Swap": _number(_word(root, "memory/memory.memsw.limit_in_bytes")),
        "Cpus": _cpus(_word(root, "cpu/cpu.cfs_quota_us"), _word(root, "cpu/cpu.cfs_period_us")),
        "Processes": _number(_word(root, "pids/pids.max")),
        "CpuSet": _word(root, "cpuset/cpuset.cpus"),
    }


def _word(root: str, name: str) -> str:
    return _read(os.path.join(root, name)).strip() if os.path.exists(os.path.join(root, name)) else ""


def _number(text: str) -> int | None:  # version 1 writes the largest number of pages for no limit
    return int(text) if text.isdigit() and int(text) < 1 << 60 else None


def _cpus(quota: str, period: str) -> float | None:
    return round(int(quota) / int(period), 2) if quota.isdigit() and period.isdigit() else None


def kernel() -> dict[str, Any]:
    """The kernel, the processors, the memory, and settings of the kernel that programs notice."""
    settings = ("kernel/pid_max", "kernel/shmmax", "net/core/somaxconn", "vm/overcommit_memory", "vm/max_map_count")
    model = re.search(r"^model name\s*:\s*(.+)$", _read("/proc/cpuinfo"), re.MULTILINE)
    usable = os.cpu_count()
    if sys.platform == "linux":
        usable = len(os.sched_getaffinity(0))
    memory = re.search(r"^MemTotal:\s*(\d+)", _read("/proc/meminfo"), re.MULTILINE)
    return {
        "System": platform.system(),
        "Release": platform.release(),
        "Machine": platform.machine(),
        "Processor": model.group(1) if model else "",
        "Processors": os.cpu_count(),
        "UsableProcessors": usable,
        "MemoryKiB": int(memory.group(1)) if memory else None,
        "Settings": {name: _looked_at(_word, "/proc/sys", name) for name in settings},
    }


def devices() -> dict[str, Any]:
    """The files in /dev."""
    found = {}
    for name in sorted(os.listdir("/dev")):
        seen = entry(os.path.join("/dev", name))
        found[name] = {key: value for key, value in seen.items() if key in {"Kind", "Mode", "Target", "Error"}}
    return {"Files": found, "Terminals": [os.isatty(number) for number in (0, 1, 2)]}


# The network.


def network() -> dict[str, Any]:
    """Interfaces, names, routes, and who answers."""
    with ThreadPoolExecutor() as pool:
        hosts = {name: pool.submit(_looked_at, _resolved, name) for name in _hosts()}
        metadata = pool.submit(_looked_at, _answers, "169.254.169.254", 80)
        credentials = pool.submit(_looked_at, _credentials)
        return {
            "Interfaces": {name: _looked_at(_interface, name) for name in sorted(os.listdir("/sys/class/net"))},
            "HostName": socket.gethostname(),
            "HostNameFile": _looked_at(_read, "/etc/hostname"),
            "HostsFile": _looked_at(lambda: _read("/etc/hosts").splitlines()),
            "ResolvConf": _looked_at(lambda: _read("/etc/resolv.conf").splitlines()),
            "Routes": _looked_at(lambda: routes(_read("/proc/net/route"))),
            "Hosts": {name: each.result() for name, each in hosts.items()},
            "MetadataService": metadata.result(),
            "Credentials": credentials.result(),
        }


def _interface(name: str) -> dict[str, Any]:
    seen = {each: _word(f"/sys/class/net/{name}", each) for each in ("mtu", "operstate")}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking, suppress(OSError):
        answer = fcntl.ioctl(asking.fileno(), 0x8915, struct.pack("256s", name.encode()))  # SIOCGIFADDR
        seen["Address"] = socket.inet_ntoa(answer[20:24])
    return {"Mtu": int(seen["mtu"]), "State": seen["operstate"], "Address": seen.get("Address")}


def routes(text: str) -> list[dict[str, str]]:
    """The lines of /proc/net/route."""
    found = []
    for line in text.splitlines()[1:]:
        words = line.split()
        to, via, mask = (socket.inet_ntoa(struct.pack("<L", int(words[at], 16))) for at in (1, 2, 7))
        found.append({"Interface": words[0], "Destination": to, "Gateway": via, "Mask": mask})
    return found


def _hosts() -> list[str]:
    with suppress(OSError, ValueError):
        return [str(each) for each in _resource_config()["hosts"]]
    return []


def _resource_config() -> dict[str, Any]:
    with open(os.path.join(_CONFIG, "resourceconfig.json"), encoding="utf-8") as file:
        read: dict[str, Any] = json.load(file)
    return read


def _resolved(name: str) -> dict[str, Any]:
    """The address of a host; names of peers may come late."""
    began = time.monotonic()
    while True:
        try:
            address = socket.gethostbyname(name)
        except OSError as error:
            if time.monotonic() - began > _RESOLVE_SECONDS:
                return {"Error": _name_of(error)}
            time.sleep(0.2)
        else:
            return {"Address": address, "CameAfterSeconds": round(time.monotonic() - began, 1)}


def _answers(host: str, port: int) -> str:
    try:
        socket.create_connection((host, port), _CONNECT_SECONDS).close()
    except OSError as error:
        return _name_of(error)
    return "answers"


def _credentials() -> Any:
    """The members of the answer with credentials. Their values are not looked at."""
    path = os.environ.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
    if path is None:
        return None
    connection = http.client.HTTPConnection("169.254.170.2", timeout=10)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return {"Status": answer.status, "Members": sorted(json.loads(answer.read()))}
    finally:
        connection.close()


# The process.


def process() -> dict[str, Any]:
    """User, rights, working directory, arguments of this process."""
    status = fields(_read("/proc/self/status"))
    return {
        "User": [os.getuid(), os.geteuid()],
        "Group": [os.getgid(), os.getegid()],
        "Groups": sorted(os.getgroups()),
        "Umask": status.get("Umask"),
        "Capabilities": {each: status[each] for each in status if each.startswith("Cap")},
        "NoNewPrivileges": status.get("NoNewPrivs"),
        "Seccomp": status.get("Seccomp"),
        "Nice": os.nice(0),
        "OutOfMemoryScore": _looked_at(lambda: _read("/proc/self/oom_score_adj").strip()),
        "SecurityProfile": _looked_at(lambda: re.sub(r"\x00", "", _read("/proc/self/attr/current")).strip()),
        "Id": os.getpid(),
        "WorkingDirectory": os.getcwd(),
        "Arguments": sys.argv,
    }


def fields(text: str) -> dict[str, str]:
    """The lines of /proc/self/status."""
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {name: value.strip() for name, value in pairs}


def first_process() -> dict[str, Any]:
    """PID 1: its arguments, working directory, open files."""
    open_files = {}
    for number in sorted(os.listdir("/proc/1/fd"), key=int):
        with suppress(OSError):
            target = os.readlink(f"/proc/1/fd/{number}")
            if not target.endswith("/fd"):  # the folder that is just being listed
                open_files[number] = re.sub(r"\[\d+\]", "", target)
    return {
        "Arguments": _read("/proc/1/cmdline").rstrip("\0").split("\0"),
        "WorkingDirectory": os.readlink("/proc/1/cwd"),
        "OpenFiles": open_files,
        "Processes": sum(name.isdigit() for name in os.listdir("/proc")),
    }


def environment() -> dict[str, str]:
    """All variables, without secrets."""
    return {name: masked_value(name, value) for name, value in sorted(os.environ.items())}


# The whole document.

_LOOKS: tuple[tuple[str, Callable[[], Any]], ...] = (
    ("FirstProcess", first_process),
    ("Process", process),
    ("Environment", environment),
    ("Tree", tree),
    ("Mounts", lambda: mounts(_read("/proc/self/mountinfo"))),
    ("Config", config),
    ("Manifests", lambda: config(_DATA)),
    ("Limits", limits),
    ("Kernel", kernel),
    ("Devices", devices),
    ("Network", network),
    ("Channels", channels),
    ("Writing", places_to_write),
)


def document(case: str, host: str) -> dict[str, Any]:
    """Everything that this container can see."""
    about = {"Schema": SCHEMA, "Case": case, "Host": host, "Python": platform.python_version()}
    return masked_tree({**about, **{name: _looked_at(look) for name, look in _LOOKS}})  # type: ignore[no-any-return]


def _looked_at(look: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return look(*arguments)
    except Exception as error:  # noqa: BLE001 - whatever it is: the other looks are worth having
        return {"Error": _name_of(error)}


def _name_of(error: BaseException) -> str:
    number = getattr(error, "errno", None)
    return errno.errorcode.get(number, str(error)) if isinstance(number, int) else f"{type(error).__name__}: {error}"


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(_MOST_TEXT)


def printed_parts(text: str, host: str) -> Iterator[str]:
    """The document as lines for a log."""
    packed = zlib.compress(text.encode(), 9)
    encoded = base64.b64encode(packed).decode()
    pieces = [encoded[at : at + _LINE_LETTERS] for at in range(0, len(encoded), _LINE_LETTERS)]
    for number, piece in enumerate(pieces, 1):
        yield f"{MARK} part {host} {number}/{len(pieces)} {_digest(packed)} {piece}"


class Signs:
    """Signals, and signs of life after the first of them: saved where the model is, and printed more rarely."""

    def __init__(self) -> None:
        """Record signals from now on."""
        self.began = time.time()
        self.seen: list[tuple[str, float]] = []
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGCONT):
            signal.signal(number, self._record)

    def _record(self, number: int, _frame: Any) -> None:
        self.seen.append((signal.Signals(number).name, time.time()))

    def until_killed(self, host: str) -> None:
        """Report each signal, and then that this program lives, until it ends."""
        told, printed = 0, 0.0
        while time.time() - self.began < _LONGEST_WAIT_SECONDS:
            for name, when in self.seen[told:]:
                self._tell(host, f"{name} {when:.3f}", aloud=True)
                told += 1
            if told:
                now = time.time()
                aloud = now - printed >= _PRINTED_SECONDS
                printed = now if aloud else printed
                self._tell(host, f"alive {now:.3f}", aloud=aloud)
            time.sleep(_SIGN_SECONDS)

    @staticmethod
    def _tell(host: str, text: str, *, aloud: bool) -> None:
        with suppress(OSError), open(f"{_MODEL}/conformance-{host}-signs.txt", "a", encoding="utf-8") as file:
            file.write(f"{text}\n")
        if aloud:
            say(f"sign {host} {text}")


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{MARK} {text}\n")
    sys.stdout.flush()


def main() -> int:
    """Look, deliver, and end as the case wants it."""
    signs = Signs()
    host, case = "algo-1", "unknown"
    with suppress(OSError, ValueError, KeyError):
        host = _resource_config()["current_host"]
    with suppress(OSError, ValueError, KeyError), open(f"{_CONFIG}/hyperparameters.json", encoding="utf-8") as file:
        case = json.load(file)["conformance_case"]
    say(f"version {SCHEMA} of the document, case {case}, host {host}")
    _deliver(json.dumps(document(case, host), ensure_ascii=False, separators=(",", ":")), host)
    if case == "stopped":
        say("ready to be stopped")
        signs.until_killed(host)
    elif case == "failed":
        return _fail(signs, host)
    return 0


def _deliver(text: str, host: str) -> None:
    """To the model, where it lasts, and to the log, where it is even if no archive is made."""
    with suppress(OSError), open(f"{_MODEL}/conformance-{host}.json", "w", encoding="utf-8") as file:
        file.write(text)
    for line in printed_parts(text, host):
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
    _leave_traces(host)


def _leave_traces(host: str) -> None:
    """Files that show how archives are made: a link, an empty folder, a program, and a file that all hosts write."""
    with suppress(OSError):
        os.makedirs(f"{_MODEL}/traces/empty", exist_ok=True)
        os.symlink("same", f"{_MODEL}/traces/link")
        for path in (f"{_MODEL}/traces/same", f"{_MODEL}/traces/only-{host}", f"/opt/ml/output/data/only-{host}"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(host)
        os.chmod(f"{_MODEL}/traces/same", 0o750)  # noqa: S103 - to see whether the mode is kept


def _fail(signs: Signs, host: str) -> int:
    """The last host fails once the first one waits. So the first one sees what happens to the peers of a host."""
    hosts = _hosts()
    if host == hosts[0] and len(hosts) > 1:
        with socket.socket() as server:
            server.bind(("", _PEER_PORT))
            server.listen()
            signs.until_killed(host)
        return 0
    began = time.monotonic()
    while _answers(hosts[0], _PEER_PORT) != "answers" and time.monotonic() - began < _PEER_SECONDS and len(hosts) > 1:
        time.sleep(0.1)
    with open("/opt/ml/output/failure", "wb") as file:
        file.write(_FAILURE)
    return _EXIT_CODE


if __name__ == "__main__":
    sys.exit(main())
