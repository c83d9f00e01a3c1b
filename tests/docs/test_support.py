"""The page of what is supported names what is tested."""

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import smlocal
from smlocal.engine.engines import connect

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "support.md").read_text(encoding="utf-8")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def row(head: str) -> str:
    (found,) = re.findall(rf"^\| {re.escape(head)} \| ([^|]*) \|", PAGE, flags=re.MULTILINE)
    return str(found)


def test_pythons_are_those_of_the_package() -> None:
    classifiers = "\n".join(PROJECT["project"]["classifiers"])
    assert row("Python").split(", ") == re.findall(r":: Python :: (3\.\d+)$", classifiers, flags=re.MULTILINE)
    oldest = row("Python").split(", ")[0]
    assert PROJECT["project"]["requires-python"] == f">={oldest}"
    assert PROJECT["tool"]["mypy"]["python_version"] == oldest
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{oldest.replace('.', '')}"
    docs = ("README.md", "docs/README.md", "docs/install.md", "docs/platforms.md", "docs/ci.md", "CONTRIBUTING.md")
    for name in (*docs, "action.yml", "scripts/lib/venv.sh"):
        assert {*re.findall(r"Python (3\.\d+) or newer", (ROOT / name).read_text(encoding="utf-8"))} == {oldest}, name


def test_the_service_model_is_that_of_which_the_requests_are_made() -> None:
    (pinned,) = (each for each in PROJECT["dependency-groups"]["dev"] if each.startswith("botocore=="))
    assert pinned.replace("==", " ") in row("service")


@pytest.mark.engine
def test_the_page_of_engines_names_the_version_of_a_debian_release() -> None:
    """`scripts/test-on-docker forky` and `test-on-podman forky` show when Debian has a newer one."""
    if not os.environ.get("SMLOCAL_RELEASE"):
        pytest.skip("the engine is not that of a named Debian release: scripts/test-on-docker forky")
    engines = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
    facts = connect().facts()
    words = {"docker": r"All tests pass on (.*) with cgroup v1", "podman": r"Podman \(tested: (.*?)\)"}[facts.product]
    (tested,) = re.findall(words, engines)
    assert ".".join(facts.version.split(".")[:2]) in re.findall(r"\d+\.\d+", tested)


def test_every_name_of_the_python_api_is_promised() -> None:
    promised = {name.removeprefix("smlocal.") for name in re.findall(r"`([\w.]+)`", row("Python API"))}
    assert promised == {*smlocal.__all__, "training_job", "endpoint"}
