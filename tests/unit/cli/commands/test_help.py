import pytest

from smlocal.cli.commands.run import EXIT_CODES
from smlocal.cli.help_topics import TOPICS
from smlocal.cli.main import run_command_line


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_command_line([*words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_fits_a_terminal(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "help", topic)
    assert text == TOPICS[topic]
    assert max(map(len, text.splitlines())) <= 120


def test_all_exit_codes_of_a_job_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    listed = [line.split()[0] for line in shown(capsys, "help", "exit-codes").splitlines() if line.startswith("  ")]
    assert set(map(str, EXIT_CODES.values())) <= set(listed)
    assert listed == ["0", "1", "2", "3", "4", "124", "130", "143"]


def test_without_a_topic_and_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Topics: exit-codes" in shown(capsys, "help")
    assert shown(capsys, "help", "logs") == shown(capsys, "logs", "--help")


def test_a_topic_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["help", "exit-code"]) == 2
    assert "Did you mean 'exit-codes' ?" in capsys.readouterr().err
