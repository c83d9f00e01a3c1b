"""Random job files, through the reader that `smlocal validate` uses: only our errors, and bounded memory.

SMLOCAL_FUZZED_JOB_FILES says how many; with more than the usual number some have megabytes. The
slowest one is in the file of results.
"""

import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from smlocal.api.job_source import validate_file
from smlocal.cli.described_documents import use_described_request
from smlocal.errors import SmlocalError
from smlocal.jobfile.yaml_text import yaml_text

_USUAL = 150
_COUNT = int(os.environ.get("SMLOCAL_FUZZED_JOB_FILES", _USUAL))
_SEED = int(os.environ.get("SMLOCAL_FUZZ_SEED", "1"))
_MOST_MIB = 500
_LONGEST_LINE = 5_000
"""Characters of a line of an error: values and keys are shortened."""
_CASES = Path(__file__).resolve().parents[2] / "contract" / "cases"
_PIECES = (
    *(
        "&a ",
        "*a",
        "<<: *a",
        "!!int ",
        "!x ",
        "? ",
        "- ",
        ": ",
        "\n",
        "  ",
        "\t",
        '"',
        "'",
        "|\n",
        ">\n",
        "#",
        "%",
        "@",
        "`",
    ),
    *(
        "[",
        "]",
        "{",
        "}",
        ",",
        "\x00",
        "\ufeff",
        "\u2028",
        "\ud800",
        "é",
        "null",
        "~",
        "0o8",
        "1e999",
        ".nan",
        "9" * 200,
    ),
    *("---\n", "...\n", '{"a": 1, "a": 2}', "a: b: c", "&a [*a]", "&a {<<: *a}", "=", "\\ud800", "\r", "s3://", "\x85"),
)
_UNITS = (
    "a",
    "- ",
    "[",
    "{",
    "a: &b [",
    "a: ",
    "? ",
    "*a, ",
    "{}, ",
    "[], ",
    "1, ",
    "x\n",
    "k: v\n",
    "!",
    "&",
    '"',
    "\\",
    "://",
    "a://b:c/",
    "-a",
    "\n",
)


