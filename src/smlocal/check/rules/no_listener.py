"""A container that does not listen on port 8080."""

from collections.abc import Iterator

from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.serving.examples import COPIED, server
from smlocal.check.serving.interface import EndpointSeen, Probe
from smlocal.check.subject import LaunchProfile, Subject

_SEE_THE_LOG = "See the end of its log. A server that needs a model gets one with --model or --train-and-serve."


def _check(subject: Subject) -> Iterator[Finding]:
    seen = subject.endpoint.seen()
    if seen.is_reached or any(each.port == seen.port for each in seen.listeners or ()):
        return
    remedy = seen.model_remedy or (_SEE_THE_LOG if seen.ends else "")
    yield Finding(message=_what(seen), job=seen.endpoint, details=seen.details, remedy=remedy)


def _what(seen: EndpointSeen) -> str:
    if seen.ends:
        times = "" if seen.ends == 1 else f" {seen.ends} times"
        return (
            f"the container ended{times} before anything listened on port {seen.port}, with exit code {seen.exit_code}"
        )
    if not seen.is_started:
        return seen.explanation
    ports = sorted({each.port for each in seen.listeners or ()})
    others = f"; the container listens on port {', '.join(map(str, ports))}" if ports else ""
    return f"nothing listens on port {seen.port} within {seen.limit} s{others}"


RULE = Rule(
    id="no-listener",
    severity=Severity.ERROR,
    title="Nothing listens on port 8080",
    why=(
        "A container that serves must have a web server on port 8080 that answers `GET /ping` and `POST /invocations`. "
        "The service waits 8 minutes for the first answer, then the endpoint is Failed. The check waits for --timeout."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Let `serve` start a web server on port 8080, in the foreground.",
    check=_check,
    probes=frozenset({Probe.PING}),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=COPIED,
        good=COPIED,
        bad_files=server(serve="HTTPServer(('0.0.0.0', 5000), Handler).serve_forever()"),
        good_files=server(),
        options=("--timeout", "5"),
        output="nothing listens on port 8080 within 5 s; the container listens on port 5000",
    ),
)
