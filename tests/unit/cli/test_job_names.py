from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from smlocal.api.job_names import resolve_job_name
from smlocal.cli.command_table import COMMANDS, load_command
from smlocal.cli.main import run_command_line
from smlocal.errors import JobUnknownError

Remember = Callable[..., None]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path))


@pytest.fixture
def described(capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """The job that `describe` shows for a text."""

    def describe(text: str) -> str:
        assert run_command_line(["describe", text]) == 0
        return capsys.readouterr().out.split()[1]

    return describe


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_command_line([*words]) == 2
    return capsys.readouterr().err


def test_a_whole_name_a_beginning_and_the_newest(remember: Remember, described: Callable[[str], str]) -> None:
    for name in ("tree", "tree-2", "other"):
        remember(name)
    assert [described(text) for text in ("tree", "tree-", "o", "@last")] == ["tree", "tree-2", "other", "other"]


def test_the_newest_is_none_that_another_job_has_made(remember: Remember, described: Callable[[str], str]) -> None:
    remember("execution", platform="sagemaker_pipeline", documents={"pipeline": {"Names": []}})
    for name, document in (("of-step", "step-of"), ("of-search", "tuned-by")):
        remember(name, documents={document: {"Name": "execution", "Run": "0" * 8, "Arn": "a"}})
    assert described("@last") == "execution"
    remember("alone")
    assert described("@last") == "alone"


def test_a_step_without_a_job_says_where_the_log_of_its_stand_in_is(
    remember: Remember, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    remember("execution", platform="sagemaker_pipeline", documents={"pipeline": {"Names": []}})
    logs = tmp_path / "jobs" / "execution" / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    assert "has written" not in refused(capsys, "logs", "execution/Notify")
    (logs / "Notify.log").write_text("sent")
    said = " ".join(refused(capsys, "logs", "execution/Notify").split())
    assert f"What stands in for it has written {logs / 'Notify.log'}" in said


def test_a_stop_is_about_what_no_other_running_job_has_made(
    remember: Remember, capsys: pytest.CaptureFixture[str]
) -> None:
    remember("execution", platform="sagemaker_pipeline", documents={"pipeline": {"Names": []}}, ended=False)
    remember("of-step", documents={"step-of": {"Name": "execution", "Run": "0" * 8, "Arn": "a"}}, ended=False)
    remember("of-another", documents={"step-of": {"Name": "removed", "Run": "0" * 8, "Arn": "a"}}, ended=False)
    assert "Running now: of-another, execution  " in refused(capsys, "stop")


def test_two_matches_are_listed_newest_first(remember: Remember, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(25):
        remember(f"tree-{number}")
    said = refused(capsys, "logs", "tree-")
    assert "25 jobs have names that begin with 'tree-'" in said
    assert "[job-name-ambiguous]" in said
    assert "  tree-24\n  tree-23\n" in said
    assert "… and 5 more" in said
    assert "tree-4\n" not in said


@pytest.mark.parametrize("text", ["tere-2", "tree-2x"])
def test_no_match_has_a_suggestion(text: str, remember: Remember, capsys: pytest.CaptureFixture[str]) -> None:
    remember("tree-2")
    said = refused(capsys, "describe", text)
    assert "[job-unknown]" in said
    assert "Did you mean tree-2?" in said
    assert "smlocal jobs lists all jobs." in said


@pytest.mark.parametrize("command", ["describe", "logs", "stop", "rm", "wait"])
def test_similar_names_are_suggested(command: str, remember: Remember, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("tree-fold-1", "tree-fold-2", "other"):
        remember(name)
    said = refused(capsys, command, "tree-flod-1")
    assert "Did you mean tree-fold-1 or tree-fold-2?" in said
    assert "other" not in said


@pytest.mark.parametrize("text", ["", "trée", "%", "_", "Tree"])
def test_what_is_no_beginning(text: str, remember: Remember, capsys: pytest.CaptureFixture[str]) -> None:
    remember("tree")
    assert "[job-unknown]" in refused(capsys, "describe", text)


def test_bytes_that_are_no_text(remember: Remember) -> None:
    remember("tree")
    with pytest.raises(JobUnknownError):
        resolve_job_name("\udcff")


def test_the_newest_of_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no job yet, so @last names none" in refused(capsys, "describe", "@last")


def test_rm_takes_beginnings_and_goes_on_after_one_that_fits_two(
    remember: Remember, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a-1", "a-2", "b-1", "c-1"):
        remember(name)
    said = refused(capsys, "rm", "a", "b", "@last")
    assert "[job-name-ambiguous]" in said
    assert "removed b-1" in said
    assert "removed c-1" in said


def test_wait_takes_beginnings(remember: Remember) -> None:
    remember("first-job")
    remember("second-job", reason="AlgorithmError: , exit code: 1")
    assert run_command_line(["wait", "first", "@last"]) == 1


def test_a_document_has_the_whole_name(remember: Remember, capsys: pytest.CaptureFixture[str]) -> None:
    remember("first-job")
    assert run_command_line(["metrics", "f", "--json"]) == 0
    assert '"TrainingJobName": "first-job"' in capsys.readouterr().out


def arguments() -> list[tuple[str, click.Argument]]:
    return [
        (name, parameter)
        for name in COMMANDS
        for parameter in load_command(name).params
        if isinstance(parameter, click.Argument) and parameter.name in {"name", "names", "recorded"}
    ]


@pytest.mark.parametrize(("name", "argument"), arguments(), ids=[name for name, _ in arguments()])
def test_every_command_completes_names(name: str, argument: click.Argument, remember: Remember) -> None:
    remember("tree-2")
    context = click.Context(load_command(name))
    assert [item.value for item in argument.shell_complete(context, "tr")] == ["tree-2"]


@pytest.mark.parametrize("name", [name for name, argument in arguments() if argument.nargs == 1])
def test_every_command_resolves_names(name: str, remember: Remember, capsys: pytest.CaptureFixture[str]) -> None:
    remember("tree-1")
    remember("tree-2")
    required: dict[str, list[Any]] = {"report": ["--html", "-"], "invoke": ["--body", "-"]}
    assert "[job-name-ambiguous]" in refused(capsys, name, "tree", *required.get(name, []))


def test_the_job_of_a_step_is_named_by_its_execution(
    remember: Remember, described: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    cached = {"step-Old": {"Job": "made-before"}, "step-Gone": {"Job": "removed"}}
    remember("execution", platform="sagemaker_pipeline", documents={"pipeline": {"Names": []}, **cached})
    by = {"Name": "execution", "Run": "0" * 8, "Arn": "a", "Step": "Train"}
    for attempt in (2, 1):
        remember(f"made-{attempt}", documents={"step-of": {**by, "Attempt": attempt}})
    remember("made-before", documents={"step-of": {**by, "Run": "1" * 8, "Attempt": 3}})
    assert [described(text) for text in ("execution/Train", "exec/Train", "@last/Train")] == ["made-2"] * 2 + ["made-2"]
    assert described("execution/Old") == "made-before"
    assert "no job of a step 'Gone'" in refused(capsys, "describe", "execution/Gone")
    said = refused(capsys, "describe", "execution/Trian")
    assert "Steps with a job: Train" in said
    assert "Did you mean execution/Train?" in said
    assert "There is no job or endpoint 'out/Train'" in refused(capsys, "describe", "out/Train")
