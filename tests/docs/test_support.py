"""The page of what is supported names what is tested."""

import re
import tomllib
from pathlib import Path
from typing import Any

import smlocal

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "support.md").read_text(encoding="utf-8")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def row(head: str) -> str:
    (found,) = re.findall(rf"^\| {re.escape(head)} \| ([^|]*) \|", PAGE, flags=re.MULTILINE)
    return str(found)


def test_pythons_are_those_of_the_package() -> None:
    classifiers = "\n".join(PROJECT["project"]["classifiers"])
    assert row("Python").split(", ") == re.findall(r":: Python :: (3\.\d+)$", classifiers, flags=re.MULTILINE)
    assert PROJECT["project"]["requires-python"] == f">={row('Python').split(', ')[0]}"


def test_the_service_model_is_that_of_which_the_requests_are_made() -> None:
    (pinned,) = (each for each in PROJECT["dependency-groups"]["dev"] if each.startswith("botocore=="))
    assert pinned.replace("==", " ") in row("service")


def test_every_name_of_the_python_api_is_promised() -> None:
    promised = {name.removeprefix("smlocal.") for name in re.findall(r"`([\w.]+)`", row("Python API"))}
    assert promised == {*smlocal.__all__, "training_job", "endpoint"}
