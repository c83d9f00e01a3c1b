import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from smlocal.cli.command_table import COMMANDS, load_command
from smlocal.cli.main import run_command_line

SMLOCAL = Path(sys.executable).parent


def complete(home: Path, *words: str) -> list[str]:
    """What a bash that has read the script would offer for the last word."""
    script = """
        eval "$(smlocal completion bash 2>/dev/null)"
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _smlocal_completion smlocal
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    environment = {**os.environ, "SMLOCAL_HOME": str(home), "PATH": f"{SMLOCAL}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script, "bash", "smlocal", *words],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.split()


@pytest.mark.skipif(not (SMLOCAL / "smlocal").exists(), reason="smlocal is not installed as a command")
def test_bash_completes_commands_names_and_rules(remember: Callable[..., None], tmp_path: Path) -> None:
    remember("tree-1")
    remember("tree-2")
    remember("other")
    assert complete(tmp_path, "des") == ["describe"]
    assert complete(tmp_path, "describe", "tr") == ["tree-2", "tree-1"]
    assert complete(tmp_path, "rm", "other", "tree-1") == ["tree-1"]
    assert complete(tmp_path, "check", "--only", "train-m") == ["train-missing"]
    assert complete(tmp_path, "run", "--pull", "a") == ["always"]
    assert complete(tmp_path, "help", "exit") == ["exit-codes"]


def test_options_that_take_a_path_complete_files() -> None:
    options = [
        option
        for name in COMMANDS
        for option in load_command(name).params
        if isinstance(option, click.Option) and option.metavar in {"FILE", "DIR"}
    ]
    assert len(options) > 10
    for option in options:
        found = option.shell_complete(click.Context(click.Command("any")), "o")
        assert [item.type for item in found] == ["file"], f"{option} needs type=click.Path(readable=False)"


def test_a_store_is_not_made_and_a_broken_configuration_is_no_error(tmp_path: Path) -> None:
    home = tmp_path / "home"
    environment = {
        **os.environ,
        "SMLOCAL_HOME": str(home),
        "SMLOCAL_CONFIG": str(tmp_path / "none.toml"),
        "_SMLOCAL_COMPLETE": "bash_complete",
        "COMP_WORDS": "smlocal logs x",
        "COMP_CWORD": "2",
    }
    done = subprocess.run(
        [sys.executable, "-m", "smlocal"], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")
    assert not home.exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert f"_SMLOCAL_COMPLETE={shell}_complete" in script
    if shutil.which(shell) is None:
        return
    (tmp_path / "script").write_text(script)
    subprocess.run([shell, "-n", str(tmp_path / "script")], check=True, timeout=30)
