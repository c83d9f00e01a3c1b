"""What an image has, declares and may write below /opt/ml."""

import re
from collections.abc import Iterator

from smlocal.check.image_files import NAMES, PROGRAMS, SCRIPTS, USERS, FoundFile
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.program_files import lines, written_text
from smlocal.check.starting import UnknownUserError, user_of
from smlocal.check.subject import Subject
from smlocal.sagemaker.contract import paths

_SHOWN = 3


def _reserved_files(subject: Subject) -> Iterator[Finding]:
    # By folder; those in /opt/ml itself by layer, because each COPY makes one.
    groups: dict[str | int | None, list[FoundFile]] = {}
    for found in subject.files.below(paths.ROOT):
        folder, inside, _ = found.path.removeprefix(f"{paths.ROOT}/").partition("/")
        if found.entry.kind != "folder" and folder != "code":
            groups.setdefault(folder if inside else found.entry.layer, []).append(found)
    for files in groups.values():
        names = [each.path for each in files[:_SHOWN]]
        more = f" and {len(files) - len(names)} more" if len(files) > len(names) else ""
        yield Finding(
            message=f"{', '.join(names)}{more} may be hidden on the service",
            path=names[0],
            layer=files[0].entry.layer,
        )


RESERVED_FILES = Rule(
    id="reserved-files",
    severity=Severity.WARNING,
    title="The image has files below /opt/ml",
    why=(
        "The service reserves `/opt/ml` and everything below it: its own folders are mounted there, and files of the "
        "image below it may be hidden. Only `/opt/ml/code` is known to stay."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Keep the files of the image elsewhere, for example below /opt/program.",
    check=_reserved_files,
    files=(NAMES,),
    example=Example(
        bad="FROM busybox\nCOPY defaults.json /opt/ml/input/defaults.json\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY defaults.json /opt/ml/code/defaults.json\nCOPY train /usr/local/bin/train\n",
        bad_files=(("defaults.json", "{}\n"), ("train", '#!/bin/sh\necho "$@"\n')),
        output="/opt/ml/input/defaults.json may be hidden on the service",
    ),
)


def _reserved_volume(subject: Subject) -> Iterator[Finding]:
    for volume in subject.facts.volumes:
        path = f"{volume.rstrip('/')}/"
        if path.startswith(f"{paths.ROOT}/") and not path.startswith(f"{paths.CODE}/"):
            yield Finding(
                message=f"VOLUME {volume} lies where the service mounts its own folders",
                path=volume,
                instruction=f"VOLUME {volume}",
            )


RESERVED_VOLUME = Rule(
    id="reserved-volume",
    severity=Severity.WARNING,
    title="The image declares a VOLUME below /opt/ml",
    why=(
        "The service reserves `/opt/ml` and everything below it. An engine mounts an empty volume at each path that "
        "the image declares. Which of the two is visible depends on the order, and files in a volume of the engine are "
        "never uploaded."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Remove the VOLUME instruction; the service makes these folders.",
    check=_reserved_volume,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nVOLUME /opt/ml/model\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output="VOLUME /opt/ml/model lies where the service mounts its own folders",
    ),
)


def _user_cannot_write(subject: Subject) -> Iterator[Finding]:
    try:
        user = user_of(subject)
    except UnknownUserError as error:
        yield Finding(message=f"{error}, so no container starts", instruction="USER")
        return
    if not user.is_root:
        yield Finding(
            message=(
                f"USER {subject.facts.user} (uid {user.uid}) may not write /opt/ml/model and /opt/ml/output, "
                "which belong to root"
            ),
            instruction="USER",
        )


USER_CANNOT_WRITE = Rule(
    id="user-cannot-write",
    severity=Severity.ERROR,
    title="The user of the image cannot write to /opt/ml",
    why=(
        "The folders that the service mounts below `/opt/ml` belong to root and have mode 0755, whatever owner they "
        "have in the image. Another user cannot write a model, a failure file or a checkpoint there, and the training "
        "toolkit cannot make `/opt/ml/code`."
    ),
    mark=Mark.SEEN,
    remedy="Run the image as root: remove the USER instruction, or end the Dockerfile with USER root.",
    check=_user_cannot_write,
    files=(USERS,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nUSER nobody\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\nUSER root\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output="USER nobody (uid 65534) may not write /opt/ml/model and /opt/ml/output, which belong to root",
    ),
)


_WRONG = "/opt/ml/failure"
_JOINED = re.compile(r"""join\(\s*(?:(\w+)|["']/opt/ml/?["'])\s*,\s*["']failure["']\s*\)""")


def _failure_file_path(subject: Subject) -> Iterator[Finding]:
    for path, text, layer in written_text(subject):
        if "failure" not in text:
            continue
        for number, line in lines(text):
            joined = _JOINED.search(line)
            if _WRONG in line or (joined is not None and (joined[1] is None or _is_root(joined[1], text))):
                yield Finding(
                    message=f"line {number} of {path} names /opt/ml/failure; the service reads /opt/ml/output/failure",
                    path=path,
                    layer=layer,
                )
                break


def _is_root(name: str, text: str) -> bool:
    """Whether a variable is set to `/opt/ml`."""
    return re.search(rf"""(?:^|\s){name}\s*=\s*["']/opt/ml/?["']""", text) is not None


FAILURE_FILE_PATH = Rule(
    id="failure-file-path",
    severity=Severity.ERROR,
    title="A failure file is written to /opt/ml/failure",
    why=(
        "The service takes the reason of a failed job from `/opt/ml/output/failure`. It does not look at "
        "`/opt/ml/failure`, a path that widely copied templates use. The job then fails with `AlgorithmError: , exit "
        "code: 1` and no reason."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Write the failure file to /opt/ml/output/failure.",
    check=_failure_file_path,
    files=(SCRIPTS, PROGRAMS),
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nCOPY train /usr/local/bin/train\n",
        bad_files=(
            ("train", '#!/usr/bin/env python\nprefix = "/opt/ml"\nopen(f"/opt/ml/failure", "w").write("no data")\n'),
        ),
        good_files=(("train", '#!/usr/bin/env python\nopen("/opt/ml/output/failure", "w").write("no data")\n'),),
        output="line 3 of /usr/local/bin/train names /opt/ml/failure; the service reads /opt/ml/output/failure",
    ),
)


RULES = (
    RESERVED_FILES,
    RESERVED_VOLUME,
    USER_CANNOT_WRITE,
    FAILURE_FILE_PATH,
)
