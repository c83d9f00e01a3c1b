"""Notes: where this job differs from the service, and what may go wrong there.

`docs/fidelity.md` has one row for each id.
"""

from smlocal.contract.secrets.urls import without_passwords
from smlocal.planning.model import JobPlan, Note
from smlocal.platforms.sagemaker.contract.documents.hosts import INTERFACE
from smlocal.platforms.sagemaker.contract.instance_types import is_this_machine
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.platforms.sagemaker.planning.distributed_notes import DISTRIBUTED_RULES
from smlocal.platforms.sagemaker.planning.engine_notes import ENGINE_RULES
from smlocal.platforms.sagemaker.planning.gpu_notes import GPU_RULES
from smlocal.platforms.sagemaker.planning.image_notes import IMAGE_RULES
from smlocal.platforms.sagemaker.planning.input_notes import INPUT_RULES
from smlocal.platforms.sagemaker.planning.limit_notes import LIMIT_RULES
from smlocal.platforms.sagemaker.planning.metric_notes import METRIC_RULES
from smlocal.platforms.sagemaker.planning.network_notes import NETWORK_RULES
from smlocal.platforms.sagemaker.planning.note_rule import NoteRule, inputs, some

_LITTLE = 100 << 20
"""In bytes. Most models need more."""


def notes(plan: JobPlan, job: JobFile) -> tuple[Note, ...]:
    """Every note that applies to this job, warnings first."""
    found = [(rule, rule.says(plan, job)) for rule in RULES]
    applying = [
        Note(id=rule.id, text=without_passwords(text), warning=rule.warning) for rule, text in found if text is not None
    ]
    return tuple(sorted(applying, key=lambda note: not note.warning))


def _relaxed_instance(plan: JobPlan, job: JobFile) -> str | None:
    here = [host.host.instance_type for host in plan.hosts if is_this_machine(host.host.instance_type)]
    return (
        f"the instance type {some(here)} means this machine; the service requires a real instance type"
        if here
        else None
    )


def _role(plan: JobPlan, job: JobFile) -> str | None:
    if not job.request.RoleArn or plan.credentials is not None:
        return None
    return "RoleArn is recorded; the container gets no credentials"


def _credentials(plan: JobPlan, job: JobFile) -> str | None:
    if plan.credentials is None:
        if job.local.Credentials == "none":
            return None
        return "EnableNetworkIsolation: the container gets no credentials; Local.Credentials is ignored"
    if plan.credentials.mode == "inherit":
        return "the container gets your own AWS credentials and permissions; on the service, those of RoleArn"
    return "the container gets credentials of RoleArn, which you assume; smlocal uses your own for S3"


def _relaxed_name(plan: JobPlan, job: JobFile) -> str | None:
    return None if "TrainingJobName" in job.raw else "TrainingJobName is missing; the service requires it"


def _relaxed_role(plan: JobPlan, job: JobFile) -> str | None:
    return None if job.request.RoleArn else "RoleArn is missing; the service requires it"


def _relaxed_uri(plan: JobPlan, job: JobFile) -> str | None:
    uris = [*(channel.uri for channel in inputs(plan)), plan.output.uri]
    if plan.checkpoints is not None:
        uris.append(plan.checkpoints.uri)
    uris += [each.uri for each in plan.collectors]
    local = [uri for uri in uris if not uri.startswith(("s3://", "https://"))]
    return f"local paths are used where the service requires s3:// URIs ({some(local)})" if local else None


def _output(plan: JobPlan, job: JobFile) -> str | None:
    if not plan.output.uri.startswith(("s3://", "https://")):
        return None
    if plan.output.publish:
        return None
    prefix = f"{plan.output.uri.rstrip('/')}/{plan.name}/output/"
    return f"nothing is written to {prefix}; artifacts go to {plan.output.directory}/output"


def _output_small(plan: JobPlan, job: JobFile) -> str | None:
    free = plan.output.free
    if free is None or free >= _LITTLE:
        return None
    return (
        f"only {free / (1 << 20):.0f} MiB are free for artifacts in {plan.output.directory}; what does not fit is kept "
        "until smlocal pack packs it"
    )


def _published(plan: JobPlan, job: JobFile) -> str | None:
    if not plan.output.publish:
        return None
    prefix = f"{plan.output.uri.rstrip('/')}/{plan.name}/output/"
    return f"artifacts are uploaded to {prefix}; existing objects of the same names are replaced"


def _nothing_to_publish(plan: JobPlan, job: JobFile) -> str | None:
    if not job.local.Publish or plan.output.publish or plan.published_mirrors:
        return None
    return f"Publish has no effect: {plan.output.uri} is not in S3"


def _mirrors_published(plan: JobPlan, job: JobFile) -> str | None:
    said = [f"{member} is mirrored to {prefix}" for member, prefix in plan.published_mirrors]
    if not said:
        return None
    return f"{'; '.join(said)}: files that the job writes or deletes are replaced or deleted there"


def _checkpoints(plan: JobPlan, job: JobFile) -> str | None:
    if plan.checkpoints is None or plan.checkpoints.s3_prefix is not None:
        return None
    if not plan.checkpoints.uri.startswith(("s3://", "https://")):
        return None
    return f"nothing is written to {plan.checkpoints.uri}; checkpoints are mirrored to {plan.checkpoints.directory}"


def _encryption(plan: JobPlan, job: JobFile) -> str | None:
    request = job.request
    publishes = plan.output.publish or plan.published_mirrors
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


