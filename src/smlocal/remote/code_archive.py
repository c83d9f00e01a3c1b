"""The code of a job as AWS's training toolkit fetches it: `sourcedir.tar.gz`, the same bytes for the same files."""

import gzip
import os
import stat
import tarfile
from dataclasses import replace

from smlocal.contract.listing import Listing

NAME = "sourcedir.tar.gz"
PARAMETER = "sagemaker_submit_directory"
_LEFT_OUT = {".git", "__pycache__"}
_OWN, _RUN = 0o644, 0o755


def pack_code(code: Listing, folder: str) -> Listing:
    """Write the archive into a folder; returns the listing of that one file."""
    path = os.path.join(folder, NAME)
    paths = [each for each in code.paths if not _LEFT_OUT & {*each.split("/")[:-1]}]
    with (
        open(path, "wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for each in paths:
            with open(f"{code.root}/{each}", "rb") as file:
                status = os.fstat(file.fileno())
                member = tarfile.TarInfo(each)
                member.size = status.st_size
                member.mode = _RUN if status.st_mode & stat.S_IXUSR else _OWN
                tar.addfile(member, file)
    return replace(
        code,
        root=folder,
        bucket_uri="file:///",
        prefix=NAME,
        key_base="",
        paths=(NAME,),
        total_bytes=os.path.getsize(path),
        whole_tree=False,
        directories=(),
    )
