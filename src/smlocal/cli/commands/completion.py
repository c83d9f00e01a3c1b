"""`smlocal completion`: have a shell complete smlocal's commands, flags, job names and rules."""

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import click
from click.shell_completion import ShellComplete, get_completion_class

from smlocal.base.files import replacement
from smlocal.base.quick_dataclass import dataclass
from smlocal.cli.main import cli
from smlocal.cli.shown_help import shown_command
from smlocal.errors import CompletionFileError

_SHELLS = ("bash", "zsh", "fish")


@shown_command(
    "completion",
    examples=(
        ("smlocal completion --install", "Install completion for your shell."),
        ("smlocal completion zsh", "Print the script for zsh."),
    ),
)
@click.argument("shell", required=False, type=click.Choice(_SHELLS), metavar="SHELL")
@click.option("--install", is_flag=True, help="Install the script, and the lines in the shell's startup file.")
@click.option("--uninstall", is_flag=True, help="Remove what --install wrote.")
@click.pass_context
def command(ctx: click.Context, *, shell: str | None, install: bool, uninstall: bool) -> None:
    """Print or install shell completion for bash, zsh or fish.

    It completes commands, flags, names of jobs, and the rules of check. With --install and --uninstall, SHELL is your
    login shell ($SHELL) if it is not given. Without them, the script is printed: a startup file can run
    eval "$(smlocal completion bash)".
    """
    if install and uninstall:
        raise click.UsageError("--install and --uninstall cannot be used together.")
    if not install and not uninstall:
        if shell is None:
            raise click.MissingParameter(ctx=ctx, param=ctx.command.params[0])
        click.echo(_script(shell))
        return

    shell = shell or _login_shell()
    files = completion_files(shell, os.environ)
    if uninstall:
        removed = files.remove()
        for path in removed:
            _say(f"removed the lines from {path}" if path == files.startup else f"removed {path}")
        if not removed:
            _say(f"completion for {shell} is not installed")
        return
    written = files.install(f"{_script(shell)}\n")
    for path in written:
        _say(f"added lines to {path}" if path == files.startup else f"wrote {path}")
    if not written:
        _say(f"completion for {shell} is installed already: {files.script}")
    _say(f"New shells complete smlocal. To undo: smlocal completion {shell} --uninstall")


def _say(line: str) -> None:
    click.echo(line, err=True)


def _script(shell: str) -> str:
    kind = get_completion_class(shell)
    if kind is None:
        raise AssertionError(shell)
    # Not `source` of the class itself, which starts a bash to ask for its version.
    return ShellComplete.source(kind(cli, {}, "smlocal", "_SMLOCAL_COMPLETE"))


def _login_shell() -> str:
    shell = os.path.basename(os.environ.get("SHELL", ""))
    if shell in _SHELLS:
        return shell
    about = f"There is no completion for {shell}" if shell else "The variable SHELL is not set"
    raise click.UsageError(f"{about}: name one of {', '.join(_SHELLS)}, such as smlocal completion bash --install.")


_BEGIN = "# >>> smlocal completion >>>"
_END = "# <<< smlocal completion <<<"
_BASH = "if [ -r {0} ]; then . {0}; fi"
# compdef is there only after compinit, which many startup files call themselves.
_ZSH = """\
if [ -r {0} ]; then
    (( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }}
    . {0}
fi"""


@dataclass(frozen=True, kw_only=True, slots=True)
class CompletionFiles:
    """Where the completion of one shell is installed."""

    script: str
    """The whole completion."""
    startup: str | None = None
    """The file of the user in which a few lines read the script; None if the shell finds the script itself."""
    lines: str = ""

    def install(self, text: str) -> list[str]:
        """Write what is not there yet; returns the files that were written."""
        written = []
        with _errors(self.script):
            os.makedirs(os.path.dirname(self.script), exist_ok=True)
            if _content(self.script) != text.encode():
                _write(self.script, text.encode())
                written.append(self.script)
        if self.startup is not None:
            with _errors(self.startup):
                before = _content(self.startup) or b""
                after = self._with_lines(_without_lines(before))
                if after != before:
                    _write(self.startup, after)
                    written.append(self.startup)
        return written

    def remove(self) -> list[str]:
        """Remove both; returns the files that were changed."""
        changed = []
        if self.startup is not None:
            with _errors(self.startup):
                before = _content(self.startup) or b""
                after = _without_lines(before)
                if after != before:
                    _write(self.startup, after)
                    changed.append(self.startup)
        with _errors(self.script):
            if os.path.lexists(self.script):
                os.remove(self.script)
                changed.append(self.script)
        return changed

    def _with_lines(self, text: bytes) -> bytes:
        gap = b"" if not text or text.endswith(b"\n") else b"\n"
        return text + gap + f"{_BEGIN}\n{self.lines}\n{_END}\n".encode()


def completion_files(shell: str, environment: Mapping[str, str]) -> CompletionFiles:
    """The files of bash, zsh or fish."""
    home = environment.get("HOME") or os.path.expanduser("~")
    configuration = environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    if shell == "fish":
        return CompletionFiles(script=os.path.join(configuration, "fish", "completions", "smlocal.fish"))
    script = os.path.join(configuration, "smlocal", f"completion.{shell}")
    quoted = shlex.quote(script)
    if shell == "zsh":
        folder = environment.get("ZDOTDIR") or home
        return CompletionFiles(script=script, startup=os.path.join(folder, ".zshrc"), lines=_ZSH.format(quoted))
    return CompletionFiles(script=script, startup=os.path.join(home, ".bashrc"), lines=_BASH.format(quoted))


def _without_lines(text: bytes) -> bytes:
    """A startup file without the lines of an earlier installation."""
    begin = text.find(_BEGIN.encode())
    end = text.find(_END.encode(), begin)
    if begin < 0 or end < 0:
        return text
    return text[:begin] + text[end + len(_END) :].removeprefix(b"\n")


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _write(path: str, content: bytes) -> None:
    """Replace a file at once: a shell may read it at any time. A link stays a link, and the file keeps its mode."""
    path = os.path.realpath(path)
    with replacement(path) as file:
        if os.path.exists(path):
            os.fchmod(file.fileno(), os.stat(path).st_mode & 0o7777)
        file.write(content)


@contextmanager
def _errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CompletionFileError(
            f"{path} cannot be changed: {error.strerror or error}",
            remedy=["Print the script and install it by hand: smlocal completion --help"],
        ) from error
