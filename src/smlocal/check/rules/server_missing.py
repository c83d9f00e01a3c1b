"""No program to serve."""

from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, USERS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.starting import StartedProgram, programs
from smlocal.check.subject import LaunchProfile, Subject


def _check(subject: Subject) -> Iterator[Finding]:
    for program in programs(subject.as_server):
        if program.found is None or program.found.entry.kind != "file":
            yield Finding(
                message=_what(program),
                path=program.word if program.word.startswith("/") else "",
                instruction="ENTRYPOINT" if subject.facts.entrypoint else "",
            )


def _what(program: StartedProgram) -> str:
    where = "" if "/" in program.word else " on its PATH"
    if program.starter:
        return f"{program.starter} runs its arguments, and the image has no {program.word}{where}"
    if program.word == "serve":
        return "there is no ENTRYPOINT, and no serve on the PATH of the image"
    return f"the image has no {program.word}{where}"


RULE = Rule(
    id="server-missing",
    severity=Severity.ERROR,
    title="The image has no serve program",
    why=(
        "The service runs `docker run IMAGE serve`. With an ENTRYPOINT, `serve` is its argument. Without one, `serve` "
        "is the program, which the engine looks for on the PATH of the image. A CMD does not count: `serve` takes its "
        "place."
    ),
    mark=Mark.DOCUMENTED,
    remedy="COPY an executable to /usr/local/bin/serve, or set ENTRYPOINT to a program that takes the argument serve.",
    check=_check,
    files=(PROGRAMS, USERS),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad="FROM busybox\nCOPY serve /opt/program/serve\n",
        good="FROM busybox\nCOPY serve /opt/program/serve\nENV PATH=/opt/program:/usr/bin:/bin\n",
        bad_files=(("serve", "#!/bin/sh\nexec httpd -f -p 8080\n"),),
        output="there is no ENTRYPOINT, and no serve on the PATH of the image",
    ),
)
