"""No program for a processing job."""

from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.starting import not_executable, programs, words_of
from smlocal.check.subject import LaunchProfile, Subject


def _check(subject: Subject) -> Iterator[Finding]:
    subject = subject.as_processor
    if not words_of(subject):
        yield Finding(message="the image has neither ENTRYPOINT nor CMD, and there is no ContainerEntrypoint")
        return
    for program in programs(subject):
        if program.found is None or program.found.entry.kind != "file":
            where = "" if "/" in program.word else " on its PATH"
            runs = f"{program.starter} runs its arguments, and " if program.starter else ""
            yield Finding(
                message=f"{runs}the image has no {program.word}{where}",
                path=program.word if program.word.startswith("/") else "",
                instruction="" if subject.is_entrypoint_of_job else "ENTRYPOINT" if subject.facts.entrypoint else "CMD",
            )
    yield from not_executable(subject)


RULE = Rule(
    id="processing-program-missing",
    severity=Severity.ERROR,
    title="A processing job has no program to start",
    why=(
        "The service starts a processing job as `docker run IMAGE`, without an argument `train`: the ENTRYPOINT and "
        "the CMD of the image are its command. ContainerEntrypoint of the request takes the place of both, and "
        "ContainerArguments that of the CMD. If the program is not in the image, the job fails at once."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Set ENTRYPOINT to the program that processes, or name it in ContainerEntrypoint.",
    check=_check,
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.PROCESSING}),
    example=Example(
        bad='FROM busybox\nCOPY split /opt/program/split\nENTRYPOINT ["split"]\n',
        good='FROM busybox\nCOPY split /opt/program/split\nENTRYPOINT ["/opt/program/split"]\n',
        bad_files=(("split", "#!/bin/sh\nls /opt/ml/processing\n"),),
        output="the image has no split on its PATH",
    ),
)
