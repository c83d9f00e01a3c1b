"""A server that writes to the folder of its model."""

from collections.abc import Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.serving.examples import TRAIN, TRAINS_TOO, server
from smlocal.check.serving.interface import Probe
from smlocal.check.subject import LaunchProfile, Subject

_FOLDER = "/opt/ml/model"
_SHOWN = 3


def _check(subject: Subject) -> Iterator[Finding]:
    seen = subject.endpoint.seen().needs_service
    if seen.written is None:
        raise CannotLookError("no model is served", test="give one with --model or --train-and-serve")
    if seen.written:
        paths = [_FOLDER if path == "." else f"{_FOLDER}/{path}" for path in seen.written]
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        message = f"the container changes {', '.join(paths[:_SHOWN])}{more}"
        yield Finding(message=message, path=paths[0], job=seen.endpoint)


RULE = Rule(
    id="model-folder-written",
    severity=Severity.WARNING,
    title="The server writes to /opt/ml/model",
    why=(
        "With a model, the folder was seen to be read-only on the service: a server that writes to it, such as a cache "
        "of a library or a download, gets `Read-only file system` there. Files that Python compiles are not counted."
    ),
    mark=Mark.SEEN,
    remedy="Write to /tmp; point caches there, for example with HF_HOME.",
    check=_check,
    probes=frozenset({Probe.MODEL}),
    profiles=frozenset({LaunchProfile.SERVE, LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=TRAINS_TOO,
        good=TRAINS_TOO,
        bad_files=(TRAIN, *server(first="open('/opt/ml/model/cache', 'w').close()")),
        good_files=(TRAIN, *server()),
        options=("--train-and-serve",),
        output="the container changes /opt/ml/model/cache",
    ),
)