def _collectors(plan: JobPlan, job: JobFile) -> str | None:
    """No note for empty configs: version 2 of the SageMaker SDK sends them with every job."""
    hook, profiler = job.request.DebugHookConfig, job.request.ProfilerConfig
    empty = hook is not None and not hook.CollectionConfigurations and not hook.HookParameters
    said = [
        f"{each.member}: nothing is written to {each.uri}; files go to {each.directory}"
        for each in plan.collectors
        if each.kept and each.s3_prefix is None and not (empty and each.member == "DebugHookConfig")
    ]
    asked = profiler is not None and not profiler.DisableProfiler
    if profiler is not None and asked and (profiler.ProfilingIntervalInMilliseconds or profiler.ProfilingParameters):
        said.append("ProfilerConfig: the config file is written; nothing is copied to the S3 path")
    return "; ".join(said) or None


def _rules_hook(plan: JobPlan, job: JobFile) -> str | None:
    if not plan.rules or any(each.end_marker is not None for each in plan.collectors):
        return None
    return "the job saves no tensors for its debugger rules: it has no DebugHookConfig"


def _rules_unknown(plan: JobPlan, job: JobFile) -> str | None:
    return "; ".join(f"{rule.name}: {rule.unknown}" for rule in plan.rules if rule.unknown) or None


def _rules_action(plan: JobPlan, job: JobFile) -> str | None:
    named = {rule.RuleConfigurationName for rule in job.request.DebugRuleConfigurations or ()}
    unknown = [name for name in plan.on_rule if name != "*" and name not in named]
    return f"Local.OnRule names what is no debugger rule of the job: {some(unknown)}" if unknown else None


def _why_no_rules(plan: JobPlan, job: JobFile) -> str:
    if not job.local.Rules:
        return "Local.Rules is false"
    return "the job has several engines" if plan.engines else "the engine does not see the folders of this machine"


def _rules(plan: JobPlan, job: JobFile) -> str | None:
    said = []
    debugger, profiler = job.request.DebugRuleConfigurations, job.request.ProfilerRuleConfigurations
    if debugger and not plan.rules:
        said.append(f"debugger rules are recorded, not evaluated: {_why_no_rules(plan, job)}")
    if any(rule.needs_evaluator for rule in plan.rules):
        said.append(
            "the images of AWS that evaluate debugger rules are closed: smlocal evaluates them with rules of its "
            "own, made from their documentation"
        )
    if recorded := [rule.recorded for rule in plan.rules if rule.recorded]:
        said.append(f"built-in rules that are recorded, not evaluated: {', '.join(recorded)}")
    if profiler:
        said.append("profiler rules are recorded, not evaluated")
    return "; ".join(said) or None


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
    if plan.code is None:
        return None
    return f"/opt/ml/code comes from {plan.code.listing.root}; on the service the toolkit downloads the code"


def _submit_directory(plan: JobPlan, job: JobFile) -> str | None:
    given = (job.request.HyperParameters or {}).get("sagemaker_submit_directory", "").strip('"')
    if not given.startswith("s3://") or plan.code is not None or "s3" in job.local.Endpoints:
        return None
    return f"the toolkit will download its code from {given}; use --code DIR (Local.Code) to run without S3"


def _peer_grace(plan: JobPlan, job: JobFile) -> str | None:
    if len(plan.hosts) == 1:
        return None
    return f"when a host fails, the others get SIGTERM and {plan.stop.peer_grace} s (inferred; Local.PeerGraceSeconds)"


def _merged_output(plan: JobPlan, job: JobFile) -> str | None:
    if len(plan.hosts) == 1 or not plan.output.merge_output:
        return None
    return "output.tar.gz contains the files of all hosts; in 2020 the service kept only those of algo-1"


def _resource_config(plan: JobPlan, job: JobFile) -> str | None:
    local, said = job.local, []
    if local.ResourceConfigKeys != "newest":
        said.append(f"resourceconfig.json has the keys of older jobs ({local.ResourceConfigKeys})")
    if local.NetworkInterface != INTERFACE:
        said.append(f"resourceconfig.json names the interface {local.NetworkInterface}, which is {INTERFACE} here")
    return "; ".join(said) or None


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
    NoteRule(id="role", says=_role),
    NoteRule(id="credentials", says=_credentials),
    NoteRule(id="output-local", says=_output),
    NoteRule(id="output-small", says=_output_small, warning=True),
    NoteRule(id="output-published", says=_published, warning=True),
    NoteRule(id="mirrors-published", says=_mirrors_published, warning=True),
    NoteRule(id="publish-unused", says=_nothing_to_publish),
    NoteRule(id="checkpoints", says=_checkpoints),
    NoteRule(id="code-filled", says=_code),
    NoteRule(id="resource-config", says=_resource_config),
    NoteRule(id="peer-grace", says=_peer_grace),
    NoteRule(id="output-merged", says=_merged_output),
    NoteRule(id="encryption", says=_encryption),
    NoteRule(id="vpc", says=_vpc),
    *ENGINE_RULES,
    *NETWORK_RULES,
    *METRIC_RULES,
    NoteRule(id="collectors", says=_collectors),
    NoteRule(id="rules-hook", says=_rules_hook, warning=True),
    NoteRule(id="rules-unknown", says=_rules_unknown, warning=True),
    NoteRule(id="rules-action", says=_rules_action, warning=True),
    NoteRule(id="rules", says=_rules),
    NoteRule(id="recorded", says=_recorded),
)
