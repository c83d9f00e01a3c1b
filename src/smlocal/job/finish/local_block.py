"""The `Local` block of a finished job: what is only known on this machine."""

import os.path
from typing import TYPE_CHECKING, Any, Protocol

from smlocal.contract.outcome.statuses import Ending
from smlocal.job.finish.describe import DECISION, FINAL_METRICS
from smlocal.job.finish.publish import UNSENT, published_document, unsent_document
from smlocal.job.finish.unpacked import kept_directory
from smlocal.job.usage.usage_paths import usage_directory
from smlocal.planning.document import note_documents

if TYPE_CHECKING:
    from smlocal.artifacts.collect import Artifacts
    from smlocal.artifacts.s3_publish import Published
    from smlocal.job.attempt import Attempt
    from smlocal.job.context import Context
    from smlocal.job.credential_endpoint import CredentialEndpoint
    from smlocal.job.decide.restarts import RestartPolicy
    from smlocal.job.metrics.metrics_search import MetricsReport
    from smlocal.planning.model import JobPlan


class EndedJob(Protocol):
    """What the block needs to know of a job; its supervisor knows it."""

    context: "Context"
    plan: "JobPlan"
    attempt: "Attempt"
    """The last one."""
    number: int
    """Attempts so far."""
    policy: "RestartPolicy"
    artifacts: "Artifacts | None"
    unpacked: bool
    published: "Published | None"
    unsent: tuple[tuple[str, str], ...]
    measured: "MetricsReport"
    credentials: "CredentialEndpoint | None"
    notes: list[str]
    leftovers: list[str]


def local_block(job: EndedJob, ended: Ending, reason: str | None) -> dict[str, Any]:
    """Everything a machine may want to know beside the service's answer."""
    artifacts, attempt, plan = job.artifacts, job.attempt, job.plan
    return {
        DECISION: {
            "Status": ended.status,
            "Secondary": ended.secondary,
            "Message": ended.message,
            "Reason": reason,
        },
        "Hosts": [_host(job, name) for name in attempt.runs],
        "Attempts": job.number,
        "Interruptions": job.policy.interruptions,
        "Retries": job.policy.used,
        "Artifacts": {
            "Directory": f"{plan.output.directory}/output",
            "Model": artifacts and artifacts.model,
            "ModelBytes": artifacts.model_bytes if artifacts is not None else 0,
            "Output": artifacts and artifacts.output,
            "OutputBytes": artifacts.output_bytes if artifacts is not None else 0,
            "Notes": [*job.notes, *_notes(artifacts)],
            "Kept": kept_directory(plan) if job.unpacked else None,
            **({} if job.published is None else published_document(job.published)),
            **({UNSENT: unsent_document(job.unsent)} if job.unsent else {}),
        },
        FINAL_METRICS: job.measured.final,
        "Metrics": {
            "Summaries": [summary.document for summary in job.measured.summaries],
            "Notes": job.measured.notes,
        },
        "Usage": _usage(job),
        **(
            {}
            if job.credentials is None
            else {"Credentials": {"Mode": job.credentials.plan.mode, "Notes": job.credentials.notes}}
        ),
        "Seconds": dict(job.context.phases.seconds),
        "Notes": note_documents(plan),
        "Image": plan.image_facts and plan.image_facts.id,
        "AllowCpu": any(note.id == "allow-cpu" for note in plan.notes),
        "Hints": list(dict.fromkeys(attempt.hints)),
        "Explanation": attempt.explanation,
        "Leftovers": job.leftovers,
    }


def _usage(job: EndedJob) -> dict[str, Any] | None:
    plan = job.plan
    if not os.path.isdir(usage_directory(plan.job_directory)):
        return None
    from smlocal.job.usage.usage_block import MeasuredHost, usage_block  # of a job that took long enough to be measured

    killed = {end.host for end in job.attempt.story.ends if end.oom_killed}
    hosts = [
        MeasuredHost(
            name=host.host.name,
            instance_type=host.host.instance_type,
            oom_killed=host.host.name in killed,
            gpus=host.gpus,
        )
        for host in plan.hosts
    ]
    return usage_block(plan.job_directory, hosts, machine_cpus=plan.machine.cpus)


def _notes(artifacts: "Artifacts | None") -> list[str]:
    return [] if artifacts is None else [*artifacts.notes, *map(str, artifacts.clashes)]


def _host(job: EndedJob, name: str) -> dict[str, Any]:
    run = job.attempt.runs[name]
    end = next((end for end in job.attempt.story.ends if end.host == name), None)
    return {
        "Name": name,
        "Container": run.host.container,
        "ExitCode": None if end is None else end.exit_code,
        "OomKilled": end is not None and end.oom_killed,
        "Signalled": end is not None and end.signalled,
        "Killed": end is not None and end.killed,
        "Gpus": None if run.host.devices is None else list(run.host.devices.ids) or "all",
        "Log": run.log if os.path.exists(run.log) else None,
        "Staging": {mount.target: staged.means for staged in run.staged for mount in staged.mounts},
        "StagingFellBack": run.fallback_reason,
    }
