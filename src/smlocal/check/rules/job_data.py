"""How a job reads its data, where it writes, and what memory it needs."""

from collections.abc import Iterable, Iterator

from smlocal.base.readable import readable_bytes
from smlocal.check.cannot_look import CannotLookError
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.jobs.interface import ORDINARY_ENGINE, PLAIN, JobResult, Scenario
from smlocal.check.jobs.scenarios import (
    JOB,
    LATE_FIFO,
    LATE_NAMES,
    LONGER,
    TWO_HOSTS,
    compared,
    completed_plain,
    fails_in,
    need_channels_in,
)
from smlocal.check.subject import Subject


def _jobs_in_pipe_mode(subject: Subject) -> tuple[Scenario]:
    need_channels_in(subject, "Pipe")
    return (PLAIN,)


PIPE_MODE_FAILS = Rule(
    id="pipe-mode-fails",
    severity=Severity.ERROR,
    title="The job fails in Pipe mode, and not in File mode",
    why=(
        "In Pipe mode a channel has no folder. Each epoch is a FIFO of its own, "
        "`/opt/ml/input/data/CHANNEL_0`, `CHANNEL_1`, …, which can be read once, from its beginning to its end. If the "
        "job fails, it is run again with these channels in File mode, to see whether the mode is to blame."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Read one FIFO for each epoch, without seeking in it; or ask for File or FastFile mode.",
    check=lambda subject: fails_in(subject, "Pipe"),
    jobs=_jobs_in_pipe_mode,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\ncat /opt/ml/input/data/training/* || exit 4\n"),),
        good_files=(("train", "#!/bin/sh\ncat /opt/ml/input/data/training_0 || exit 4\n"),),
        bad_job=JOB + "    InputMode: Pipe\n",
        output=(
            "the job completes with training in File mode, but not in Pipe mode: Failed: AlgorithmError: , exit code: 4"
        ),
    ),
)


def _jobs_in_fast_file_mode(subject: Subject) -> tuple[Scenario]:
    need_channels_in(subject, "FastFile")
    return (PLAIN,)


FAST_FILE_MODE_FAILS = Rule(
    id="fast-file-mode-fails",
    severity=Severity.ERROR,
    title="The job fails in FastFile mode, and not in File mode",
    why=(
        "In FastFile mode the folder of a channel shows the objects, and reading them streams them from S3. Nothing "
        "can be written there. If the job fails, it is run again with these channels in File mode, to see whether the"
        " mode is to blame."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Write files to /tmp instead, or use File mode.",
    check=lambda subject: fails_in(subject, "FastFile"),
    jobs=_jobs_in_fast_file_mode,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\ntouch /opt/ml/input/data/training/index || exit 4\n"),),
        good_files=(("train", "#!/bin/sh\ntouch /tmp/index || exit 4\n"),),
        bad_job=JOB + "    InputMode: FastFile\n",
        output=(
            "the job completes with training in File mode, but not in FastFile mode: "
            "Failed: AlgorithmError: , exit code: 4"
        ),
    ),
)


def _jobs_with_late_names(subject: Subject) -> Iterable[Scenario]:
    resources = subject.jobs.request["ResourceConfig"]
    if resources.get("InstanceGroups"):
        raise CannotLookError("the job has instance groups")
    return (PLAIN if resources.get("InstanceCount") != 1 else TWO_HOSTS, LATE_NAMES)


def _late_names_fail(subject: Subject) -> Iterator[Finding]:
    at_once, late = _jobs_with_late_names(subject)
    first = compared(subject, at_once)
    if not first.completed:
        raise CannotLookError(
            "the job does not complete on two hosts",
            (first.how, *first.reason_lines),
            test="make it complete there first",
        )
    result = subject.jobs.result(late)
    if not result.completed:
        message = f"the job does not complete if the names of its peers resolve late: {result.how}"
        yield Finding(message=message, job=late.id, host=result.first_failed, details=result.reason_lines)


_KNOWN = """\
#!/bin/sh
known() { ! ping -c 1 -W 1 "$1" 2>&1 | grep -q "bad address"; }
grep -q algo-2 /opt/ml/input/config/resourceconfig.json || exit 0
"""

LATE_NAMES_FAIL = Rule(
    id="late-names-fail",
    severity=Severity.WARNING,
    title="The job expects the names of its peers at once",
    why=(
        "When a container starts on the service, the names of the other hosts may not resolve yet. AWS's training "
        "toolkit therefore tries for up to 15 minutes. The check runs the job on two hosts, which learn each other's "
        "names two seconds after the start."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Try again for some minutes if a peer cannot be resolved or does not answer.",
    check=_late_names_fail,
    jobs=_jobs_with_late_names,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", _KNOWN + "known algo-1 && known algo-2 || exit 6\n"),),
        good_files=(("train", _KNOWN + "until known algo-1 && known algo-2; do sleep 0.2; done\n"),),
        output=(
            "the job does not complete if the names of its peers resolve late: Failed: AlgorithmError: , exit code: 6"
        ),
    ),
)


def _jobs_with_late_fifo(subject: Subject) -> Iterable[Scenario]:
    need_channels_in(subject, "Pipe")
    return (LATE_FIFO,)


def _late_fifo_fails(subject: Subject) -> Iterator[Finding]:
    for scenario in _jobs_with_late_fifo(subject):
        result = compared(subject, scenario)
        if not result.completed:
            message = f"the job does not complete if the FIFO of the next epoch comes late: {result.how}"
            yield Finding(message=message, job=scenario.id, host=result.first_failed, details=result.reason_lines)


LATE_FIFO_FAILS = Rule(
    id="late-fifo-fails",
    severity=Severity.WARNING,
    title="The job expects the FIFO of the next epoch at once",
    why=(
        "In Pipe mode the FIFO of the next epoch is usually there before the last one has been read to its end, but "
        "AWS documents that it may come later, and that a job has to try again. The check delays each FIFO but the "
        "first by two seconds."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Wait for the FIFO of the next epoch if it is missing.",
    check=_late_fifo_fails,
    jobs=_jobs_with_late_fifo,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\ncd /opt/ml/input/data\ncat training_0\ncat training_1 || exit 8\n"),),
        good_files=(
            (
                "train",
                "#!/bin/sh\ncd /opt/ml/input/data\ncat training_0\nuntil cat training_1; do sleep 0.2; done\n",
            ),
        ),
        bad_job=JOB + "    InputMode: Pipe\n",
        output=(
            "the job does not complete if the FIFO of the next epoch comes late: Failed: AlgorithmError: , exit code: 8"
        ),
    ),
)


_SHOWN = 3
_COMPILED = (".pyc", "/__pycache__")
"""Python writes its compiled files wherever it may, and losing them does no harm."""


def _check_place(result: JobResult, lost: str) -> None:
    """Where a place does not tell what was lost, no longer job would show it. A note of the job says so."""
    for note in result.local.get("Notes") or ():
        if note["Id"] == lost:
            raise CannotLookError(note["Text"].partition(": ")[2], test=ORDINARY_ENGINE)


def _writes_elsewhere(subject: Subject) -> Iterator[Finding]:
    result = completed_plain(subject)
    changes: dict[str, list[str]] = result.local.get("Changes") or {}
    if not changes:
        _check_place(result, "studio-changes")
        raise CannotLookError("the engine did not list the written files")
    for host, changed in changes.items():
        found = [path for path in changed if not path.endswith(_COMPILED)]
        if found:
            more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            message = f"the job writes {', '.join(found[:_SHOWN])}{more}"
            yield Finding(message=message, path=found[0], job=PLAIN.id, host=host if len(changes) > 1 else "")


WRITES_ELSEWHERE = Rule(
    id="writes-elsewhere",
    severity=Severity.INFO,
    title="The job writes outside /opt/ml and /tmp",
    why=(
        "Only `/opt/ml/model`, `/opt/ml/output` and the checkpoint folder are uploaded. Files written elsewhere are "
        "lost with the container. `/tmp` is on the volume of the job; the rest of the file system is small on some "
        "instances. Files that Python compiles are not counted."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Write files that must be kept to /opt/ml, and everything else to /tmp.",
    check=_writes_elsewhere,
    jobs=lambda _subject: (PLAIN,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", "#!/bin/sh\nmkdir -p /root/cache && echo 1 >/root/cache/index\n"),),
        good_files=(("train", "#!/bin/sh\nmkdir -p /tmp/cache && echo 1 >/tmp/cache/index\n"),),
        output="the job writes /root/cache/index",
    ),
)


_NEAR = 0.8
_MIB = 1 << 20


def _memory_near_limit(subject: Subject) -> Iterator[Finding]:
    result = subject.jobs.result(PLAIN)
    limit = subject.jobs.memory
    killed = [host for host in result.hosts if host.oom_killed]
    if killed:
        message = "the job was killed because it ran out of memory on little data"
        yield Finding(message=message, job=PLAIN.id, host=killed[0].name if len(result.hosts) > 1 else "")
        return
    if all(host.exit_code is None for host in result.hosts):
        completed_plain(subject)  # it did not start: other rules say why
    if not limit:
        raise CannotLookError("the instance type is this machine", test="name an instance type of the service")
    measured = {host["Name"]: host["MemoryPeakMiB"] for host in (result.local.get("Usage") or {}).get("Hosts") or ()}
    if not measured:
        completed_plain(subject)
        _check_place(result, "studio-usage")
        raise CannotLookError(
            "its memory was not measured: the job ended within a second, or the engine does not tell", test=LONGER
        )
    for host, peak in measured.items():
        if peak * _MIB > _NEAR * limit:
            share = f"{100 * peak * _MIB / limit:.0f} %"
            message = f"on little data, the job needs {share} of the {readable_bytes(limit)} of memory"
            yield Finding(message=message, job=PLAIN.id, host=host if len(measured) > 1 else "")


MEMORY_NEAR_LIMIT = Rule(
    id="memory-near-limit",
    severity=Severity.WARNING,
    title="The job needs most of the memory of its instance",
    why=(
        "A container that needs more memory than its instance has is killed. The job of the check has little data, "
        "and usually needs less than the real one. The rule looks at the peak of memory without caches, and reports "
        "more than 80 percent of the memory of the instance type, or of `Local.Memory`."
    ),
    mark=Mark.SEEN,
    remedy="Choose a larger instance type, or read the data in pieces. smlocal describe shows large enough types.",
    check=_memory_near_limit,
    jobs=lambda _subject: (PLAIN,),
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", """#!/bin/sh\nawk 'BEGIN { x = sprintf("%90000000s", ""); system("sleep 4") }'\n"""),),
        good_files=(("train", """#!/bin/sh\nawk 'BEGIN { x = sprintf("%9000000s", ""); system("sleep 4") }'\n"""),),
        bad_job=JOB + "Local: {Memory: 64m}\n",
        output="the job was killed because it ran out of memory on little data",
    ),
)


RULES = (
    PIPE_MODE_FAILS,
    FAST_FILE_MODE_FAILS,
    LATE_NAMES_FAIL,
    LATE_FIFO_FAILS,
    WRITES_ELSEWHERE,
    MEMORY_NEAR_LIMIT,
)
