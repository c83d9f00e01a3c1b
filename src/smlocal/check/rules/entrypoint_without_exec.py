"""A wrapper script that stays in front of the program it starts."""

from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.program_files import child_without_exec, executed
from smlocal.check.starting import StartedProgram, program_of, programs, script_of
from smlocal.check.subject import Subject

_LONGEST = 60


def _check(subject: Subject) -> Iterator[Finding]:
    for program in programs(subject):
        script = script_of(subject, program)
        if script is None:
            continue
        path, text = _handed_to(subject, program, script)
        command = child_without_exec(text)
        if command is not None:
            shown = command if len(command) <= _LONGEST else f"{command[:_LONGEST]}…"
            found = subject.files.find(path)
            yield Finding(
                message=f"{path} starts {shown!r} without exec, so only the shell receives SIGTERM",
                path=path,
                layer=found.entry.layer if found is not None else None,
            )


def _handed_to(subject: Subject, program: StartedProgram, script: tuple[str, str]) -> tuple[str, str]:
    """The script that this one executes with its own arguments, if there is such a one, else this one."""
    for words in executed(script[1]):
        other = script_of(subject, program_of(subject, tuple(words), starter=program.word))
        if other is not None:
            return other
    return script


RULE = Rule(
    id="entrypoint-without-exec",
    severity=Severity.WARNING,
    title="A wrapper script does not exec the program",
    why=(
        "A stop request, the time limit and a spot interruption send SIGTERM only to the first process. A shell that "
        "waits for a program does not pass the signal on. The program is killed after 120 seconds without having "
        "received it, and a checkpoint that it would have written then is lost. With `exec` the program takes the "
        "place of the shell."
    ),
    mark=Mark.SEEN,
    remedy=(
        'Begin the last command of the script with exec, for example exec python /opt/program/train.py "$@". If the '
        "script is one of the base image, set an ENTRYPOINT of your own."
    ),
    check=_check,
    files=(PROGRAMS, USERS),
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nCOPY train /usr/local/bin/train\n",
        good="FROM python:3.11-slim-bookworm\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\nmkdir -p /tmp/work\npython /opt/program/train.py "$@"\n'),),
        good_files=(("train", '#!/bin/sh\nmkdir -p /tmp/work\nexec python /opt/program/train.py "$@"\n'),),
        output=(
            "/usr/local/bin/train starts 'python /opt/program/train.py \"$@\"' without exec, so only the shell "
            "receives SIGTERM"
        ),
    ),
)
