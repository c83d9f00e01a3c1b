"""The CMD of an image, in whose place the service gives `train`."""

import json
import posixpath
import re
import shlex

from smlocal.check.subject import Subject
from smlocal.platforms.sagemaker.planning.entrypoint import is_shell, is_shell_form

_PLAIN = re.compile(r"[^$`;&|<>(){}*?\[\]~#!\\\n]*")
"""A line that means the same without a shell."""
_INTERPRETER = re.compile(r"(?:python|pypy|node|R|Rscript|julia|perl|ruby|java|irb|jshell)[\d.]*")


def replaced_command(subject: Subject) -> tuple[str, ...]:
    """ENTRYPOINT and CMD together, where the CMD is more than the shell or interpreter that base images have there."""
    command = subject.facts.command or ()
    if not command or subject.is_entrypoint_of_job or subject.arguments != ("train",):
        return ()
    entrypoint = subject.facts.entrypoint or ()
    if len(command) == 1:
        name = posixpath.basename(command[0])
        if is_shell(name) or _INTERPRETER.fullmatch(name):
            return ()
    return (*entrypoint, *_without_shell(command))


def as_entrypoint(words: tuple[str, ...]) -> str:
    """What to do about it."""
    return f"Make it the ENTRYPOINT: ENTRYPOINT {json.dumps(list(words), ensure_ascii=False)}"


def _without_shell(command: tuple[str, ...]) -> tuple[str, ...]:
    """A CMD that is not a JSON list runs in a shell, which would not pass SIGTERM on."""
    if is_shell_form(command) and _PLAIN.fullmatch(command[-1]):
        try:
            return tuple(shlex.split(command[-1])) or command
        except ValueError:
            return command
    return command
