"""The examples of every rule: the bad image breaks it, as its page shows, and the good one does not."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.kit import Run
from tests.kit.fixtures import build_image

from smlocal.check.interface import Rule
from smlocal.check.registry import all_rules

_SLOW = {
    *("restart-fails", "sigterm-unhandled", "stop-loses-model", "needs-network", "late-names-fail"),
    *("memory-near-limit", "late-fifo-fails", "trained-model-fails"),
}
"""Programs that are run several times, or until a time limit."""


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


def subject(folder: Path, image: str, members: str) -> str:
    """The image, or a job of it with these members."""
    if not members:
        return image
    job: dict[str, Any] = {
        "AlgorithmSpecification": {"TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 30},
        "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
        **yaml.safe_load(members),
    }
    job["AlgorithmSpecification"]["TrainingImage"] = image
    path = folder / "job.json"
    path.write_text(json.dumps(job))
    return str(path)


def result_of(rule: Rule, done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    (found,) = [each for each in json.loads(done.stdout)["Check"]["Rules"] if each["Id"] == rule.id]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(rule, id=rule.id, marks=pytest.mark.slow(3 if rule.id in _SLOW else 1, others=True))
        for rule in all_rules()
    ],
)
def test_an_example(rule: Rule, smlocal_run: Run, tmp_path: Path, smlocal_home: Path) -> None:
    example = rule.example
    assert example is not None
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "numbers.csv").write_text("1,2,3\n4,5,6\n")
    options = ("--only", rule.id, "--json", "--fail-on", "info", "--timeout", "20", *example.options)
    image = built(tmp_path / "bad", example.bad, example.bad_files)
    bad = smlocal_run("check", subject(tmp_path, image, example.bad_job), *options)
    found = result_of(rule, bad)
    assert "\n".join(each["Message"] for each in found.get("Findings", ())) == example.output, bad.stderr
    assert bad.returncode == 1
    dockerfile = example.bad if example.good is None else example.good
    files = example.bad_files if example.good_files is None else example.good_files
    image = built(tmp_path / "good", dockerfile, files)
    members = example.bad_job if example.good_job is None else example.good_job
    good = smlocal_run("check", subject(tmp_path, image, members), *options)
    assert result_of(rule, good)["Outcome"] == "passed", good.stderr
    assert good.returncode == 0
    if rule.runs_jobs:
        assert not smlocal_run("jobs").stdout.strip()
        assert not list((smlocal_home / "checks").iterdir())
