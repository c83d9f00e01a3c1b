"""A server that answers anything."""

from collections.abc import Iterator

from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.serving.examples import COPIED, server
from smlocal.check.serving.interface import Probe
from smlocal.check.subject import LaunchProfile, Subject


def _check(subject: Subject) -> Iterator[Finding]:
    seen = subject.endpoint.seen().needs_service
    for each in seen.rubbish:
        if each.status == 200:  # noqa: PLR2004 - HTTP
            yield Finding(message=f"/invocations answered {each.asked} with 200", job=seen.endpoint)
        elif each.status == 0:
            message = f"/invocations gave {each.asked} no whole answer: {each.text}"
            yield Finding(message=message, job=seen.endpoint, severity=Severity.ERROR, details=seen.details)


RULE = Rule(
    id="rubbish-accepted",
    severity=Severity.WARNING,
    title="Invocations with rubbish are answered with 200",
    why=(
        "The caller learns of an error by the status alone: the service makes a ModelError of anything but 200. A "
        "server that answers 200 to a body that it cannot read hides the mistake in a wrong prediction, and a batch "
        "transform job completes with it. The check sends broken JSON, and bytes of an unknown type."
    ),
    mark=Mark.INFERRED,
    remedy="Answer 400 to a body that cannot be read, and 415 to a Content-Type that is not known.",
    check=_check,
    probes=frozenset({Probe.RUBBISH}),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=COPIED,
        good=COPIED,
        bad_files=server(invocations="self.answer(200)"),
        good_files=server(),
        output=(
            "/invocations answered 19 bytes (application/json) with 200\n"
            "/invocations answered 128 bytes (application/x-smlocal-rubbish) with 200"
        ),
    ),
)
