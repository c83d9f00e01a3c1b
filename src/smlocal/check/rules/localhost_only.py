"""A server that only its own container reaches."""

from collections.abc import Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.serving.examples import COPIED, server
from smlocal.check.serving.interface import Probe
from smlocal.check.subject import LaunchProfile, Subject


def _check(subject: Subject) -> Iterator[Finding]:
    seen = subject.endpoint.seen()
    if seen.is_reached:
        return
    if seen.listeners is None and seen.is_started:
        raise CannotLookError("the image has no cat, which shows where the container listens")
    ours = [each for each in seen.listeners or () if each.port == seen.port]
    if ours and all(each.loopback for each in ours):
        message = (
            f"port {seen.port} is bound to the loopback address of the container only, and nothing outside reaches it"
        )
        yield Finding(message=message, job=seen.endpoint)
    else:
        raise seen.not_judged()


RULE = Rule(
    id="localhost-only",
    severity=Severity.ERROR,
    title="The server listens on 127.0.0.1 only",
    why=(
        "The service calls the container from outside. A server that is bound to 127.0.0.1 or ::1 answers only "
        "programs of its own container: no ping is answered, and the endpoint is Failed."
    ),
    mark=Mark.INFERRED,
    remedy="Bind the server to 0.0.0.0.",
    check=_check,
    probes=frozenset({Probe.PING}),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=COPIED,
        good=COPIED,
        bad_files=server(serve="ThreadingHTTPServer(('127.0.0.1', 8080), Handler).serve_forever()"),
        good_files=server(),
        output="port 8080 is bound to the loopback address of the container only, and nothing outside reaches it",
    ),
)
