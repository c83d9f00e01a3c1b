"""The block that `smlocal doctor --report` prints for an issue: versions, engine, system, extras.

It names no user and no machine. Sentences of checks are left out: they have paths, addresses and names of jobs in them.
"""

import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, requires, version

from smlocal.base.readable import readable_bytes
from smlocal.doctor.checks import file_system_of
from smlocal.doctor.judgement import Judgement, Readiness
from smlocal.doctor.machine import EngineUnavailableError, Machine
from smlocal.engine.endpoint import context_in_use
from smlocal.engine.inspection import EngineDetails
from smlocal.errors import SmlocalError

_REQUIREMENT = re.compile(r"""([\w.-]+)[^;]*(?:;.*extra == ["']([\w-]+)["'])?""")
_OWN = "smlocal"
_HOME_OF_SOMEBODY = re.compile(r"^(/home/|/Users/)[^/]+")
_SETTINGS = ("SMLOCAL_", "DOCKER_", "CONTAINER_HOST")
_CONTEXTS = re.compile(r"(?:default|desktop-linux|desktop|orbstack|rancher-desktop|colima|lima|podman|rootless)")
"""Names that programs give; a name of somebody's own may be that of a machine."""
_MOUNT = re.compile(r"^.* on (.+) \((\w+)[,)]")
"""A line of macOS: `/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)`."""
_MOUNT_SECONDS = 5.0


def summary(machine: Machine, findings: Mapping[str, Judgement]) -> str:
    """One block of Markdown."""
    needed = requires(_OWN) or []
    rows = {
        "smlocal": version(_OWN),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": _system(),
        "engine": _engine(machine),
        **({} if machine.place is None else {"place": f"{machine.place.name}, {machine.place.app}"}),
        "context": _context(),
        "folders": _folders(machine),
        "file-system": described_file_system(machine.home),
        "packages": ", ".join(_packages(needed)),
        "extras": "; ".join(f"{name}: {state}" for name, state in installed_extras(needed).items()),
        "settings": _or_none(sorted(name for name in os.environ if name.startswith(_SETTINGS))),
        "problems": _named(findings, Readiness.PROBLEM),
        "warnings": _named(findings, Readiness.WARNING),
        "unknown": _named(findings, Readiness.UNKNOWN),
        "fine": _named(findings, Readiness.OK),
    }
    width = max(map(len, rows))
    return "\n".join(("```text", *(f"{name:<{width}}  {value}" for name, value in rows.items()), "```"))


def _system() -> str:
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        name = ""
    name = name or (f"macOS {platform.mac_ver()[0]}" if sys.platform == "darwin" else "")
    # A kernel of WSL says so in its release.
    return f"{name or sys.platform}, {platform.system()} {platform.release()}, {platform.machine()}"


def _engine(machine: Machine) -> str:
    try:
        endpoint = machine.endpoint
    except SmlocalError as error:
        return f"not found ({error.id})"
    place = shown_address(endpoint.address, home=os.path.expanduser("~"))
    if machine.engine_error is not None:
        return f"none answers at {place} ({machine.engine_error.id})"
    return f"{_described(machine.details)}, at {place}"


def _described(details: EngineDetails) -> str:
    api = ".".join(map(str, details.api))
    kind = ", rootless" if details.rootless else ""
    unlimited = f", cannot limit {' and '.join(details.unlimited)}" if details.unlimited else ""
    told = (details.storage_driver, f"cgroup v{details.cgroup_version}" if details.cgroup_version else "")
    known = "".join(f", {each}" for each in told if each)
    system = f", on {details.operating_system}" if details.operating_system else ""
    return (
        f"{details.product} {details.version}, API {api}{known}{kind}{unlimited}, kernel {details.kernel}{system}, "
        f"{details.cpus} CPUs, {readable_bytes(details.memory)}"
    )


