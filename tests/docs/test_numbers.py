"""The numbers of README.md, CONTRIBUTING.md, AGENTS.md and docs/: each is compared, or is known to be of others.

What is taken from prose and tables, not from code and output (test_docs.py runs those): numbers with a point, and
numbers before a unit or a plural ("120 s", "five hints", "40 log lines"). Numbers in words begin with three.
Each must be in a sentence of numbers.toml, which has two kinds of them for each page:

- `ours`, with placeholders for the numbers, filled from the code (constants, defaults of settings, what is counted
  below) or from benchmarks/RESULTS.md. The page must have the result, word by word.
- `others`: what the service, an engine, a client or an example does, whose evidence is elsewhere.

So a new number of a page fails until it has a place there, and a number of the code that changes fails until the pages
say it. A sentence that cannot be compared, and is about smlocal, is not for `others`: it goes without the number.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from smlocal.__main__ import _COLLECT_AFTER
from smlocal.ai_platform.machine_types import _MOST_SHARE
from smlocal.base.foreign_archive.archive import ArchiveLimits
from smlocal.cli.commands.jobs import command as jobs
from smlocal.endpoint import signature
from smlocal.endpoint.aws_calls import handlers
from smlocal.endpoint.door import proxy
from smlocal.endpoint.sagemaker import creating
from smlocal.engine.http import Call, Timeouts
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.logs.log_file import _MIN_SECONDS
from smlocal.jobs.planning.aspects.network.plan import candidates
from smlocal.pipelines.stand_in_run import MOST_ANSWERED
from smlocal.sagemaker.contract.instance_types import NEAR
from smlocal.sagemaker.pipelines.step_types import STEP_TYPES
from smlocal.service.conformance.cases import DATA, ConformanceCase
from smlocal.terms.metrics import SEARCH_SECONDS

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", "AGENTS.md", *(f"docs/{each.name}" for each in (ROOT / "docs").glob("*.md")))
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")

_NUMBER = rf"(?:\d[\d,]*(?:\.\d+)*|(?:{'|'.join(WORDS[3:])}|fifteen|twenty|thirty|hundred|thousand|million)\b)"
_NOT_PLURAL = (
    "(?!(?:means|was|gives|answers|asks|needs|omits|sends|uses|does|this|applies|becomes|shows|ends|writes|its)\\b)"
)
_UNIT = rf"(?:s|ms|µs|[KMG]i?B|GiB|%|times|bits|{_NOT_PLURAL}[a-z][a-z-]+[a-rt-z]s)(?![\w-])"
_WITH_UNIT = rf"{_NUMBER}(?: (?:to|of|of about) {_NUMBER})?(?: {_NOT_PLURAL}[a-z]+)??(?: | × ){_UNIT}"
_WITH_POINT = r"\d+\.\d+(?:\.\d+)?(?!\.?\d)"
_TAKEN = re.compile(rf"(?<![\w.,/#-])(?:{_WITH_UNIT}|{_WITH_POINT}(?![\w-]))", flags=re.IGNORECASE)


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


TABLE: dict[str, dict[str, list[str]]] = tomllib.loads(read("tests/docs/numbers.toml"))
PROJECT: dict[str, Any] = tomllib.loads(read("pyproject.toml"))


def text_of(page: str) -> str:
    """Its prose and tables in one line."""
    text = re.sub(r"^ *```.*?^ *```$|^<!--.*?-->$", "", read(page), flags=re.MULTILINE | re.DOTALL)
    return " ".join(" ".join(line for line in text.splitlines() if not line.startswith("    ")).split())


def numbers_in(text: str) -> list[tuple[int, int]]:
    """Where they are; code and targets of links have none."""
    bare = re.sub(r"`[^`]*`|\]\([^)]*\)", lambda found: "`" * len(found[0]), text)
    return [found.span() for found in _TAKEN.finditer(bare)]


_RULES = "src/smlocal/debugger/evaluator_image/no-deps.txt"
_TOOLKIT = "tests/kit/images/distributed/requirements.txt"


@cache
def versions() -> dict[str, str]:
    """Of the clients with which the tests run."""
    clients = (f"tests/clients/requirements/{name}.txt" for name in ("airflow", "aws-cli", "sdk-2", "sdk-3"))
    pins = "\n".join(map(read, (*clients, _RULES, _TOOLKIT)))
    return dict(re.findall(r"^([\w-]+)==([\d.]+)", pins, flags=re.MULTILINE))


def in_text(pattern: str, path: str) -> int:
    (found,) = re.findall(pattern, read(path), flags=re.MULTILINE)
    return int(found)


_DATA_PARALLEL = "src/smlocal/jobs/data_parallel/container_package/python/smdistributed/dataparallel"
COUNTED: dict[str, Callable[[], object]] = {
    "action": lambda: Timeouts().total(Call.ACTION),
    "answer_mb": lambda: MOST_ANSWERED // 2**20,
    "archive_members": lambda: ArchiveLimits().members,
    "back": lambda: Timeouts().back,
    "botocore": lambda: re.findall(r'"botocore==([\d.]+)"', read("pyproject.toml"))[0],
    "certificate_days": lambda: proxy._VALID.days,
    "clock_minutes": lambda: signature._CLOCK.seconds // 60,
    "code_gib": lambda: creating._LIMITS.content / (1 << 30),
    "conformance_jobs": lambda: len(ConformanceCase),
    "conformance_objects": lambda: len(DATA),
    "crashes": lambda: in_text(r'"SMLOCAL_CRASHES", "(\d+)"', "tests/jobs/crash/test_crash.py"),
    "examples": lambda: in_text(r'"SMLOCAL_EXAMPLES", "(\d+)"', "tests/conftest.py"),
    "flowers": lambda: len(read("examples/decision-tree/data/iris.csv").splitlines()),
    "garbage": lambda: _COLLECT_AFTER[0],
    "glance": lambda: Timeouts().total(Call.GLANCE),
    "gradients_mib": lambda: in_text(r"^_BUFFER_MB = (\d+)$", f"{_DATA_PARALLEL}/tensorflow/gradients.py"),
    "jobs_listed": lambda: next(each.default for each in jobs.params if each.name == "limit"),
    "left_alone": lambda: Timeouts().lost / 2,
    "lines_of_hello": lambda: len(read("examples/hello/image/train").splitlines()),
    "log_ms": lambda: _MIN_SECONDS * 1000,
    "most_share": lambda: _MOST_SHARE * 100,
    "near": lambda: f"{WORDS[round(NEAR * 10)]} tenths",
    "pipeline_operations": lambda: len([name for name in handlers("sagemaker") if "Pipeline" in name]),
    "python": lambda: PROJECT["project"]["requires-python"].removeprefix(">="),
    "question": lambda: Timeouts().total(Call.QUESTION),
    "questions": lambda: len(re.findall(r"^\| [^|]+\? \|", read("docs/how-do-i.md"), flags=re.MULTILINE)),
    "quiet": lambda: Timeouts().quiet(Call.STREAM),
    "races": lambda: in_text(r'"SMLOCAL_RACES", "(\d+)"', "tests/stress/test_race.py"),
    "search_ms": lambda: SEARCH_SECONDS * 1000,
    "seeds": lambda: in_text(r"^Seeds 0 to \d+, (\d+) runs of each kind\.$", "tests/jobs/rules/findings.md"),
    "silence": lambda: Timeouts().silence,
    "step_types": lambda: len(STEP_TYPES),
    "subnets": lambda: len([*candidates(LocalSettings().NetworkRange, 2, seed=0)]),
    "test_seconds": lambda: PROJECT["tool"]["pytest"]["ini_options"]["timeout"],
}


def value_of(name: str) -> object:
    """A constant of smlocal or of the tests, the default of a setting, or what is counted."""
    first, _, rest = name.partition(".")
    if first == "counted":
        return COUNTED[rest]()
    if first == "version":
        return versions()[rest]
    if first == "setting":
        found: object = LocalSettings()
        for part in rest.split("."):
            found = getattr(found, part)
        return found
    module, _, constant = name.rpartition(".")
    return getattr(import_module(module if first == "tests" else f"smlocal.{module}"), constant)


def shown(found: re.Match[str]) -> str:
    """The text of a placeholder: `{a.module.NAME}`, its part `{a.module.NAME/1024}`, and `:w` in words."""
    name, divisor, form = found.groups()
    value = value_of(name)
    if isinstance(value, tuple):
        return ".".join(map(str, value))
    if not isinstance(value, int | float):
        return str(value)
    number = value / int(divisor or 1)
    if form == "w":
        return WORDS[int(number)] if number == int(number) else str(number)
    return f"{int(number):{form or ''}}" if number == int(number) else f"{number:g}"


@cache
def measured() -> list[dict[str, str]]:
    """The rows of benchmarks/RESULTS.md."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        from results import COLUMNS, RESULTS, TABLE_HEAD, _cells
    lines = RESULTS.read_text(encoding="utf-8").split(TABLE_HEAD)[1].splitlines()
    return [dict(zip(COLUMNS, _cells(line), strict=True)) for line in lines]


