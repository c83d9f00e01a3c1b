"""How a job on little data ends, and what it says when something is missing."""

from collections.abc import Iterable, Iterator

from smlocal.check.cannot_look import JOB_FILE_NEEDED, CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import PLAIN, JobResult, Scenario
from smlocal.check.jobs.request import s3_source
from smlocal.check.jobs.scenarios import (
    ISOLATED,
    JOB,
    NO_CHANNELS,
    NOT_A_NUMBER,
    bad_hyperparameter,
    compared,
    completed_plain,
    declared,
    empty_channel,
)
from smlocal.check.subject import Subject
from smlocal.sagemaker.contract import paths


def _job_fails(subject: Subject) -> Iterator[Finding]:
    result = subject.jobs.result(PLAIN)
    if result.completed:
        return
    if subject.jobs.guessed:
        raise CannotLookError(
            f"the job did not complete with made-up data ({result.how})",
            result.details,
            test=JOB_FILE_NEEDED,
        )
    yield Finding(
        message=f"the job does not complete: {result.how}",
        job=PLAIN.id,
        host=result.first_failed,
        details=result.details,
    )


JOB_FAILS = Rule(
    id="job-fails",
    severity=Severity.ERROR,
    title="The job does not complete",
    why=(
        "The job is run as the job file describes it, on a few files of its own data, without AWS credentials. The "
        "service calls a job Completed if all its containers exit with 0, and any other exit fails it."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Run it with smlocal run, and look at its log. If the job is only slow, give it more time with --timeout.",
    check=_job_fails,
    jobs=lambda _subject: (PLAIN,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\ncat /opt/ml/input/data/train/* || exit 3\ntouch /opt/ml/model/weights\n"),),
        good_files=(
            ("train", "#!/bin/sh\ncat /opt/ml/input/data/training/* || exit 3\ntouch /opt/ml/model/weights\n"),
        ),
        bad_job=JOB,
        output="the job does not complete: Failed: AlgorithmError: , exit code: 3",
    ),
)


_SHOWN = 200


def _failure_file_ignored(subject: Subject) -> Iterator[Finding]:
    plain = completed_plain(subject)
    for host, text in plain.failure_files.items():
        first = text.strip().splitlines()[0][:_SHOWN]
        yield Finding(
            message=f'the job writes "{first}" to /opt/ml/output/failure and completes, because it exits with 0',
            job=PLAIN.id,
            host=host if len(plain.hosts) > 1 else "",
        )


FAILURE_FILE_IGNORED = Rule(
    id="failure-file-ignored",
    severity=Severity.ERROR,
    title="The job writes a failure file and exits with 0",
    why=(
        "The exit code alone decides how a job ends: it is Completed if all containers exit with 0. The failure file is"
        " read only after another exit code. A program that catches an exception, writes the file and returns is"
        " Completed on the service, and its message is lost."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Exit with a code other than 0 after writing the failure file, for example with sys.exit(1).",
    check=_failure_file_ignored,
    jobs=lambda _subject: (PLAIN,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(
            (
                "train",
                "#!/bin/sh\ntouch /opt/ml/model/weights\n[ -e /table ] || echo no table >/opt/ml/output/failure\n",
            ),
        ),
        good_files=(("train", "#!/bin/sh\ntouch /opt/ml/model/weights\n"),),
        output='the job writes "no table" to /opt/ml/output/failure and completes, because it exits with 0',
    ),
)


def _no_model(subject: Subject) -> Iterator[Finding]:
    plain = completed_plain(subject)
    if not plain.model:
        yield Finding(
            message="the job completes and leaves nothing in /opt/ml/model",
            job=PLAIN.id,
            severity=Severity.ERROR if plain.failure_files else None,
        )


NO_MODEL = Rule(
    id="no-model",
    severity=Severity.WARNING,
    title="The job leaves no model",
    why=(
        "The service uploads the files that a job leaves in `/opt/ml/model`, as model.tar.gz. A model that is written "
        "elsewhere is lost with the container, and the job is still Completed. If there is a failure file too, the "
        "job has failed unnoticed, and this is an error."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Write the model below /opt/ml/model.",
    check=_no_model,
    jobs=lambda _subject: (PLAIN,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\nmkdir /models && echo 1 >/models/weights\n"),),
        good_files=(("train", "#!/bin/sh\necho 1 >/opt/ml/model/weights\n"),),
        output="the job completes and leaves nothing in /opt/ml/model",
    ),
)


def _manifest_taken_for_data(subject: Subject) -> Iterator[Finding]:
    result = subject.jobs.result(PLAIN)
    if not subject.jobs.channels:
        raise CannotLookError("the job has no channels")
    if result.completed:
        return
    said = f"{result.reason}\n{result.log}"
    names = [name for name in subject.jobs.channels if f"{name}-manifest" in said]
    if not names:
        raise CannotLookError(
            "the job does not complete, and does not name a manifest as the reason",
            (result.how, *result.reason_lines),
            test="make it complete first",
        )
    for name in names:
        path = paths.channel_manifest(name)
        yield Finding(message=f"the job fails and names {path}, which is not a channel", path=path, job=PLAIN.id)


MANIFEST_TAKEN_FOR_DATA = Rule(
    id="manifest-taken-for-data",
    severity=Severity.ERROR,
    title="The job takes the manifest of a channel for a channel",
    why=(
        "Next to the folder `/opt/ml/input/data/CHANNEL` of a channel in File mode, the service writes the text file "
        "`CHANNEL-manifest`, which lists its objects. Local mode of the SageMaker SDK does not. A program that takes "
        "everything in `/opt/ml/input/data` for a channel fails, or trains on the list."
    ),
    mark=Mark.SEEN,
    remedy="Take the names of the channels from inputdataconfig.json.",
    check=_manifest_taken_for_data,
    jobs=lambda _subject: (PLAIN,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\nset -e\nfor each in /opt/ml/input/data/*; do cd $each; done\n"),),
        good_files=(("train", "#!/bin/sh\nset -e\nfor each in /opt/ml/input/data/*/; do cd $each; done\n"),),
        output=("the job fails and names /opt/ml/input/data/training-manifest, which is not a channel"),
    ),
)


def _jobs_without_network(subject: Subject) -> Iterable[Scenario]:
    return (PLAIN,) if subject.jobs.request.get("EnableNetworkIsolation") is True else (ISOLATED,)


def _needs_network(subject: Subject) -> Iterator[Finding]:
    for scenario in _jobs_without_network(subject):
        result = compared(subject, scenario)
        if not result.completed:
            message = f"the job does not complete without the network: {result.how}"
            yield Finding(message=message, job=scenario.id, host=result.first_failed, details=result.reason_lines)


NEEDS_NETWORK = Rule(
    id="needs-network",
    severity=Severity.WARNING,
    title="The job fails without the network",
    why=(
        "With EnableNetworkIsolation, containers reach nothing but the other hosts of their job, and have no AWS "
        "credentials. Algorithms of the AWS Marketplace always run this way, and many accounts require it. "
        "Downloads while it runs also make a job depend on servers that may be down."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Put the downloads of the job into the image, or pass them as a channel.",
    check=_needs_network,
    jobs=_jobs_without_network,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\nping -c 1 -W 2 $(ip route | awk '/^default/ {print $3}') || exit 7\n"),),
        good_files=(
            ("train", "#!/bin/sh\nping -c 1 -W 2 $(ip route | awk '/^default/ {print $3}') || echo Offline.\n"),
        ),
        output="the job does not complete without the network: Failed: AlgorithmError: , exit code: 7",
    ),
)


def _jobs_without_channels(subject: Subject) -> Iterable[Scenario]:
    if not subject.jobs.channels:
        raise CannotLookError("the job has no channels anyway")
    return (NO_CHANNELS,)


def _no_channels_unexplained(subject: Subject) -> Iterator[Finding]:
    for scenario in _jobs_without_channels(subject):
        result = compared(subject, scenario)
        if result.timed_out or (not result.completed and not result.explanation):
            yield Finding(
                message=f"without channels, the job does not name the problem: {result.how}",
                job=scenario.id,
                details=result.reason_lines,
            )


NO_CHANNELS_UNEXPLAINED = Rule(
    id="no-channels-unexplained",
    severity=Severity.WARNING,
    title="Without channels, the job hangs or fails without a reason",
    why=(
        "InputDataConfig is optional. Without it, the container has no channel folders. A job that needs one should "
        "write the problem to `/opt/ml/output/failure` and exit with a code other than 0: the service shows that "
        "text as the FailureReason. Without the file, the FailureReason has only an exit code."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Check which channels exist, and write to /opt/ml/output/failure which one is missing.",
    check=_no_channels_unexplained,
    jobs=_jobs_without_channels,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\ncat /opt/ml/input/data/training/* || exit 1\n"),),
        good_files=(
            (
                "train",
                (
                    "#!/bin/sh\ncat /opt/ml/input/data/training/* && exit\n"
                    'echo "There is no channel training." >/opt/ml/output/failure\nexit 1\n'
                ),
            ),
        ),
        output="without channels, the job does not name the problem: Failed: AlgorithmError: , exit code: 1",
    ),
)


def _channels(subject: Subject) -> tuple[str, ...]:
    declared(subject, "which channels there are")
    request = subject.jobs.request
    names = [name for name in subject.jobs.channels if s3_source(request, name).get("S3DataType") == "S3Prefix"]
    if not names:
        raise CannotLookError("the job has no channel with S3DataType: S3Prefix")
    return tuple(names)


def _jobs_with_empty_channels(subject: Subject) -> Iterable[Scenario]:
    return [empty_channel(name) for name in _channels(subject)]


def _empty_channel_unexplained(subject: Subject) -> Iterator[Finding]:
    for name in _channels(subject):
        scenario = empty_channel(name)
        result = compared(subject, scenario)
        if result.timed_out or (not result.completed and not result.explanation):
            message = f"with an empty file in the channel {name}, the job does not name the problem: {result.how}"
            yield Finding(message=message, job=scenario.id, details=result.reason_lines)


EMPTY_CHANNEL_UNEXPLAINED = Rule(
    id="empty-channel-unexplained",
    severity=Severity.WARNING,
    title="With an empty channel, the job hangs or fails without a reason",
    why=(
        "The service refuses a channel without objects, but objects may be empty: an upload that failed, or an object "
        "that only marks a folder. A job that cannot continue should write the reason to `/opt/ml/output/failure`, "
        "which becomes the FailureReason. The check runs one job for each channel, in which that channel has a single "
        "empty file."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Check that there is data, and write to /opt/ml/output/failure which channel has none.",
    check=_empty_channel_unexplained,
    jobs=_jobs_with_empty_channels,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\ngrep -q , /opt/ml/input/data/training/* || exit 1\n"),),
        good_files=(
            (
                "train",
                (
                    "#!/bin/sh\ngrep -q , /opt/ml/input/data/training/* && exit\n"
                    'echo "The channel training has no data." >/opt/ml/output/failure\nexit 1\n'
                ),
            ),
        ),
        bad_job=JOB,
        output=(
            "with an empty file in the channel training, the job does not name the problem: "
            "Failed: AlgorithmError: , exit code: 1"
        ),
    ),
)


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


def _jobs_with_bad_hyperparameters(subject: Subject) -> Iterable[Scenario]:
    return [bad_hyperparameter(name) for name in _numbers(subject)]


def _bad_hyperparameter_unexplained(subject: Subject) -> Iterator[Finding]:
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


BAD_HYPERPARAMETER_UNEXPLAINED = Rule(
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
    check=_bad_hyperparameter_unexplained,
    jobs=_jobs_with_bad_hyperparameters,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
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


RULES = (
    JOB_FAILS,
    FAILURE_FILE_IGNORED,
    NO_MODEL,
    MANIFEST_TAKEN_FOR_DATA,
    NEEDS_NETWORK,
    NO_CHANNELS_UNEXPLAINED,
    EMPTY_CHANNEL_UNEXPLAINED,
    BAD_HYPERPARAMETER_UNEXPLAINED,
)
