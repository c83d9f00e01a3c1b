"""A program without the permission to be executed."""

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Mark, Rule, Severity
from smlocal.check.starting import not_executable

RULE = Rule(
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
