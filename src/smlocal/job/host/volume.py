"""A volume of a given size for the folders of one host: a file system in a sparse file."""

import errno
import os
import subprocess
from contextlib import suppress

from smlocal.errors import StagingError
from smlocal.planning.host_folders import host_directory
from smlocal.planning.model import HostPlan, JobPlan

_FOLDER = "volumes"
"""Below a job's folder: the files with the file systems."""
_TIMEOUT = 120


def make_volume(plan: JobPlan, host: HostPlan) -> None:
    """Mount one for the host's folders. If the data does not fit into it, the job fails as on the service."""
    size = host.limits.disk
    if size is None:
        return
    if size == 0:
        raise StagingError("Data download failed:Insufficient disk space")
    path = f"{plan.job_directory}/{_FOLDER}/{host.host.name}.ext4"
    mount_point = host_directory(plan, host)
    for folder in (os.path.dirname(path), mount_point):
        os.makedirs(folder, exist_ok=True)
    with open(path, "wb") as file:
        os.truncate(file.fileno(), size)
    # No blocks reserved for root and no journal: it is deleted with the job.
    options = ("-q", "-F", "-m", "0", "-O", "^has_journal", "-E", "lazy_itable_init=1,nodiscard")
    _run("mkfs.ext4", *options, path)
    _run("mount", "-o", "loop", path, mount_point)
    with suppress(OSError):
        os.rmdir(f"{mount_point}/lost+found")


def unmount_volumes(job_directory: str) -> None:
    """Unmount the volumes of a job, whichever process mounted them."""
    if not os.path.isdir(f"{job_directory}/{_FOLDER}"):
        return
    hosts = f"{job_directory}/hosts"
    with suppress(OSError):
        for name in os.listdir(hosts):
            while os.path.ismount(f"{hosts}/{name}"):
                _run("umount", "--lazy", f"{hosts}/{name}")


def _run(*command: str) -> None:
    environment = {**os.environ, "PATH": f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise OSError(errno.ETIMEDOUT, f"{command[0]}: timeout", command[-1]) from error
    if done.returncode != 0:
        message = " ".join(done.stderr.decode(errors="replace").split())
        raise OSError(errno.EIO, f"{command[0]}: {message or done.returncode}", command[-1])
