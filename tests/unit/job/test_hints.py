import pytest

from smlocal.job.hints import exit_hints, start_hints


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ('exec: "train": executable file not found in $PATH: unknown', "PATH"),
        ('exec: "train": permission denied: unknown', "chmod"),
        ("exec /usr/local/bin/train: no such file or directory", "Windows"),
        ("exec /usr/local/bin/train: exec format error", "#!"),
    ],
)
def test_a_start_that_failed_is_explained(message: str, word: str) -> None:
    (hint,) = start_hints(message)
    assert word in hint


def test_what_is_not_known_is_not_explained() -> None:
    assert start_hints("something else") == []
    assert exit_hints("something else", killed=False, first_process="train", grace=120) == []


def test_a_windows_line_end_is_recognised_in_the_log() -> None:
    (hint,) = exit_hints("exec /usr/bin/train: no such file or directory\n", killed=False, first_process="t", grace=1)
    assert "CRLF" in hint


def test_a_process_that_ignored_sigterm_is_named() -> None:
    (hint,) = exit_hints("", killed=True, first_process="python train.py", grace=120)
    assert "python train.py" in hint
    assert "120 s" in hint


def test_code_that_asks_aws_is_told_of_credentials() -> None:
    log = "botocore.exceptions.NoCredentialsError: Unable to locate credentials\n"
    (hint,) = exit_hints(log, killed=False, first_process="train", grace=120)
    assert "--credentials" in hint
    assert exit_hints(log, killed=False, first_process="train", grace=120, credentials=True) == []
