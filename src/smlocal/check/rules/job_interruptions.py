"""A job that is stopped, interrupted, or runs on two hosts."""

from collections.abc import Iterable, Iterator

from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import PLAIN, JobResult, Scenario, StopSeen
from smlocal.check.jobs.scenarios import (
    INTERRUPTED,
    JOB,
    LONGER,
    STOPPED,
    TWO_HOSTS,
    compared,
    completed_plain,
    declared,
)
from smlocal.check.subject import Subject

_INSTALL = "Install a handler for SIGTERM that saves the model and exits."
_END = "Let the handler save the model and exit."


def _sigterm_unhandled(subject: Subject) -> Iterator[Finding]:
    result = compared(subject, STOPPED)
    if result.stop is None:
        raise CannotLookError("the job ended before SIGTERM was sent, or the engine cannot list processes", test=LONGER)
    if result.stop.too_early:
        raise CannotLookError("SIGTERM came before the first process had a handler for it", test=LONGER)
    if any(host.killed for host in result.hosts):
        message = f"the job was killed {result.grace} s after SIGTERM: {_who(result.stop)}"
        yield Finding(message=message, job=STOPPED.id, host=_killed(result), remedy=_remedy(result.stop))
    elif not result.stop.first.handles_sigterm:
        message = f"the job ignores SIGTERM and goes on to its end: {_who(result.stop)}"
        yield Finding(message=message, job=STOPPED.id, remedy=_remedy(result.stop))


def _killed(result: JobResult) -> str:
    return next(host.name for host in result.hosts if host.killed) if len(result.hosts) > 1 else ""


def _who(stop: StopSeen) -> str:
    """How the processes treat the signal."""
    names = ", ".join(dict.fromkeys(each.name for each in stop.others))
    if stop.first.handles_sigterm:
        return f"{stop.first.name}, the first process, has a handler for it and does not end" + (
            f"; {names} may not have got it" if names else ""
        )
    return f"{stop.first.name}, the first process, has no handler for it" + (
        f" and does not pass it on to {names}" if names else ""
    )


def _remedy(stop: StopSeen) -> str:
    """A program that is the first process has been started with exec already."""
    return "" if stop.others else _INSTALL if not stop.first.handles_sigterm else _END


