"""Notes: where this job differs from the service, and possible problems there.

`cli/notes.md` has one row for each id.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.jobs.planning.aspects.accelerators.show import GPU_RULES
from smlocal.jobs.planning.aspects.credentials.show import CREDENTIAL_RULES
from smlocal.jobs.planning.aspects.data_parallel.plan import DDP_ENABLED, ENABLED
from smlocal.jobs.planning.aspects.engines.show import ENGINE_RULES
from smlocal.jobs.planning.aspects.image.show import IMAGE_RULES
from smlocal.jobs.planning.aspects.inputs.show import INPUT_RULES, inputs
from smlocal.jobs.planning.aspects.limits.show import LIMIT_RULES
from smlocal.jobs.planning.aspects.network.show import NETWORK_RULES
from smlocal.jobs.planning.aspects.output.show import MERGED_RULES, OUTPUT_RULES
from smlocal.jobs.planning.model import JobPlan, Note
from smlocal.jobs.planning.note_rule import NoteRule, RareRules, notes_of, some
from smlocal.jobs.planning.workload import Workload
from smlocal.sagemaker.contract import paths
from smlocal.sagemaker.contract.documents.config_files import INTERFACE
from smlocal.sagemaker.general_notes import PEER_GRACE, RELAXED_INSTANCE, RELAXED_ROLE, VPC

if TYPE_CHECKING:
    from smlocal.jobs.planning.aspects.debugging.show import DEBUG_RULES
    from smlocal.jobs.planning.aspects.metrics.show import METRIC_RULES
    from smlocal.jobs.planning.aspects.mirrored.show import COLLECTOR_RULES, MIRRORED_RULES
    from smlocal.jobs.planning.aspects.rules.show import RULE_RULES
    from smlocal.jobs.planning.aspects.warm_pool.show import WARM_POOL_RULES
    from smlocal.sagemaker.training.data_parallel import DISTRIBUTED_RULES
else:
    DEBUG_RULES = at_use("smlocal.jobs.planning.aspects.debugging.show", "DEBUG_RULES")
    METRIC_RULES = at_use("smlocal.jobs.planning.aspects.metrics.show", "METRIC_RULES")
    COLLECTOR_RULES = at_use("smlocal.jobs.planning.aspects.mirrored.show", "COLLECTOR_RULES")
    MIRRORED_RULES = at_use("smlocal.jobs.planning.aspects.mirrored.show", "MIRRORED_RULES")
    RULE_RULES = at_use("smlocal.jobs.planning.aspects.rules.show", "RULE_RULES")
    WARM_POOL_RULES = at_use("smlocal.jobs.planning.aspects.warm_pool.show", "WARM_POOL_RULES")
    DISTRIBUTED_RULES = at_use("smlocal.sagemaker.training.data_parallel", "DISTRIBUTED_RULES")


def notes(plan: JobPlan, work: Workload) -> tuple[Note, ...]:
    """Every note that applies to this job, warnings first."""
    return notes_of(RULES, plan, work)


def _relaxed_name(plan: JobPlan, work: Workload) -> str | None:
    return None if "TrainingJobName" in work.document.data else "TrainingJobName is missing; the service requires it"


def _relaxed_uri(plan: JobPlan, work: Workload) -> str | None:
    uris = [*(channel.uri for channel in inputs(plan)), plan.output.uri]
    if plan.mirrored.checkpoints is not None:
        uris.append(plan.mirrored.checkpoints.uri)
    uris += [each.uri for each in plan.mirrored.collectors]
    local = [uri for uri in uris if not uri.startswith(("s3://", "https://"))]
    return f"local paths are used where the service requires s3:// URIs ({some(local)})" if local else None


def _encryption(plan: JobPlan, work: Workload) -> str | None:
    publishes = plan.output.publish or plan.mirrored.published
    resources = plan.request.get("ResourceConfig") or {}
    keys = [
        name
        for name, value in (
            ("OutputDataConfig.KmsKeyId", None if publishes else work.output.kms_key),
            ("ResourceConfig.VolumeKmsKeyId", resources.get("VolumeKmsKeyId")),
            ("EnableInterContainerTrafficEncryption", plan.request.get("EnableInterContainerTrafficEncryption")),
        )
        if value
    ]
    return f"nothing is encrypted here; {', '.join(keys)} recorded only" if keys else None


def _recorded(plan: JobPlan, work: Workload) -> str | None:
    members = (
        "Tags",
        "ExperimentConfig",
        "RemoteDebugConfig",
        "InfraCheckConfig",
        "SessionChainingConfig",
        "MlflowConfig",
        "ModelPackageConfig",
    )
    given = [name for name in members if plan.request.get(name) is not None]
    return f"recorded, no effect here: {', '.join(given)}" if given else None


def _code(plan: JobPlan, work: Workload) -> str | None:
    if plan.inputs.code is None:
        return None
    return f"/opt/ml/code comes from {plan.inputs.code.listing.root}; on the service the toolkit downloads the code"


def _hyperparameters(plan: JobPlan) -> Mapping[str, str]:
    found: Mapping[str, str] = plan.request.get("HyperParameters") or {}
    return found


def _submitted(plan: JobPlan) -> str | None:
    """The place in S3 from which the toolkit would get its code; None if it has other code, or asks for none."""
    given = _hyperparameters(plan).get("sagemaker_submit_directory", "").strip('"')
    return given if given.startswith("s3://") and plan.inputs.code is None else None


def _submit_directory(plan: JobPlan, work: Workload) -> str | None:
    given = _submitted(plan)
    if given is None or "s3" in work.local.Endpoints:
        return None
    return f"the toolkit will download its code from {given}; use --code DIR (Local.Code) to run without S3"


def _isolated_code(plan: JobPlan, work: Workload) -> str | None:
    given = _submitted(plan)
    if given is None or not work.isolated:
        return None
    return f"the toolkit cannot download its code from {given}: with EnableNetworkIsolation, use a channel for it"


def _code_unread(plan: JobPlan, work: Workload) -> str | None:
    """Only what starts the program is known, not what it reads."""
    image = plan.image.facts
    if plan.inputs.code is None or image is None:
        return None
    program = plan.image.entrypoint or (*(image.entrypoint or ()), image.working_directory)
    hyperparameters, environment = _hyperparameters(plan), work.variables
    settings = {*hyperparameters, *environment, *image.environment}
    values = (*program, *(plan.image.command or ()), *environment.values(), *image.environment.values())
    if settings & _TOOLKIT_SETTINGS or any(paths.CODE in value for value in (*values, *hyperparameters.values())):
        return None
    scripts = sorted(path for path in plan.inputs.code.listing.paths if path.endswith(".py") and "/" not in path)
    script = next((name for name in ("train.py", "main.py", *scripts) if name in scripts), "SCRIPT")
    folder, source = paths.CODE, plan.inputs.code.listing.root
    return (
        f"nothing in the image's configuration or in the request names {folder}: the program of the image runs, and may"
        f" not read the files from {source}. To run that: --entrypoint 'python {folder}/{script}'"
    )


def _resource_config(plan: JobPlan, work: Workload) -> str | None:
    local, said = work.local, []
    if local.ResourceConfigKeys != "newest":
        said.append(f"resourceconfig.json has the keys of older jobs ({local.ResourceConfigKeys})")
    if local.NetworkInterface != INTERFACE:
        said.append(f"resourceconfig.json names the interface {local.NetworkInterface}, which is {INTERFACE} here")
    return "; ".join(said) or None


def _asks_for_data_parallel(plan: JobPlan, work: Workload) -> bool:
    return plan.data_parallel is not None or not {DDP_ENABLED, ENABLED}.isdisjoint(_hyperparameters(plan))


def _has_rules(plan: JobPlan, work: Workload) -> bool:
    return bool(work.rules or plan.rules.actions or plan.request.get("ProfilerRuleConfigurations"))


_TOOLKIT_SETTINGS = frozenset(
    {
        "SAGEMAKER_PROGRAM",
        "SAGEMAKER_SUBMIT_DIRECTORY",
        "SAGEMAKER_TRAINING_MODULE",
        "sagemaker_program",
        "sagemaker_submit_directory",
    }
)
"""With one of these, AWS's training toolkit starts a script of `/opt/ml/code`."""

