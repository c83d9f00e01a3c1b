"""The differences between two documents of conformance, without the expected ones. Pure."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import ConformanceDocumentError
from smlocal.service.conformance.document import Document

ABSENT = object()
"""The value where the other document has none."""
_ABOUT = ("Schema", "Case", "Host")
_ENDS = ("Outcome", "Archives")
_DEEPEST = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentDifference:
    """One place with two values."""

    group: str
    path: str
    """In the group."""
    first: Any
    second: Any
    where: tuple[str, ...]
    """The jobs and hosts: `everything/algo-1`; only `everything` for what a job has."""
    rule: str
    """Why it is expected; empty if it counts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentComparison:
    """All of them, by group."""

    differences: tuple[DocumentDifference, ...]
    expected: tuple[DocumentDifference, ...]
    only_first: tuple[str, ...]
    """Cases that only the first document has."""
    only_second: tuple[str, ...]


def compare(first: Document, second: Document) -> DocumentComparison:
    """Compare what both have: the same cases, host by host."""
    jobs, others = first["Jobs"], second["Jobs"]
    cases = [case for case in jobs if case in others]
    if not cases:
        raise ConformanceDocumentError(
            "the two documents have no job in common",
            details=[f"one: {', '.join(jobs) or 'none'}", f"the other: {', '.join(others) or 'none'}"],
        )
    found: dict[tuple[str, str, str, str], list[str]] = {}
    values: dict[tuple[str, str, str, str], DocumentDifference] = {}
    for case in cases:
        for each in _of_job(case, jobs[case], others[case]):
            key = (each.path, _written(each.first), _written(each.second), each.rule)
            found.setdefault(key, []).extend(each.where)
            values.setdefault(key, each)
    merged = [_grouped(values[key], where) for key, where in found.items()]
    return DocumentComparison(
        differences=tuple(each for each in merged if not each.rule),
        expected=tuple(each for each in merged if each.rule),
        only_first=tuple(case for case in jobs if case not in others),
        only_second=tuple(case for case in others if case not in jobs),
    )


def _written(value: Any) -> str:
    return "" if value is ABSENT else json.dumps(value, sort_keys=True)


def _grouped(each: DocumentDifference, where: list[str]) -> DocumentDifference:
    group, _, path = each.path.partition(".")
    return DocumentDifference(
        group=group, path=path, first=each.first, second=each.second, where=tuple(where), rule=each.rule
    )


def _of_job(case: str, first: Document, second: Document) -> Iterator[DocumentDifference]:
    names = _names(first), _names(second)
    for end in _ENDS:
        if end in first and end in second:  # a document without it does not say that there was none
            yield from _of_trees({end: first[end]}, {end: second[end]}, names, case)
    hosts, others = first["Hosts"], second["Hosts"]
    for host in sorted({*hosts, *others}):
        if host in hosts and host in others:
            yield from _of_trees(_comparable(hosts[host]), _comparable(others[host]), names, f"{case}/{host}")
        else:
            seen = ("a document" if host in each else ABSENT for each in (hosts, others))
            yield _difference(f"Hosts.{host}", next(seen), next(seen), case, "")


def _of_trees(
    first: Document, second: Document, names: tuple[Mapping[str, str], Mapping[str, str]], where: str
) -> Iterator[DocumentDifference]:
    flat, other = dict(_flat(first, "")), dict(_flat(second, ""))
    for path in [*flat, *(path for path in other if path not in flat)]:
        one, two = flat.get(path, ABSENT), other.get(path, ABSENT)
        if one is two or (one == two and type(one) is type(two)):
            continue
        yield _difference(path, one, two, where, _rule(path, one, two, names))


def _difference(path: str, first: Any, second: Any, where: str, rule: str) -> DocumentDifference:
    return DocumentDifference(group="", path=path, first=first, second=second, where=(where,), rule=rule)


