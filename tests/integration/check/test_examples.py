"""The examples of every rule: the bad image breaks it, as its page shows, and the good one does not."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.integration.conftest import build_image

from smlocal.check.interface import Rule
from smlocal.check.registry import all_rules

Run = Callable[..., subprocess.CompletedProcess[str]]


def built(folder: Path, dockerfile: str, files: tuple[tuple[str, str], ...]) -> str:
    folder.mkdir()
    first, _, rest = dockerfile.partition("\n")
    base = first.removeprefix("FROM ")
    (folder / "Dockerfile").write_text(f"ARG BASE={base}\nFROM ${{BASE}}\n{rest}")
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
        path.chmod(0o755 if content.startswith("#!") else 0o644)
    return build_image(folder)


def found(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    (rule,) = json.loads(done.stdout)["Check"]["Rules"]
    assert isinstance(rule, dict)
    return rule


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_an_example(rule: Rule, smlocal_run: Run, tmp_path: Path) -> None:
    example = rule.example
    assert example is not None
    options = ("--only", rule.id, "--json", "--fail-on", "info", *example.options)
    bad = smlocal_run("check", built(tmp_path / "bad", example.bad, example.bad_files), *options)
    assert "\n".join(each["Message"] for each in found(bad)["Findings"]) == example.output
    assert bad.returncode == 1
    files = example.bad_files if example.good_files is None else example.good_files
    good = smlocal_run("check", built(tmp_path / "good", example.good, files), *options)
    assert found(good)["Outcome"] == "passed"
    assert good.returncode == 0
