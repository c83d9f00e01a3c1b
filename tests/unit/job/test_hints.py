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
