"""Notes: where this job differs from the service, and possible problems there.

`docs/fidelity.md` has one row for each id.
"""

from collections.abc import Iterable

from smlocal.jobs.data_parallel.requested import DISTRIBUTED_RULES
from smlocal.jobs.planning.aspects.accelerators.show import GPU_RULES
from smlocal.jobs.planning.aspects.credentials.show import CREDENTIAL_RULES
from smlocal.jobs.planning.aspects.debugging.show import DEBUG_RULES
from smlocal.jobs.planning.aspects.engines.show import ENGINE_RULES
from smlocal.jobs.planning.aspects.image.show import IMAGE_RULES
from smlocal.jobs.planning.aspects.inputs.show import INPUT_RULES, inputs
from smlocal.jobs.planning.aspects.limits.show import LIMIT_RULES
from smlocal.jobs.planning.aspects.metrics.show import METRIC_RULES
from smlocal.jobs.planning.aspects.mirrored.show import COLLECTOR_RULES, MIRRORED_RULES
from smlocal.jobs.planning.aspects.network.show import NETWORK_RULES
from smlocal.jobs.planning.aspects.output.show import MERGED_RULES, OUTPUT_RULES
from smlocal.jobs.planning.aspects.rules.show import RULE_RULES
from smlocal.jobs.planning.aspects.warm_pool.show import WARM_POOL_RULES
from smlocal.jobs.planning.model import JobPlan, Note
from smlocal.jobs.planning.note_rule import NoteRule, some
from smlocal.sagemaker.contract.documents.config_files import INTERFACE
from smlocal.sagemaker.contract.instance_types import is_this_machine
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.terms.masking import without_passwords


def notes(plan: JobPlan, job: JobFile) -> tuple[Note, ...]:
    """Every note that applies to this job, warnings first."""
    return notes_of(RULES, plan, job)


def notes_of(
    rules: Iterable[NoteRule], plan: JobPlan, job: JobFile, own: Iterable[tuple[str, str]] = ()
) -> tuple[Note, ...]:
    """The notes of the rules that apply, and the kind's own ones (ids and texts); warnings first."""
    found = [(rule.id, rule.says(plan, job), rule.warning) for rule in rules]
    found += [(name, text, False) for name, text in own]
    applying = [Note(id=name, text=without_passwords(text), warning=warning) for name, text, warning in found if text]
    return tuple(sorted(applying, key=lambda note: not note.warning))


def _relaxed_instance(plan: JobPlan, job: JobFile) -> str | None:
    here = [host.host.instance_type for host in plan.hosts if is_this_machine(host.host.instance_type)]
    return (
        f"the instance type {some(here)} means this machine; the service requires a real instance type"
        if here
        else None
    )


def _relaxed_name(plan: JobPlan, job: JobFile) -> str | None:
    return None if "TrainingJobName" in job.raw else "TrainingJobName is missing; the service requires it"


def _relaxed_role(plan: JobPlan, job: JobFile) -> str | None:
    return None if job.request.RoleArn else "RoleArn is missing; the service requires it"


def _relaxed_uri(plan: JobPlan, job: JobFile) -> str | None:
    uris = [*(channel.uri for channel in inputs(plan)), plan.output.uri]
    if plan.mirrored.checkpoints is not None:
        uris.append(plan.mirrored.checkpoints.uri)
    uris += [each.uri for each in plan.mirrored.collectors]
    local = [uri for uri in uris if not uri.startswith(("s3://", "https://"))]
    return f"local paths are used where the service requires s3:// URIs ({some(local)})" if local else None


