"""The block that `smlocal doctor --report` prints for an issue: versions, engine, system, extras.

It names no user and no machine. Sentences of checks are left out: they have paths, addresses and names of jobs in them.
"""

import os
import platform
import re
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, requires, version

from smlocal.doctor.judgement import Judgement, Readiness
from smlocal.doctor.machine import Machine
from smlocal.engine.inspection import EngineDetails
from smlocal.errors import SmlocalError

_REQUIREMENT = re.compile(r"""([\w.-]+)[^;]*(?:;.*extra == ["']([\w-]+)["'])?""")
_OWN = "smlocal"
_HOME_OF_SOMEBODY = re.compile(r"^(/home/|/Users/)[^/]+")
_SETTINGS = ("SMLOCAL_", "DOCKER_", "CONTAINER_HOST")


def summary(machine: Machine, findings: Mapping[str, Judgement]) -> str:
    """One block of Markdown."""
    needed = requires(_OWN) or []
    rows = {
        "smlocal": version(_OWN),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": _system(),
        "engine": _engine(machine),
        **({} if machine.place is None else {"place": f"{machine.place.name}, {machine.place.app}"}),
        "packages": ", ".join(_packages(needed)),
        "extras": "; ".join(f"{name}: {state}" for name, state in installed_extras(needed).items()),
        "settings": _or_none(sorted(name for name in os.environ if name.startswith(_SETTINGS))),
        "problems": _named(findings, Readiness.PROBLEM),
        "warnings": _named(findings, Readiness.WARNING),
        "unknown": _named(findings, Readiness.UNKNOWN),
    }
    width = max(map(len, rows))
    return "\n".join(("```text", *(f"{name:<{width}}  {value}" for name, value in rows.items()), "```"))


def _system() -> str:
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        name = ""
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
    return f"{details.product} {details.version}, API {api}{known}{kind}{unlimited}, kernel {details.kernel}"


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