_AMOUNT = re.compile(r"([\d.]+) ?(\w*)")
_SIZES = {"": 1.0, "ms": 0.001, "s": 1.0, "MB": 1e6, "GB": 1e9, "GiB": 2.0**30}


def figure(found: re.Match[str]) -> str:
    """`{= script | how the row begins | column | digits unit}`: what was measured, as exact as the page says it.

    `column/word`: the first amount after that word. In place of digits, `w`: in words. `date` for a day.
    """
    script, what, place, form = (part.strip() for part in found[1].split(" | "))
    (row,) = (row for row in measured() if row["script"] == f"`{script}`" and row["what"].startswith(what))
    if form == "date":
        return f"{datetime.fromisoformat(row[place]):%-d %B %Y}"
    column, _, after = place.partition("/")
    amount = _AMOUNT.search(row[column].partition(after)[2] if after else row[column])
    assert amount, row
    digits, _, unit = form.partition(" ")
    value = float(amount[1]) * _SIZES[amount[2]] / _SIZES[unit]
    return WORDS[round(value)] if digits == "w" else f"{value + 1e-9:.{digits}f} {unit}".rstrip()


def filled(sentence: str) -> str:
    sentence = re.sub(r"\{= ([^}]+)\}", figure, sentence)
    return re.sub(r"\{([\w.-]+\.[\w-]+)(?:/(\d+))?(?::(.))?\}", shown, sentence)


