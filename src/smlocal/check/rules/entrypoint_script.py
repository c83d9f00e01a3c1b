"""An interpreter that is started with a script that is not there."""

import posixpath
from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.program_files import is_python
from smlocal.check.starting import (
    StartedProgram,
    absolute,
    as_entrypoint,
    find_script,
    programs,
    replaced_command,
    script_word,
)
from smlocal.check.subject import Subject
from smlocal.sagemaker.contract import paths


def _check(subject: Subject) -> Iterator[Finding]:
    for program in programs(subject):
        word = script_word(program)
        if word is None or program.found is None:
            continue
        path = absolute(subject, word)
        if path.startswith(f"{paths.ROOT}/") and not f"{path}/".startswith(f"{paths.CODE}/"):
            continue  # may come with the job
        if find_script(subject, program, word) is None:
            of_service = word == "train" and "train" not in subject.entrypoint
            brief = f"{_what(program, path, of_service=of_service)}{_why(subject, path)}"
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


def _what(program: StartedProgram, path: str, *, of_service: bool) -> str:
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


RULE = Rule(
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
    check=_check,
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
