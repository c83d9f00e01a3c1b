"""Notes on what differs from the service for a job."""

from collections.abc import Iterator, Sequence

from smlocal.planning.model import JobPlan, Note
from smlocal.platforms.ai_platform.coverage.lookup import recorded_members
from smlocal.platforms.ai_platform.jobfile.job_file import JobFile
from smlocal.platforms.ai_platform.replicas import Replica


def notes(plan: JobPlan, job: JobFile, replicas: Sequence[Replica], *, absent: Sequence[str]) -> tuple[Note, ...]:
    """All notes, in the order in which they are shown. `absent`: images that are not on the engine."""
    missing = [
        Note(id="image-absent", text=f"{image} is not available locally; a run pulls it first") for image in absent
    ]
    return (*missing, *(Note(id=name, text=text) for name, text in _notes(plan, job, replicas)))


def _notes(plan: JobPlan, job: JobFile, replicas: Sequence[Replica]) -> Iterator[tuple[str, str]]:
    recorded = recorded_members(job.kind, job.request)
    if recorded:
        yield "recorded", f"recorded, without an effect here: {', '.join(recorded)}"
    mapped = [f"{tree.uri} is {tree.listing.root}" for tree in plan.trees]
    if mapped:
        yield "buckets", f"local folders stand for buckets: {', '.join(mapped)}"
    machines = {each.machine.name for each in replicas}
    if not job.local.EnforceInstanceLimits:
        yield (
            "machines",
            (
                f"replicas have all processors and memory of this machine, not those of {', '.join(sorted(machines))};"
                " Local.EnforceInstanceLimits limits them"
            ),
        )
    without = [
        each.name for each, host in zip(replicas, plan.hosts, strict=True) if each.accelerators and not host.devices
    ]
    if without:
        yield "allow-cpu", f"without the accelerators that the service gives them: {', '.join(without)}"
