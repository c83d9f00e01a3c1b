"""What commands need before they do their work: counted, compared with a table, and named where it is too much."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

PROBE = Path(__file__).with_name("needs_probe.py")
LOADED = Path(__file__).with_name("loaded.txt")
"""Which modules each way had loaded when this was written: those that are new are named where a number is too high."""
RECORD = "SMLOCAL_RECORD_NEEDS"
"""With this variable, `LOADED` is written again."""
_SECONDS = 200
_SHOWN = 12
_SLACK = 0.05
"""A limit that is further above the count would hide the next growth: lower it then."""
_PYTHON = (3, 11)
"""Modules of the standard library, and sizes, differ in others."""
_IN_TIME = ("smlocal.jobs.usage.sampler", "smlocal.jobs.usage.series")
"""They measure a container that runs for more than a second: whether one does depends on how busy the machine is."""
_OF_PYTHON = ("all", "kilobytes", "extensions", "dataclasses", "regexes", "uncalled")


@dataclass(frozen=True, kw_only=True)
class Needs:
    """The most that a command may need. None: it depends on how fast the machine is.

    A change that needs more raises a number, and says beside it why.
    """

    ours: int
    """Modules of smlocal."""
    all: int
    """Modules that a Python which has just started does not have."""
    kilobytes: int
    """Of the compiled modules of smlocal."""
    extensions: int = 0
    """Modules that are shared libraries."""
    dataclasses: int = 0
    regexes: int = 0
    uncalled: int = 0
    """Modules of smlocal that are not empty, and of which no function is called."""
    requests: int | None = 0
    """To the engine."""
    fdatasyncs: int | None = 0
    threads: int | None = 0
    processes: int = 0
    may: tuple[str, ...] = ()
    """Modules of `ABSENT` that it needs."""


ABSENT: Final = frozenset(
    {
        *("asyncio", "boto3", "botocore", "docker", "isal", "multiprocessing", "pydantic", "requests"),
        *("_bz2", "_ctypes", "_hashlib", "_lzma", "bz2", "ctypes", "difflib", "email", "hashlib", "http.client"),
        *("importlib.util", "ipaddress", "jinja2", "logging", "lzma", "rich", "shutil", "ssl", "subprocess"),
        *("tempfile", "tomllib", "urllib.parse", "urllib.request", "urllib3", "sqlite3"),
        *("tarfile", "xml", "yaml", "zipfile"),
    }
)
"""Modules that only some commands need, each for something that a job without it does not have."""


_COUNTED: Final = {
    "ours": "ours",
    "all": "modules",
    "kilobytes": "sizes",
    "extensions": "extensions",
    "dataclasses": "dataclasses",
    "regexes": "regexes",
    "uncalled": "uncalled",
    "requests": "requests",
    "fdatasyncs": "fdatasyncs",
    "threads": "threads",
    "processes": "processes",
}
"""The members of `Needs`, and where they are in what the probe found."""


def found_by(
    kind: str, *arguments: str | Path, folder: Path, environment: Mapping[str, str], traced: bool = True
) -> dict[str, Any]:
    """What one command needed, or one piece of `code`. Only if its end is awaited can it be `traced`."""
    out, syncs = folder / "needs.json", folder / "fdatasync.txt"
    strace = shutil.which("strace") if traced else None
    trace: list[str | Path] = (
        [strace, "-f", "--seccomp-bpf", "-qq", "-e", "trace=fdatasync,fsync", "-o", syncs] if strace else []
    )
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SMLOCAL_", "AWS_"))}
    done = subprocess.run(
        [*trace, sys.executable, PROBE, out, kind, *arguments],
        env={**kept, "PYTHONHASHSEED": "0", **environment},
        cwd=folder,
        timeout=_SECONDS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = _without_measuring(json.loads(out.read_text()))
    found["fdatasyncs"] = syncs.read_text().count("sync(") if strace else None
    return found


def _without_measuring(found: dict[str, Any]) -> dict[str, Any]:
    """Without `_IN_TIME`, and what is imported for them alone."""
    gone = {*_IN_TIME}
    while more := {each for each in found["modules"] if found["importers"].get(each) in gone} - gone:
        gone |= more
    listed = ("modules", "ours", "extensions", "uncalled")
    return {
        **found,
        **{what: [each for each in found[what] if each not in gone] for what in listed},
        "sizes": {each: size for each, size in found["sizes"].items() if each not in gone},
        "dataclasses": [each for each in found["dataclasses"] if each.rpartition(".")[0] not in gone],
        "regexes": [each for each in found["regexes"] if each.partition(":")[0] not in gone],
        "requests": [each for each in found["requests"] if "/stats" not in each],
    }


def complaints(way: str, found: Mapping[str, Any], most: Needs) -> str:
    """What is more than the table says, with the culprits, or less, so that the table has to be lowered."""
    if RECORD in os.environ:
        _record(way, found["modules"])
    said = [
        f"{name} is imported, first by {found['importers'].get(name)}"
        for name in sorted(ABSENT & {*found["modules"]} - {*most.may})
    ]
    counts = {what: _count(found[of]) for what, of in _COUNTED.items() if found[of] is not None}
    for what, count in counts.items():
        limit: int | None = getattr(most, what)
        if limit is None or (what in _OF_PYTHON and sys.version_info[:2] != _PYTHON):
            continue
        if count > limit:
            said.append(f"{what}: {count}, {count - limit} more than {limit}:{_culprits(way, what, found)}")
        elif count < limit - max(1, limit * _SLACK):
            said.append(f"{what}: {count} of {limit}: lower the limit")
    if said:
        said.append(f"{way}: {', '.join(f'{what}={count}' for what, count in counts.items())}")
    return "\n".join(said)


def _count(found: Any) -> int:
    """Bytes are counted by the thousand."""
    if isinstance(found, dict):
        return -(-sum(found.values()) // 1000)
    return found if isinstance(found, int) else len(found)


def _culprits(way: str, what: str, found: Mapping[str, Any]) -> str:
    """Those that were not there when the lists were recorded, or all where there is no list."""
    here = found[_COUNTED[what]]
    if isinstance(here, int):
        return "see them with strace"
    before = {module for module, ways in _loaded().items() if way in ways}
    new = [each for each in here if not before or each.partition(":")[0] not in before]
    if what == "dataclasses":
        new = [each for each in new if each.rpartition(".")[0] not in before]
    if what in {"ours", "all", "extensions", "uncalled", "kilobytes"}:
        importers, sizes = found["importers"], found["sizes"]
        new = [f"{each} ({sizes.get(each, 0)} bytes) imported by {importers.get(each)}" for each in new or here]
    return "\n  ".join(["", *(new or here)[:_SHOWN], *([f"and {len(new) - _SHOWN} more"] if len(new) > _SHOWN else [])])


def _loaded() -> dict[str, set[str]]:
    """By module, the ways that had loaded it when the list was written."""
    lines = (line.split() for line in LOADED.read_text().splitlines())
    return {module: set(ways) for module, *ways in lines}


def _record(way: str, modules: Sequence[str]) -> None:
    lists = _loaded()
    for ways in lists.values():
        ways.discard(way)
    for module in modules:
        lists.setdefault(module, set()).add(way)
    LOADED.write_text(
        "".join(f"{' '.join((module, *sorted(ways)))}\n" for module, ways in sorted(lists.items()) if ways)
    )
