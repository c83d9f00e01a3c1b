"""A training toolkit that cannot run."""

import posixpath
from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, USERS, FoundFile
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.program_files import Script, read_program
from smlocal.check.starting import TOOLKITS, Package, find_program, packages, user_of
from smlocal.check.subject import Subject
from smlocal.sagemaker.contract import paths


def _check(subject: Subject) -> Iterator[Finding]:
    installed = list(packages(subject.files, *TOOLKITS))
    if not installed:
        return
    user = user_of(subject)
    train = find_program(subject, "train", user)
    if train is None or not user.may_execute(train.entry):
        package = installed[0]
        yield Finding(
            message=f"{package.name} is installed in {package.folder}, and its program train is not on the PATH",
            path=package.folder,
            layer=package.layer,
        )
        return
    code = subject.files.find(paths.CODE)
    if code is not None and code.entry.kind == "file":
        yield Finding(
            message=f"{paths.CODE} is a file, and {installed[0].name} looks for scripts in a folder of that name",
            path=paths.CODE,
            layer=code.entry.layer,
        )
    wrong = [message for package in installed if (message := _other_python(subject, package, train))]
    if len(wrong) == len(installed):
        yield Finding(message=wrong[0], path=train.path, layer=train.entry.layer)


def _other_python(subject: Subject, package: Package, train: FoundFile) -> str:
    """Why the Python that runs `train` does not have the package; empty where it may have it."""
    read = read_program(subject.files.content(train.path) or b"")
    if not isinstance(read, Script) or "python" not in read.program or not package.python:
        return ""
    found = find_program(subject, read.program, user_of(subject))
    if found is None:
        return ""  # another rule says it
    name = posixpath.basename(found.path)
    if name in {"python3", "python", "python2"} or name == f"python{package.python}":
        return ""
    return f"{train.path} is run by {name}, and {package.name} is installed for Python {package.python}"


RULE = Rule(
    id="toolkit-unusable",
    severity=Severity.ERROR,
    title="The training toolkit is installed and cannot run",
    why=(
        "The SageMaker training toolkit brings a program `train`, which reads the job and starts the user's script. It "
        "must be on the PATH of the image, and be run by the Python for which the toolkit is installed. `pip install "
        "--target`, a virtual environment that is not on the PATH and an upgrade of Python break that. It also needs "
        "the folder `/opt/ml/code`: `COPY train.py /opt/ml/code` makes a file of that name, and each job fails with "
        "`NotADirectoryError`."
    ),
    mark=Mark.DOCUMENTED,
    remedy=(
        "Install sagemaker-training with the pip of the Python that is first on the PATH of the image, and copy "
        "scripts to /opt/ml/code/ with a slash at the end."
    ),
    check=_check,
    files=(PROGRAMS, USERS),
    example=Example(
        bad=(
            "FROM python:3.11-slim-bookworm\n"
            "COPY sagemaker_training /opt/venv/lib/python3.11/site-packages/sagemaker_training\n"
            "COPY train /opt/venv/bin/train\n"
        ),
        good=(
            "FROM python:3.11-slim-bookworm\n"
            "COPY sagemaker_training /opt/venv/lib/python3.11/site-packages/sagemaker_training\n"
            "COPY train /opt/venv/bin/train\n"
            "ENV PATH=/opt/venv/bin:/usr/local/bin:/usr/bin:/bin\n"
        ),
        bad_files=(
            ("sagemaker_training/__init__.py", ""),
            ("train", "#!/usr/bin/env python3\nfrom sagemaker_training.cli.train import main\n\nmain()\n"),
        ),
        output=(
            "sagemaker_training is installed in /opt/venv/lib/python3.11/site-packages, and its program train is not "
            "on the PATH"
        ),
    ),
)