class _Files:
    """Makes files; the same ones for the same seed."""

    def __init__(self, seed: int, *, large: float) -> None:
        self._random = Random(seed)
        self._large = large
        self._valid = [path.read_text() for path in sorted(_CASES.glob("*/job.yaml"))]

    def next(self) -> tuple[str, bytes]:
        """The ending of a file's name, and its content."""
        random = self._random
        make: Callable[[], str] = random.choices((self._spoiled, self._other_values, self._bomb), (5, 3, 4))[0]
        code = (
            "utf-8" if random.random() < 0.95 else random.choice(("utf-16", "latin-1", "utf-7", "utf-32", "utf-8-sig"))
        )
        return random.choice((".yaml", ".json", ".yml", "")), make().encode(code, "replace")[: 11 << 20]

    def _spoiled(self) -> str:
        """A valid one with other characters in a few places."""
        random = self._random
        text = random.choice(self._valid)
        for _ in range(random.randrange(1, 6)):
            at = random.randrange(len(text))
            text = text[:at] + random.choice(_PIECES) + text[at + random.randrange(4) :]
        return text

    def _other_values(self) -> str:
        """A valid one with values of other kinds and sizes."""
        random = self._random
        data: dict[str, Any] = json.loads(json.dumps(_JOB))
        for _ in range(random.randrange(1, 4)):
            place = data
            while True:
                name = random.choice([*place, "New"])
                if not isinstance(place.get(name), dict) or random.random() < 0.3:
                    break
                place = place[name]
            place[name] = self._odd()
        return json.dumps(data, indent=random.choice((None, 1))) if random.random() < 0.5 else yaml_text(data)

    def _odd(self) -> Any:
        random = self._random
        size = self._size()
        values: tuple[Callable[[], Any], ...] = (
            lambda: random.choice(
                (None, True, -1, 10**30, 1e300, 0.5, "", "\x00", "é", "2026-01-01", [], {}, [None], {"": {}})
            ),
            lambda: random.choice(_UNITS) * (size // 4),
            lambda: [random.choice((1, "a", None, {}, []))] * (size // 10),
            lambda: [{"Key": "a", "Value": "b"}] * (size // 30),
            lambda: [{"ChannelName": "a", "InputMode": "Fast"}] * (size // 40),
            lambda: [{"Name": "a", "Regex": "(" * (size // 50)}] * 50,
            lambda: {f"k{number}": number for number in range(size // 15)},
            lambda: {"k" * (size // 3): 1},
            lambda: _nested(random.choice((20, 51, 60, 400)), random.choice((True, False))),
            lambda: '{"password": "' + "x" * (size // 4) + '"}',
        )
        return random.choice(values)()

    def _bomb(self) -> str:
        """Documents that would be far larger than their text, or take long to read."""
        random = self._random
        size = self._size()
        half, unit = size // 2, random.choice(_UNITS)
        texts: tuple[Callable[[], str], ...] = (
            lambda: unit * (size // len(unit)),
            lambda: "a: " + unit * (size // len(unit)),
            lambda: '{"a": ' + unit * (size // len(unit)),
            lambda: "[" * half + "]" * half,
            lambda: "a: " + "[" * half + "]" * half,
            lambda: '{"a":' * (size // 6) + "1" + "}" * (size // 6),
            lambda: '{"a": [' + "1," * half + "1]}",
            lambda: "a: [" + "1," * half + "1]",
            lambda: "a:\n" + "- 1\n" * (size // 4),
            lambda: "a:\n" + "- [{}]\n" * (size // 7),
            lambda: "".join(f"k{number}: 1\n" for number in range(size // 12)),
            lambda: "".join(f"k{number}: 1\n" for number in range(size // 12)) + "k1: 1\n",
            lambda: "{" + ",".join(f'"k{number}":1' for number in range(size // 12)) + ',"k1":1}',
            lambda: "{" + ",".join(f'"k{number}":1' for number in range(19_000)) + ',"k1":1}',
            lambda: f"a: &x {'v' * half}\nTags: [" + "*x, " * (half // 4) + "1]\n",
            lambda: f"a: &x {'v' * half}\nTags:\n" + "- {*x : 1}\n" * (half // 12),
            lambda: f"a: &x {'v' * half}\nHyperParameters: [" + ", ".join(["*x"] * 6000) + "]\n",
            lambda: "\n".join(
                f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" if n else "a0: &a0 [x]" for n in range(30)
            ),
            lambda: "\n".join(
                f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" if n else "a0: &a0 {x: 1}" for n in range(30)
            ),
            lambda: "a: &a [" + "x, " * min(half, 20_000) + "*a]\n",
            lambda: "a: &a {b: *a}\n1: x\n",
            lambda: f"a: !{'t' * half} x\n",
            lambda: f"a: *{'t' * half}\n",
            lambda: f"? {'k' * half}\n: 1\n? {'k' * half}\n: 2\n",
            lambda: '{"' + "k" * half + '": 1, "' + "k" * half + '": 2}',
            lambda: '{"a": "' + "\\u0041" * (size // 6) + '"}',
            lambda: "a: " + "1" * size,
            lambda: "a: " + "1" * size + ".5e",
            lambda: "a: |\n" + "  x\n" * (size // 4),
            lambda: 'a: "' + "\\x41" * (size // 4) + '"\n',
            lambda: "".join(f"&a{number} k{number}: *a{max(0, number - 1)}\n" for number in range(size // 20)),
        )
        return random.choice(texts)()

    def _size(self) -> int:
        if self._random.random() < self._large:
            return 9 << 20
        return self._random.choice((20, 300, 3_000, 100_000))


_JOB: dict[str, Any] = {
    "TrainingJobName": "job",
    "RoleArn": "arn:aws:iam::000000000000:role/any",
    "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File", "MetricDefinitions": []},
    "HyperParameters": {"epochs": "1"},
    "Environment": {"A": "b"},
    "InputDataConfig": [{"ChannelName": "a", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "/"}}}],
    "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1, "InstanceGroups": []},
    "StoppingCondition": {"MaxRuntimeInSeconds": 60},
    "Tags": [{"Key": "a", "Value": "b"}],
    "Local": {"Sources": {"s3://bucket": "/"}, "Faults": [], "Ulimits": {}},
}


@pytest.mark.slow
@pytest.mark.linux("the memory of a process in /proc")
def test_every_file_is_judged(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    slowest = (0.0, "")
    files = _Files(_SEED, large=0.15 if _COUNT > _USUAL else 0.0)
    judged: Counter[str] = Counter()
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins again
    for number in range(_COUNT):
        ending, content = files.next()
        path = tmp_path / f"job{ending}"
        path.write_bytes(content)
        began = time.monotonic()
        error = _error(path)
        took = time.monotonic() - began
        where = f"{number}: {took:.1f} s, {len(content)} bytes: {content[:200]!r}"
        slowest = max(slowest, (took, where))
        judged["valid" if error is None else error.id] += 1
        if error is not None:
            lines = [error.sentence, *error.details, *error.remedy]
            assert max(map(len, lines)) < _LONGEST_LINE, where
            assert len(lines) < 50, where
    record_property("slowest", slowest[1])
    assert _memory("VmHWM") - before < _MOST_MIB, judged
    assert {"valid", "job-file-syntax", "request-invalid"} <= judged.keys()


def _error(path: Path) -> SmlocalError | None:
    """The error of the file. Any other exception is the test's."""
    return validate_file(
        str(path), strict=False, prepare=lambda document: use_described_request(document, lambda _: None, local=True)
    ).error


def _nested(levels: int, lists: bool) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] if lists else {"a": value}
    return value


def _memory(name: str) -> int:
    found = re.search(rf"{name}:\s*(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) >> 10
