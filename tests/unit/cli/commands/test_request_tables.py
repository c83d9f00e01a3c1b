"""`smlocal coverage` and `smlocal schema`, of requests, of kinds and of files."""

import json
from pathlib import Path

import pytest

from smlocal.api.job_files import KINDS
from smlocal.cli.main import run_command_line
from smlocal.cli.request_names import REQUESTS_OF

FILES = {
    "training": ("AlgorithmSpecification: {TrainingImage: image}", "AlgorithmSpecification.TrainingImage"),
    "processing": ("AppSpecification: {ImageUri: image}", "AppSpecification.ImageUri"),
    "tuning": (
        "HyperParameterTuningJobConfig: {Strategy: Grid}\nLocal: {Cache: false}",
        "HyperParameterTuningJobConfig.Strategy",
    ),
    "transform": ("TransformInput: {SplitType: Line}", "TransformInput.SplitType"),
    "endpoint": ("PrimaryContainer: {Image: image}", "PrimaryContainer.Image"),
    "pipeline": ("Steps: [{Name: A}]", "Steps[].Name"),
}


def test_the_words_are_those_of_the_kinds() -> None:
    assert {kind.word: kind.requests for kind in KINDS if kind.word != "replicas"} == REQUESTS_OF


@pytest.mark.parametrize("word", FILES)
def test_the_file_of_each_kind(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its coverage is that of the members it has, and its schema that of its kind. A misspelt member is unknown."""
    monkeypatch.chdir(tmp_path)
    text, member = FILES[word]
    Path("a.yaml").write_text(text, encoding="utf-8")
    assert run_command_line(["coverage", "a.yaml", "--json"]) == 0
    ((requests, table),) = json.loads(capsys.readouterr().out).items()
    assert (requests, [*table]) == (", ".join(REQUESTS_OF[word]), [member])
    Path("misspelt.yaml").write_text(f"{text}\nTgas: []", encoding="utf-8")
    assert run_command_line(["coverage", "misspelt.yaml", "--json"]) == 0
    ((_, rows),) = json.loads(capsys.readouterr().out).items()
    assert (rows.pop("Tgas")["support"], rows) == ("unknown", table)
    assert run_command_line(["coverage", "--of", word, "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert [*whole] == [*REQUESTS_OF[word]]
    assert member in {name for rows in whole.values() for name in rows}
    shown = []
    for words in (["a.yaml"], ["--of", word], ["--of", REQUESTS_OF[word][0]]):
        assert run_command_line(["schema", *words]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] == shown[2]


def test_the_file_of_a_job_of_replicas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.yaml").write_text("trainingInput: {scaleTier: BASIC}")
    assert run_command_line(["coverage", str(tmp_path / "a.yaml"), "--json"]) == 0
    assert [*json.loads(capsys.readouterr().out)] == ["Job"]


@pytest.mark.parametrize("command", ["coverage", "schema"])
def test_what_names_no_request(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.yaml").write_text("services: {}")
    for words, says in (
        ([str(tmp_path / "a.yaml")], "[document-unknown]"),
        ([str(tmp_path / "b.yaml")], "[job-file-missing]"),
        ([str(tmp_path / "a.yaml"), "--of", "tuning"], "[usage]"),
    ):
        assert run_command_line([command, *words]) == 2
        assert says in capsys.readouterr().err