SIGTERM_UNHANDLED = Rule(
    id="sigterm-unhandled",
    severity=Severity.WARNING,
    title="The job does not react to SIGTERM",
    why=(
        "StopTrainingJob, MaxRuntimeInSeconds and spot interruptions send SIGTERM to the first process of the "
        "container, and SIGKILL 120 seconds later. The kernel does nothing with a SIGTERM for which the first process"
        " has no handler, and no other process gets it. So a program that is started by a shell without exec, or that "
        "installs no handler, trains on for two minutes and is killed. The check sends SIGTERM in the middle of the "
        "job, and looks at the handlers of its processes. It waits for up to --timeout, but no more than 120 seconds."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Start the program with exec, and let it save its work and exit when it gets SIGTERM.",
    check=_sigterm_unhandled,
    jobs=lambda _subject: (STOPPED,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\nsleep 6\n"),),
        good_files=(("train", "#!/bin/sh\ntrap 'exit 0' TERM\nsleep 6 &\nwait\n"),),
        output=(
            "the job ignores SIGTERM and goes on to its end: train, the first process, has no handler for it and does "
            "not pass it on to sleep"
        ),
    ),
)


def _stop_loses_model(subject: Subject) -> Iterator[Finding]:
    if not completed_plain(subject).model:
        raise CannotLookError("the job leaves no model anyway", test="make it write a model first")
    result = compared(subject, STOPPED)
    if result.stop is None:
        raise CannotLookError("the job ended before SIGTERM was sent, or the engine cannot list processes", test=LONGER)
    if result.stop.too_early:
        raise CannotLookError("SIGTERM came before the first process had a handler for it", test=LONGER)
    killed = any(host.killed for host in result.hosts)
    if not killed and not result.stop.first.handles_sigterm:
        raise CannotLookError("the job ignores SIGTERM, and went on to its end")
    if not result.model:
        how = "killed after SIGTERM" if killed else "stopped by SIGTERM"
        yield Finding(message=f"a job that is {how} leaves nothing in /opt/ml/model", job=STOPPED.id)


STOP_LOSES_MODEL = Rule(
    id="stop-loses-model",
    severity=Severity.INFO,
    title="A job that is stopped leaves no model",
    why=(
        "After a stop the service uploads the files in `/opt/ml/model`. The 120 seconds between SIGTERM and "
        "SIGKILL are there to save it. The check stops the job in the middle of its training."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Save the model as it is when SIGTERM comes, or from time to time.",
    check=_stop_loses_model,
    jobs=lambda _subject: (STOPPED,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\ntrap 'exit 0' TERM\nsleep 6 &\nwait\ntouch /opt/ml/model/weights\n"),),
        good_files=(("train", "#!/bin/sh\ntrap 'touch /opt/ml/model/weights; exit' TERM EXIT\nsleep 6 &\nwait\n"),),
        output="a job that is stopped by SIGTERM leaves nothing in /opt/ml/model",
    ),
)


def _jobs_on_two_hosts(subject: Subject) -> Iterable[Scenario]:
    resources = subject.jobs.request["ResourceConfig"]
    if resources.get("InstanceGroups"):
        raise CannotLookError("the job has instance groups")
    if resources.get("InstanceCount") != 1:
        raise CannotLookError("the job has several hosts anyway")
    return (TWO_HOSTS,)


def _two_hosts_fail(subject: Subject) -> Iterator[Finding]:
    for scenario in _jobs_on_two_hosts(subject):
        result = compared(subject, scenario)
        if not result.completed:
            message = f"the job does not complete on two hosts: {result.how}"
            yield Finding(message=message, job=scenario.id, host=result.first_failed, details=result.reason_lines)


TWO_HOSTS_FAIL = Rule(
    id="two-hosts-fail",
    severity=Severity.WARNING,
    title="The job fails on two hosts",
    why=(
        "With InstanceCount: 2 the same image starts on two hosts. resourceconfig.json tells each its name, and the "
        "names of all. A job that is not made for several hosts should train on each, or on the first only, and not "
        "fail."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Read hosts and current_host of resourceconfig.json, and let the hosts that have nothing to do exit with 0.",
    check=_two_hosts_fail,
    jobs=_jobs_on_two_hosts,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(
            (
                "train",
                "#!/bin/sh\ncd /opt/ml/input/config\ngrep -q 'host\": *\"algo-1' resourceconfig.json || exit 5\n",
            ),
        ),
        good_files=(
            (
                "train",
                "#!/bin/sh\ncd /opt/ml/input/config\ngrep -q 'host\": *\"algo-1' resourceconfig.json || exit 0\n",
            ),
        ),
        output="the job does not complete on two hosts: Failed: AlgorithmError: , exit code: 5",
    ),
)


def _interrupted_jobs(subject: Subject) -> Iterable[Scenario]:
    declared(subject, "where checkpoints are")
    if not subject.jobs.request.get("CheckpointConfig"):
        raise CannotLookError("the job has no CheckpointConfig")
    return (INTERRUPTED,)


def _restart_fails(subject: Subject) -> Iterator[Finding]:
    for scenario in _interrupted_jobs(subject):
        if not completed_plain(subject).checkpoints:
            yield Finding(message="the job has a CheckpointConfig and writes no checkpoint", job=PLAIN.id)
            continue
        result = subject.jobs.result(scenario)
        if not result.local.get("Interruptions"):
            raise CannotLookError("the job ended before it was interrupted", test=LONGER)
        if not result.completed:
            message = f"the job does not complete after an interruption: {result.how}"
            yield Finding(message=message, job=scenario.id, host=result.first_failed, details=result.reason_lines)
        elif not result.checkpoints_before:
            why = "no checkpoint had been written when the job was interrupted, so none was restored"
            raise CannotLookError(why, test="make it write checkpoints earlier, or train longer")


RESTART_FAILS = Rule(
    id="restart-fails",
    severity=Severity.WARNING,
    title="The job does not continue after a spot interruption",
    why=(
        "When spot instances are taken away, the service starts the job again on others. Model and output folders are "
        "empty then, and the checkpoint folder has its earlier files. A job that finds checkpoints has to continue "
        "from them, even if the last one is incomplete. The check interrupts the job as soon as there is a checkpoint."
    ),
    mark=Mark.DOCUMENTED,
    remedy=(
        "Write checkpoints under another name and rename them when they are complete; continue from the last one; try "
        "it with smlocal interrupt."
    ),
    check=_restart_fails,
    jobs=_interrupted_jobs,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\ncd /opt/ml/checkpoints && mkdir 1 || exit 9\ntouch 1/weights\nsleep 3\n"),),
        good_files=(
            ("train", "#!/bin/sh\ncd /opt/ml/checkpoints && mkdir -p 1 || exit 9\ntouch 1/weights\nsleep 3\n"),
        ),
        bad_job=JOB + "CheckpointConfig: {S3Uri: s3://my-bucket/checkpoints}\n",
        output="the job does not complete after an interruption: Failed: AlgorithmError: , exit code: 9",
    ),
)


RULES = (
    SIGTERM_UNHANDLED,
    STOP_LOSES_MODEL,
    TWO_HOSTS_FAIL,
    RESTART_FAILS,
)