@pytest.mark.parametrize("page", PAGES)
def test_every_number_is_compared_or_of_others(page: str) -> None:
    text, table = text_of(page), TABLE.get(page, {})
    ours, others = [filled(sentence) for sentence in table.get("ours", [])], Counter(table.get("others", []))
    assert [each for each in ours if each not in text] == [], "the page does not say this"
    assert {each: text.count(each) for each in others} == others, "how often the page says this"
    known = [found.span() for each in (*ours, *others) for found in re.finditer(re.escape(each), text)]
    numbers = numbers_in(text)
    new = [(a, b) for a, b in numbers if not any(start <= a and b <= end for start, end in known)]
    assert [text[max(0, a - 40) : b + 40] for a, b in new] == [], "compare it in tests/docs/numbers.toml"
    assert [each for each in others if not numbers_in(f" {each} ")] == [], "has no number"


def test_the_table_has_only_pages_and_what_is_compared_is_filled_in() -> None:
    assert TABLE.keys() <= {*PAGES}
    assert [each for page in TABLE.values() for each in page.get("ours", []) if "{" not in each] == []


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("It has 1,234 fast tests and 3 rules.", ["1,234 fast tests", "3 rules"]),
        (
            "Five hints, 20 to 30 ms, 2.5 MB, 40 % of 3 × 8 processes",
            ["Five hints", "20 to 30 ms", "2.5 MB", "40 %", "8 processes"],
        ),
        ("Python 3.11, smdebug 1.0.34", ["3.11", "1.0.34"]),
        ("S3, 127.0.0.1, `120 s`, [SDK](https://a.b/2.0) v2, exit code 3 means this", []),
    ],
)
def test_numbers_are_found(text: str, taken: list[str]) -> None:
    assert [text[a:b] for a, b in numbers_in(text)] == taken
