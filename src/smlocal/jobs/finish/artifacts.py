"""The artifacts of a job: packed when its containers have ended, or kept and packed later (`smlocal pack`).

For a job with `--replace`, those of the earlier job of that name are deleted once the new ones are in place.
"""

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Literal, cast

from smlocal.base.at_use import at_use
from smlocal.base.files import Check, remove_tree
from smlocal.data.artifacts.atomic_write import remove_partial
from smlocal.data.artifacts.job_artifacts import NO_ARTIFACTS, Artifacts, write_artifacts
from smlocal.data.artifacts.ownership import give_to_user
from smlocal.data.artifacts.tree import HostTree, readable_tree
from smlocal.errors import (
    ArtifactError,
    EngineError,
    JobNotFinishedError,
    JobUnknownError,
    MachineNotReadyError,
    NothingToPackError,
)
from smlocal.jobs.documents import LOCAL, NOT_SAVED, RECALL, REPLACED, UNSENT, unsent_document
from smlocal.jobs.finish.describe import DESCRIBE, describe_job, write_copy
from smlocal.jobs.host.host_run import HostRun
from smlocal.jobs.kinds import not_finished, spoken_of
from smlocal.jobs.planning.model import HostPlan, JobPlan, host_directory
from smlocal.jobs.planning.recall import recall_containers
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.lease import Lease
from smlocal.terms.statuses import JobStatus

if TYPE_CHECKING:
    from smlocal.data.artifacts import model_folder
    from smlocal.data.artifacts.model_folder import keep_folder, read_kept_folder, read_or_copy, write_index
    from smlocal.data.artifacts.s3_publish import Publisher, PublishResult
    from smlocal.jobs.finish.given_back import give_back
    from smlocal.jobs.mirrored.saving import save_again
else:
    model_folder = at_use("smlocal.data.artifacts.model_folder")
    keep_folder = at_use("smlocal.data.artifacts.model_folder", "keep_folder")
    read_kept_folder = at_use("smlocal.data.artifacts.model_folder", "read_kept_folder")
    write_index = at_use("smlocal.data.artifacts.model_folder", "write_index")
    give_back = at_use("smlocal.jobs.finish.given_back", "give_back")
    save_again = at_use("smlocal.jobs.mirrored.saving", "save_again")
    read_or_copy = at_use("smlocal.data.artifacts.model_folder", "read_or_copy")

_KINDS = ("Model", "Output")
_Replaced = dict[str, list[str]]


def collect_artifacts(
    plan: JobPlan,
    runs: Iterable[HostRun],
    *,
    working: Callable[[str], None],
    cancelled: Callable[[], bool],
    check: Check,
    replaces: Collection[str] = (),
) -> "tuple[Artifacts, PublishResult | None]":
    """Write the archives, and upload them while they are written if the plan says so.

    Once `cancelled` returns True, the upload is stopped; if `check` raises, so is the packing. `replaces` are artifacts
    of an earlier job, which may be replaced.
    """
    if not plan.folders.model and not plan.folders.output_data:
        return NO_ARTIFACTS, None
    hosts = [run for run in runs if run.container.id]
    model: list[HostTree] = []
    output: list[HostTree] = []
    try:
        for path, trees in ((plan.folders.model, model), (plan.folders.output_data, output)):
            for run in hosts:
                trees.append(_tree(plan, run, path, check))  # what was copied before an error is kept
        with _publishing(plan, cancelled) as publisher:
            artifacts = write_artifacts(
                model,
                output,
                model_folder=plan.folders.model,
                output_folder=plan.folders.output_data,
                destination=f"{plan.output.directory}/output",
                compression=cast("Literal['GZIP', 'NONE']", plan.output.compression),
                merge_output=plan.output.merge_output,
                working=working,
                publisher=publisher,
                replaces=replaces,
                owner=plan.run_id,
                links=plan.rights.links,
                check=check,
            )
            return artifacts, None if publisher is None else publisher.finish(working)
    except BaseException:
        _write_indexes(plan, (*model, *output))
        raise


def _publishing(plan: JobPlan, cancelled: Callable[[], bool]) -> "AbstractContextManager[Publisher | None]":
    if not plan.output.publish:
        return nullcontext()
    from smlocal.jobs.finish.publish import publishing  # few jobs publish

    return publishing(plan, cancelled=cancelled)


def restore_ownership(runs: Iterable[HostRun]) -> list[str]:
    """Make the user the owner of the folders that root wrote to; returns what failed, as sentences."""
    failures = []
    for run in runs:
        if not run.container.id:
            continue
        try:
            rootless = run.plan.engines.first.rootless
            if run.plan.engines.first.place is not None:
                with suppress(EngineError):  # without chown, tar may do
                    give_back(run.plan, run.host, run.engine, [here for here, _ in run.binds])
            give_to_user(run.engine, run.container.id, run.binds, rootless=rootless)
            if run.plan.engines.first.place is not None:
                continue  # what root made in the user's own folders stays root's
            give_to_user(run.engine, run.container.id, run.file_systems, only_roots=True, rootless=rootless)
        except (EngineError, MachineNotReadyError, OSError) as error:
            failures.append(f"some folders of {run.name} still belong to root: {error}")
    return failures


def _write_indexes(plan: JobPlan, trees: Iterable[HostTree]) -> None:
    """Write indexes of trees that were copied through the engine, so that they can be packed later."""
    for tree in trees:
        spools = {spool(plan, tree.host, path) for path in (plan.folders.model, plan.folders.output_data)}
        if os.fsdecode(tree.root) in spools and os.path.isdir(tree.root):
            with suppress(OSError):  # if the disk is full, `keep_unpacked` reports the loss
                write_index(tree)


