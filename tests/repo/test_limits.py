"""Limits of time in tests: a busy machine takes a minute for what takes a second elsewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
LEAST_SECONDS = 60.0
PASSES = "# passes: "
"""Begins the comment of a limit that is meant to pass, or of one after which the test goes on as before."""
_OWN_CLOCK = {"unit/ai_platform/lifecycle/test_lifecycle.py"}
"""Their seconds are numbers."""
_LIMITS = re.compile(
    r"\btimeout=(?P<keyword>[\d.]+)"
    r"|\.(?:wait|join|result|communicate|settimeout|get)\((?P<only>[\d.]+)\)"
    r"|create_connection\([^#]*, (?P<second>[\d.]+)\)"
    r"|^[^#]*(?<![\w-])timeout (?:-\S+ )*(?P<command>[\d.]+)[smh]? "
)


def too_short(text: str) -> Iterator[int]:
    """The numbers of the lines with a limit that a busy machine passes."""
    for number, line in enumerate(text.splitlines(), start=1):
        for found in _LIMITS.finditer(line):
            if 0 < float(next(filter(None, found.groups()))) < LEAST_SECONDS and PASSES not in line:
                yield number


@pytest.mark.parametrize(
    "line",
    [
        'timeout 9 "$aws" logs tail --follow || true',
        "timeout -k 1 9 program",
        "thread.join(10)",
        "urlopen(address, timeout=20)",
        'socket.create_connection(("127.0.0.1", port), 20)',
    ],
)
def test_a_short_limit_is_found(line: str) -> None:
    assert list(too_short(line)) == [1]


@pytest.mark.parametrize(
    "line", ["thread.join(200)", "urlopen(a, timeout=60)", "job.wait(timeout=0)", f"thread.join(0.2)  {PASSES}it waits"]
)
def test_other_lines_are_not(line: str) -> None:
    assert not list(too_short(line))


def test_nothing_ends_by_a_short_limit() -> None:
    found = [
        f"{path.relative_to(TESTS)}:{number}"
        for path in sorted(TESTS.rglob("*"))
        if path.suffix in {".py", ".sh"} and path != Path(__file__) and str(path.relative_to(TESTS)) not in _OWN_CLOCK
        for number in too_short(path.read_text(encoding="utf-8"))
    ]
    assert not found
