"""The program that a container starts."""

from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.program_files import Binary, Script, read_program
from smlocal.check.starting import (
    StartedProgram,
    as_entrypoint,
    has_program,
    has_toolkit,
    not_executable,
    programs,
    replaced_command,
)
from smlocal.check.subject import Subject
from smlocal.jobs.planning.aspects.image.plan import init_program
from smlocal.sagemaker.contract.instance_types import instance_type, is_this_machine

_FOR_TOOLKIT = "SAGEMAKER_PROGRAM"


def _train_missing(subject: Subject) -> Iterator[Finding]:
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


TRAIN_MISSING = Rule(
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
    check=_train_missing,
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


TRAIN_NOT_EXECUTABLE = Rule(
    id="train-not-executable",
    severity=Severity.ERROR,
    title="The program to start is not executable",
    why=(
        "The engine starts the ENTRYPOINT of the image, or `train` from its PATH, as a program. A file without execute "
        "permission is not started, and the engine does not even find it on the PATH. COPY keeps the permissions that "
        "the file has beside the Dockerfile, and a checkout on Windows has none."
    ),
    mark=Mark.SEEN,
    remedy="Run chmod +x on it before COPY, or RUN chmod +x in the Dockerfile.",
    check=not_executable,
    files=(PROGRAMS, USERS),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nRUN chmod 644 /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\nRUN chmod 755 /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output='/usr/local/bin/train is not executable (mode 0644): exec: "train": executable file not found in $PATH',
    ),
)


def _train_line_endings(subject: Subject) -> Iterator[Finding]:
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


TRAIN_LINE_ENDINGS = Rule(
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
    check=_train_line_endings,
    files=(PROGRAMS, USERS),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\r\necho "$@"\r\n'),),
        good_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output="/usr/local/bin/train has Windows line endings: exec /usr/local/bin/train: no such file or directory",
    ),
)


def _train_interpreter(subject: Subject) -> Iterator[Finding]:
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


TRAIN_INTERPRETER = Rule(
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
    check=_train_interpreter,
    files=(PROGRAMS, USERS),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/bash\necho "$@"\n'),),
        good_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output=(
            "the interpreter /bin/bash of /usr/local/bin/train is missing: exec /usr/local/bin/train: no such file or "
            "directory"
        ),
    ),
)


def _train_format(subject: Subject) -> Iterator[Finding]:
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


TRAIN_FORMAT = Rule(
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
    check=_train_format,
    files=(PROGRAMS, USERS),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nRUN chmod +x /usr/local/bin/train\n",
        bad_files=(("train", 'echo "$@"\n'),),
        good_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output="/usr/local/bin/train has no #! line and is not a binary: exec /usr/local/bin/train: exec format error",
    ),
)


_NAMES = {"x86_64": "amd64"}
"""In the words of images, where they differ from those of the table."""
_USUAL = "amd64"


def _image_architecture(subject: Subject) -> Iterator[Finding]:
    has = subject.facts.architecture
    for name, wanted in _wanted(subject).items():
        if has != wanted:
            where = f"the instance type {name} runs" if name else "nearly all instance types run"
            yield Finding(
                message=f"the image is built for linux/{has}, {where} linux/{wanted}: exec format error",
                instruction="FROM",
            )


def _wanted(subject: Subject) -> dict[str, str]:
    """The processors of the instance types of the job; without a job, the usual ones."""
    resources = subject.job.request.ResourceConfig if subject.job is not None else None
    if resources is None:
        return {"": _USUAL}
    found = {}
    for each in (*(resources.InstanceGroups or ()), resources):
        if each.InstanceType and not is_this_machine(each.InstanceType):
            architecture = instance_type(each.InstanceType).architecture
            found[str(each.InstanceType)] = _NAMES.get(architecture, architecture)
    return found


IMAGE_ARCHITECTURE = Rule(
    id="image-architecture",
    severity=Severity.ERROR,
    title="The image is built for another processor than the service's",
    why=(
        "Nearly all instance types have x86 processors. An image that is built on a laptop with an ARM processor "
        "(Apple silicon, Graviton) is for ARM unless the builder is told otherwise, and its job fails with `exec "
        "format error`."
    ),
    mark=Mark.SEEN,
    remedy="Build it with docker build --platform linux/amd64, or for the processor of the job's instance type.",
    check=_image_architecture,
    is_general=True,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        bad_job="ResourceConfig: {InstanceType: ml.p6e-gb200.36xlarge, InstanceCount: 1, VolumeSizeInGB: 30}\n",
        good_job="ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 1, VolumeSizeInGB: 30}\n",
        output=(
            "the image is built for linux/amd64, the instance type ml.p6e-gb200.36xlarge runs linux/arm64: exec format "
            "error"
        ),
    ),
)


RULES = (
    TRAIN_MISSING,
    TRAIN_NOT_EXECUTABLE,
    TRAIN_LINE_ENDINGS,
    TRAIN_INTERPRETER,
    TRAIN_FORMAT,
    IMAGE_ARCHITECTURE,
)