def _context() -> str:
    """How the engine was found. A name of the user's own is not shown."""
    try:
        name = context_in_use()
    except SmlocalError as error:
        return f"not found ({error.id})"
    if name is None:
        return "none: an address is set"
    return name if _CONTEXTS.fullmatch(name) else "another one (its name is not shown)"


def _folders(machine: Machine) -> str:
    try:
        if machine.engine_error is None and machine.trial.container_error is None:
            return "seen by the engine" if machine.trial.shares_folders else "not seen by the engine"
    except (SmlocalError, EngineUnavailableError):
        pass
    return "not known whether the engine sees them"


def described_file_system(folder: str) -> str:
    """Its type, if known, and how it compares names: as a program finds it, by a folder that is removed at once."""
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder) or "."
    kind = file_system_of(os.path.realpath(folder), _mounts()) or "type not known"
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".smlocal-") as place:
            case = "sensitive" if _is_other(place, "a", "A") else "insensitive"
            accents = "different names" if _is_other(place, "\u00e9", "e\u0301") else "one name"
    except OSError as error:
        return f"{kind}; cannot be written ({type(error).__name__})"
    return f"{kind}; case-{case}; composed and decomposed accents are {accents}"


def _is_other(place: str, name: str, other: str) -> bool:
    with open(os.path.join(place, name), "x", encoding="ascii"):
        return not os.path.lexists(os.path.join(place, other))


def _mounts() -> str:
    """In the form of the kernel's table."""
    try:
        with open("/proc/mounts", encoding="utf-8", errors="surrogateescape") as table:
            return table.read()
    except OSError:
        pass
    try:
        done = subprocess.run(["/sbin/mount"], capture_output=True, text=True, check=True, timeout=_MOUNT_SECONDS)
    except (OSError, subprocess.SubprocessError, UnicodeError):
        return ""
    return as_table(done.stdout)


def as_table(said: str) -> str:
    """What `mount` of macOS prints, as lines of such a table."""
    found = (_MOUNT.match(line) for line in said.splitlines())
    mounted = [(each[1].replace(" ", r"\040"), each[2]) for each in found if each is not None]
    return "\n".join(f"none {point} {kind} rw 0 0" for point, kind in mounted)


def shown_address(address: str, *, home: str) -> str:
    """How an engine is reached, without users, hosts and passwords."""
    scheme, _, path = address.partition("://")
    if scheme != "unix":
        return f"{scheme}://…"
    if path.startswith(home.rstrip("/") + "/"):
        return f"unix://~{path.removeprefix(home.rstrip('/'))}"
    return "unix://" + _HOME_OF_SOMEBODY.sub(r"\1…", path)


def installed_extras(requirements: Iterable[str]) -> dict[str, str]:
    """The versions of the packages of each extra, or which of them are missing."""
    packages: dict[str, list[str]] = {}
    for name, extra in _parsed(requirements):
        if extra and name != _OWN:
            packages.setdefault(extra, []).append(name)
    return {extra: _state(names) for extra, names in packages.items()}


def _state(names: Iterable[str]) -> str:
    versions = {name: _version(name) for name in names}
    missing = [name for name, found in versions.items() if found is None]
    return (
        f"missing {', '.join(missing)}" if missing else ", ".join(f"{name} {found}" for name, found in versions.items())
    )


def _packages(requirements: Iterable[str]) -> list[str]:
    """The packages that are always needed, and botocore, which has the service model that requests go by."""
    names = [name for name, extra in _parsed(requirements) if not extra]
    return [f"{name} {_version(name) or 'missing'}" for name in (*names, "botocore")]


def _parsed(requirements: Iterable[str]) -> list[tuple[str, str]]:
    found = (_REQUIREMENT.match(each) for each in requirements)
    return [(each[1], each[2] or "") for each in found if each is not None]


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _named(findings: Mapping[str, Judgement], severity: Readiness) -> str:
    return _or_none(name for name, finding in findings.items() if finding.severity is severity)


def _or_none(names: Iterable[str]) -> str:
    return " ".join(names) or "none"
