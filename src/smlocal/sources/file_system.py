"""A file system of EFS or FSx, mapped to a local folder."""

import os
from collections.abc import Mapping

from smlocal.sources import source_errors
from smlocal.sources.file_permissions import readable
from smlocal.sources.invalid_keys import invalid_part
from smlocal.sources.local_path import cleaned, local_path
from smlocal.sources.source_errors import RequestedSource


def locate_file_system(
    file_system_id: str,
    directory_path: str,
    *,
    mapping: Mapping[str, str],
    directory: str,
    subject: str,
    where: str | None = None,
) -> str:
    """Find the folder `DirectoryPath` below the folder that `Local.Sources` maps to the file system.

    `..` cannot lead out of it. Links may: they are the user's own.
    """
    asked = RequestedSource(
        subject=subject, member="FileSystemId", uri=file_system_id, where=where, directory=directory
    )
    if file_system_id not in mapping:
        raise source_errors.unmapped_file_system(asked, mapping)
    written = mapping[file_system_id]
    base = local_path(written, directory)
    if not os.path.lexists(base):
        raise source_errors.missing(asked, written)
    named = RequestedSource(
        subject=subject, member="DirectoryPath", uri=directory_path, where=where, directory=directory
    )
    below = "/".join(part for part in directory_path.split("/") if part)
    if below and invalid_part(below) is not None:
        raise source_errors.no_folder(named)
    folder = os.path.join(cleaned(base), below).rstrip("/") or "/"
    if not os.path.lexists(folder):
        raise source_errors.missing(named, folder)
    if not os.path.isdir(folder):
        raise source_errors.not_a_folder(named)
    if not readable(folder):
        raise source_errors.unreadable(named, [folder])
    return folder
