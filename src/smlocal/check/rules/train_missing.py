"""No program to start."""

from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.starting import StartedProgram, as_entrypoint, has_toolkit, programs, replaced_command
from smlocal.check.subject import Subject
from smlocal.jobs.planning.aspects.image.plan import init_program

_FOR_TOOLKIT = "SAGEMAKER_PROGRAM"


def _check(subject: Subject) -> Iterator[Finding]:
    for program in programs(subject):
        if program.found is None or program.found.entry.kind != "file":
            brief = _what(subject, program)
            replaced = replaced_command(subject) if program.is_train else ()
            yield Finding(
                message=f"{brief}: {_words(program)}{_without_toolkit(subject, program)}",
                brief=brief,
                path=program.word if program.word.startswith("/") else "",
                instruction="" if program.is_train or subject.is_entrypoint_of_job else "ENTRYPOINT",
                remedy=as_entrypoint(replaced) if replaced else "",
            )


def _without_toolkit(subject: Subject, program: StartedProgram) -> str:
    """The toolkit brings a `train`, and some images are made for it and lack it."""
    if not program.is_train or _FOR_TOOLKIT not in subject.facts.environment or has_toolkit(subject.files):
        return ""
    return f" (ENV {_FOR_TOOLKIT} is for the training toolkit, which is not installed)"


def _what(subject: Subject, program: StartedProgram) -> str:
    if program.is_train and replaced_command(subject):
        return f"the service runs train in place of the CMD of the image, and there is no train {_where(program)}"
    if program.starter:
        where = "" if "/" in program.word else " on its PATH"
        return f"{program.starter} runs its arguments, and the image has no {program.word}{where}"
    if program.is_train:
        return "there is no ENTRYPOINT, and no train on the PATH of the image"
    return f"the image has no {program.word}"


def _where(program: StartedProgram) -> str:
    return f"for {program.starter} to run" if program.starter else "on its PATH"


def _words(program: StartedProgram) -> str:
    """The message of a job that has this problem."""
    if program.starter == "tini":
        return f"[FATAL tini (7)] exec {program.word} failed: No such file or directory"
    if program.starter and init_program([program.starter]) is None:
        return f"exec: {program.word}: not found"
    if "/" in program.word:
        return f'exec: "{program.word}": stat {program.word}: no such file or directory'
    return f'exec: "{program.word}": executable file not found in $PATH'


RULE = Rule(
    id="train-missing",
    severity=Severity.ERROR,
    title="There is no program to start",
    why=(
        "The service runs `docker run IMAGE train`. With an ENTRYPOINT, `train` is its argument. Without one, `train` "
        "is the program, which the engine looks for on the PATH of the image. If it is not there, no job of this image "
        "starts. A CMD does not count: `train` takes its place. An ENTRYPOINT that runs its arguments, as tini and the "
        "images of CUDA 12 do, needs a `train` too."
    ),
    mark=Mark.DOCUMENTED,
    remedy="COPY an executable to /usr/local/bin/train, or set ENTRYPOINT to the program that trains.",
    check=_check,
    files=(PROGRAMS, USERS),
    example=Example(
        bad="FROM busybox\nCOPY train /opt/program/train\n",
        good="FROM busybox\nCOPY train /opt/program/train\nENV PATH=/opt/program:/usr/bin:/bin\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output=(
            'there is no ENTRYPOINT, and no train on the PATH of the image: exec: "train": executable file not found '
            "in $PATH"
        ),
    ),
)
