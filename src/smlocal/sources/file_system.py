"""A file system of EFS or FSx, mapped to a local folder."""

import os
from collections.abc import Mapping

from smlocal.sources import source_errors
from smlocal.sources.file_permissions import readable
from smlocal.sources.invalid_keys import invalid_part
from smlocal.sources.local_path import cleaned, local_path
from smlocal.sources.source_errors import RequestedSource


def locate_file_system(system: RequestedSource, asked: RequestedSource, *, mapping: Mapping[str, str]) -> str:
    """Find the folder that is `asked` for below the folder that `Local.Sources` maps to the file system.

    `..` cannot lead out of it. Links may, if they are the user's own (`Rights`).
    """
    if system.uri not in mapping:
        raise source_errors.unmapped_file_system(system, mapping)
    written = mapping[system.uri]
    base = local_path(written, system.directory, system.rights)
    if not os.path.lexists(base):
        raise source_errors.missing(system, written)
    below = "/".join(part for part in asked.uri.split("/") if part)
    if below and invalid_part(below) is not None:
        raise source_errors.no_folder(asked)
    folder = cleaned(local_path(written, system.directory, system.rights, below))
    if not os.path.lexists(folder):
        raise source_errors.missing(asked, folder)
    if not os.path.isdir(folder):
        raise source_errors.not_a_folder(asked)
    if not readable(folder):
        raise source_errors.unreadable(asked, [folder])
    return folder
