"""Local folders for what jobs write."""

import os

from smlocal.data.sources.local_path import is_remote, local_path
from smlocal.data.sources.mounts import mount_points
from smlocal.errors import OutputUnusableError
from smlocal.jobs.planning.workload import Workload
from smlocal.terms.rights import Rights

DEFAULT_OUTPUT = "./smlocal-output"


def folder_at(uri: str, directory: str, rights: Rights) -> str:
    """The folder of a path or `file://` URI, relative to `directory`; `OutputUnusableError` if it cannot be one."""
    remedy = ["Choose another folder with --output or in the request."]
    if is_remote(uri):
        raise OutputUnusableError(f"the output path {uri} is not a local folder", remedy=remedy)
    path = os.path.abspath(local_path(uri, directory, rights))
    existing = path
    while not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    if not os.path.isdir(existing):
        what = "a file" if os.path.exists(existing) else "a broken link"
        raise OutputUnusableError(f"the output path {uri} cannot be a folder: {existing} is {what}", remedy=remedy)
    kind = _kernel_file_system(existing)
    if kind is not None:
        raise OutputUnusableError(
            f"the output path {uri} cannot be written: {existing} is on a kernel file system ({kind})",
            remedy=remedy,
        )
    if not os.access(existing, os.W_OK | os.X_OK):
        raise OutputUnusableError(
            f"the output path {uri} cannot be written: you may not write in {existing}", remedy=remedy
        )
    return path


def output_folder(work: Workload) -> str:
    """The path in the request if it is local, else Local.Output, else a folder in the current one."""
    uri = work.output.uri
    if not uri or uri.startswith(("s3://", "https://")):
        uri = work.local.Output or os.path.abspath(DEFAULT_OUTPUT)
    return folder_at(uri, work.document.directory, work.local.rights)


def _kernel_file_system(folder: str) -> str | None:
    """The type of a file system such as `/proc`, where root may write but no file can be created; else None."""
    if not os.path.realpath(folder).startswith(("/proc", "/sys", "/dev")):
        return None
    device = os.stat(folder).st_dev
    return next((mount.kind for mount in mount_points() if mount.device == device and not mount.holds_data), None)
