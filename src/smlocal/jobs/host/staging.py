"""Prepare a host's folders before its container is created: mounts, channels, and a volume of a given size for them."""

import errno
import os
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.base.files import Copying, unbroken
from smlocal.engine.interface import Engine, Mount
from smlocal.errors import StagingError
from smlocal.jobs.host.delivery import Delivery
from smlocal.jobs.planning.aspects.mirrored.plan import CollectorPlan
from smlocal.jobs.planning.model import HostPlan, JobPlan, collector_directory, host_directory, mounted_directory
from smlocal.terms.channels import Means, Staging, TreePlan

if TYPE_CHECKING:
    import subprocess

    from smlocal.data.channels.copy import StagedChannel, prepare_channel, prepare_read_only
    from smlocal.jobs.debugging.package import debugging_mounts, write_debugging
    from smlocal.jobs.host.data_parallel import data_parallel_mounts, write_data_parallel
    from smlocal.jobs.host.remote_volumes import fill_volumes
    from smlocal.jobs.mirrored.folders import checkpoint_mounts, download_checkpoints, restore_checkpoints
else:
    fill_volumes = at_use("smlocal.jobs.host.remote_volumes", "fill_volumes")
    data_parallel_mounts = at_use("smlocal.jobs.host.data_parallel", "data_parallel_mounts")
    write_data_parallel = at_use("smlocal.jobs.host.data_parallel", "write_data_parallel")
    debugging_mounts = at_use("smlocal.jobs.debugging.package", "debugging_mounts")
    write_debugging = at_use("smlocal.jobs.debugging.package", "write_debugging")
    subprocess = at_use("subprocess")
    checkpoint_mounts = at_use("smlocal.jobs.mirrored.folders", "checkpoint_mounts")
    download_checkpoints = at_use("smlocal.jobs.mirrored.folders", "download_checkpoints")
    restore_checkpoints = at_use("smlocal.jobs.mirrored.folders", "restore_checkpoints")
    StagedChannel = at_use("smlocal.data.channels.copy", "StagedChannel")
    prepare_channel = at_use("smlocal.data.channels.copy", "prepare_channel")
    prepare_read_only = at_use("smlocal.data.channels.copy", "prepare_read_only")

_VOLUMES = "volumes"
"""Below a job's folder: the files with the file systems."""
_MOUNT_SECONDS = 120


def build_tree(
    plan: JobPlan,
    host: HostPlan,
    delivery: Delivery | None = None,
    copying: Copying = unbroken,
) -> tuple[Mount, ...]:
    """Make the folders and config files of one host and restore its checkpoints; returns the mounts."""
    base, below = host_directory(plan, host), plan.folders.below
    for directory in host.directories:
        _make_directory(base + below(directory))
    for path, content in host.files.items():
        _write(base + below(path), content)
    for tree in host.inputs.trees:
        # Otherwise the engine would make the mount point, and the user could not delete it.
        _make_directory(base + below(tree.target))
    if plan.warm_pool is not None:
        _make_directory(mounted_directory(plan, host, plan.folders.warm_pool))
    if plan.mirrored.checkpoints is not None:
        restore_checkpoints(plan, host, delivery, copying)
    _make_collectors(plan, host)
    if plan.data_parallel is not None:
        write_data_parallel(plan.data_parallel, plan, host)
    if plan.debug is not None:
        write_debugging(plan, host)
    return mounts(plan, host)


def mounts(plan: JobPlan, host: HostPlan) -> tuple[Mount, ...]:
    """The folders of this machine that are mounted; for an engine that does not see them, volumes in their place."""
    if plan.engines.first.shares_folders:
        return _folders(plan, host)
    return tuple(mount for _, mount in _volumes(plan, host))


def _volumes(plan: JobPlan, host: HostPlan) -> list[tuple[str, Mount]]:
    """Each folder of this machine with the volume in its place."""
    return [
        (mount.source, replace(mount, source=f"{host.container}-volume-{number}", volume=True))
        for number, mount in enumerate(_folders(plan, host))
    ]