def _rule(path: str, first: Any, second: Any, names: tuple[Mapping[str, str], Mapping[str, str]]) -> str:
    """The id of the rule that expects this difference; empty for none."""
    for rule in DIFFERENCE_RULES:
        if rule.covers(path) and (not rule.tolerance or _near(first, second, rule.tolerance)):
            return rule.id
    if first is ABSENT or second is ABSENT:
        return ""
    one, two = _written(first), _written(second)
    for rule in DIFFERENCE_RULES:
        if rule.replaced is not None:
            one, two = rule.replaced(one, names[0]), rule.replaced(two, names[1])
            if one == two:
                return rule.id
    return ""


def _near(first: Any, second: Any, tolerance: float) -> bool:
    numbers = isinstance(first, int | float) and isinstance(second, int | float)
    return numbers and abs(first - second) < tolerance


def _names(job: Document) -> Mapping[str, str]:
    """The names of the job, and of its place."""
    for seen in job["Hosts"].values():
        if isinstance(variables := seen.get("Environment"), dict):
            return {"job": str(variables.get("TRAINING_JOB_NAME", "")), "region": str(variables.get("AWS_REGION", ""))}
    return {"job": "", "region": ""}


def _comparable(seen: Document) -> Document:
    """A host's document with configuration files and manifests as trees, and the names of capabilities."""
    made = {name: value for name, value in seen.items() if name not in _ABOUT}
    if isinstance(files := made.get("Config"), dict):
        made["Config"] = {name: _configuration(text) for name, text in files.items()}
    if isinstance(files := made.get("Manifests"), dict):
        made["Manifests"] = {name: _manifest(str(text)) for name, text in files.items()}
    process = made.get("Process")
    if isinstance(process, dict) and isinstance(masks := process.get("Capabilities"), dict):
        shown = {name: capability_names(mask) for name, mask in masks.items()}
        made["Process"] = {**process, "Capabilities": shown}
    return made


def _configuration(text: Any) -> Any:
    """The content of a JSON file, the order of its members, and how it is written."""
    with suppress(ValueError, TypeError, RecursionError):
        content = json.loads(text)
        compact = json.dumps(content, ensure_ascii=False, separators=(",", ":")) == text
        order = {"(order)": [*content]} if isinstance(content, dict) else {}
        return {"(content)": content, **order, "(layout)": "compact" if compact else "with spaces, or escaped"}
    return text


def _manifest(text: str) -> Document:
    """Its first line, which is a prefix, and the objects below that."""
    prefix, *lines = text.splitlines() or [""]
    return {"(prefix)": prefix, "(objects)": [line.partition(prefix)[2] or line for line in lines]}


