"""A program that the kernel does not execute."""

from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.program_files import Binary, read_program
from smlocal.check.starting import programs
from smlocal.check.subject import Subject


def _check(subject: Subject) -> Iterator[Finding]:
    for program in programs(subject):
        if program.found is None or not program.may_run:
            continue
        path, layer = program.found.path, program.found.entry.layer
        read = read_program(subject.files.content(path) or b"")
        brief = ""
        if read is None:
            brief = f"{path} has no #! line and is not a binary"
        elif isinstance(read, Binary) and read.architecture not in {"", subject.facts.architecture}:
            brief = f"{path} is built for {read.architecture}, the image for {subject.facts.architecture}"
        if brief:
            yield Finding(message=f"{brief}: exec {path}: exec format error", brief=brief, path=path, layer=layer)


RULE = Rule(
    id="train-format",
    severity=Severity.ERROR,
    title="The kernel cannot execute the program to start",
    why=(
        "A script needs a first line that begins with `#!`. A shell runs a script without one, but the engine is not "
        "a shell. A binary must be built for the processor of the image. In both cases the job fails with `exec "
        "format error`."
    ),
    mark=Mark.SEEN,
    remedy=(
        "Write #!/usr/bin/env python3 (or the shell that it is for) into the first line; build binaries for the image."
    ),
    check=_check,
    files=(PROGRAMS, USERS),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nRUN chmod +x /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\nRUN chmod +x /usr/local/bin/train\n",
        bad_files=(("train", 'echo "$@"\n'),),
        good_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output="/usr/local/bin/train has no #! line and is not a binary: exec /usr/local/bin/train: exec format error",
    ),
)
