"""An init program as the entry point."""

from collections.abc import Iterator

from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.subject import Subject
from smlocal.jobs.planning.aspects.image.plan import init_program


def _check(subject: Subject) -> Iterator[Finding]:
    init = init_program(subject.entrypoint)
    if init is not None:
        name = "ContainerEntrypoint" if subject.is_entrypoint_of_job else "ENTRYPOINT"
        yield Finding(
            message=f'{name} starts {init}, which gets from the service the argument "train"',
            instruction="" if subject.is_entrypoint_of_job else "ENTRYPOINT",
        )


RULE = Rule(
    id="entrypoint-init",
    severity=Severity.WARNING,
    title="ENTRYPOINT is an init program",
    why=(
        "AWS asks not to use tini or another init program as the entry point, because the argument `train` confuses "
        "it. Images with tini have been seen to start nevertheless: tini then runs what follows it, or `train` if "
        "nothing does."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Start your program directly, and have it handle SIGTERM and wait for its children.",
    check=_check,
    example=Example(
        bad='FROM busybox\nCOPY tini /sbin/tini\nCOPY train /usr/local/bin/train\nENTRYPOINT ["/sbin/tini", "--"]\n',
        good="FROM busybox\nCOPY tini /sbin/tini\nCOPY train /usr/local/bin/train\n",
        bad_files=(("tini", '#!/bin/sh\nshift\nexec "$@"\n'), ("train", '#!/bin/sh\necho "$@"\n')),
        output='ENTRYPOINT starts tini, which gets from the service the argument "train"',
    ),
)