RULES = (
    *INPUT_RULES,
    *IMAGE_RULES,
    NoteRule(id="code-unread", says=_code_unread, warning=True),
    NoteRule(id="submit-directory", says=_submit_directory, warning=True),
    *GPU_RULES,
    *LIMIT_RULES,
    RareRules(when=_asks_for_data_parallel, rules=DISTRIBUTED_RULES),
    NoteRule(id="relaxed-name", says=_relaxed_name),
    RELAXED_ROLE,
    RELAXED_INSTANCE,
    NoteRule(id="relaxed-uri", says=_relaxed_uri),
    *CREDENTIAL_RULES,
    *OUTPUT_RULES,
    RareRules(when=lambda plan, _: not plan.mirrored.empty, rules=MIRRORED_RULES),
    NoteRule(id="code-filled", says=_code),
    NoteRule(id="resource-config", says=_resource_config),
    PEER_GRACE,
    *MERGED_RULES,
    NoteRule(id="encryption", says=_encryption),
    VPC,
    *ENGINE_RULES,
    NoteRule(id="isolated-code", says=_isolated_code, warning=True),
    *NETWORK_RULES,
    RareRules(when=lambda plan, _: plan.debug, rules=DEBUG_RULES),
    RareRules(when=lambda _, work: work.metrics, rules=METRIC_RULES),
    RareRules(
        when=lambda plan, _: plan.mirrored.collectors or plan.request.get("ProfilerConfig"), rules=COLLECTOR_RULES
    ),
    RareRules(when=lambda plan, _: plan.warm_pool, rules=WARM_POOL_RULES),
    RareRules(when=_has_rules, rules=RULE_RULES),
    NoteRule(id="recorded", says=_recorded),
)
