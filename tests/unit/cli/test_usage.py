"""Mistakes on the command line."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from tests.kit import Run

from smlocal.api.image_name import is_image_name
from smlocal.cli.command_table import COMMANDS
from smlocal.cli.main import cli, run_command_line

ErrorOf = Callable[["subprocess.CompletedProcess[str]"], dict[str, Any]]


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    ("arguments", "help_of"),
    [
        (("run", "--imgae", "x"), "smlocal run --help"),
        (("run",), "smlocal run --help"),
        (("run", "--image", "x", "--channel", "train"), "smlocal run --help"),
        (("plan", "--script", "--json", "--image", "x"), "smlocal plan --help"),
        (("jobs", "--limit", "0"), "smlocal jobs --help"),
        (("rm",), "smlocal rm --help"),
        (("descrbe", "x"), "smlocal --help"),
    ],
)
def test_every_mistake_is_told_in_one_style(
    arguments: tuple[str, ...], help_of: str, smlocal: Run, error_of: ErrorOf
) -> None:
    plain = smlocal(*arguments)
    assert plain.returncode == 2
    head, *more = plain.stderr.splitlines()
    assert head.startswith("error: ")
    assert "[usage]" in plain.stderr
    assert [line for line in more if "smlocal help" in line] == []
    assert more[-1] == f"  Try '{help_of}'."
    document = error_of(smlocal(*arguments, "--json"))
    assert document["Id"] == "usage"
    assert document["ExitCode"] == 2
    assert document["Remedy"] == [f"Try '{help_of}'."]


@pytest.mark.slow(0.5)
@pytest.mark.parametrize(
    "arguments",
    [
        ("--debug", "describe", "absent"),
        ("describe", "--debug", "absent"),
        ("describe", "absent", "--debug"),
        ("rm", "absent", "--debug"),
        ("cache", "--debug", "rm"),
        ("cache", "rm", "--debug"),
        ("run", "--debug"),
        ("run", "--debug", "--imgae", "x"),
    ],
    ids=" ".join,
)
def test_debug_goes_anywhere(arguments: tuple[str, ...], smlocal: Run) -> None:
    shown = smlocal(*arguments)
    assert (shown.returncode, shown.stderr.count("Traceback")) in {(2, 1), (2, 2)}  # with what it was raised from
    without = smlocal(*(word for word in arguments if word != "--debug"))
    assert (without.returncode, "Traceback" in without.stderr) == (2, False)


@pytest.mark.slow
def test_every_command_takes_debug(smlocal: Run) -> None:
    for name in COMMANDS:
        done = smlocal(name, "--debug", "--help")
        assert (done.returncode, done.stderr) == (0, ""), name


def test_debug_after_two_dashes_is_an_argument(smlocal: Run) -> None:
    done = smlocal("describe", "--", "--debug")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


def test_removing_goes_on_after_an_error(remember: Callable[..., None], smlocal: Run) -> None:
    remember("one")
    remember("three")
    done = smlocal("rm", "one", "two", "three")
    assert done.returncode == 2
    assert "removed one\n" in done.stderr
    assert "removed three\n" in done.stderr
    assert "[job-unknown]" in done.stderr
    assert smlocal("jobs").stdout == ""


def test_help_is_not_cut(smlocal: Run) -> None:
    shown = smlocal("--help", COLUMNS="80").stdout
    assert "..." not in shown.replace("[ARGS]...", "")
    for code in (0, 1, 2, 3, 4, 124, 130, 143):
        assert f" {code} " in shown
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        assert not command.get_short_help_str(63).endswith("...")


@pytest.mark.parametrize(
    "name",
    [
        *(
            "train",
            "train:1",
            "my/train",
            "Registry.example:5000/a/b__c:T.1-x",
            "localhost/a",
            "[::1]:5000/a",
            "a-b.c_d",
        ),
        *("train@sha256:" + "0" * 64, "train:1@sha256:" + "0" * 64, "sha256:" + "0" * 64, "0" * 64),
    ],
)
def test_names_of_images(name: str) -> None:
    assert is_image_name(name)


@pytest.mark.parametrize(
    "name",
    ["MINE:latest", "mine:", ":1", "a b", "a//b", "/a", "a/", "a:b:c", "a@sha256:0", "-a", "a_", "https://a/b", ""],
)
def test_what_is_no_name_of_an_image(name: str) -> None:
    assert not is_image_name(name)


@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_bad_image_name_is_refused_from_flags_and_from_files(
    command: str, tmp_path: Path, smlocal: Run, error_of: ErrorOf
) -> None:
    error = error_of(smlocal(command, "--image", "MINE:latest", "--json"))
    assert (error["Id"], error["ExitCode"]) == ("image-name", 2)
    file = tmp_path / "job.yaml"
    file.write_text(
        "AlgorithmSpecification:\n  TrainingInputMode: File\n  TrainingImage: MINE:latest\n"
        "OutputDataConfig: {S3OutputPath: ./out}\nResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 1}\n"
    )
    error = error_of(smlocal(command, str(file), "--json"))
    assert error["Id"] == "image-name"
    assert error["Details"] == [f"{file}:3   TrainingImage: MINE:latest"]
    assert "Did you mean mine:latest?" in error["Remedy"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "--chanel", "a=b"), "error: no such option '--chanel'. Did you mean --channel? "),
        (("run", "--zzzzzz"), "error: no such option '--zzzzzz' "),
        (("completion",), "error: missing argument 'SHELL'. Choose from: bash, zsh, fish "),
        (("describe", "@lst"), "  Did you mean @last?\n"),
    ],
)
def test_a_mistake_is_named_in_one_sentence(
    words: tuple[str, ...],
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path))
    assert run_command_line([*words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("job.yml", "job.yaml"), ("jbo.yaml", "job.yaml"), ("nosuch.yaml", None), ("job.jsn", "job.json")],
)
def test_of_job_files_the_one_with_a_similar_stem_is_suggested(
    asked: str,
    meant: str | None,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("job.yaml", "job.json", "oom.yaml"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    assert run_command_line(["validate", asked]) == 2
    said = capsys.readouterr().err
    assert f"Did you mean {meant}?" in said if meant else "Did you mean" not in said
