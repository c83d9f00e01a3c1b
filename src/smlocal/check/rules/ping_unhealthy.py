"""A server that does not answer pings as it must."""

from collections.abc import Iterator

from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.serving.examples import COPIED, server
from smlocal.check.serving.interface import Probe
from smlocal.check.subject import LaunchProfile, Subject


def _check(subject: Subject) -> Iterator[Finding]:
    seen = subject.endpoint.seen()
    bad = next((each for each in seen.pings if not each.is_healthy), None)
    if seen.in_service:
        if bad is not None:
            yield Finding(message=f"{bad.said}, while the endpoint was in service", job=seen.endpoint)
    elif not seen.is_reached:
        raise seen.not_judged()
    else:
        said = bad.said if bad is not None else seen.explanation
        yield Finding(
            message=f"{said}, and so for {seen.limit} s",
            job=seen.endpoint,
            details=seen.details,
            remedy=seen.model_remedy,
        )


RULE = Rule(
    id="ping-unhealthy",
    severity=Severity.ERROR,
    title="Pings are not answered with 200 within 2 seconds",
    why=(
        "The service sends `GET /ping` soon after the start and then again and again. Each must be answered with 200 "
        "within 2 seconds. If the first such answer is late, the endpoint fails. If they stop "
        "later, the container is replaced."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Answer /ping at once and without work, in a thread or worker of its own.",
    check=_check,
    probes=frozenset({Probe.PING}),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=COPIED,
        good=COPIED,
        bad_files=server(ping="self.answer(404)"),
        good_files=server(),
        options=("--timeout", "5"),
        output="/ping answered 404, and so for 5 s",
    ),
)