def _folders(plan: JobPlan, host: HostPlan) -> tuple[Mount, ...]:
    folders = tuple(
        Mount(source=mounted_directory(plan, host, folder), target=folder) for folder in plan.folders.mounted
    )
    ours: tuple[Mount, ...] = ()
    if plan.mirrored.checkpoints is not None:
        ours = checkpoint_mounts(plan, host)
    ours += _collector_mounts(plan, host)
    if plan.data_parallel is not None:
        ours += data_parallel_mounts(plan, host)
    if plan.debug is not None:
        ours += debugging_mounts(plan, host)
    return (*folders, *ours)


def stage_trees(
    plan: JobPlan,
    host: HostPlan,
    engine: Engine,
    delivery: Delivery,
    labels: Mapping[str, str],
    *,
    staging: Staging | None = None,
    copying: Copying = unbroken,
) -> tuple[StagedChannel, ...]:
    """Prepare the channels and the code of one host; `staging` replaces that of the plan after an overlay failed."""
    if not plan.engines.first.shares_folders:
        named = [(tree, f"{host.container}-{_folder(plan, tree)}") for tree in trees(plan, host)]
        folders = _volumes(plan, host)
        return fill_volumes(plan, host, engine, delivery, labels, folders=folders, trees=named, copying=copying)

    def stage(tree: TreePlan) -> StagedChannel:
        _check_listing(tree)
        if tree.as_it_is:
            return _bound(tree)
        directory = f"{plan.job_directory}/staged/{host.host.name}/{_folder(plan, tree)}"
        if tree.staging == "fuse":
            with copying():
                return delivery.mount(tree)
        with copying() if tree.listing.remote else nullcontext():
            listing = delivery.download(tree)
        if tree.staging == "bind":
            return prepare_read_only(listing, target=tree.target, target_directory=directory, copying=copying)
        return prepare_channel(
            listing,
            engine=engine,
            staging=staging or tree.staging,
            target=tree.target,
            target_directory=directory,
            volume_prefix=f"{host.container}-{_folder(plan, tree)}",
            labels=labels,
            rootless=plan.engines.first.rootless,
            # In S3, folders that objects mark. Empty local folders would be lost in an upload.
            folders=listing.directories if tree.listing.remote else (),
            copying=copying,
        )

    return tuple(stage(tree) for tree in trees(plan, host))


def file_systems(plan: JobPlan, host: HostPlan) -> tuple[StagedChannel, ...]:
    """The channels of one host that need no preparation; for an engine that does not see our folders, their volumes."""
    if plan.engines.first.shares_folders:
        return tuple(_bound(tree) for tree in host.inputs.trees if tree.as_it_is)
    return tuple(
        StagedChannel(
            mounts=(
                Mount(
                    source=f"{host.container}-{_folder(plan, tree)}",
                    target=tree.target,
                    volume=True,
                    read_only=not tree.writable,
                ),
            ),
            means=Means.SENT,
            bytes_copied=0,
        )
        for tree in host.inputs.trees
    )


def _bound(tree: TreePlan) -> StagedChannel:
    # The engine of a virtual machine has not the links of this one, such as /tmp of macOS.
    mount = Mount(source=os.path.realpath(tree.listing.root), target=tree.target, read_only=not tree.writable)
    return StagedChannel(mounts=(mount,), means=Means.BIND, bytes_copied=0)


def download_once(plan: JobPlan, delivery: Delivery, copying: Copying) -> None:
    """Download from S3 once what all hosts need."""
    for host in plan.hosts:
        for tree in trees(plan, host):
            _check_listing(tree)
            if tree.listing.remote:
                with copying():
                    _ = delivery.mount(tree) if tree.staging == "fuse" else delivery.download(tree)
    download_checkpoints(plan, delivery, copying)


def _make_collectors(plan: JobPlan, host: HostPlan) -> None:
    """Make the folders with their own mounts, empty. The others are made with the folders that they are in."""
    for collector in _collectors_with_mounts(plan):
        folder = collector_directory(plan, host, collector)
        os.mkdir(folder)
        os.chmod(folder, 0o755)  # noqa: S103 - as on the service, whatever the umask


