"""Programs and scripts as texts: how the kernel reads one, which script an interpreter runs, what a shell does."""

import re
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from smlocal.base.quick_dataclass import dataclass
from smlocal.check.cannot_look import CannotLookError
from smlocal.check.image_files import TOO_MUCH, is_of_a_library
from smlocal.check.subject import Subject
from smlocal.jobs.planning.aspects.image.plan import is_shell

_SHELLS = {"sh", "ash", "bash", "dash", "ksh", "zsh"}
_ELF = b"\x7fELF"
_INTERPRETER = 3
"""The kind of a program header that names the loader."""
_MACHINES = {3: "386", 40: "arm", 62: "amd64", 183: "arm64", 21: "ppc64le", 22: "s390x", 243: "riscv64"}
"""By the numbers of the ELF format, in the words of images."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """A file that begins with `#!`."""

    interpreter: str
    """As written, without a carriage return."""
    arguments: tuple[str, ...]
    has_carriage_return: bool
    """True when the first line ends as on Windows: the kernel takes the character for a part of the name."""

    @property
    def program(self) -> str:
        """The program that runs it in the end: the `python3` of `#!/usr/bin/env python3`."""
        if self.interpreter.rpartition("/")[2] == "env":
            return next((word for word in self.arguments if not word.startswith("-") and "=" not in word), "")
        return self.interpreter

    @property
    def is_shell(self) -> bool:
        """Whether a shell runs it."""
        return self.program.rpartition("/")[2] in _SHELLS


@dataclass(frozen=True, kw_only=True, slots=True)
class Binary:
    """A program in the format of Linux."""

    architecture: str
    """In the words of images; empty for other programs."""
    loader: str
    """The loader of its libraries; empty for a static one."""


def read_program(content: bytes) -> Script | Binary | None:
    """The program that the beginning of a file describes; None if the kernel does not execute it."""
    if content.startswith(b"#!"):
        line = content[2:].split(b"\n", 1)[0].decode("utf-8", "surrogateescape")
        words = line.split()
        return Script(
            interpreter=words[0] if words else "", arguments=tuple(words[1:]), has_carriage_return=line.endswith("\r")
        )
    return _binary(content) if content.startswith(_ELF) else None


def _binary(content: bytes) -> Binary:
    try:
        wide, order = content[4] == 2, "<" if content[5] == 1 else ">"  # noqa: PLR2004 - the class of 64 bits
        (machine,) = struct.unpack_from(f"{order}H", content, 18)
        table, size, count = (
            (*struct.unpack_from(f"{order}Q", content, 32), *struct.unpack_from(f"{order}HH", content, 54))
            if wide
            else (*struct.unpack_from(f"{order}I", content, 28), *struct.unpack_from(f"{order}HH", content, 42))
        )
        loader = ""
        for number in range(count):
            at = table + number * size
            (kind,) = struct.unpack_from(f"{order}I", content, at)
            if kind == _INTERPRETER:
                place, length = (
                    struct.unpack_from(f"{order}Q16xQ", content, at + 8)
                    if wide
                    else struct.unpack_from(f"{order}I8xI", content, at + 4)
                )
                loader = content[place : place + length].split(b"\0", 1)[0].decode("utf-8", "surrogateescape")
    except (struct.error, IndexError):  # what is meant lies behind the part that was kept
        return Binary(architecture="", loader="")
    return Binary(architecture=_MACHINES.get(machine, ""), loader=loader)


_PYTHON = re.compile(r"(?:python|pypy)[\d.]*$")
_R = "Rscript"
_WITH_VALUE = {"-W", "-X", "--check-hash-based-pycs", "--rcfile", "--init-file"}
_OPTION_OF_SHELL = re.compile(r"[-+]\w*[oO]$")
"""It is followed by the name of an option, as in `-o pipefail`."""
_NO_SCRIPT_SHELL = re.compile(r"-\w*[cs]")
_NO_SCRIPT_PYTHON = re.compile(r"-[A-VY-Za-z]*[cm]")
"""A command or a module in place of a script, such as `-um trainer`, but not the text attached to `-W` or `-X`."""


def is_python(name: str) -> bool:
    """Whether a program is Python, by its name without a folder."""
    return _PYTHON.match(name) is not None


def script_argument(name: str, arguments: Sequence[str]) -> str | None:
    """The script, as it is written; None for no interpreter that is known here, and for one that gets no script."""
    if not is_shell(name) and not is_python(name) and name != _R:
        return None
    words = list(arguments)
    while words:
        word = words.pop(0)
        if word == "--":
            return words[0] if words else None
        if not _is_option(word, name):
            return word
        if word == "-" or _needs_no_script(word, name):
            return None
        if word in _WITH_VALUE or (is_shell(name) and _OPTION_OF_SHELL.match(word)):
            del words[:1]
    return None


def _is_option(word: str, name: str) -> bool:
    return word.startswith("-") or (word.startswith("+") and is_shell(name))


def _needs_no_script(word: str, name: str) -> bool:
    """Whether the program is in an argument after this option, or comes on the standard input."""
    if name == _R:
        return word == "-e"
    pattern = _NO_SCRIPT_SHELL if is_shell(name) else _NO_SCRIPT_PYTHON
    return not word.startswith("--") and pattern.match(word) is not None


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
"""Matches `name=$(command …)`: the command follows."""
_HARMLESS = _set(
    "! [ [[ { } ( ) : . alias awk basename break case cat cd chgrp chmod chown command continue cp cut date "
    "declare dirname do done echo elif else env esac eval exit export false fi find for function getopts grep "
    "head hostname id if in ldconfig let ln local ls mkdir mktemp mv nproc popd printf ps pushd pwd read readonly "
    "return rm sed select set shift shopt sleep sort source stat tail tar tee test then time touch tr true type "
    "ulimit umask uname unset until wait wc which while whoami xargs"
)
"""Commands that a shell runs itself, or that end at once."""


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

    None for a script with an `exec` of a program, with a trap for SIGTERM, or of shell commands only.
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


_SUFFIXES = (".py", ".sh", ".bash")
_NAMES = {"train", "serve"}


class WrittenText(NamedTuple):
    """One script."""

    path: str
    text: str
    layer: int | None


def written_text(subject: Subject) -> Iterator[WrittenText]:
    """Every script that is somebody's own, by name or because it may be executed."""
    for path, content in sorted(subject.files.contents.items()):
        if is_of_a_library(path):
            continue
        name = path.rpartition("/")[2]
        if name.endswith(_SUFFIXES) or name in _NAMES or content.startswith(b"#!"):
            entry = subject.files.entry(path)
            yield WrittenText(f"/{path}", content.decode(errors="replace"), entry.layer if entry is not None else None)
    if subject.files.crowded:  # what was found was found; that there is no more cannot be said
        raise CannotLookError(TOO_MUCH)


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines without those that are only comments."""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.lstrip().startswith("#"):
            yield number, line
