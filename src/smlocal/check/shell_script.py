"""What a shell script does with the signals that its process gets, as far as its text tells."""

import re
from collections.abc import Sequence


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_COMMENT = re.compile(r"(?:^|\s)#.*$")
_EXEC = re.compile(r"(?:^|[;&|(]|\bthen\b|\bdo\b|\belse\b)\s*exec\s+(?![<>&0-9]*[<>])\S")
_ARGUMENTS = re.compile(r"""^[ \t]*exec[ \t]+"?\$\{?@\}?"?[ \t\r]*$""", re.MULTILINE)
_EXEC_WITH_ARGUMENTS = re.compile(r"""(?:^|[;&|(])\s*exec\s+([\w./-][\w./\s-]*?)\s+"?\$\{?@""")
_CHANGED = re.compile(
    r"(?:^|[;&|(]|\bthen\b|\bdo\b|\belse\b)[ \t]*(?:shift\b|set[ \t]+(?:-\w+[ \t]+)*--)", re.MULTILINE
)
_TRAP = re.compile(r"\btrap\b")
_TERM = re.compile(r"\b(?:SIG)?(?:TERM|15)\b")
_SEPARATOR = re.compile(r"&&|\|\||[;|&]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_OUTPUT_OF = re.compile(r"""^[A-Za-z_]\w*\+?="?(?:\$\(|`)""")
"""Of `name=$(command …)`: the command follows."""
_HARMLESS = _set(
    "! [ [[ { } ( ) : . alias awk basename break case cat cd chgrp chmod chown command continue cp cut date "
    "declare dirname do done echo elif else env esac eval exit export false fi find for function getopts grep "
    "head hostname id if in ldconfig let ln local ls mkdir mktemp mv nproc popd printf ps pushd pwd read readonly "
    "return rm sed select set shift shopt sleep sort source stat tail tar tee test then time touch tr true type "
    "ulimit umask uname unset until wait wc which while whoami xargs"
)
"""What a shell does itself, or what is over at once."""


def hands_over(text: str, arguments: Sequence[str]) -> bool:
    """Whether a script runs its own arguments with `exec`, as wrappers around any program do.

    Not one that changes its arguments, or that has the first of them in its text: it may do something else with it.
    """
    code = "\n".join(_COMMENT.sub("", line) for line in text.splitlines())
    if _ARGUMENTS.search(code) is None or _CHANGED.search(code) is not None:
        return False
    return not arguments or re.search(rf"(?<![\w/.-]){re.escape(arguments[0])}(?![\w/.-])", code) is None


def child_without_exec(text: str) -> str | None:
    """The command that the shell starts and waits for, if it neither hands its place over nor listens for SIGTERM.

    The last one that has to do with training, else the last one: a script may also serve.

    None for a script with an `exec` of a program, with a trap for SIGTERM, or of shell commands alone.
    """
    lines = [_COMMENT.sub("", line).strip() for line in text.replace("\\\n", " ").splitlines()]
    if any(_EXEC.search(line) or _traps(line) for line in lines):
        return None
    found = [command for line in lines for part in _SEPARATOR.split(line) if (command := _command(part)) is not None]
    trains = [command for command in found if "train" in command]
    return next(reversed(trains or found), None)


def executed(text: str) -> list[list[str]]:
    """The words of each `exec … "$@"` of a script, with which it gives its arguments to another program."""
    code = (_COMMENT.sub("", line) for line in text.replace("\\\n", " ").splitlines())
    return [found[1].split() for line in code if (found := _EXEC_WITH_ARGUMENTS.search(line))]


def _traps(line: str) -> bool:
    found = _TRAP.search(line)
    return found is not None and _TERM.search(line, found.end()) is not None


def _command(text: str) -> str | None:
    """A command that may take long."""
    text, assignments = _OUTPUT_OF.subn("", text.strip())
    words = (text.rstrip(')`"') if assignments else text).split()
    while words and (_ASSIGNMENT.match(words[0]) or words[0] in {"then", "do", "else", "!", "{", "(", "time", "env"}):
        del words[0]
    if not words or words[0].rpartition("/")[2] in _HARMLESS or words[0].endswith((")", "()", ";;")):
        return None
    if not re.match(r"""[\w./"'$@{}-]+$""", words[0]):
        return None
    return " ".join(words)
