"""A file system of EFS or FSx, for which a folder of this machine stands."""

import os
from collections.abc import Mapping

from smlocal.sources import refusals
from smlocal.sources.inspection import readable
from smlocal.sources.local_path import cleaned, local_path
from smlocal.sources.misfits import wrong_part
from smlocal.sources.refusals import Asked


def locate_file_system(
    file_system_id: str,
    directory_path: str,
    *,
    mapping: Mapping[str, str],
    directory: str,
    subject: str,
    where: str | None = None,
) -> str:
    """Find the folder that `DirectoryPath` names below the one that `Local.Sources` has for the file system.

    `..` never leads out of it. Links in it are followed, also out of it: they are the user's own.
    """
    asked = Asked(subject=subject, member="FileSystemId", uri=file_system_id, where=where, directory=directory)
    if file_system_id not in mapping:
        raise refusals.unmapped_file_system(asked, mapping)
    written = mapping[file_system_id]
    base = local_path(written, directory)
    if not os.path.lexists(base):
        raise refusals.missing(asked, written)
    named = Asked(subject=subject, member="DirectoryPath", uri=directory_path, where=where, directory=directory)
    below = "/".join(part for part in directory_path.split("/") if part)
    if below and wrong_part(below) is not None:
        raise refusals.no_folder(named)
    folder = os.path.join(cleaned(base), below).rstrip("/") or "/"
    if not os.path.lexists(folder):
        raise refusals.missing(named, folder)
    if not os.path.isdir(folder):
        raise refusals.not_a_folder(named)
    if not readable(folder):
        raise refusals.unreadable(named, [folder])
    return folder
