"""Names of jobs in the tests: files run side by side on one engine, so each of them has names of its own."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
MAKERS = {
    "create",
    "deploy",
    "detach",
    "in_service",
    "job_file",
    "launch",
    "run_script",
    "script_job",
    "run_job",
    "submitted",
}
"""Helpers of tests, which are given the name of a job first."""
NAME = re.compile("[a-zA-Z0-9](-*[a-zA-Z0-9])*")


def names(tree: ast.Module) -> Iterator[str]:
    """Names after `--name`, as the value of `TrainingJobName`, or first for a helper: a text, or its variable."""
    variables = {
        target.id: each.value
        for each in ast.walk(tree)
        if isinstance(each, ast.Assign)
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    for value in _given(tree):
        known = variables.get(value.id) if isinstance(value, ast.Name) else value
        if isinstance(known, ast.Constant) and isinstance(known.value, str) and NAME.fullmatch(known.value):
            yield known.value


def _given(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called), args=[first, *_] as parts):
                if called in MAKERS:
                    yield first
                pairs = pairwise(parts)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                pairs = pairwise(parts)
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)  # type: ignore[assignment]  # None for what is unpacked
            case _:
                continue
        for option, value in pairs:
            if isinstance(option, ast.Constant) and option.value in {"--name", "TrainingJobName"}:
                yield value


@pytest.mark.slow(0.5)
def test_no_two_files_have_a_job_of_the_same_name() -> None:
    files = defaultdict(set)
    for path in sorted(TESTS.rglob("test_*.py")):
        if path.relative_to(TESTS).parts[0] != "unit":
            for name in names(ast.parse(path.read_text(encoding="utf-8"))):
                files[name].add(str(path.relative_to(TESTS)))
    assert len(files) > 200
    assert {name: found for name, found in files.items() if len(found) > 1} == {}


def test_what_is_read() -> None:
    text = """
name = "by-variable"
run("run", "--name", "first", "job.yaml")
options = ("--name", name, *more)
request = {"TrainingJobName": "third", **request}
life.detach("fourth", SCRIPT)
run_job([], SCRIPT)
{"Name": "TrainingJobName", "Value": "any"}
run("describe", "other", "--name", f"not-{this}")
"""
    assert sorted(names(ast.parse(text))) == ["by-variable", "first", "fourth", "third"]
