import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from tests.kit.forked import run_smlocal
from tests.kit.tensor_files import save
from tests.unit.cli.help_examples import EVERY, EXAMPLES, ON_AN_ENGINE, WITHOUT_AN_ENGINE

from smlocal.cli.command_table import load_command
from smlocal.cli.main import cli, run_command_line
from smlocal.cli.shown_help import ShownGroup, ShownOption
from smlocal.jobfile.settings import OPTIONS

SPLIT = ("run", "rerun", "plan", "check", "reproduce", "submit", "shell", "deploy")


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_command_line([*words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", EVERY, ids=" ".join)
def test_help_ends_with_examples_of_the_command(
    name: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    command = EVERY[name]
    last = shown(capsys, *name, "--help").split("\nExamples:\n")[1]
    assert [line.split("  ")[1] for line in last.splitlines() if line.startswith("  smlocal ")] == [
        line for line, _ in command.examples
    ]
    options = [each for each in command.params if not getattr(each, "hidden", False)]
    assert len(command.examples) in ((2, 3) if len(options) > 1 else (1, 2, 3))
    for line, says in command.examples:
        assert shlex.split(line)[: len(name) + 1] == ["smlocal", *name] or isinstance(command, ShownGroup)
        assert says in " ".join(last.split())
        assert says.endswith(".")


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_is_parsed(line: str) -> None:
    smlocal, *words = shlex.split(line)
    assert smlocal == "smlocal"
    context = click.Context(cli, info_name="smlocal")
    command: click.Command = cli
    while isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found
        context = click.Context(command, info_name=name, parent=context)
    assert command.make_context(command.name, words).params is not None


@pytest.mark.parametrize("columns", [40, 80, 110])
def test_a_command_line_is_never_broken(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for name, command in EVERY.items():
        lines = shown(capsys, *name, "--help").splitlines()
        for example, _ in command.examples:
            assert [line for line in lines if line.strip() == example or line.startswith(f"  {example}  ")], example


@pytest.mark.parametrize("name", SPLIT)
def test_common_options_are_shown_and_the_others_by_help_all(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    few, every = shown(capsys, name, "--help"), shown(capsys, name, "--help-all")
    options = [each for each in load_command(name).params if isinstance(each, click.Option) and not each.hidden]
    common = [each for each in options if isinstance(each, ShownOption) and each.common]
    assert 4 < len(common) <= 22
    assert len(options) > len(common)

    def in_(text: str) -> list[str]:
        words = {
            word.strip(",")
            for line in text.split("\nExamples:", maxsplit=1)[0].splitlines()
            for word in line.split()[:3]
        }
        return [each.opts[0] for each in options if set(each.opts) & words]

    assert in_(every) == [each.opts[0] for each in options]
    assert in_(few) == [each.opts[0] for each in common]
    for text in (few, every):
        assert text.index("--help-all  Show all options.") > text.index(" --")
        assert "\nOther options:" not in text


def test_help_all_is_told_only_where_help_leaves_something_out(capsys: pytest.CaptureFixture[str]) -> None:
    for name, command in EVERY.items():
        told = "--help-all" in shown(capsys, *name, "--help")
        assert told is (name[0] in SPLIT and not isinstance(command, click.Group))


def test_a_setting_is_declared_common_in_the_table_of_settings() -> None:
    run = {each.name: each for each in load_command("run").params if isinstance(each, ShownOption)}
    for keyword, option in OPTIONS.items():
        if keyword in run:
            assert (run[keyword].common, run[keyword].head) == (option.common, option.head)
    assert sum(option.common for option in OPTIONS.values()) > 10


REQUEST = {
    "TrainingJobName": "my-job",
    "AlgorithmSpecification": {"TrainingImage": "my-image", "TrainingInputMode": "File"},
    "OutputDataConfig": {"S3OutputPath": "./out"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
    "StoppingCondition": {"MaxRuntimeInSeconds": 60},
    "RoleArn": "arn:aws:iam::123456789012:role/trainer",
}


@pytest.fixture
def folder(tmp_path: Path, remember: Callable[..., None]) -> Path:
    """A home and a working folder with what the examples name."""
    remember("other-job")
    remember("my-job")
    for name in ("my-job", "other-job"):
        logs = tmp_path / "jobs" / name / "logs"
        logs.mkdir(parents=True)
        (logs / "algo-1.log").write_text("loss=0.5\n")
    (tmp_path / "job.yaml").write_text(json.dumps(REQUEST))
    (tmp_path / "Dockerfile").write_text('FROM scratch\nENTRYPOINT ["/train"]\n')
    described = REQUEST | {
        "TrainingJobArn": "arn:aws:sagemaker:eu-west-1:123456789012:training-job/my-job",
        "TrainingJobStatus": "Completed",
        "OutputDataConfig": {"S3OutputPath": "s3://my-bucket/out"},
    }
    (tmp_path / "described.json").write_text(json.dumps(described))
    save(tmp_path / "tensors", 0, {"loss": [0.5]})
    return tmp_path


@pytest.mark.slow(2)
def test_examples_that_need_no_engine_run(folder: Path) -> None:
    assert {*WITHOUT_AN_ENGINE, *ON_AN_ENGINE} <= {*EXAMPLES}
    environment = {**os.environ, "SMLOCAL_HOME": str(folder), "HOME": str(folder), "SHELL": "/bin/bash"}
    for line, code in WITHOUT_AN_ENGINE.items():
        words = [path for word in shlex.split(line)[1:] for path in (expanded(word, folder) or [word])]
        done = run_smlocal(words, environment=environment, cwd=folder)
        assert (line, done.returncode) == (line, code), done.stderr


def expanded(word: str, folder: Path) -> list[str]:
    """As a shell does it."""
    return sorted(path.name for path in folder.glob(word)) if "*" in word else []