def _collector_mounts(plan: JobPlan, host: HostPlan) -> tuple[Mount, ...]:
    return tuple(
        Mount(source=collector_directory(plan, host, each), target=each.local_path)
        for each in _collectors_with_mounts(plan)
    )


def _collectors_with_mounts(plan: JobPlan) -> list[CollectorPlan]:
    return [each for each in plan.mirrored.collectors if each.own_mount]


def _check_listing(tree: TreePlan) -> None:
    if tree.listing.failure is not None:
        raise StagingError(f"Data download failed:{tree.listing.failure}")


def trees(plan: JobPlan, host: HostPlan) -> tuple[TreePlan, ...]:
    """The channels, and the code if the job has some."""
    return host.inputs.trees if plan.inputs.code is None else (*host.inputs.trees, plan.inputs.code)


def _folder(plan: JobPlan, tree: TreePlan) -> str:
    return "code" if tree is plan.inputs.code else f"channel-{tree.name}"


def _make_directory(path: str) -> None:
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if not os.path.isdir(parent):
        _make_directory(parent)
    try:
        os.mkdir(path)
    except FileExistsError:  # other hosts are staged at the same time and share some parents
        return
    os.chmod(path, 0o755)  # noqa: S103 - as on the service, whatever the umask


def _write(path: str, content: bytes) -> None:
    with open(path, "wb") as file:
        os.fchmod(file.fileno(), 0o644)
        file.write(content)


def make_volume(plan: JobPlan, host: HostPlan) -> None:
    """Mount one for the host's folders. If the data does not fit into it, the job fails as on the service."""
    size = host.limits.disk
    if size is None:
        return
    if size == 0:
        raise StagingError("Data download failed:Insufficient disk space")
    path, mount_point = _volume(plan, host), host_directory(plan, host)
    for folder in (os.path.dirname(path), mount_point):
        os.makedirs(folder, exist_ok=True)
    with open(path, "wb") as file:
        os.truncate(file.fileno(), size)
    # No blocks reserved for root and no journal: it is deleted with the job.
    options = ("-q", "-F", "-m", "0", "-O", "^has_journal", "-E", "lazy_itable_init=1,nodiscard")
    _run_command("mkfs.ext4", *options, path)
    _mount(path, mount_point)
    with suppress(OSError):
        os.rmdir(f"{mount_point}/lost+found")


def mount_again(plan: JobPlan, host: HostPlan) -> None:
    """Mount the volume of a host that had a container, if a restart of the machine has unmounted it."""
    path, mount_point = _volume(plan, host), host_directory(plan, host)
    if host.limits.disk and os.path.exists(path) and not os.path.ismount(mount_point):
        os.makedirs(mount_point, exist_ok=True)
        _mount(path, mount_point)


def _volume(plan: JobPlan, host: HostPlan) -> str:
    return f"{plan.job_directory}/{_VOLUMES}/{host.host.name}.ext4"


def _mount(volume: str, mount_point: str) -> None:
    _run_command("mount", "-o", "loop", volume, mount_point)


def unmount_volumes(job_directory: str) -> None:
    """Unmount the volumes of a job, whichever process mounted them."""
    if not os.path.isdir(f"{job_directory}/{_VOLUMES}"):
        return
    hosts = f"{job_directory}/hosts"
    with suppress(OSError):
        for name in os.listdir(hosts):
            while os.path.ismount(f"{hosts}/{name}"):
                _run_command("umount", "--lazy", f"{hosts}/{name}")


def _run_command(*command: str) -> None:
    environment = {**os.environ, "PATH": f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=_MOUNT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise OSError(errno.ETIMEDOUT, f"{command[0]}: timeout", command[-1]) from error
    if done.returncode != 0:
        message = " ".join(done.stderr.decode(errors="replace").split())
        raise OSError(errno.EIO, f"{command[0]}: {message or done.returncode}", command[-1])
