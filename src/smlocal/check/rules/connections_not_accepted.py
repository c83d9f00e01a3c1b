"""A server that lets connections wait."""

from collections.abc import Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.serving.examples import COPIED, server
from smlocal.check.serving.interface import Probe
from smlocal.check.subject import LaunchProfile, Subject


def _check(subject: Subject) -> Iterator[Finding]:
    seen = subject.endpoint.seen().needs_service
    if seen.connections is None:
        raise CannotLookError("the engine accepts connections in place of the container")
    late, made = seen.connections
    if late:
        message = f"not all of {made} connections at once were accepted within 250 ms"
        yield Finding(message=f"{message}, while another request was being read", job=seen.endpoint)


RULE = Rule(
    id="connections-not-accepted",
    severity=Severity.WARNING,
    title="Connections are not accepted within 250 ms",
    why=(
        "A container that serves must accept connections within 250 ms. If its queue of connections is full, the next "
        "one is accepted after a second at the earliest. The check opens five while the server waits for the rest of "
        "another request. The number is ours; how many the service opens at once is not known."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Accept connections in a thread of their own, or give `listen` a longer queue (`backlog`), such as 128.",
    check=_check,
    probes=frozenset({Probe.CONNECT}),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=COPIED,
        good=COPIED,
        bad_files=server(
            first="HTTPServer.request_queue_size = 0", serve="HTTPServer(('0.0.0.0', 8080), Handler).serve_forever()"
        ),
        good_files=server(),
        output="not all of 5 connections at once were accepted within 250 ms, while another request was being read",
    ),
)
