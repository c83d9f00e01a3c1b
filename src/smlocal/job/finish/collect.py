"""After the containers have ended: pack what they wrote, and make their files deletable."""

import os
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, cast

from smlocal.artifacts.engine_copy import read_or_copy
from smlocal.artifacts.job_artifacts import Artifacts, write_artifacts
from smlocal.artifacts.kept_folders import write_index
from smlocal.artifacts.ownership import give_to_user
from smlocal.artifacts.stop_check import Check
from smlocal.artifacts.tree import HostTree
from smlocal.errors import EngineError, MachineNotReadyError
from smlocal.job.finish.publish import publishing
from smlocal.job.finish.unpacked import spool
from smlocal.job.host.host_run import HostRun
from smlocal.planning.host_folders import host_directory
from smlocal.planning.model import JobPlan

if TYPE_CHECKING:
    from smlocal.artifacts.s3_publish import PublishResult


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
    hosts = [run for run in runs if run.container.id]
    model: list[HostTree] = []
    output: list[HostTree] = []
    try:
        for path, trees in ((plan.folders.model, model), (plan.folders.output_data, output)):
            for run in hosts:
                trees.append(_tree(plan, run, path, check))  # what was copied before an error is kept
        with publishing(plan, cancelled=cancelled) as publisher:
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


def restore_ownership(runs: Iterable[HostRun]) -> list[str]:
    """Make the user the owner of the folders that root wrote to; returns what failed, as sentences."""
    failures = []
    for run in runs:
        if not run.container.id:
            continue
        try:
            rootless = run.plan.engine.rootless
            give_to_user(run.engine, run.container.id, run.binds, rootless=rootless)
            give_to_user(run.engine, run.container.id, run.file_systems, only_roots=True, rootless=rootless)
        except (EngineError, MachineNotReadyError, OSError) as error:
            failures.append(f"some folders of {run.name} still belong to root: {error}")
    return failures


def _write_indexes(plan: JobPlan, trees: Iterable[HostTree]) -> None:
    """Of trees that were copied through the engine, so that they can be packed later."""
    for tree in trees:
        spools = {spool(plan, tree.host, path) for path in (plan.folders.model, plan.folders.output_data)}
        if os.fsdecode(tree.root) in spools and os.path.isdir(tree.root):
            with suppress(OSError):  # if the disk is full, `keep_unpacked` says what is lost
                write_index(tree)


def _tree(plan: JobPlan, run: HostRun, path: str, check: Check) -> HostTree:
    below = plan.folders.below(path)
    return read_or_copy(
        run.name,
        host_directory(plan, run.host) + below,
        engine=run.engine,
        container=run.container.id,
        path=path,
        copy_to=spool(plan, run.name, path),
        shared=plan.engine.shares_folders,
        check=check,
    )
