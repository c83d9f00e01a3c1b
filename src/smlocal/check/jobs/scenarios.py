"""The jobs that checks run: the plain job, changed in one respect each; how rules compare one with the plain one."""

import os
from collections.abc import Iterator

from smlocal.check.cannot_look import JOB_FILE_NEEDED, CannotLookError
from smlocal.check.interface import Finding
from smlocal.check.jobs.interface import PLAIN, Folders, JobResult, Meanwhile, Request, Scenario
from smlocal.check.jobs.request import channel, s3_source
from smlocal.check.subject import Subject

NOT_A_NUMBER = "smlocal-check-not-a-number"
"""The value of a bad hyperparameter."""
_LATE_SECONDS = 2
_LONGEST_GRACE = 120


def _isolate(request: Request, _folders: Folders) -> None:
    request["EnableNetworkIsolation"] = True


def _without_channels(request: Request, _folders: Folders) -> None:
    request.pop("InputDataConfig", None)


def _two_hosts(request: Request, _folders: Folders) -> None:
    request["ResourceConfig"]["InstanceCount"] = 2
    placement = request["Local"].get("Placement")
    if isinstance(placement, dict):
        placement["algo-2"] = placement["algo-1"]


def _patiently(request: Request, _folders: Folders) -> None:
    """As much grace as the service gives, if the limit of time allows it."""
    limit = request["StoppingCondition"]["MaxRuntimeInSeconds"]
    request["Local"]["StopGraceSeconds"] = min(_LONGEST_GRACE, limit)


def _on_spot_instances(request: Request, folders: Folders) -> None:
    _patiently(request, folders)
    request["EnableManagedSpotTraining"] = True
    condition = request["StoppingCondition"]
    condition["MaxWaitTimeInSeconds"] = 20 * condition["MaxRuntimeInSeconds"]


ISOLATED = Scenario(id="network-isolated", change=_isolate)
NO_CHANNELS = Scenario(id="no-channels", change=_without_channels, broken=True)
TWO_HOSTS = Scenario(id="two-hosts", change=_two_hosts)
STOPPED = Scenario(id="stopped", change=_patiently, meanwhile=Meanwhile.STOP)
INTERRUPTED = Scenario(id="interrupted", change=_on_spot_instances, meanwhile=Meanwhile.INTERRUPT)


def empty_channel(name: str) -> Scenario:
    """One channel has a single file, which is empty; a channel without any is refused by the service."""

    def change(request: Request, folders: Folders) -> None:
        folder = os.path.join(folders.data, "empty")
        os.makedirs(folder)
        with open(os.path.join(folder, folders.first_files.get(name) or "empty"), "wb"):
            pass
        s3_source(request, name)["S3Uri"] = folder

    return Scenario(id=f"empty-{name}", change=change, broken=True)


def bad_hyperparameter(name: str) -> Scenario:
    """One hyperparameter that is a number is none."""

    def change(request: Request, _folders: Folders) -> None:
        request["HyperParameters"][name] = NOT_A_NUMBER

    return Scenario(id=f"bad-{name}", change=change, broken=True)


def in_file_mode(mode: str) -> Scenario:
    """All channels of a mode are in File mode."""

    def change(request: Request, _folders: Folders) -> None:
        for name in channels_in(request, mode):
            each = channel(request, name)
            each["InputMode"] = "File"
            for member in ("CompressionType", "RecordWrapperType", "ShuffleConfig"):
                each.pop(member, None)

    return Scenario(id=f"file-not-{mode.lower()}", change=change)


def channels_in(request: Request, mode: str) -> tuple[str, ...]:
    """The channels that are delivered in a mode."""
    general = request["AlgorithmSpecification"].get("TrainingInputMode")
    return tuple(
        each["ChannelName"]
        for each in request.get("InputDataConfig") or ()
        if "S3DataSource" in each["DataSource"] and (each.get("InputMode") or general) == mode
    )


def _late_names(request: Request, folders: Folders) -> None:
    _two_hosts(request, folders)
    request["Local"]["Faults"] = [{"Kind": "LateNames", "AfterSeconds": _LATE_SECONDS}]


def _late_fifo(request: Request, _folders: Folders) -> None:
    request["Local"]["Faults"] = [{"Kind": "LateFifo", "AfterSeconds": _LATE_SECONDS}]


LATE_NAMES = Scenario(id="late-names", change=_late_names)
LATE_FIFO = Scenario(id="late-fifo", change=_late_fifo)


def completed_plain(subject: Subject) -> JobResult:
    """The plain job. A rule that changes something about it says nothing of a job that fails anyway."""
    plain = subject.jobs.result(PLAIN)
    if not plain.completed:
        raise CannotLookError(
            "the job as it is does not complete", (plain.how, *plain.reason_lines), test="make it complete first"
        )
    return plain


def compared(subject: Subject, scenario: Scenario) -> JobResult:
    """A changed job, of an image whose plain job completes."""
    completed_plain(subject)
    return subject.jobs.result(scenario)


LONGER = "make it train for ten seconds or more, with more data or more epochs"
"""The remedy for a job that is over before anything can be done to it."""


def declared(subject: Subject, what: str) -> None:
    """Skip a rule about what only a job file says."""
    if subject.jobs.guessed:
        raise CannotLookError(f"needs a job file that says {what}", test=JOB_FILE_NEEDED)


def need_channels_in(subject: Subject, mode: str) -> tuple[str, ...]:
    """The channels in this mode; a rule about it is skipped without any."""
    declared(subject, "which channels there are")
    names = channels_in(subject.jobs.request, mode)
    if not names:
        raise CannotLookError(f"no channel of the job is in {mode} mode")
    return names


def fails_in(subject: Subject, mode: str) -> Iterator[Finding]:
    """A finding if only the mode is to blame. The job in File mode is run if the plain one fails."""
    names = need_channels_in(subject, mode)
    plain = subject.jobs.result(PLAIN)
    if plain.completed:
        return
    other = subject.jobs.result(in_file_mode(mode))
    if not other.completed:
        raise CannotLookError(
            "the job does not complete in File mode either",
            (other.how, *other.reason_lines),
            test="make it complete first",
        )
    message = f"the job completes with {', '.join(names)} in File mode, but not in {mode} mode: {plain.how}"
    yield Finding(message=message, job=PLAIN.id, host=plain.first_failed, details=plain.reason_lines)


JOB = """\
HyperParameters: {epochs: "2"}
InputDataConfig:
  - ChannelName: training
    DataSource: {S3DataSource: {S3DataType: S3Prefix, S3Uri: ./data}}
"""
