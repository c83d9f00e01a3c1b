"""Pack once more what a finished job could not pack: its output was full, or not there."""

from collections.abc import Callable
from typing import Any, Literal, cast

from smlocal.artifacts.collect import Artifacts, collect
from smlocal.artifacts.drafts import remove_drafts
from smlocal.contract import paths
from smlocal.contract.outcome.statuses import TrainingJobStatus
from smlocal.errors import ArtifactError, JobNotFinishedError, NothingToPackError
from smlocal.job.finish.describe import LOCAL, RECALL, describe_job
from smlocal.job.finish.job_folder import keep
from smlocal.job.finish.replaced import drop_replaced, replaced_artifacts
from smlocal.job.finish.unpacked import kept_directory, kept_trees
from smlocal.planning.model import JobPlan
from smlocal.planning.recall import recall
from smlocal.removal import remove_tree
from smlocal.store.jobs import Store
from smlocal.store.lease import Lease


def pack_again(
    store: Store, name: str, *, output: str | None = None, working: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Pack what is kept of a job, to where it was meant for or below the folder `output`; returns `Local.Artifacts`.

    The job itself stays as it is. What was kept goes once it is packed.
    """
    record = store.get(name)
    if not record.status.terminal:
        raise JobNotFinishedError(
            f"The training job '{name}' is not finished: it is {record.status}.",
            remedy=["It packs its artifacts itself when it ends."],
        )
    lease = Lease.take(store.directory(name))
    if lease is None:
        raise JobNotFinishedError(f"Another process is using the artifacts of '{name}'.", remedy=["Wait for it."])
    with lease:
        local = store.document(name, LOCAL) or {}
        if not local.get("Artifacts", {}).get("Kept"):
            raise NothingToPackError(
                f"The job '{name}' has nothing to pack: its artifacts are packed, or there are none.",
                remedy=[f"smlocal describe {name} shows its artifacts."],
            )
        plan = recall(store.document(name, RECALL))
        directory = f"{plan.output.directory if output is None else f'{output}/{name}'}/output"
        artifacts = _pack(store, plan, directory, working)
        document = {
            **local["Artifacts"],
            "Directory": directory,
            "Model": artifacts.model,
            "ModelBytes": artifacts.model_bytes,
            "Output": artifacts.output,
            "OutputBytes": artifacts.output_bytes,
            "Kept": None,
        }
        dropped = drop_replaced(store, name, document, completed=record.status is TrainingJobStatus.COMPLETED)
        document["Notes"] = [*artifacts.notes, *map(str, artifacts.clashes), *dropped]
        store.put_document(name, LOCAL, {**local, "Artifacts": document})
        remove_tree(kept_directory(plan))
        keep(store.directory(name), "describe", describe_job(store, name))
    return document


def _pack(store: Store, plan: JobPlan, directory: str, working: Callable[[str], None] | None) -> Artifacts:
    replaced = replaced_artifacts(store, plan.name)
    remove_drafts(directory, plan.run_id)  # of a try that was killed
    try:
        return collect(
            kept_trees(plan, paths.MODEL),
            kept_trees(plan, paths.OUTPUT_DATA),
            destination=directory,
            compression=cast("Literal['GZIP', 'NONE']", plan.output.compression),
            merge_output=plan.output.merge_output,
            working=working,
            replaces=[path for paths in replaced.values() for path in paths],
            owner=plan.run_id,
        )
    except ArtifactError as error:
        raise ArtifactError(
            error.sentence,
            details=error.details,
            remedy=[*error.remedy, f"The files are still kept in {kept_directory(plan)}"],
        ) from error
