"""The ENTRYPOINT of an image, and the way of signals to the program."""

import posixpath
from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.program_files import child_without_exec, executed, is_python
from smlocal.check.starting import (
    StartedProgram,
    absolute,
    as_entrypoint,
    find_script,
    program_of,
    programs,
    replaced_command,
    script_of,
    script_word,
)
from smlocal.check.subject import Subject
from smlocal.jobs.planning.aspects.image.plan import init_program, is_shell_form
from smlocal.sagemaker.contract import paths


def _entrypoint_shell_form(subject: Subject) -> Iterator[Finding]:
    words = subject.entrypoint
    if is_shell_form(words):
        name = "ContainerEntrypoint" if subject.is_entrypoint_of_job else "ENTRYPOINT"
        yield Finding(
            message=f"{name} runs {words[-1]!r} in {words[0]}: the program never gets the argument `train`, and "
            "SIGTERM stops at the shell",
            instruction="" if subject.is_entrypoint_of_job else "ENTRYPOINT",
        )


ENTRYPOINT_SHELL_FORM = Rule(
    id="entrypoint-shell-form",
    severity=Severity.ERROR,
    title="ENTRYPOINT is in shell form",
    why=(
        "The service starts the image with the one argument `train` and stops it with SIGTERM to its first process. An "
        "ENTRYPOINT that is not a JSON list is run by the shell of the image's SHELL instruction. The shell is then "
        "the first process: it takes `train` as its own `$0`, and the program gets neither `train` nor the signal. "
        "After 120 seconds the container is killed, and what the program would have saved is lost."
    ),
    mark=Mark.DOCUMENTED,
    remedy='Write ENTRYPOINT as a JSON list: ENTRYPOINT ["python", "/opt/program/train.py"].',
    check=_entrypoint_shell_form,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nENTRYPOINT /usr/local/bin/train\n",
        good='FROM busybox\nCOPY train /usr/local/bin/train\nENTRYPOINT ["/usr/local/bin/train"]\n',
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output=(
            "ENTRYPOINT runs '/usr/local/bin/train' in /bin/sh: the program never gets the argument `train`, and "
            "SIGTERM stops at the shell"
        ),
    ),
)


def _entrypoint_script(subject: Subject) -> Iterator[Finding]:
    for program in programs(subject):
        word = script_word(program)
        if word is None or program.found is None:
            continue
        path = absolute(subject, word)
        if path.startswith(f"{paths.ROOT}/") and not f"{path}/".startswith(f"{paths.CODE}/"):
            continue  # may come with the job
        if find_script(subject, program, word) is None:
            of_service = word == "train" and "train" not in subject.entrypoint
            brief = f"{_what_is_missing(program, path, of_service=of_service)}{_why(subject, path)}"
            replaced = replaced_command(subject) if of_service else ()
            if replaced:
                brief = (
                    f"the service gives {program.word} train in place of the CMD of the image, and there is no {path}"
                )
            yield Finding(
                message=f"{brief}: {_words(program, word, path)}",
                brief=brief,
                path="" if of_service else path,
                instruction="" if subject.is_entrypoint_of_job else "ENTRYPOINT",
                remedy=as_entrypoint(replaced) if replaced else "",
            )


def _what_is_missing(program: StartedProgram, path: str, *, of_service: bool) -> str:
    if of_service:
        return f'{program.word} takes the argument "train" of the service for its script, and the image has no {path}'
    return f"the image has no {path}, which {program.word} is to run"


def _why(subject: Subject, path: str) -> str:
    """The file in the way, if a part of the path is a file."""
    above = ""
    for part in posixpath.dirname(path).split("/")[1:]:
        above += f"/{part}"
        found = subject.files.find(above)
        if found is None:
            return ""
        if found.entry.kind == "file":
            return f", because {above} is a file"
    return ""


def _words(program: StartedProgram, word: str, path: str) -> str:
    """The message of a job that has this problem."""
    name = posixpath.basename(program.word)
    if is_python(name):
        return f"can't open file '{path}'"
    if name == "Rscript":
        return f"Fatal error: cannot open file '{word}'"
    return f"{word}: No such file or directory"


