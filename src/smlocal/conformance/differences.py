"""What is different between two documents of conformance, without what is expected. Pure."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from smlocal.conformance.capabilities import capability_names
from smlocal.conformance.document import Document
from smlocal.conformance.expected_differences import RULES
from smlocal.errors import ConformanceDocumentError
from smlocal.quick_dataclass import dataclass

ABSENT = object()
"""What the other document has no value for."""
_ABOUT = ("Schema", "Case", "Host")
_ENDS = ("Outcome", "Archives")
_DEEPEST = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
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
class Comparison:
    """All of them, by group."""

    differences: tuple[Difference, ...]
    expected: tuple[Difference, ...]
    only_first: tuple[str, ...]
    """Cases that only the first document has."""
    only_second: tuple[str, ...]


def compare(first: Document, second: Document) -> Comparison:
    """Compare what both have: the same cases, host by host."""
    jobs, others = first["Jobs"], second["Jobs"]
    cases = [case for case in jobs if case in others]
    if not cases:
        raise ConformanceDocumentError(
            "the two documents have no job in common",
            details=[f"one: {', '.join(jobs) or 'none'}", f"the other: {', '.join(others) or 'none'}"],
        )
    found: dict[tuple[str, str, str, str], list[str]] = {}
    values: dict[tuple[str, str, str, str], Difference] = {}
    for case in cases:
        for each in _of_job(case, jobs[case], others[case]):
            key = (each.path, _written(each.first), _written(each.second), each.rule)
            found.setdefault(key, []).extend(each.where)
            values.setdefault(key, each)
    merged = [_grouped(values[key], where) for key, where in found.items()]
    return Comparison(
        differences=tuple(each for each in merged if not each.rule),
        expected=tuple(each for each in merged if each.rule),
        only_first=tuple(case for case in jobs if case not in others),
        only_second=tuple(case for case in others if case not in jobs),
    )


def _written(value: Any) -> str:
    return "" if value is ABSENT else json.dumps(value, sort_keys=True)


def _grouped(each: Difference, where: list[str]) -> Difference:
    group, _, path = each.path.partition(".")
    return Difference(group=group, path=path, first=each.first, second=each.second, where=tuple(where), rule=each.rule)


def _of_job(case: str, first: Document, second: Document) -> Iterator[Difference]:
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
) -> Iterator[Difference]:
    flat, other = dict(_flat(first, "")), dict(_flat(second, ""))
    for path in [*flat, *(path for path in other if path not in flat)]:
        one, two = flat.get(path, ABSENT), other.get(path, ABSENT)
        if one is two or (one == two and type(one) is type(two)):
            continue
        yield _difference(path, one, two, where, _rule(path, one, two, names))


def _difference(path: str, first: Any, second: Any, where: str, rule: str) -> Difference:
    return Difference(group="", path=path, first=first, second=second, where=(where,), rule=rule)


def _rule(path: str, first: Any, second: Any, names: tuple[Mapping[str, str], Mapping[str, str]]) -> str:
    """The id of the rule that expects this difference; empty for none."""
    for rule in RULES:
        if rule.covers(path) and (not rule.tolerance or _near(first, second, rule.tolerance)):
            return rule.id
    if first is ABSENT or second is ABSENT:
        return ""
    one, two = _written(first), _written(second)
    for rule in RULES:
        if rule.replaced is not None:
            one, two = rule.replaced(one, names[0]), rule.replaced(two, names[1])
            if one == two:
                return rule.id
    return ""


def _near(first: Any, second: Any, tolerance: float) -> bool:
    numbers = isinstance(first, int | float) and isinstance(second, int | float)
    return numbers and abs(first - second) < tolerance


def _names(job: Document) -> Mapping[str, str]:
    """What the job is called, and where it ran."""
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
    """Every leaf with its path. A list of values is a leaf, one of documents is not. What is empty has no leaves."""
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
