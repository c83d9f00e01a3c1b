"""A program whose interpreter or loader is not in the image."""

from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.program_files import Binary, Script, read_program
from smlocal.check.starting import has_program, programs
from smlocal.check.subject import Subject


def _check(subject: Subject) -> Iterator[Finding]:
    for program in programs(subject):
        if program.found is None or not program.may_run:
            continue
        path = program.found.path
        read = read_program(subject.files.content(path) or b"")
        wrong = None
        if isinstance(read, Script):
            wrong = _of_script(subject, read, path)
        elif isinstance(read, Binary):
            wrong = _of_binary(subject, read, path)
        if wrong is not None:
            brief, words = wrong
            yield Finding(message=f"{brief}: {words}", brief=brief, path=path, layer=program.found.entry.layer)


def _of_binary(subject: Subject, binary: Binary, path: str) -> tuple[str, str] | None:
    """The problem, and the message of a job that has it."""
    if not binary.loader or subject.files.find(binary.loader) is not None:
        return None
    return f"the loader {binary.loader} of {path} is missing", f"exec {path}: no such file or directory"


def _of_script(subject: Subject, script: Script, path: str) -> tuple[str, str] | None:
    if script.has_carriage_return:  # which is another rule
        return None
    if not script.interpreter:
        return f"the first line of {path} names no interpreter", f"exec {path}: exec format error"
    if not has_program(subject, _absolute(script.interpreter)):
        what = f"the interpreter {script.interpreter} of {path} is missing"
        return what, f"exec {path}: no such file or directory"
    if script.program and not has_program(subject, script.program):
        what = f"{script.program}, which runs {path}, is missing"
        return what, f"env: {script.program}: No such file or directory"
    return None


def _absolute(interpreter: str) -> str:
    """The kernel does not look along the PATH."""
    return interpreter if "/" in interpreter else f"/{interpreter}"


RULE = Rule(
    id="train-interpreter",
    severity=Severity.ERROR,
    title="The interpreter of the program to start is missing",
    why=(
        "A script is run by the interpreter that its first line names, and a binary by its loader. If that is not in "
        "the image, the kernel answers `no such file or directory`, and names the script. A slim image has no bash, "
        "one with Alpine Linux does not have the loader of glibc, and `#!/usr/bin/python3` is not the Python in "
        "/usr/local/bin."
    ),
    mark=Mark.SEEN,
    remedy="Install the interpreter, or change the first line, for example to #!/usr/bin/env python3.",
    check=_check,
    files=(PROGRAMS, USERS),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/bash\necho "$@"\n'),),
        good_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output=(
            "the interpreter /bin/bash of /usr/local/bin/train is missing: exec /usr/local/bin/train: no such file or "
            "directory"
        ),
    ),
)
