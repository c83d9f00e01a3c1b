"""A model that the image has trained and cannot serve."""

from collections.abc import Iterable, Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import PLAIN, Scenario
from smlocal.check.serving.examples import TRAIN, TRAINS_TOO, server
from smlocal.check.serving.interface import NOT_IN_SERVICE, Probe
from smlocal.check.subject import LaunchProfile, Subject


def _jobs(_subject: Subject) -> Iterable[Scenario]:
    return (PLAIN,)


def _check(subject: Subject) -> Iterator[Finding]:
    endpoint = subject.endpoint
    if not endpoint.trained:
        raise CannotLookError("the job leaves no model", test="write one to /opt/ml/model")
    seen = endpoint.seen()
    if not seen.in_service:
        why = f"the container ended with exit code {seen.exit_code}" if seen.ends else seen.explanation
        yield Finding(message=f"{NOT_IN_SERVICE} with the model: {why}", job=seen.endpoint, details=seen.details)
    elif seen.answer is not None and seen.answer.status != 200:  # noqa: PLR2004 - HTTP
        if endpoint.body_is_guessed and not seen.answer.is_of_the_server:
            raise CannotLookError(
                f"the server refuses {seen.answer.asked}: {seen.answer.status}", test="give a request with --body"
            )
        answered = f"answered {seen.answer.status}" if seen.answer.status else "gave no whole answer"
        said = f": {seen.answer.text}" if seen.answer.text else ""
        yield Finding(
            message=f"asked {seen.answer.asked} of its own model, the image {answered}{said}",
            job=seen.endpoint,
            details=seen.details,
        )


RULE = Rule(
    id="trained-model-fails",
    severity=Severity.ERROR,
    title="The image cannot serve the model that it has trained",
    why=(
        "The service unpacks model.tar.gz, which holds the files that training has left in `/opt/ml/model`, into that "
        "folder of the container that serves. A server that looks for other names, or was made for other versions of "
        "a library, fails only there. The check trains on little data, serves what is left, and asks once: with --body "
        "and --content-type, else with a line of numbers as text/csv, for which only errors of the server (5xx) count."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Load the model in `serve` from the files that `train` writes, with the same libraries.",
    check=_check,
    jobs=_jobs,
    probes=frozenset({Probe.ASK}),
    profiles=frozenset({LaunchProfile.TRAIN_AND_SERVE}),
    example=Example(
        bad=TRAINS_TOO,
        good=TRAINS_TOO,
        bad_files=(TRAIN, *server(first="int(open('/opt/ml/model/model.txt').read())")),
        good_files=(TRAIN, *server(first="int(open('/opt/ml/model/weights').read())")),
        output="the endpoint does not get into service with the model: the container ended with exit code 1",
    ),
)
