"""The views of mirrored folders: rows, documents, docker's commands, notes."""

from collections.abc import Iterator
from shlex import quote
from typing import Any

from smlocal.base.readable import short_path
from smlocal.jobs.planning.aspects.inputs.show import files_text
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule
from smlocal.jobs.planning.workload import Workload
from smlocal.terms.checkpoints import UPLOADING


def mirrored_entries(plan: JobPlan, mount: str) -> dict[str, str]:
    """The folders in the container, with the text for each. `mount`: how they are mounted."""
    entries = {}
    checkpoints = plan.mirrored.checkpoints
    if checkpoints is not None:
        saved = checkpoints.s3_prefix or short_path(checkpoints.directory)
        files = files_text(len(checkpoints.listing.paths))
        entries[checkpoints.local_path] = (
            f"{mount} with {files} of {checkpoints.uri}, mirrored to {saved}"
            if checkpoints.listing.remote
            else f"{mount} with {files} of {saved}, mirrored there"
        )
    for each in plan.mirrored.collectors:
        entries[each.local_path] = f"empty, mirrored to {each.s3_prefix or short_path(each.directory)}"
    return entries


def checkpoints_document(plan: JobPlan) -> dict[str, Any] | None:
    """The checkpoints in the document of a plan."""
    checkpoints = plan.mirrored.checkpoints
    if checkpoints is None:
        return None
    return {
        "Requested": checkpoints.uri,
        "Directory": checkpoints.directory,
        "Published": checkpoints.s3_prefix,
        "LocalPath": checkpoints.local_path,
        "Files": len(checkpoints.listing.paths),
        "Bytes": checkpoints.listing.total_bytes,
    }


def collector_documents(plan: JobPlan) -> list[dict[str, Any]]:
    """The other folders in the document of a plan."""
    return [
        {
            "Member": each.member,
            "Requested": each.uri,
            "Directory": each.directory,
            "Published": each.s3_prefix,
            "LocalPath": each.local_path,
        }
        for each in plan.mirrored.collectors
    ]


def checkpoint_commands(plan: JobPlan) -> Iterator[str]:
    """Make the folder of the checkpoints, with those that are in S3."""
    checkpoints = plan.mirrored.checkpoints
    if checkpoints is None:
        return
    folder, listing = quote(checkpoints.directory), checkpoints.listing
    if listing.remote:
        yield f'[ ! -e {folder} ] || mv {folder} {folder}-until-"$(date +%s)"'
    yield f"mkdir -p {folder}"
    if listing.remote and listing.paths:
        source = quote(f"{listing.bucket_uri}{listing.key_base}")
        yield f"aws s3 cp --recursive --only-show-errors --exclude {quote(f'*{UPLOADING}')} {source} {folder}/"


def collector_commands(plan: JobPlan) -> Iterator[str]:
    """Save TensorBoard logs and tensors."""
    for each in plan.mirrored.collectors:
        folder = quote(each.directory)
        source = f'"by-hand-$job-$h":{quote(each.local_path)}/.'
        yield f"mkdir -p {folder}; for h in $hosts; do docker cp {source} {folder} || :; done"
        if each.end_marker is not None:
            yield f"touch {folder}/{quote(each.end_marker)}"


def _mirrors_published(plan: JobPlan, work: Workload) -> str | None:
    said = [f"{member} is mirrored to {prefix}" for member, prefix in plan.mirrored.published]
    if not said:
        return None
    return f"{'; '.join(said)}: files that the job writes or deletes are replaced or deleted there"


def _checkpoints_local(plan: JobPlan, work: Workload) -> str | None:
    checkpoints = plan.mirrored.checkpoints
    if checkpoints is None or checkpoints.s3_prefix is not None:
        return None
    if not checkpoints.uri.startswith(("s3://", "https://")):
        return None
    return f"nothing is written to {checkpoints.uri}; checkpoints are mirrored to {checkpoints.directory}"


def _collectors_local(plan: JobPlan, work: Workload) -> str | None:
    """No note for empty configs: version 2 of the SageMaker SDK sends them with every job."""
    hook, profiler = plan.request.get("DebugHookConfig"), plan.request.get("ProfilerConfig") or {}
    empty = hook is not None and not hook.get("CollectionConfigurations") and not hook.get("HookParameters")
    said = [
        f"{each.member}: nothing is written to {each.uri}; files go to {each.directory}"
        for each in plan.mirrored.collectors
        if each.kept and each.s3_prefix is None and not (empty and each.member == "DebugHookConfig")
    ]
    profiled = not profiler.get("DisableProfiler")
    if profiled and (profiler.get("ProfilingIntervalInMilliseconds") or profiler.get("ProfilingParameters")):
        said.append("ProfilerConfig: the config file is written; nothing is copied to the S3 path")
    return "; ".join(said) or None


MIRRORED_RULES = (
    NoteRule(id="mirrors-published", says=_mirrors_published, warning=True),
    NoteRule(id="checkpoints", says=_checkpoints_local),
)
COLLECTOR_RULES = (NoteRule(id="collectors", says=_collectors_local),)
