"""`smlocal conformance` without an engine: documents that are there, and what builds the image."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run
from tests.unit.service.conformance.documents import host, whole

from smlocal.cli.commands import conformance
from smlocal.service.conformance.cases import DATA, DEFAULT_BASE, ConformanceCase


@pytest.fixture
def saved(tmp_path: Path) -> Callable[[str, dict[str, Any]], str]:
    def save(name: str, document: dict[str, Any]) -> str:
        (tmp_path / name).write_text(json.dumps(document))
        return str(tmp_path / name)

    return save


def test_what_is_written_here_is_what_the_room_has() -> None:
    # The command repeats them, because --help is not to import the room.
    assert [*conformance._CASES] == [*ConformanceCase]
    assert conformance._BASE == DEFAULT_BASE


@pytest.mark.slow(0.5)
def test_two_documents_that_are_alike(smlocal: Run, saved: Callable[..., str]) -> None:
    paths = saved("a.json", whole(host())), saved("b.json", whole(host(job="job-b")))
    done = smlocal("conformance", "diff", *paths)
    assert (done.returncode, done.stdout) == (0, "")
    assert "no difference; left out as expected: job-name 1" in done.stderr
    shown = smlocal("conformance", "diff", *paths, "--all")
    assert (shown.returncode, "[job-name]" in shown.stdout) == (0, True)


@pytest.mark.slow(0.5)
def test_two_documents_that_differ(smlocal: Run, saved: Callable[..., str]) -> None:
    first = whole(host(Tree={"/opt/ml": {"Mode": "0755"}}, Text="a\nb" * 300))
    first["Jobs"]["failed"] = {"Hosts": {}}
    paths = saved("a.json", first), saved("b.json", whole(host(Tree={})))
    done = smlocal("conformance", "diff", *paths)
    assert done.returncode == 1
    assert done.stdout.startswith(
        "Tree\n  /opt/ml.Mode\n    A  0755\n    B  (absent)\n       in everything/algo-1\nText\n"
    )
    assert "2 differences in 2 groups; only in A, not compared: failed" in done.stderr
    found = json.loads(smlocal("conformance", "diff", *paths, "--json").stdout)["Conformance"]
    mode = {"Group": "Tree", "Path": "/opt/ml.Mode", "A": "0755", "Where": ["everything/algo-1"]}
    assert found["Differences"][0] == mode
    assert found["Differences"][1]["A"] == "a\nb" * 300
    assert found["OnlyInA"] == ["failed"]


def test_what_is_neither_a_file_nor_a_job(smlocal: Run, saved: Callable[..., str]) -> None:
    done = smlocal("conformance", "diff", "nothing", saved("b.json", whole(host())))
    assert done.returncode == 2
    assert "There is no file nothing either." in done.stderr
    assert "[job-unknown]" in done.stderr


def test_collect_writes_a_document(smlocal: Run, saved: Callable[..., str], tmp_path: Path) -> None:
    path = saved("a.json", host())
    done = smlocal("conformance", "collect", path)
    assert json.loads(done.stdout)["Jobs"] == whole(host())["Jobs"]
    done = smlocal("conformance", "collect", path, "--file", str(tmp_path / "made.json"))
    assert done.stdout == f"{tmp_path}/made.json\n"
    assert json.loads((tmp_path / "made.json").read_text())["Jobs"] == whole(host())["Jobs"]
    done = smlocal("conformance", "collect", path, "--file", str(tmp_path / "no" / "made.json"))
    assert (done.returncode, "[output-unusable]" in done.stderr) == (2, True)


def test_build_writes_what_builds_the_image(smlocal: Run, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    done = smlocal("conformance", "build", "--output", str(folder), "--base", "mine:1")
    assert (done.returncode, done.stdout) == (0, f"{folder}\n")
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert files == {
        "Dockerfile",
        "probe.py",
        *(f"{case}.json" for case in ConformanceCase),
        *(f"data/{name}" for name in DATA),
    }
    assert "ARG BASE=mine:1\n" in (folder / "Dockerfile").read_text()
    for case in ConformanceCase:
        assert json.loads((folder / f"{case}.json").read_text())["HyperParameters"]["conformance_case"] == case
    again = smlocal("conformance", "build", "--output", str(folder / "Dockerfile"))
    assert (again.returncode, "[output-unusable]" in again.stderr) == (2, True)
    (folder / "Dockerfile").write_text("FROM mine\n")
    full = smlocal("conformance", "build", "--output", str(folder))
    assert (full.returncode, "[new-file]" in full.stderr) == (2, True)
    assert (folder / "Dockerfile").read_text() == "FROM mine\n"
    wrong = smlocal("conformance", "build", "--output", str(folder), "--tag", "x")
    assert (wrong.returncode, "nothing is built" in wrong.stderr) == (2, True)


def test_a_document_that_cannot_be_written_is_refused_before_anything_runs(smlocal: Run, tmp_path: Path) -> None:
    done = smlocal("conformance", "run", "--image", "mine", "--file", str(tmp_path / "no" / "a.json"))
    assert (done.returncode, "[output-unusable]" in done.stderr) == (2, True)


def test_submit_without_sending_anything(smlocal: Run, tmp_path: Path) -> None:
    words = ("--image", "i", "--role", "r", "--file", str(tmp_path / "a.json"))
    done = smlocal("conformance", "submit", *words, "--upload-to", "s3://mine/some/where/", "--dry-run")
    assert done.returncode == 0, done.stderr
    asked = json.loads(done.stdout)
    assert [each["HyperParameters"]["conformance_case"] for each in asked] == [*ConformanceCase]
    assert {each["OutputDataConfig"]["S3OutputPath"] for each in asked} == {"s3://mine/some/where/output"}
    assert len({each["TrainingJobName"] for each in asked}) == 3
    wrong = smlocal("conformance", "submit", *words, "--upload-to", "/mine", "--dry-run")
    assert (wrong.returncode, "/mine is not a location in S3" in wrong.stderr) == (2, True)
    # Nobody answers the question.
    unasked = smlocal("conformance", "submit", *words, "--upload-to", "s3://mine")
    assert unasked.returncode != 0
    assert "3 jobs on 5 × ml.m5.large in all, each at most 20 minutes. Go on?" in unasked.stderr
