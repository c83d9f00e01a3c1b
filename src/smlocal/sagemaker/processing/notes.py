"""Notes: where a processing job differs from the service, and possible problems."""

from collections.abc import Iterator

from smlocal.jobs.contract.masking import without_passwords
from smlocal.jobs.planning.aspects.accelerators.show import GPU_RULES
from smlocal.jobs.planning.aspects.credentials.show import CREDENTIAL_RULES
from smlocal.jobs.planning.aspects.debugging.show import DEBUG_RULES
from smlocal.jobs.planning.aspects.engines.show import ENGINE_RULES
from smlocal.jobs.planning.aspects.inputs.show import INPUT_RULES, inputs
from smlocal.jobs.planning.aspects.limits.show import LIMIT_RULES
from smlocal.jobs.planning.aspects.mirrored.show import MIRRORED_RULES
from smlocal.jobs.planning.aspects.network.show import NETWORK_RULES
from smlocal.jobs.planning.model import JobPlan, Note
from smlocal.jobs.planning.note_rule import some
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.sagemaker.notes import GENERAL_RULES
from smlocal.sagemaker.processing.job_file import ProcessingFile
from smlocal.sagemaker.processing.members import MEMBERS

_RULES = (
    *INPUT_RULES,
    *GPU_RULES,
    *LIMIT_RULES,
    *CREDENTIAL_RULES,
    *MIRRORED_RULES,
    *GENERAL_RULES,
    *ENGINE_RULES,
    *NETWORK_RULES,
    *DEBUG_RULES,
)


def notes(plan: JobPlan, job: ProcessingFile, equal: JobFile) -> tuple[Note, ...]:
    """Every note that applies, warnings first. `equal`: the training job that needs the same."""
    found = [(rule.id, rule.says(plan, equal), rule.warning) for rule in _RULES]
    found += [(name, text, False) for name, text in _own(plan, job)]
    applying = [Note(id=name, text=without_passwords(text), warning=warning) for name, text, warning in found if text]
    return tuple(sorted(applying, key=lambda note: not note.warning))


def _own(plan: JobPlan, job: ProcessingFile) -> Iterator[tuple[str, str]]:
    collectors = plan.mirrored.collectors
    if "ProcessingJobName" not in job.raw:
        yield "relaxed-name", "ProcessingJobName is missing; the service requires it"
    uris = [*(each.uri for each in inputs(plan)), *(each.uri for each in collectors)]
    if local := [uri for uri in uris if not uri.startswith(("s3://", "https://"))]:
        yield "relaxed-uri", f"local paths are used where the service requires s3:// URIs ({some(local)})"
    elsewhere = [
        f"{each.uri} in {each.directory}"
        for each in collectors
        if each.s3_prefix is None and each.uri.startswith(("s3://", "https://"))
    ]
    if elsewhere:
        yield "output-local", f"nothing is written to S3: {some(elsewhere)}"
    recorded = [name for name in MEMBERS.recorded(job.raw) if name not in {"RoleArn", "NetworkConfig.VpcConfig"}]
    if recorded:
        yield "recorded", f"recorded, no effect here: {', '.join(recorded)}"