def _tree(plan: JobPlan, run: HostRun, path: str, check: Check) -> HostTree:
    folder = host_directory(plan, run.host) + plan.folders.below(path)
    shared = plan.engines.first.shares_folders
    if shared and (found := readable_tree(run.name, folder, check=check)) is not None:
        return found
    return read_or_copy(
        run.name,
        folder,
        engine=run.engine,
        container=run.container.id,
        path=path,
        copy_to=spool(plan, run.name, path),
        shared=shared,
        check=check,
    )


def unpacked_directory(plan: JobPlan) -> str:
    """The folder with the kept files."""
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
            source = (
                copied
                if os.path.exists(copied + model_folder.INDEX)
                else host_directory(plan, host) + plan.folders.below(path)
            )
            try:
                keep_folder(source, _unpacked(plan, host, path))
            except (ArtifactError, OSError) as error:
                failures.append(f"the files that {host.host.name} wrote to {path} could not be kept: {error}")
    return failures


def pack_again(
    store: Store, name: str, *, output: str | None = None, working: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Pack the kept files of a finished job, to the plan's destination or below the folder `output`.

    Returns `Local.Artifacts`. The status of the job does not change. The kept files are deleted.
    """
    record = store.get(name)
    if not record.status.terminal:
        spoken = spoken_of(record)
        itself = spoken.no_artifacts if spoken.endless else "It packs its artifacts itself when it ends."
        raise not_finished(record, itself)
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
        plan = recall_containers(store.document(name, RECALL))
        if document.get("Kept"):
            document = _pack_unpacked(
                store, plan, document, output, working, completed=record.status is JobStatus.COMPLETED
            )
            store.put_document(name, LOCAL, {**local, "Artifacts": document})
            remove_tree(unpacked_directory(plan))
        if document.get("NotSaved"):
            document = _save_unsaved(plan, document, output, working)
            store.put_document(name, LOCAL, {**local, "Artifacts": document})
        write_copy(store.directory(name), DESCRIBE, describe_job(store, name, final=True))
    return document


def _pack_unpacked(
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


def _save_unsaved(
    plan: JobPlan, document: Mapping[str, Any], output: str | None, working: Callable[[str], None] | None
) -> dict[str, Any]:
    below = None if output is None else f"{output}/{plan.name}"
    saved = save_again(plan, document[NOT_SAVED], output=below, working=working)
    rest = {name: value for name, value in document.items() if name != NOT_SAVED}
    more = {UNSENT: [*document.get(UNSENT, ()), *unsent_document(saved.unsent)]} if saved.unsent else {}
    return {**rest, **more, "Notes": [*document["Notes"], *saved.notes]}


def _pack(store: Store, plan: JobPlan, directory: str, working: Callable[[str], None] | None) -> Artifacts:
    replaced = replaced_artifacts(store, plan.name)
    remove_partial(directory, plan.run_id)  # of an earlier `smlocal pack` that was killed
    try:
        return write_artifacts(
            _unpacked_trees(plan, plan.folders.model),
            _unpacked_trees(plan, plan.folders.output_data),
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
            remedy=[*error.remedy, f"The files are still kept in {unpacked_directory(plan)}"],
        ) from error


def _unpacked_trees(plan: JobPlan, path: str) -> list[HostTree]:
    return [read_kept_folder(host.host.name, _unpacked(plan, host, path)) for host in plan.hosts]


def _unpacked(plan: JobPlan, host: HostPlan, path: str) -> str:
    return f"{unpacked_directory(plan)}/{host.host.name}{plan.folders.below(path)}"


def artifacts_to_replace(store: Store, name: str) -> _Replaced:
    """The artifacts of the job of this name, and those that it should have replaced; empty if there is no such job."""
    try:
        artifacts = (store.document(name, LOCAL) or {}).get("Artifacts", {})
    except JobUnknownError:
        return {}
    earlier = replaced_artifacts(store, name)
    found = {kind: [artifacts.get(kind), *earlier.get(kind, ())] for kind in _KINDS}
    return {kind: paths for kind, given in found.items() if (paths := [path for path in given if path])}


def replaced_artifacts(store: Store, name: str) -> _Replaced:
    """The artifacts that a job replaces; empty for most jobs."""
    return store.document(name, REPLACED) or {}


def delete_replaced(store: Store, name: str, artifacts: Mapping[str, Any], *, completed: bool) -> list[str]:
    """Delete the old artifacts for which there are new ones; returns notes on those that are kept.

    `artifacts` is the new job's `Local.Artifacts`. If the job has completed, all old ones are deleted: they must not be
    taken for its own. It may be called again.
    """
    replaced = replaced_artifacts(store, name)
    if not replaced:
        return []
    new = [artifacts[kind] for kind in _KINDS if artifacts.get(kind)]
    kept: _Replaced = {}
    notes = []
    for kind, paths in replaced.items():
        for path in dict.fromkeys(paths):
            if any(each == path or each.startswith(f"{path}/") for each in new) or not os.path.lexists(path):
                continue
            try:
                if completed or artifacts.get(kind):
                    remove_tree(path)
                    continue
                notes.append(f"{path} is from the job that this one replaced")
            except OSError as error:
                notes.append(f"{path} of the job that this one replaced could not be deleted: {error.strerror}")
            kept.setdefault(kind, []).append(path)
    if kept != replaced:
        store.put_document(name, REPLACED, kept)
    return notes
