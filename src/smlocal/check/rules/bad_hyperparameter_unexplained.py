"""A job that says nothing about a bad hyperparameter."""

from collections.abc import Iterable, Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import JobResult, Scenario
from smlocal.check.jobs.scenarios import JOB, NOT_A_NUMBER, bad_hyperparameter, compared, declared
from smlocal.check.subject import Subject

_MOST = 3


def _numbers(subject: Subject) -> tuple[str, ...]:
    """The first hyperparameters that are numbers; those of the toolkit and of tuning jobs are not the image's."""
    declared(subject, "which hyperparameters there are")
    given = subject.jobs.request.get("HyperParameters") or {}
    found = [name for name, value in given.items() if _is_number(value) and not name.startswith(("sagemaker_", "_"))]
    if not found:
        raise CannotLookError("no hyperparameter of the job is a number")
    return tuple(found[:_MOST])


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _jobs(subject: Subject) -> Iterable[Scenario]:
    return [bad_hyperparameter(name) for name in _numbers(subject)]


def _check(subject: Subject) -> Iterator[Finding]:
    for name in _numbers(subject):
        scenario = bad_hyperparameter(name)
        result = compared(subject, scenario)
        wrong = _wrong(name, result)
        if wrong:
            yield Finding(message=f"{name}: {NOT_A_NUMBER!r} {wrong}", job=scenario.id, details=result.reason_lines)


def _wrong(name: str, result: JobResult) -> str:
    if result.completed:
        return "is accepted: the job completes"
    if result.timed_out or not result.explanation:
        return f"gives no reason: {result.how}"
    if name not in result.explanation and NOT_A_NUMBER not in result.explanation:
        return f"is not named by the failure file: {result.how}"
    return ""


RULE = Rule(
    id="bad-hyperparameter-unexplained",
    severity=Severity.WARNING,
    title="A bad hyperparameter is accepted, or the job fails without naming it",
    why=(
        "Hyperparameters reach the container as strings, and the service checks none of them. The image must: it "
        "should write the problem to `/opt/ml/output/failure` and exit with a code other than 0. That text "
        "becomes the FailureReason, of which DescribeTrainingJob shows the first 1024 characters. The check replaces "
        "up to three hyperparameters that are numbers, each in a job of its own, and looks for the name or the value "
        "in the reason."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Check hyperparameters before training, and write to /opt/ml/output/failure which one is wrong.",
    check=_check,
    jobs=_jobs,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\ngrep -q epochs /opt/ml/input/config/hyperparameters.json\n"),),
        good_files=(
            (
                "train",
                (
                    '#!/bin/sh\ngrep -qE \'"epochs": *"[0-9]+"\' /opt/ml/input/config/hyperparameters.json && exit\n'
                    'echo "epochs must be a number" >/opt/ml/output/failure\nexit 1\n'
                ),
            ),
        ),
        bad_job=JOB,
        output="epochs: 'smlocal-check-not-a-number' is accepted: the job completes",
    ),
)
