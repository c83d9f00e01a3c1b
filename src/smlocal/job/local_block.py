"""The `Local` block of a finished job: what is only known on this machine."""

import os.path
from typing import TYPE_CHECKING, Any

from smlocal.plan.document import note_documents

if TYPE_CHECKING:
    from smlocal.job.supervisor import Supervisor


def local_block(job: "Supervisor") -> dict[str, Any]:
    """Everything a machine may want to know beside the service's answer."""
    artifacts = job.artifacts
    return {
        "Hosts": [_host(job, name) for name in job.runs],
        "Artifacts": {
            "Directory": f"{job.plan.output.directory}/output",
            "Model": artifacts and artifacts.model,
            "ModelBytes": artifacts.model_bytes if artifacts is not None else 0,
            "Output": artifacts and artifacts.output,
            "OutputBytes": artifacts.output_bytes if artifacts is not None else 0,
            "Notes": [*artifacts.notes, *map(str, artifacts.clashes)] if artifacts is not None else [],
        },
        "Seconds": dict(job.phases.seconds),
        "Notes": note_documents(job.plan),
        "Image": job.plan.image_facts and job.plan.image_facts.id,
        "AllowCpu": any(note.id == "allow-cpu" for note in job.plan.notes),
        "Hints": list(dict.fromkeys(job.hints)),
        "Explanation": job.explanation,
        "Leftovers": job.leftovers,
    }


def _host(job: "Supervisor", name: str) -> dict[str, Any]:
    run = job.runs[name]
    end = next((end for end in job.story.ends if end.host == name), None)
    return {
        "Name": name,
        "Container": run.host.container,
        "ExitCode": None if end is None else end.exit_code,
        "OomKilled": end is not None and end.oom_killed,
        "Signalled": end is not None and end.signalled,
        "Killed": end is not None and end.killed,
        "Log": run.log if os.path.exists(run.log) else None,
        "Staging": {mount.target: staged.means for staged in run.staged for mount in staged.mounts},
        "StagingFellBack": run.fell_back,
    }
