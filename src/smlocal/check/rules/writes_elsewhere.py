"""A job that writes where nothing is kept."""

from collections.abc import Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import PLAIN
from smlocal.check.jobs.scenarios import completed_plain
from smlocal.check.subject import Subject

_SHOWN = 3
_COMPILED = (".pyc", "/__pycache__")
"""Python writes its compiled files wherever it may, and losing them does no harm."""


def _check(subject: Subject) -> Iterator[Finding]:
    result = completed_plain(subject)
    changes: dict[str, list[str]] = result.local.get("Changes") or {}
    if not changes:
        raise CannotLookError("the engine did not list the written files")
    for host, changed in changes.items():
        found = [path for path in changed if not path.endswith(_COMPILED)]
        if found:
            more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            message = f"the job writes {', '.join(found[:_SHOWN])}{more}"
            yield Finding(message=message, path=found[0], job=PLAIN.id, host=host if len(changes) > 1 else "")


RULE = Rule(
    id="writes-elsewhere",
    severity=Severity.INFO,
    title="The job writes outside /opt/ml and /tmp",
    why=(
        "Only `/opt/ml/model`, `/opt/ml/output` and the checkpoint folder are uploaded. Files written elsewhere are "
        "lost with the container. `/tmp` is on the volume of the job; the rest of the file system is small on some "
        "instances. Files that Python compiles are not counted."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Write files that must be kept to /opt/ml, and everything else to /tmp.",
    check=_check,
    jobs=lambda _subject: (PLAIN,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\nmkdir -p /root/cache && echo 1 >/root/cache/index\n"),),
        good_files=(("train", "#!/bin/sh\nmkdir -p /tmp/cache && echo 1 >/tmp/cache/index\n"),),
        output="the job writes /root/cache/index",
    ),
)
