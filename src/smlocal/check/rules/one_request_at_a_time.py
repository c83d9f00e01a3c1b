"""A server with no worker for a second request."""

from collections.abc import Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.serving.examples import COPIED, server
from smlocal.check.serving.interface import Probe
from smlocal.check.subject import LaunchProfile, Subject


def _check(subject: Subject) -> Iterator[Finding]:
    seen = subject.endpoint.seen().needs_service
    if not all(each.is_healthy for each in seen.pings):
        raise CannotLookError("pings are not answered even when nothing else is asked")
    if seen.blocked is not None and not seen.blocked.is_healthy:
        yield Finding(message=f"{seen.blocked.said}, while another request was being read", job=seen.endpoint)


RULE = Rule(
    id="one-request-at-a-time",
    severity=Severity.WARNING,
    title="One request blocks all others, pings too",
    why=(
        "An invocation may take 60 seconds, and a ping must be answered within 2. A server with a single worker "
        "answers no ping during a long request: the service takes the container for unhealthy, and other requests "
        "wait. The check sends a ping while the server waits for the rest of another request. A proxy in front of a "
        "single worker hides this."
    ),
    mark=Mark.INFERRED,
    remedy="Use a server with several threads or workers, at least one more than requests that may be long.",
    check=_check,
    probes=frozenset({Probe.TOGETHER}),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=COPIED,
        good=COPIED,
        bad_files=server(serve="HTTPServer(('0.0.0.0', 8080), Handler).serve_forever()"),
        good_files=server(),
        output="no answer to /ping within 2 s, while another request was being read",
    ),
)