def _flat(tree: Any, path: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every leaf with its path. A list of values is a leaf, one of documents is not. Empty values have no leaves."""
    pairs: Iterable[tuple[Any, Any]]
    if isinstance(tree, dict):
        pairs = tree.items()
    elif isinstance(tree, list) and any(isinstance(each, dict) for each in tree):
        pairs = enumerate(tree, 1)
    else:
        yield path, tree
        return
    if depth > _DEEPEST:
        yield path, "(too deep)"
        return
    for key, value in pairs:
        yield from _flat(value, f"{path}.{key}" if path else str(key), depth + 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class DifferenceRule:
    """The places that are left out, and why."""

    id: str
    why: str
    places: tuple[str, ...] = ()
    """Patterns of paths: values there are not compared."""
    replaced: Callable[[str, Mapping[str, str]], str] | None = None
    """Changes a text, given the names of its job; two texts that are the same then are not different."""
    tolerance: float = 0.0
    """For `places`: numbers that are at most this far apart are the same."""

    def covers(self, path: str) -> bool:
        """True if the rule speaks of this place."""
        return any(fnmatchcase(path, pattern) for pattern in self.places)


def _without_job(text: str, names: Mapping[str, str]) -> str:
    for name in (names["job"], names["job"].lower()):
        text = text.replace(name, "<job>") if name else text
    return text


def _without_region(text: str, names: Mapping[str, str]) -> str:
    return text.replace(names["region"], "<region>") if names["region"] else text


def _without_hosts(text: str, _names: Mapping[str, str]) -> str:
    text = re.sub(r"\bip-\d+-\d+-\d+-\d+(\.[a-z0-9-]+)*\.internal\b", "<instance>", text)
    text = re.sub(r"\b[0-9a-f]{12}\b", "<container>", text)
    return re.sub(r"\b(?!127\.|169\.254\.|255\.|0\.)\d{1,3}(\.\d{1,3}){3}\b", "<address>", text)


def _without_locations(text: str, _names: Mapping[str, str]) -> str:
    return re.sub(r"\b(?:s3|file)://[^\s\"]*", "<location>", text)


def _without_masks(text: str, _names: Mapping[str, str]) -> str:
    return re.sub(r"\b0{12}\b|<account>", "<account>", text)


DIFFERENCE_RULES = (
    DifferenceRule(
        id="times", why="How old files are, and how long something took", places=("*.AgeSeconds", "*.CameAfterSeconds")
    ),
    DifferenceRule(
        id="seconds-to-kill",
        why="Times of a stop that are less than two seconds apart",
        places=("Signals.SecondsToTheLastSignOfLife",),
        tolerance=2.0,
    ),
    DifferenceRule(
        id="machine",
        why="Kernel, processors, memory and disks of the machine, and the version of its control groups",
        places=(
            "Kernel.*",
            "Limits.Disks.*",
            "Limits.ControlGroup.Version",
            "Limits.ControlGroup.CpuSet",
            "Mounts./sys/fs/cgroup*",
        ),
    ),
    DifferenceRule(
        id="base-image",
        why="Differences of the base image",
        places=(
            "Python",
            "Environment.PATH",
            "Environment.LANG",
            "Environment.LC_CTYPE",
            "Environment.PYTHON*",
            "Environment.PIP_*",
            "Environment.GPG_KEY",
        ),
    ),
    DifferenceRule(
        id="sizes-with-names",
        why="Sizes of files that contain the name of the job or of a bucket",
        places=("Tree./opt/ml/input/config/*.Size", "Tree./opt/ml/input/data/*-manifest.Size"),
    ),
    DifferenceRule(
        id="order-of-hyperparameters",
        why="The service writes them in the order of a hash",
        places=("Config.hyperparameters.json.(order)",),
    ),
    DifferenceRule(id="job-name", why="The name of the job", replaced=_without_job),
    DifferenceRule(id="region", why="The region", replaced=_without_region),
    DifferenceRule(id="account", why="The account", replaced=_without_masks),
    DifferenceRule(id="host-names", why="Addresses, names of instances, ids of containers", replaced=_without_hosts),
    DifferenceRule(
        id="locations",
        why="Where objects are in S3, or files on this machine",
        places=("Manifests.*.(prefix)",),
        replaced=_without_locations,
    ),
)


_CAPABILITIES = (
    "chown dac_override dac_read_search fowner fsetid kill setgid setuid setpcap linux_immutable net_bind_service "
    "net_broadcast net_admin net_raw ipc_lock ipc_owner sys_module sys_rawio sys_chroot sys_ptrace sys_pacct sys_admin "
    "sys_boot sys_nice sys_resource sys_time sys_tty_config mknod lease audit_write audit_control setfcap mac_override "
    "mac_admin syslog wake_alarm block_suspend audit_read perfmon bpf checkpoint_restore"
)


def capability_names(mask: str) -> list[str] | str:
    """Those of the bits of a mask in /proc/self/status; the mask itself if it is none."""
    try:
        bits = int(mask, 16)
    except (ValueError, TypeError):
        return mask
    names = _CAPABILITIES.split()
    return [names[at] if at < len(names) else str(at) for at in range(bits.bit_length()) if bits >> at & 1]
