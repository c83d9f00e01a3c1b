"""Which of its arguments an interpreter takes for the script that it runs."""

import re
from collections.abc import Sequence

from smlocal.platforms.sagemaker.planning.entrypoint import is_shell

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*$")
_R = "Rscript"
_WITH_VALUE = {"-W", "-X", "--check-hash-based-pycs", "--rcfile", "--init-file"}
_OPTION_OF_SHELL = re.compile(r"[-+]\w*[oO]$")
"""It is followed by the name of an option, as in `-o pipefail`."""
_NO_SCRIPT_SHELL = re.compile(r"-\w*[cs]")
_NO_SCRIPT_PYTHON = re.compile(r"-[A-VY-Za-z]*[cm]")
"""A command or a module in place of a script, such as `-um trainer`, but not in what is attached to `-W` or `-X`."""


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
