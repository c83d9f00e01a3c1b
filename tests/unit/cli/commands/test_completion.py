import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from tests.doors.cli.terminal import Terminal
from tests.kit.forked import run_smlocal

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


@pytest.mark.slow(0.5)
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
    subprocess.run([shell, "-n", str(tmp_path / "script")], check=True, timeout=200)


def in_home(home: Path, *words: str, **env: str) -> tuple[int, str]:
    environment = {key: value for key, value in os.environ.items() if key not in {"XDG_CONFIG_HOME", "ZDOTDIR"}}
    done = run_smlocal(words, environment={**environment, "HOME": str(home), **env})
    return done.returncode, done.stderr


STARTUP = {"bash": ".bashrc", "zsh": ".zshrc"}


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_installing_twice_is_as_once_and_can_be_undone(shell: str, tmp_path: Path) -> None:
    startup = tmp_path / STARTUP.get(shell, "none")
    before = b"alias a=b # \xff"
    if shell in STARTUP:
        startup.write_bytes(before)
        startup.chmod(0o600)
    code, said = in_home(tmp_path, "completion", shell, "--install")
    assert code == 0
    script = (
        tmp_path / ".config" / ("smlocal/completion." + shell if shell in STARTUP else "fish/completions/smlocal.fish")
    )
    assert f"wrote {script}\n" in said
    assert f"To undo: smlocal completion {shell} --uninstall\n" in said
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert set(files) == {script, *([startup] if shell in STARTUP else [])}
    if shell in STARTUP:
        assert f"added lines to {startup}\n" in said
        assert files[startup].startswith(before + b"\n# >>> smlocal completion >>>\n")
        assert startup.stat().st_mode & 0o777 == 0o600

    code, said = in_home(tmp_path, "completion", shell, "--install")
    assert (code, "wrote" in said, "installed already" in said) == (0, False, True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == files

    code, said = in_home(tmp_path, "completion", shell, "--uninstall")
    assert (code, f"removed {script}\n" in said) == (0, True)
    left = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert left == ({startup.name: before + b"\n"} if shell in STARTUP else {})
    assert in_home(tmp_path, "completion", shell, "--uninstall") == (0, f"completion for {shell} is not installed\n")


@pytest.mark.slow(0.5)
def test_a_startup_file_that_is_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "bashrc").write_text("true\n")
    (tmp_path / ".bashrc").symlink_to("dotfiles/bashrc")
    assert in_home(tmp_path, "completion", "bash", "--install")[0] == 0
    assert (tmp_path / ".bashrc").is_symlink()
    assert "smlocal" in (tmp_path / "dotfiles" / "bashrc").read_text()
    assert [path.name for path in (tmp_path / "dotfiles").iterdir()] == ["bashrc"]


def test_the_shell_is_the_login_shell_by_default(tmp_path: Path) -> None:
    assert in_home(tmp_path, "completion", "--install", SHELL="/usr/bin/zsh")[0] == 0
    assert (tmp_path / ".zshrc").exists()


@pytest.mark.parametrize(
    ("words", "shell", "said"),
    [
        (("--install",), "/bin/tcsh", "there is no completion for tcsh: name one of bash, zsh, fish"),
        (("--install",), "", "the variable SHELL is not set: name one of bash, zsh, fish"),
        (("tcsh", "--install"), "/bin/bash", "'tcsh' is not one of 'bash', 'zsh', 'fish'"),
        (("bash", "--install", "--uninstall"), "/bin/bash", "cannot be used together"),
    ],
    ids=["unknown", "unset", "named", "both"],
)
def test_what_cannot_be_installed_is_refused(words: tuple[str, ...], shell: str, said: str, tmp_path: Path) -> None:
    code, shown = in_home(tmp_path, "completion", *words, SHELL=shell)
    assert (code, said in shown, "[usage]" in shown) == (2, True, True)
    assert [*tmp_path.iterdir()] == []


def test_a_file_that_cannot_be_changed_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").mkdir()
    code, said = in_home(tmp_path, "completion", "bash", "--install")
    assert (code, "[completion-file]" in said) == (2, True)
    assert f"{tmp_path}/.bashrc cannot be changed: Is a directory" in said


PROMPT = {"bash": "PS1='> '\n", "zsh": "PS1='> '\n", "fish": "function fish_prompt; echo -n '> '; end\n"}


@pytest.mark.skipif(not (SMLOCAL / "smlocal").exists(), reason="smlocal is not installed as a command")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_new_shell_completes(shell: str, tmp_path: Path, remember: Callable[..., None]) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    remember("tree-1")
    startup = tmp_path / STARTUP.get(shell, ".config/fish/config.fish")
    startup.parent.mkdir(parents=True, exist_ok=True)
    startup.write_text(PROMPT[shell])
    assert in_home(tmp_path, "completion", shell, "--install")[0] == 0
    terminal = Terminal(columns=100)
    environment = {
        "HOME": str(tmp_path),
        "PATH": f"{SMLOCAL}:{os.environ['PATH']}",
        "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", ""),
        "SMLOCAL_HOME": str(tmp_path),
        "TERM": "xterm",
        "LANG": "C.UTF-8",
    }
    terminal.start([program, "-i"], cwd=str(tmp_path), environment=environment)
    terminal.until(lambda: any(line.startswith(">") for line in terminal.all_lines()))
    terminal.type(b"smlocal descr\t")
    terminal.until(lambda: "smlocal describe" in terminal.all_lines()[-1])
    terminal.type(b" tr\t")
    terminal.until(lambda: "tree-1" in terminal.all_lines()[-1])
    terminal.type(b"\x15exit\r")
    terminal.end(seconds=60)
