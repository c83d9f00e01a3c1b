"""Files below `/opt/ml`."""

from collections.abc import Iterator

from smlocal.check.image_files import NAMES, FoundFile
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.subject import Subject
from smlocal.sagemaker.contract import paths

_SHOWN = 3


def _check(subject: Subject) -> Iterator[Finding]:
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


RULE = Rule(
    id="reserved-files",
    severity=Severity.WARNING,
    title="The image has files below /opt/ml",
    why=(
        "The service reserves `/opt/ml` and everything below it: its own folders are mounted there, and files of the "
        "image below it may be hidden. Only `/opt/ml/code` is known to stay."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Keep the files of the image elsewhere, for example below /opt/program.",
    check=_check,
    files=(NAMES,),
    example=Example(
        bad="FROM busybox\nCOPY defaults.json /opt/ml/input/defaults.json\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY defaults.json /opt/ml/code/defaults.json\nCOPY train /usr/local/bin/train\n",
        bad_files=(("defaults.json", "{}\n"), ("train", '#!/bin/sh\necho "$@"\n')),
        output="/opt/ml/input/defaults.json may be hidden on the service",
    ),
)
