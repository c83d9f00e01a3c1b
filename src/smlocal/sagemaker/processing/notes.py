"""Notes: where a processing job differs from the service, and possible problems."""

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


def _own(plan: JobPlan, job: ProcessingFile) -> list[tuple[str, str | None]]:
    collectors = plan.mirrored.collectors
    uris = [*(each.uri for each in inputs(plan)), *(each.uri for each in collectors)]
    local = [uri for uri in uris if not uri.startswith(("s3://", "https://"))]
    elsewhere = [
        f"{each.uri} in {each.directory}"
        for each in collectors
        if each.s3_prefix is None and each.uri.startswith(("s3://", "https://"))
    ]
    recorded = [name for name in MEMBERS.recorded(job.raw) if name not in {"RoleArn", "NetworkConfig.VpcConfig"}]
    return [
        ("relaxed-name", None if "ProcessingJobName" in job.raw else "ProcessingJobName is missing; the service requires it"),
        ("relaxed-uri", f"local paths are used where the service requires s3:// URIs ({some(local)})" if local else None),
        ("processing-outputs", f"nothing is written to S3: {some(elsewhere)}" if elsewhere else None),
        ("recorded", f"recorded, no effect here: {', '.join(recorded)}" if recorded else None),
    ]
