"""A stop signal that the service does not send."""

from collections.abc import Iterator

from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.subject import Subject

_SERVICES = {None, "", "SIGTERM", "TERM", "15"}


def _check(subject: Subject) -> Iterator[Finding]:
    signal = subject.facts.stop_signal
    if signal not in _SERVICES:
        yield Finding(message=f"STOPSIGNAL is {signal}; the service sends SIGTERM", instruction="STOPSIGNAL")


RULE = Rule(
    id="stop-signal",
    severity=Severity.WARNING,
    title="STOPSIGNAL is not SIGTERM",
    why=(
        "A training container is stopped with SIGTERM, followed by SIGKILL after 120 seconds. Whether the service "
        "heeds a STOPSIGNAL of the image is not documented. A program that only handles another signal may be killed "
        "without saving anything."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Handle SIGTERM in the program and remove STOPSIGNAL.",
    check=_check,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nSTOPSIGNAL SIGINT\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output="STOPSIGNAL is SIGINT; the service sends SIGTERM",
    ),
)