def _encryption(plan: JobPlan, job: JobFile) -> str | None:
    request = job.request
    publishes = plan.output.publish or plan.mirrored.published
    keys = [
        name
        for name, value in (
            ("OutputDataConfig.KmsKeyId", None if publishes else request.OutputDataConfig.KmsKeyId),
            ("ResourceConfig.VolumeKmsKeyId", request.ResourceConfig and request.ResourceConfig.VolumeKmsKeyId),
            ("EnableInterContainerTrafficEncryption", request.EnableInterContainerTrafficEncryption),
        )
        if value
    ]
    return f"nothing is encrypted here; {', '.join(keys)} recorded only" if keys else None


def _vpc(plan: JobPlan, job: JobFile) -> str | None:
    given = job.request.VpcConfig is not None
    return "VpcConfig is recorded; the container is on a network of this engine" if given else None


def _recorded(plan: JobPlan, job: JobFile) -> str | None:
    members = (
        "Tags",
        "ExperimentConfig",
        "RemoteDebugConfig",
        "InfraCheckConfig",
        "SessionChainingConfig",
        "MlflowConfig",
        "ModelPackageConfig",
    )
    given = [name for name in members if getattr(job.request, name) is not None]
    return f"recorded, no effect here: {', '.join(given)}" if given else None


def _code(plan: JobPlan, job: JobFile) -> str | None:
    if plan.inputs.code is None:
        return None
    return f"/opt/ml/code comes from {plan.inputs.code.listing.root}; on the service the toolkit downloads the code"


def _submit_directory(plan: JobPlan, job: JobFile) -> str | None:
    given = (job.request.HyperParameters or {}).get("sagemaker_submit_directory", "").strip('"')
    if not given.startswith("s3://") or plan.inputs.code is not None or "s3" in job.local.Endpoints:
        return None
    return f"the toolkit will download its code from {given}; use --code DIR (Local.Code) to run without S3"


def _peer_grace(plan: JobPlan, job: JobFile) -> str | None:
    if len(plan.hosts) == 1:
        return None
    return f"when a host fails, the others get SIGTERM and {plan.stop.peer_grace} s (inferred; Local.PeerGraceSeconds)"


def _resource_config(plan: JobPlan, job: JobFile) -> str | None:
    local, said = job.local, []
    if local.ResourceConfigKeys != "newest":
        said.append(f"resourceconfig.json has the keys of older jobs ({local.ResourceConfigKeys})")
    if local.NetworkInterface != INTERFACE:
        said.append(f"resourceconfig.json names the interface {local.NetworkInterface}, which is {INTERFACE} here")
    return "; ".join(said) or None


GENERAL_RULES = (
    NoteRule(id="relaxed-role", says=_relaxed_role),
    NoteRule(id="relaxed-instance", says=_relaxed_instance),
    NoteRule(id="peer-grace", says=_peer_grace),
    NoteRule(id="vpc", says=_vpc),
)
"""Those that other kinds of jobs have too."""

RULES = (
    *INPUT_RULES,
    *IMAGE_RULES,
    NoteRule(id="submit-directory", says=_submit_directory, warning=True),
    *GPU_RULES,
    *LIMIT_RULES,
    *DISTRIBUTED_RULES,
    NoteRule(id="relaxed-name", says=_relaxed_name),
    NoteRule(id="relaxed-role", says=_relaxed_role),
    NoteRule(id="relaxed-instance", says=_relaxed_instance),
    NoteRule(id="relaxed-uri", says=_relaxed_uri),
    *CREDENTIAL_RULES,
    *OUTPUT_RULES,
    *MIRRORED_RULES,
    NoteRule(id="code-filled", says=_code),
    NoteRule(id="resource-config", says=_resource_config),
    NoteRule(id="peer-grace", says=_peer_grace),
    *MERGED_RULES,
    NoteRule(id="encryption", says=_encryption),
    NoteRule(id="vpc", says=_vpc),
    *ENGINE_RULES,
    *NETWORK_RULES,
    *DEBUG_RULES,
    *METRIC_RULES,
    *COLLECTOR_RULES,
    *WARM_POOL_RULES,
    *RULE_RULES,
    NoteRule(id="recorded", says=_recorded),
)
