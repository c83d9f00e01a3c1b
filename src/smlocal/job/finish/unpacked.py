"""What the containers wrote and could not be packed: kept in the job's folder, and packed later (`smlocal pack`)."""

import os
from collections.abc import Callable, Mapping
from typing import Any, Literal, cast

from smlocal.artifacts.atomic_write import remove_partial
from smlocal.artifacts.job_artifacts import Artifacts, write_artifacts
from smlocal.artifacts.kept_folders import INDEX, keep_folder, read_kept_folder
from smlocal.artifacts.tree import HostTree
from smlocal.contract.statuses import JobStatus
from smlocal.errors import ArtifactError, JobNotFinishedError, NothingToPackError
from smlocal.job.documents import LOCAL, RECALL
from smlocal.job.finish.describe import describe_job
from smlocal.job.finish.job_folder import DESCRIBE, write_copy
from smlocal.job.finish.replaced import delete_replaced, replaced_artifacts
from smlocal.job.job_words import not_finished
from smlocal.planning.host_folders import host_directory
from smlocal.planning.model import HostPlan, JobPlan
from smlocal.planning.recall import recall
from smlocal.removal import remove_tree
from smlocal.store.jobs import Store
from smlocal.store.lease import Lease


def kept_directory(plan: JobPlan) -> str:
    """The folder with what is kept."""
    return f"{plan.job_directory}/kept"


def spool(plan: JobPlan, host: str, path: str) -> str:
    """Where a folder of a host is copied to through the engine, if it cannot be read directly."""
    return f"{plan.job_directory}/staged/{host}{plan.folders.below(path).replace('/', '-')}"


def keep_unpacked(plan: JobPlan) -> list[str]:
    """Move the folders to where the clean-up does not remove them; returns what failed, as sentences.

    It may be called again, also by another process.
    """
    failures = []
    for host in plan.hosts:
        for path in filter(None, (plan.folders.model, plan.folders.output_data)):
            copied = spool(plan, host.host.name, path)
            source = copied if os.path.exists(copied + INDEX) else host_directory(plan, host) + plan.folders.below(path)
            try:
                keep_folder(source, _kept(plan, host, path))
            except (ArtifactError, OSError) as error:
                failures.append(f"what {host.host.name} wrote to {path} could not be kept: {error}")
    return failures


def pack_again(
    store: Store, name: str, *, output: str | None = None, working: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Pack what is kept of a finished job, to where the plan says or below the folder `output`.

    Returns `Local.Artifacts`. The status of the job does not change. What was kept is deleted.
    """
    record = store.get(name)
    if not record.status.terminal:
        raise not_finished(record, "It packs its artifacts itself when it ends.")
    lease = Lease.take(store.directory(name))
    if lease is None:
        raise JobNotFinishedError(f"Another process is using the artifacts of '{name}'.", remedy=["Wait for it."])
    with lease:
        local = store.document(name, LOCAL) or {}
        document: dict[str, Any] = local.get("Artifacts", {})
        if not document.get("Kept") and not document.get("NotSaved"):
            raise NothingToPackError(
                f"The job '{name}' has nothing to pack: its artifacts are packed, or there are none.",
                remedy=[f"smlocal describe {name} shows its artifacts."],
            )
        plan = recall(store.document(name, RECALL))
        if document.get("Kept"):
            document = _pack_kept(
                store, plan, document, output, working, completed=record.status is JobStatus.COMPLETED
            )
            store.put_document(name, LOCAL, {**local, "Artifacts": document})
            remove_tree(kept_directory(plan))
        if document.get("NotSaved"):
            document = _save_kept(plan, document, output, working)
            store.put_document(name, LOCAL, {**local, "Artifacts": document})
        write_copy(store.directory(name), DESCRIBE, describe_job(store, name, final=True))
    return document


def _pack_kept(
    store: Store,
    plan: JobPlan,
    document: Mapping[str, Any],
    output: str | None,
    working: Callable[[str], None] | None,
    *,
    completed: bool,
) -> dict[str, Any]:
    directory = f"{plan.output.directory if output is None else f'{output}/{plan.name}'}/output"
    artifacts = _pack(store, plan, directory, working)
    packed = {
        **document,
        "Directory": directory,
        "Model": artifacts.model,
        "ModelBytes": artifacts.model_bytes,
        "Output": artifacts.output,
        "OutputBytes": artifacts.output_bytes,
        "Kept": None,
    }
    notes = delete_replaced(store, plan.name, packed, completed=completed)
    return {**packed, "Notes": [*artifacts.notes, *map(str, artifacts.clashes), *notes]}


def _save_kept(
    plan: JobPlan, document: Mapping[str, Any], output: str | None, working: Callable[[str], None] | None
) -> dict[str, Any]:
    from smlocal.job.finish.publish import UNSENT, unsent_document
    from smlocal.job.mirrored.not_saved import NOT_SAVED
    from smlocal.job.mirrored.saved_later import save_again

    below = None if output is None else f"{output}/{plan.name}"
    notes, unsent = save_again(plan, document[NOT_SAVED], output=below, working=working)
    rest = {name: value for name, value in document.items() if name != NOT_SAVED}
    more = {UNSENT: [*document.get(UNSENT, ()), *unsent_document(unsent)]} if unsent else {}
    return {**rest, **more, "Notes": [*document["Notes"], *notes]}


def _pack(store: Store, plan: JobPlan, directory: str, working: Callable[[str], None] | None) -> Artifacts:
    replaced = replaced_artifacts(store, plan.name)
    remove_partial(directory, plan.run_id)  # of an earlier `smlocal pack` that was killed
    try:
        return write_artifacts(
            _kept_trees(plan, plan.folders.model),
            _kept_trees(plan, plan.folders.output_data),
            model_folder=plan.folders.model,
            output_folder=plan.folders.output_data,
            destination=directory,
            compression=cast("Literal['GZIP', 'NONE']", plan.output.compression),
            merge_output=plan.output.merge_output,
            working=working,
            replaces=[path for paths in replaced.values() for path in paths],
            owner=plan.run_id,
            links=plan.rights.links or not directory.startswith(f"{plan.output.directory}/"),
        )
    except ArtifactError as error:
        raise ArtifactError(
            error.sentence,
            details=error.details,
            remedy=[*error.remedy, f"The files are still kept in {kept_directory(plan)}"],
        ) from error


def _kept_trees(plan: JobPlan, path: str) -> list[HostTree]:
    return [read_kept_folder(host.host.name, _kept(plan, host, path)) for host in plan.hosts]


def _kept(plan: JobPlan, host: HostPlan, path: str) -> str:
    return f"{kept_directory(plan)}/{host.host.name}{plan.folders.below(path)}"
