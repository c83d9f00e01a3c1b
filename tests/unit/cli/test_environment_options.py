"""`-e KEY` and `--env-file`: values that no command line shows."""

import os
from pathlib import Path

import click
import pytest

from smlocal.cli.job_options import variables
from smlocal.errors import EnvFileError, VariableUnsetError


def test_a_name_alone_takes_the_value_of_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "a=b c")
    monkeypatch.setenv("EMPTY", "")
    assert list(variables([], ["API_TOKEN", "EMPTY", "A=1", "B="])) == [
        ("API_TOKEN", "a=b c"),
        ("EMPTY", ""),
        ("A", "1"),
        ("B", ""),
    ]


def test_a_name_that_is_not_set_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NOT_SET", raising=False)
    with pytest.raises(VariableUnsetError, match="NOT_SET is not set here, and --env NOT_SET") as caught:
        list(variables([], ["NOT_SET"]))
    assert caught.value.exit_code == 2
    assert caught.value.remedy == ("Set it first, or write NOT_SET=VALUE.",)
    (tmp_path / "f").write_text("A=1\nNOT_SET\n")
    with pytest.raises(VariableUnsetError, match=r"/f:2 takes its value"):
        list(variables([str(tmp_path / "f")], []))


@pytest.mark.parametrize("given", ["", "=1"])
def test_a_variable_without_a_name(given: str) -> None:
    with pytest.raises(click.UsageError, match="without a name"):
        list(variables([], [given]))


def test_a_file_is_read_as_docker_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROM_HERE", "here")
    text = '\ufeffA=1\n# B=2\n\n  C= "q" # kept \nD=a=b\r\nFROM_HERE\nE=\nA=again\u2028x'
    (tmp_path / "one").write_bytes(text.encode())
    (tmp_path / "two").write_text("C=two\n")
    assert list(variables([str(tmp_path / "one"), str(tmp_path / "two")], ["A=flag"])) == [
        ("A", "1"),
        ("C", ' "q" # kept '),
        ("D", "a=b"),
        ("FROM_HERE", "here"),
        ("E", ""),
        ("A", "again\u2028x"),
        ("C", "two"),
        ("A", "flag"),
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"A=1\n=hunter2\n", "missing name before the ="),
        (b"A B=hunter2\n", "the name contains a space"),
        (b"A =hunter2\n", "the name contains a space"),
        (b"A=1\nB=\xff\n", ":2"),
        (b"A=" + b"x" * (1 << 20), "too large"),
    ],
)
def test_a_file_that_is_not_one_of_variables(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(EnvFileError) as caught:
        list(variables([str(tmp_path / "f")], []))
    error = caught.value
    assert said in f"{error.sentence} {error.details}"
    assert "hunter2" not in f"{error.sentence} {error.details} {error.remedy}"


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path, said in {
        tmp_path: "is a folder",
        tmp_path / "fifo": "is not a regular file",
        Path("/dev/zero"): "is not a regular file",
        tmp_path / "none": "cannot be read: No such file",
    }.items():
        with pytest.raises(EnvFileError, match=said):
            list(variables([str(path)], []))


def test_a_pipe_that_is_open_already() -> None:
    """As `--env-file <(pass show training)` has it."""
    reading, writing = os.pipe()
    os.write(writing, b"API_TOKEN=hunter2\n")
    os.close(writing)
    assert list(variables([f"/dev/fd/{reading}"], [])) == [("API_TOKEN", "hunter2")]
    os.close(reading)
