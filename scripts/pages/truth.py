"""The page of truth: each fact of the contract with its evidence and its tests, from tests/contract/facts."""

import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from tests.contract.records.verdicts import NOT_HERE, OLDER, all_records, compared

_ROOT = Path(__file__).resolve().parents[2]
FOLDER = _ROOT / "tests" / "contract" / "facts"
KINDS = ("training", "hosting", "transform", "processing", "tuning", "pipelines", "lists", "registry", "batch")
"""The files, in the order of the page."""
_DATA: dict[str, dict[str, Any]] = {
    kind: yaml.safe_load((FOLDER / f"{kind}.yaml").read_text(encoding="utf-8")) for kind in KINDS
}
SOURCES: dict[str, dict[str, str]] = {
    name: source for each in _DATA.values() for name, source in each["sources"].items()
}
"""By a short name: a title, and an address if there is one."""
EVIDENCE = ("documented", "seen", "inferred")
_RECORDS = "tests/contract/records/facts"
_ABOUT_RECORDS = """\
Public threads, notebooks and logs from 2018 to 2026 show jobs of the service. A test runs each of these jobs again
with a stand-in for its program. It compares members, default values, seconds, words, configuration files and
variables.
"""
_OLDER_WORDS = (
    "the message `Launching requested ML instances`, not seen since 2021; `Training in progress` without a full stop; "
    "a reason without `, exit code: 1`, which it has had since 2023 at the latest; "
    "two spaces in an `InternalServerError`, last seen in 2024"
)
_MISSING = "discounts for spot instances, and rules of the profiler"
_PROJECT: dict[str, Any] = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_MAIN = f"{_PROJECT['urls']['Repository']}/blob/main"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One sentence about the service."""

    id: str
    fact: str
    evidence: str
    date: str
    tests: tuple[str, ...]
    """Their full names."""
    source: tuple[str, ...] = ()
    """Names of SOURCES, and of records."""
    why: str = ""
    """The reason of a fact that is inferred."""


def facts() -> dict[str, list[Fact]]:
    """All of them, by area."""
    return {area: found for kind in KINDS for area, found in facts_of(kind).items()}


def facts_of(kind: str) -> dict[str, list[Fact]]:
    """Those of one file, by area."""
    return {area: [_fact(each) for each in found] for area, found in _DATA[kind]["areas"].items()}


def sources_of(kind: str) -> Collection[str]:
    """The short names of its sources."""
    names: dict[str, Any] = _DATA[kind]["sources"]
    return names.keys()


def truth_markdown() -> str:
    """The end of docs/truth.md."""
    return "\n".join(_lines())


def _fact(given: dict[str, Any]) -> Fact:
    tests = tuple(
        f"tests/contract/test_cases.py::test_{each}" if each.startswith("case[") else f"tests/{each}"
        for each in given["tests"]
    )
    return Fact(**{**given, "date": str(given["date"]), "tests": tests, "source": tuple(given.get("source", ()))})


def _lines() -> Iterator[str]:
    by_area = facts()
    every = [each for found in by_area.values() for each in found]
    counts = ", ".join(f"{sum(each.evidence == kind for each in every)} {kind}" for kind in EVIDENCE)
    yield f"{len(every)} facts: {counts}. {_agreement()}\n"
    for area, found in by_area.items():
        yield f"## {area}\n"
        yield "| fact | evidence | held by |\n|---|---|---|"
        yield from (_row(each) for each in found)
        yield ""
    yield from _records()


def _agreement() -> str:
    several = len(compared())
    agree = several - len(OLDER) - len(NOT_HERE)
    return f"{agree} of {several} public records agree with smlocal in everything they say."


def _records() -> Iterator[str]:
    yield "## Public records\n"
    yield _ABOUT_RECORDS
    yield f"{len(all_records())} records, {len(compared())} of them about training jobs. {_agreement()}\n"
    yield f"- {len(OLDER)} have words that the service has since changed: {_OLDER_WORDS}."
    yield f"- {len(NOT_HERE)} have something that smlocal does not have: {_MISSING}.\n"
    yield "| record | date | verdict |\n|---|---|---|"
    for name, record in all_records().items():
        if name not in compared():
            verdict = "not compared: another kind of job, or another call"
        elif name in OLDER:
            verdict = f"older words: {_code(OLDER[name])}"
        elif name in NOT_HERE:
            verdict = f"smlocal does not have {_code(NOT_HERE[name])}"
        else:
            verdict = "agrees"
        address = f"{_MAIN}/{_RECORDS}/{name}.json"
        yield f"| <span id='{name}'></span>[`{name}`]({address}) | {record.get('date', '')} | {verdict} |"
    yield ""


def _code(words: list[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _row(fact: Fact) -> str:
    where = "; ".join(_source(each) for each in fact.source) or fact.why
    tests = "<br>".join(f"[`{_short(each)}`]({_MAIN}/{_file(each)})" for each in fact.tests)
    return f"| <span id='{fact.id}'></span>{fact.fact} | **{fact.evidence}**, {fact.date}. {where} | {tests} |"


def _source(name: str) -> str:
    if name not in SOURCES:
        return f"record [`{name}`](#{name})"
    source = SOURCES[name]
    return f"[{source['title']}]({source['url']})" if "url" in source else source["title"]


def _file(test: str) -> str:
    path, _, function = test.partition("::")
    if function.startswith("test_case["):
        return f"tests/contract/cases/{function.removeprefix('test_case[').removesuffix(']')}/expect.yaml"
    return path


def _short(test: str) -> str:
    return test.partition("::")[2].replace("test_case[", "case[")
