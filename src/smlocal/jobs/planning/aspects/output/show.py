"""Notes on where results go."""

from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule
from smlocal.jobs.planning.workload import Workload

_LITTLE = 100 << 20
"""In bytes. Most models need more."""


def _output_local(plan: JobPlan, work: Workload) -> str | None:
    if not plan.output.uri.startswith(("s3://", "https://")):
        return None
    if plan.output.publish:
        return None
    prefix = f"{plan.output.uri.rstrip('/')}/{plan.name}/output/"
    return f"nothing is written to {prefix}; artifacts go to {plan.output.directory}/output"


def _output_small(plan: JobPlan, work: Workload) -> str | None:
    free = plan.output.free
    if free is None or free >= _LITTLE:
        return None
    return (
        f"only {free / (1 << 20):.0f} MiB are free for artifacts in {plan.output.directory}; what does not fit is kept "
        "until smlocal pack packs it"
    )


def _output_published(plan: JobPlan, work: Workload) -> str | None:
    if not plan.output.publish:
        return None
    prefix = f"{plan.output.uri.rstrip('/')}/{plan.name}/output/"
    return f"artifacts are uploaded to {prefix}; existing objects of the same names are replaced"


def _nothing_to_publish(plan: JobPlan, work: Workload) -> str | None:
    if not work.local.Publish or plan.output.publish or plan.mirrored.published:
        return None
    return f"Publish has no effect: {plan.output.uri} is not in S3"


def _output_merged(plan: JobPlan, work: Workload) -> str | None:
    if len(plan.hosts) == 1 or not plan.output.merge_output:
        return None
    return "output.tar.gz contains the files of all hosts; in 2020 the service kept only those of algo-1"


OUTPUT_RULES = (
    NoteRule(id="output-local", says=_output_local),
    NoteRule(id="output-small", says=_output_small, warning=True),
    NoteRule(id="output-published", says=_output_published, warning=True),
    NoteRule(id="publish-unused", says=_nothing_to_publish),
)
MERGED_RULES = (NoteRule(id="output-merged", says=_output_merged),)
