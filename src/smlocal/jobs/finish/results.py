"""The `Local` block of a finished job: facts known only on this machine, some of them from its containers."""

import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING, Any

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import EngineError
from smlocal.jobs.attempt import Attempt
from smlocal.jobs.decide.attempt_outcome import RestartPolicy
from smlocal.jobs.documents import (
    DECISION,
    FINAL_METRICS,
    NO_METRICS,
    NOT_SAVED,
    SERVE_PROGRAM,
    UNSENT,
    decision_document,
    published_document,
    unsent_document,
)
from smlocal.jobs.host.host_run import HostRun
from smlocal.jobs.kinds import running
from smlocal.jobs.planning.model import JobPlan, note_documents, placement
from smlocal.jobs.usage.usage_watch import usage_directory
from smlocal.terms.statuses import Ending

if TYPE_CHECKING:
    from smlocal.data.artifacts.job_artifacts import Artifacts
    from smlocal.data.artifacts.s3_publish import PublishResult
    from smlocal.jobs.finish.artifacts import unpacked_directory
    from smlocal.jobs.metrics.job_metrics import MetricsReport
    from smlocal.jobs.mirrored.saving import not_saved_document
else:
    not_saved_document = at_use("smlocal.jobs.mirrored.saving", "not_saved_document")
    Artifacts = at_use("smlocal.data.artifacts.job_artifacts", "Artifacts")
    unpacked_directory = at_use("smlocal.jobs.finish.artifacts", "unpacked_directory")

