"""A disk of a certain size for the folders of one host: a file system in a sparse file."""

import errno
import os
import subprocess
from contextlib import suppress

from smlocal.contract.outcome.failure_reason import client_error
from smlocal.errors import StagingError
from smlocal.planning.document import host_directory
from smlocal.planning.model import HostPlan, JobPlan

FOLDER = "volumes"
"""Below a job's folder: the files that hold the file systems."""
_PATIENCE = 120


def make_volume(plan: JobPlan, host: HostPlan) -> None:
    """Mount one where the host's folders are going to be; a host whose data does not fit fails as on the service."""
    size = host.limits.disk
    if size is None:
        return
    if size == 0:
        raise StagingError(client_error("Data download failed:Insufficient disk space"))
    path = f"{plan.job_directory}/{FOLDER}/{host.host.name}.ext4"
    here = host_directory(plan, host)
    for folder in (os.path.dirname(path), here):
        os.makedirs(folder, exist_ok=True)
    with open(path, "wb") as file:
        os.truncate(file.fileno(), size)
    # Nothing is kept for root and nothing is journalled: it ends with the job.
    options = ("-q", "-F", "-m", "0", "-O", "^has_journal", "-E", "lazy_itable_init=1,nodiscard")
    _run("mkfs.ext4", *options, path)
    _run("mount", "-o", "loop", path, here)
    with suppress(OSError):
        os.rmdir(f"{here}/lost+found")


def unmount_volumes(job_directory: str) -> None:
    """Take the disks of a job away, whoever made them."""
    if not os.path.isdir(f"{job_directory}/{FOLDER}"):
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
            command, stdin=subprocess.DEVNULL, capture_output=True, env=environment, timeout=_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise OSError(errno.ETIMEDOUT, f"{command[0]}: timeout", command[-1]) from error
    if done.returncode != 0:
        said = " ".join(done.stderr.decode(errors="replace").split())
        raise OSError(errno.EIO, f"{command[0]}: {said or done.returncode}", command[-1])
