"""A script with the line endings of Windows."""

from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.program_files import Script, read_program
from smlocal.check.starting import programs
from smlocal.check.subject import Subject


def _check(subject: Subject) -> Iterator[Finding]:
    for program in programs(subject):
        if program.found is None or not program.may_run:
            continue
        read = read_program(subject.files.content(program.found.path) or b"")
        if isinstance(read, Script) and read.has_carriage_return:
            path = program.found.path
            brief = f"{path} has Windows line endings"
            yield Finding(
                message=f"{brief}: exec {path}: no such file or directory",
                brief=brief,
                path=path,
                layer=program.found.entry.layer,
            )


RULE = Rule(
    id="train-line-endings",
    severity=Severity.ERROR,
    title="The script to start has Windows line endings",
    why=(
        "The first line of a script names its interpreter. If it ends with a carriage return (CRLF), the kernel looks "
        "for an interpreter whose name ends with that character. There is none, and the message `no such file or "
        "directory` names the script, which does exist."
    ),
    mark=Mark.SEEN,
    remedy="Convert the file with dos2unix, and keep it so: `train text eol=lf` in .gitattributes.",
    check=_check,
    files=(PROGRAMS, USERS),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\r\necho "$@"\r\n'),),
        good_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output="/usr/local/bin/train has Windows line endings: exec /usr/local/bin/train: no such file or directory",
    ),
)
