"""Where this job differs from the service, and what may go wrong there: each note has an id and a predicate.

`docs/fidelity.md` has one row for each id.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from smlocal.contract.config_files import effective_mode
from smlocal.contract.instance_types import instance_type
from smlocal.contract.job_file import JobFile
from smlocal.plan.model import JobPlan, Note, PipePlan, TreePlan

_SHOWN = 3
_IN_PLACE = {"overlay", "bind"}


@dataclass(frozen=True, kw_only=True, slots=True)
class NoteRule:
    """One possible note: the sentence when it applies, None when it does not."""

    id: str
    says: Callable[[JobPlan, JobFile], str | None]
    warning: bool = False


def notes(plan: JobPlan, job: JobFile) -> tuple[Note, ...]:
    """Every note that applies to this job, warnings first."""
    found = [(rule, rule.says(plan, job)) for rule in RULES]
    applying = [Note(id=rule.id, text=text, warning=rule.warning) for rule, text in found if text is not None]
    return tuple(sorted(applying, key=lambda note: not note.warning))


def _instance_size(plan: JobPlan, job: JobFile) -> str | None:
    size, machine = instance_type(_type(plan)), plan.machine
    # A machine has a little less memory than its type says: the kernel and the firmware keep some.
    if size.vcpus == machine.cpus and 0 <= size.memory_mib - machine.memory_mib <= size.memory_mib // 10:
        return None
    return (
        f"CPU and memory of {size.name} ({size.vcpus} vCPU, {size.memory_mib // 1024} GiB) are not enforced: "
        f"this machine has {machine.cpus} CPUs and {machine.memory_mib // 1024} GiB"
    )


def _type(plan: JobPlan) -> str:
    return plan.hosts[0].host.instance_type


def _allow_cpu(plan: JobPlan, job: JobFile) -> str | None:
    size = instance_type(_type(plan))
    if not job.local.AllowCpu or not size.gpus:
        return None
    return f"{size.name} has {size.gpus} GPU{'s' * (size.gpus != 1)}; this run has none, as allowed by --allow-cpu"


def _role(plan: JobPlan, job: JobFile) -> str | None:
    return "RoleArn is recorded; the container gets no credentials" if job.request.RoleArn else None


def _relaxed_name(plan: JobPlan, job: JobFile) -> str | None:
    return None if "TrainingJobName" in job.raw else "TrainingJobName is left out; the service needs one"


def _relaxed_role(plan: JobPlan, job: JobFile) -> str | None:
    return None if job.request.RoleArn else "RoleArn is left out; the service needs one"


def _relaxed_uri(plan: JobPlan, job: JobFile) -> str | None:
    uris = [*(channel.uri for channel in _inputs(plan)), plan.output.uri]
    if plan.checkpoints is not None:
        uris.append(plan.checkpoints.uri)
    local = [uri for uri in uris if not uri.startswith(("s3://", "https://"))]
    return f"local paths stand where the service needs s3:// ({_some(local)})" if local else None


def _mapped_sources(plan: JobPlan, job: JobFile) -> str | None:
    mapped = [
        f"{channel.uri} from {channel.listing.root}"
        for channel in _inputs(plan)
        if channel.uri.startswith(("s3://", "https://")) and not channel.listing.remote
    ]
    return f"read from this machine through Local.Sources: {_some(mapped)}" if mapped else None


def _own_credentials(plan: JobPlan, job: JobFile) -> str | None:
    read = [channel.uri for channel in _inputs(plan) if channel.listing.remote]
    return f"read from S3 with the credentials of this machine, not the role's: {_some(read)}" if read else None


def _download_fails(plan: JobPlan, job: JobFile) -> str | None:
    failing = [f"{c.name}: {c.listing.failure}" for c in _inputs(plan) if c.listing.failure is not None]
    return f"the download will fail as it would on the service: {_some(failing)}" if failing else None


def _file_systems(plan: JobPlan, job: JobFile) -> str | None:
    mounted = [f"{c.uri} is {c.listing.root}" for c in plan.trees if c.mode == "FileSystem"]
    return f"folders of this machine stand for file systems, nothing is copied: {_some(mounted)}" if mounted else None


def _file_system_vpc(plan: JobPlan, job: JobFile) -> str | None:
    mounted = [c.uri for c in plan.trees if c.mode == "FileSystem"]
    if not mounted or job.request.VpcConfig is not None:
        return None
    return f"a job that mounts a file system needs a VpcConfig on the service: {_some(mounted)}"


def _fastfile_downloaded(plan: JobPlan, job: JobFile) -> str | None:
    whole = [f"{c.name} ({c.reason})" for c in plan.trees if c.mode == "FastFile" and c.reason is not None]
    return (
        f"downloaded whole before the start, and then read-only, instead of streamed: {_some(whole)}" if whole else None
    )


def _fastfile_sharded(plan: JobPlan, job: JobFile) -> str | None:
    sharded = [
        channel.ChannelName
        for channel in job.request.InputDataConfig or ()
        if effective_mode(channel, job.request) == "FastFile"
        and channel.DataSource.S3DataSource is not None
        and channel.DataSource.S3DataSource.S3DataDistributionType == "ShardedByS3Key"
    ]
    return f"FastFile is sharded as File mode is (inferred): {_some(sharded)}" if sharded else None


def _shuffled(plan: JobPlan, job: JobFile) -> str | None:
    shuffled = [pipe.name for pipe in plan.pipes if pipe.seed is not None]
    return f"shuffled by a permutation of our own; the service's is not known: {_some(shuffled)}" if shuffled else None


def _shuffle_ignored(plan: JobPlan, job: JobFile) -> str | None:
    piped = {pipe.name for pipe in plan.pipes}
    given = [c.ChannelName for c in job.request.InputDataConfig or () if c.ShuffleConfig is not None]
    ignored = [name for name in given if name not in piped]
    return f"ShuffleConfig has no effect outside Pipe mode (inferred): {_some(ignored)}" if ignored else None


def _attribute_text(plan: JobPlan, job: JobFile) -> str | None:
    sent = [pipe.name for pipe in plan.pipes if pipe.attributes]
    return f"strings of an augmented manifest are sent without their quotes (inferred): {_some(sent)}" if sent else None


def _unused_sources(plan: JobPlan, job: JobFile) -> str | None:
    uris = [channel.uri for channel in _inputs(plan)]
    # What a manifest names may lie anywhere, and a file system is mapped by its id.
    uris += [channel.listing.bucket_uri + channel.listing.prefix for channel in _inputs(plan)]
    uris += [tree.uri.partition(":")[0] for tree in plan.trees if tree.mode == "FileSystem"]
    if any(pipe.attributes for pipe in plan.pipes):
        return None
    if plan.checkpoints is not None:
        uris.append(plan.checkpoints.uri)
    uris.append((job.request.HyperParameters or {}).get("sagemaker_submit_directory", "").strip('"'))
    folders = {key: key.rstrip("/") for key in job.local.Sources}
    unused = [
        key for key, folder in folders.items() if not any(u == folder or u.startswith(f"{folder}/") for u in uris)
    ]
    return f"nothing is read through these entries of Local.Sources: {_some(unused)}" if unused else None


def _output(plan: JobPlan, job: JobFile) -> str | None:
    if not plan.output.uri.startswith(("s3://", "https://")):
        return None
    prefix = f"{plan.output.uri.rstrip('/')}/{plan.name}/output/"
    return f"nothing is written to {prefix}; artifacts go to {plan.output.directory}/output"


def _checkpoints(plan: JobPlan, job: JobFile) -> str | None:
    if plan.checkpoints is None:
        return None
    where = plan.checkpoints.directory
    return f"checkpoints are saved to {where} at an interruption and at the end; on the service all the while"


def _volume(plan: JobPlan, job: JobFile) -> str | None:
    resources = job.request.ResourceConfig
    given = resources is not None and resources.VolumeSizeInGB is not None
    return "VolumeSizeInGB is recorded, not enforced here" if given else None


def _encryption(plan: JobPlan, job: JobFile) -> str | None:
    request = job.request
    keys = [
        name
        for name, value in (
            ("OutputDataConfig.KmsKeyId", request.OutputDataConfig.KmsKeyId),
            ("ResourceConfig.VolumeKmsKeyId", request.ResourceConfig and request.ResourceConfig.VolumeKmsKeyId),
            ("EnableInterContainerTrafficEncryption", request.EnableInterContainerTrafficEncryption),
        )
        if value
    ]
    return f"nothing is encrypted here: {', '.join(keys)} recorded" if keys else None


def _vpc(plan: JobPlan, job: JobFile) -> str | None:
    given = job.request.VpcConfig is not None
    return "VpcConfig is recorded; the container is on a network of this engine" if given else None


def _metrics(plan: JobPlan, job: JobFile) -> str | None:
    specification = job.request.AlgorithmSpecification
    given = specification is not None and bool(specification.MetricDefinitions)
    return "MetricDefinitions reach the container; values are not yet taken from the log" if given else None


def _collectors(plan: JobPlan, job: JobFile) -> str | None:
    names = [
        name
        for name in ("DebugHookConfig", "TensorBoardOutputConfig", "ProfilerConfig")
        if getattr(job.request, name) is not None
    ]
    if not names:
        return None
    return f"{', '.join(names)}: the config file is written; nothing is copied to the S3 path"


def _rules(plan: JobPlan, job: JobFile) -> str | None:
    given = job.request.DebugRuleConfigurations or job.request.ProfilerRuleConfigurations
    return "debugger and profiler rules are recorded, not evaluated" if given else None


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
    return f"recorded, without effect here: {', '.join(given)}" if given else None


def _modes(plan: JobPlan, job: JobFile) -> str | None:
    trees = [tree.name for tree in plan.trees if tree.staging in _IN_PLACE and tree.listing.unlike_service_modes]
    if not trees:
        return None
    return f"files in {_some(trees)} keep their owner and mode; on the service they are root's, mode 0644"


def _empty_directories(plan: JobPlan, job: JobFile) -> str | None:
    trees = [tree.name for tree in plan.trees if tree.staging in _IN_PLACE and _has_empty(tree)]
    return f"empty folders in {_some(trees)} are visible; S3 knows none" if trees else None


def _has_empty(tree: TreePlan) -> bool:
    # Those of objects in S3 are folder markers, which have folders on the service too.
    return bool(tree.listing.directories) and not tree.listing.remote


def _skipped(plan: JobPlan, job: JobFile) -> str | None:
    found: list[TreePlan | PipePlan] = [*_trees(plan), *plan.pipes]
    skipped = [f"{tree.name}: {reason}" for tree in found for reason in tree.listing.skipped]
    return f"not objects, as an upload would leave them out: {_some(skipped)}" if skipped else None


def _copied(plan: JobPlan, job: JobFile) -> str | None:
    copied = [f"{tree.name} ({tree.reason})" for tree in _trees(plan) if tree.staging == "copy" and tree.reason]
    return f"copied before the start instead of shown copy-on-write: {_some(copied)}" if copied else None


def _code(plan: JobPlan, job: JobFile) -> str | None:
    if plan.code is None:
        return None
    return f"/opt/ml/code is filled from {plan.code.listing.root}; on the service the toolkit fetches it itself"


def _submit_directory(plan: JobPlan, job: JobFile) -> str | None:
    given = (job.request.HyperParameters or {}).get("sagemaker_submit_directory", "").strip('"')
    if not given.startswith("s3://") or plan.code is not None or _mapped(given, job):
        return None
    return f"the toolkit will fetch its code from {given}: give --code DIR (Local.Code) to run without S3"


def _mapped(uri: str, job: JobFile) -> bool:
    return any(uri.startswith(prefix) for prefix in job.local.Sources)


def _shell_entrypoint(plan: JobPlan, job: JobFile) -> str | None:
    if plan.image_facts is None or plan.entrypoint is not None or not plan.image_facts.swallows_arguments:
        return None
    return 'ENTRYPOINT is in shell form: it swallows "train" and the stop signals; write it as a JSON list'


def _stop_signal(plan: JobPlan, job: JobFile) -> str | None:
    signal = plan.image_facts.stop_signal if plan.image_facts is not None else None
    if signal in {None, "", "SIGTERM", "TERM", "15"}:
        return None
    return f"the image asks to be stopped with {signal}; training containers are sent SIGTERM"


def _peer_grace(plan: JobPlan, job: JobFile) -> str | None:
    if len(plan.hosts) == 1:
        return None
    return f"when a host fails, its peers get {plan.stop.peer_grace} s after SIGTERM (inferred; Local.PeerGraceSeconds)"


def _merged_output(plan: JobPlan, job: JobFile) -> str | None:
    if len(plan.hosts) == 1 or not plan.output.merge_output:
        return None
    return "output.tar.gz holds the files of all hosts; the service was seen to keep algo-1's only"


def _image_absent(plan: JobPlan, job: JobFile) -> str | None:
    return f"{plan.image} is not here; a run pulls it first" if plan.image_facts is None else None


def _inputs(plan: JobPlan) -> tuple[TreePlan | PipePlan, ...]:
    """Every channel that reads objects."""
    return (*(tree for tree in plan.trees if tree.mode != "FileSystem"), *plan.pipes)


def _trees(plan: JobPlan) -> Iterator[TreePlan]:
    yield from plan.trees
    if plan.code is not None:
        yield plan.code


def _some(items: list[str]) -> str:
    more = len(items) - _SHOWN
    return ", ".join(items[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


RULES = (
    NoteRule(id="entrypoint-shell-form", says=_shell_entrypoint, warning=True),
    NoteRule(id="stop-signal", says=_stop_signal, warning=True),
    NoteRule(id="submit-directory", says=_submit_directory, warning=True),
    NoteRule(id="download-fails", says=_download_fails, warning=True),
    NoteRule(id="file-system-vpc", says=_file_system_vpc, warning=True),
    NoteRule(id="image-absent", says=_image_absent),
    NoteRule(id="allow-cpu", says=_allow_cpu),
    NoteRule(id="instance-size", says=_instance_size),
    NoteRule(id="volume-size", says=_volume),
    NoteRule(id="relaxed-name", says=_relaxed_name),
    NoteRule(id="relaxed-role", says=_relaxed_role),
    NoteRule(id="relaxed-uri", says=_relaxed_uri),
    NoteRule(id="role", says=_role),
    NoteRule(id="mapped-sources", says=_mapped_sources),
    NoteRule(id="sources-unused", says=_unused_sources),
    NoteRule(id="s3-credentials", says=_own_credentials),
    NoteRule(id="file-systems", says=_file_systems),
    NoteRule(id="fastfile-downloaded", says=_fastfile_downloaded),
    NoteRule(id="fastfile-sharded", says=_fastfile_sharded),
    NoteRule(id="shuffle-order", says=_shuffled),
    NoteRule(id="shuffle-ignored", says=_shuffle_ignored),
    NoteRule(id="attribute-text", says=_attribute_text),
    NoteRule(id="output-local", says=_output),
    NoteRule(id="checkpoints", says=_checkpoints),
    NoteRule(id="code-filled", says=_code),
    NoteRule(id="staging-copied", says=_copied),
    NoteRule(id="channel-modes", says=_modes),
    NoteRule(id="channel-empty-folders", says=_empty_directories),
    NoteRule(id="channel-skipped", says=_skipped),
    NoteRule(id="peer-grace", says=_peer_grace),
    NoteRule(id="output-merged", says=_merged_output),
    NoteRule(id="encryption", says=_encryption),
    NoteRule(id="vpc", says=_vpc),
    NoteRule(id="metric-definitions", says=_metrics),
    NoteRule(id="collectors", says=_collectors),
    NoteRule(id="rules", says=_rules),
    NoteRule(id="recorded", says=_recorded),
)