_PROVIDED = ("/opt/smlocal/", "/tmp/", "/dev/", "/proc/", "/sys/")  # noqa: S108 - a folder of the container
_OF_THE_ENGINE = frozenset(
    {"/etc", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/etc/mtab", "/run", "/run/.containerenv"}
)
_MOST = 1000


@dataclass(kw_only=True, slots=True)
class Results:
    """The results of a job, and its problems."""

    artifacts: Artifacts | None = None
    unpacked: bool = False
    """True if what the containers wrote could not be packed, and is kept."""
    unsaved: tuple[str, ...] = ()
    """The names of mirrored folders that could not be saved, or whose saving was stopped. They are kept."""
    published: "PublishResult | None" = None
    unsent: tuple[tuple[str, str], ...] = ()
    """Mirrored folders that could not be sent to S3: prefix and local folder."""
    metrics: "MetricsReport | None" = None
    """None for a job without metrics."""
    notes: list[str] = field(default_factory=list)
    """Notes on artifacts and checkpoints."""
    changes: dict[str, list[str]] = field(default_factory=dict)
    """Files that containers wrote outside the platform's folders and /tmp, by host, if they were to be listed."""
    failure_files: dict[str, str] = field(default_factory=dict)
    """The failure file of each host that wrote one and exited with 0, of a job that completed."""
    data_parallel: dict[str, Any] | None = None
    """The records of the ranks, for a job that got the stand-in for the data parallel library."""
    leftovers: list[str] = field(default_factory=list)
    docker_command: str | None = None
    """The command that starts the job again by hand, for a job that failed."""


def local_block(
    plan: JobPlan, attempt: Attempt, results: Results, *, policy: RestartPolicy, ended: Ending, reason: str | None
) -> dict[str, Any]:
    """Everything that a program may want to know beside the service's answer; `attempt` is the last one."""
    artifacts, credentials, metrics = results.artifacts, attempt.credentials, results.metrics
    serve_program = plan.image.facts.serve_program if plan.image.facts is not None else ""
    return {
        DECISION: decision_document(ended, reason),
        "Hosts": [_host(attempt, name) for name in attempt.runs],
        "FailedHost": attempt.outcome.first_failure,
        "Attempts": policy.attempts,
        "Interruptions": policy.interruptions,
        "Retries": policy.used,
        "Artifacts": {
            "Directory": f"{plan.output.directory}/output",
            "Model": artifacts and artifacts.model,
            "ModelBytes": artifacts.model_bytes if artifacts is not None else 0,
            "Output": artifacts and artifacts.output,
            "OutputBytes": artifacts.output_bytes if artifacts is not None else 0,
            "Notes": [*results.notes, *([] if artifacts is None else [*artifacts.notes, *map(str, artifacts.clashes)])],
            "Kept": unpacked_directory(plan) if results.unpacked else None,
            **({} if results.published is None else published_document(results.published)),
            **({UNSENT: unsent_document(results.unsent)} if results.unsent else {}),
            **(_not_saved(plan, results.unsaved) if results.unsaved else {}),
        },
        FINAL_METRICS: metrics.final if metrics is not None else [],
        "Metrics": metrics.document if metrics is not None else NO_METRICS,
        "Usage": _usage(plan, {end.host for end in attempt.outcome.ends if end.oom_killed}),
        **({} if credentials is None else {"Credentials": {"Mode": credentials.plan.mode, "Notes": credentials.notes}}),
        **({"Changes": results.changes} if plan.kept.changes else {}),
        **({} if results.data_parallel is None else {"DataParallel": results.data_parallel}),
        **({"FailureFiles": results.failure_files} if results.failure_files else {}),
        "Seconds": dict(attempt.context.phases.seconds),
        "Notes": note_documents(plan),
        "Image": plan.image.facts and plan.image.facts.id,
        **placement(plan),
        **({SERVE_PROGRAM: serve_program} if serve_program else {}),
        "AllowCpu": any(note.id == "allow-cpu" for note in plan.notes),
        "Hints": list(dict.fromkeys(attempt.hints)),
        "Explanation": attempt.explanation,
        "Leftovers": results.leftovers,
        **({"DockerCommand": results.docker_command} if results.docker_command is not None else {}),
    }


def _not_saved(plan: JobPlan, names: Collection[str]) -> dict[str, Any]:
    return {NOT_SAVED: not_saved_document(plan, names)}


def _usage(plan: JobPlan, killed: Collection[str]) -> dict[str, Any] | None:
    if not os.path.isdir(usage_directory(plan.job_directory)):
        return None  # short jobs are not measured
    return running(plan.platform).usage(plan, killed)


def _host(attempt: Attempt, name: str) -> dict[str, Any]:
    run = attempt.runs[name]
    end = next((end for end in attempt.outcome.ends if end.host == name), None)
    return {
        "Name": name,
        "Container": run.host.container,
        "Engine": run.plan.engine_of(run.host).address,
        "ExitCode": None if end is None else end.exit_code,
        "OomKilled": end is not None and end.oom_killed,
        "Signalled": end is not None and end.signalled,
        "Killed": end is not None and end.killed,
        "Gpus": None if run.host.accelerators.gpus is None else list(run.host.accelerators.gpus.ids) or "all",
        "Log": run.log if os.path.exists(run.log) else None,
        "Staging": {mount.target: staged.means for staged in run.staged for mount in staged.mounts},
        "StagingFellBack": run.fallback_reason,
    }


def changed_files(runs: Iterable[HostRun]) -> dict[str, list[str]]:
    """The changed files of each host whose container its engine can tell about; at most a thousand for each."""
    found = {}
    for run in runs:
        with suppress(EngineError):
            found[run.name] = outside(run.engine.changes(run.container.id), root=run.plan.folders.root)[:_MOST]
    return found


def outside(changed: Sequence[str], *, root: str) -> list[str]:
    """The files among the changed paths, and folders without changed files, that are the image's own matter.

    `root`: the folder that the platform provides.
    """
    provided = (f"{root}/", *_PROVIDED)
    parents = {parent for path in changed for parent in _parents(path)}
    return sorted(
        path
        for path in changed
        if path not in parents and path not in _OF_THE_ENGINE and not f"{path}/".startswith(provided)
    )


def _parents(path: str) -> Iterable[str]:
    while path != (path := os.path.dirname(path)):
        yield path
