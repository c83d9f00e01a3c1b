"""A server that does not end when it is told to."""

from collections.abc import Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import StopSeen
from smlocal.check.serving.examples import COPIED, server
from smlocal.check.serving.interface import Probe
from smlocal.check.subject import LaunchProfile, Subject

_SERVICE_SECONDS = 30


def _check(subject: Subject) -> Iterator[Finding]:
    seen = subject.endpoint.seen().needs_service
    if seen.stop is None:
        raise CannotLookError("the container ended before SIGTERM was sent, or the engine cannot list processes")
    if seen.killed:
        yield Finding(message=_what(seen.stop, seen.grace), job=seen.endpoint)


def _what(stop: StopSeen, grace: int) -> str:
    first = f"{stop.first.name}, the first process,"
    if not stop.first.handles_sigterm:
        names = ", ".join(dict.fromkeys(each.name for each in stop.others))
        passed = f" and does not pass it on to {names}" if names else ""
        return f"{first} has no handler for SIGTERM{passed}, and would be killed after {_SERVICE_SECONDS} s"
    return f"{first} has a handler for SIGTERM, and had not ended {grace} s later"


RULE = Rule(
    id="server-ignores-sigterm",
    severity=Severity.WARNING,
    title="The server does not end within 30 seconds of SIGTERM",
    why=(
        "When an endpoint is updated, made smaller or deleted, the service sends SIGTERM to the first process of the "
        "container, and SIGKILL 30 seconds later. Requests that are being answered then are lost. The kernel does "
        "nothing with a SIGTERM for which the first process has no handler."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Start the server with exec, and let it finish its requests and exit when it gets SIGTERM.",
    check=_check,
    probes=frozenset({Probe.STOP}),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=COPIED,
        good=COPIED,
        bad_files=server(first=""),
        good_files=server(),
        output="serve, the first process, has no handler for SIGTERM, and would be killed after 30 s",
    ),
)