ENTRYPOINT_SCRIPT = Rule(
    id="entrypoint-script",
    severity=Severity.ERROR,
    title="The interpreter that ENTRYPOINT starts has no script to run",
    why=(
        "The service appends the argument `train` to ENTRYPOINT. If that is an interpreter and nothing else, such as "
        "`python3` or `/bin/bash`, it takes `train` for the name of a script. If ENTRYPOINT names a script, it must "
        "be in the image. `COPY train.py /opt/ml/code` makes a file of the name `/opt/ml/code` unless that folder "
        "exists."
    ),
    mark=Mark.INFERRED,
    remedy=(
        'Name a script that is in the image: ENTRYPOINT ["python", "/opt/program/train.py"]. End the target of COPY '
        "with a slash if it is a folder."
    ),
    check=_entrypoint_script,
    files=(PROGRAMS, USERS),
    example=Example(
        bad=(
            "FROM python:3.11-slim-bookworm\nCOPY train.py /opt/ml/code\n"
            'ENTRYPOINT ["python", "/opt/ml/code/train.py"]\n'
        ),
        good=(
            "FROM python:3.11-slim-bookworm\nCOPY train.py /opt/ml/code/\n"
            'ENTRYPOINT ["python", "/opt/ml/code/train.py"]\n'
        ),
        bad_files=(("train.py", 'print("trained")\n'),),
        output=(
            "the image has no /opt/ml/code/train.py, which python is to run, because /opt/ml/code is a file: can't "
            "open file '/opt/ml/code/train.py'"
        ),
    ),
)


def _entrypoint_init(subject: Subject) -> Iterator[Finding]:
    init = init_program(subject.entrypoint)
    if init is not None:
        name = "ContainerEntrypoint" if subject.is_entrypoint_of_job else "ENTRYPOINT"
        yield Finding(
            message=f'{name} starts {init}, which gets from the service the argument "train"',
            instruction="" if subject.is_entrypoint_of_job else "ENTRYPOINT",
        )


ENTRYPOINT_INIT = Rule(
    id="entrypoint-init",
    severity=Severity.WARNING,
    title="ENTRYPOINT is an init program",
    why=(
        "AWS asks not to use tini or another init program as the entry point, because the argument `train` confuses "
        "it. Images with tini have been seen to start nevertheless: tini then runs what follows it, or `train` if "
        "nothing does."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Start your program directly, and have it handle SIGTERM and wait for its children.",
    check=_entrypoint_init,
    example=Example(
        bad='FROM busybox\nCOPY tini /sbin/tini\nCOPY train /usr/local/bin/train\nENTRYPOINT ["/sbin/tini", "--"]\n',
        good="FROM busybox\nCOPY tini /sbin/tini\nCOPY train /usr/local/bin/train\n",
        bad_files=(("tini", '#!/bin/sh\nshift\nexec "$@"\n'), ("train", '#!/bin/sh\necho "$@"\n')),
        output='ENTRYPOINT starts tini, which gets from the service the argument "train"',
    ),
)


_LONGEST = 60


def _entrypoint_without_exec(subject: Subject) -> Iterator[Finding]:
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


ENTRYPOINT_WITHOUT_EXEC = Rule(
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
    check=_entrypoint_without_exec,
    files=(PROGRAMS, USERS),
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\nmkdir -p /tmp/work\npython /opt/program/train.py "$@"\n'),),
        good_files=(("train", '#!/bin/sh\nmkdir -p /tmp/work\nexec python /opt/program/train.py "$@"\n'),),
        output=(
            "/usr/local/bin/train starts 'python /opt/program/train.py \"$@\"' without exec, so only the shell "
            "receives SIGTERM"
        ),
    ),
)


_SERVICES = {None, "", "SIGTERM", "TERM", "15"}


def _stop_signal(subject: Subject) -> Iterator[Finding]:
    signal = subject.facts.stop_signal
    if signal not in _SERVICES:
        yield Finding(message=f"STOPSIGNAL is {signal}; the service sends SIGTERM", instruction="STOPSIGNAL")


STOP_SIGNAL = Rule(
    id="stop-signal",
    severity=Severity.WARNING,
    title="STOPSIGNAL is not SIGTERM",
    why=(
        "A training container is stopped with SIGTERM, followed by SIGKILL after 120 seconds. Whether the service "
        "heeds a STOPSIGNAL of the image is not documented. A program that only handles another signal may be killed "
        "without saving anything."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Handle SIGTERM in the program and remove STOPSIGNAL.",
    check=_stop_signal,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nSTOPSIGNAL SIGINT\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output="STOPSIGNAL is SIGINT; the service sends SIGTERM",
    ),
)


RULES = (
    ENTRYPOINT_SHELL_FORM,
    ENTRYPOINT_SCRIPT,
    ENTRYPOINT_INIT,
    ENTRYPOINT_WITHOUT_EXEC,
    STOP_SIGNAL,
)
