"""An ENTRYPOINT that is run by a shell."""

from collections.abc import Iterator

from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.subject import Subject
from smlocal.jobs.planning.aspects.image.plan import is_shell_form


def _check(subject: Subject) -> Iterator[Finding]:
    words = subject.entrypoint
    if is_shell_form(words):
        name = "ContainerEntrypoint" if subject.is_entrypoint_of_job else "ENTRYPOINT"
        yield Finding(
            message=f"{name} runs {words[-1]!r} in {words[0]}: the program never gets the argument `train`, and "
            "SIGTERM stops at the shell",
            instruction="" if subject.is_entrypoint_of_job else "ENTRYPOINT",
        )


RULE = Rule(
    id="entrypoint-shell-form",
    severity=Severity.ERROR,
    title="ENTRYPOINT is in shell form",
    why=(
        "The service starts the image with the one argument `train` and stops it with SIGTERM to its first process. An "
        "ENTRYPOINT that is not a JSON list is run by the shell of the image's SHELL instruction. The shell is then "
        "the first process: it takes `train` as its own `$0`, and the program gets neither `train` nor the signal. "
        "After 120 seconds the container is killed, and what the program would have saved is lost."
    ),
    mark=Mark.DOCUMENTED,
    remedy='Write ENTRYPOINT as a JSON list: ENTRYPOINT ["python", "/opt/program/train.py"].',
    check=_check,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nENTRYPOINT /usr/local/bin/train\n",
        good='FROM busybox\nCOPY train /usr/local/bin/train\nENTRYPOINT ["/usr/local/bin/train"]\n',
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output=(
            "ENTRYPOINT runs '/usr/local/bin/train' in /bin/sh: the program never gets the argument `train`, and "
            "SIGTERM stops at the shell"
        ),
    ),
)
