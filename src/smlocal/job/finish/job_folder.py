"""A job's folder: copies of its documents (the originals are in the store), and reserved disk space."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from smlocal.base.files import DRAFT, replace_file
from smlocal.job.documents import PLAN, REQUEST
from smlocal.job.finish.describe import describe_job
from smlocal.store.jobs import Store
from smlocal.store.lease import Lease

DESCRIBE = "describe"
_RESERVE = ".reserve"
_RESERVED_BYTES = 512 * 1024


def write_copy(directory: str, kind: str, document: Any) -> bool:
    """Write `request.json`, `plan.json` or `describe.json`. A copy that cannot be written does not fail the job."""
    with suppress(OSError):
        # A request may hold secrets, and the folder may have been opened to others.
        replace_file(os.path.join(directory, f"{kind}.json"), json.dumps(document, indent=2).encode(), mode=0o600)
        return True
    return False


def write_copies(store: Store, name: str) -> None:
    """Write all copies of a job that has ended; only for its supervisor."""
    directory = store.directory(name)
    for path in _drafts(directory):
        with suppress(OSError):
            os.unlink(path)
    documents = store.read(name, (REQUEST, PLAN)).documents
    if all(write_copy(directory, kind, document) for kind, document in documents.items()):
        write_copy(directory, DESCRIBE, describe_job(store, name, final=True))  # the last: with it, they are complete


def complete_copies(store: Store) -> None:
    """Write the copies of jobs whose supervisor was killed between the end of the job and the last copy."""
    for record in store.list():
        directory = store.directory(record.name)
        if record.status.terminal and os.path.isdir(directory) and not _complete(directory):
            lease = Lease.take(directory)
            if lease is not None:
                with lease:
                    write_copies(store, record.name)


def reserve_space(directory: str) -> None:
    """Reserve disk space, so that the end of a job that fills the disk can still be recorded."""
    with suppress(OSError):
        descriptor = os.open(os.path.join(directory, _RESERVE), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if hasattr(os, "posix_fallocate"):  # not on macOS
                os.posix_fallocate(descriptor, 0, _RESERVED_BYTES)
            else:
                os.write(descriptor, bytes(_RESERVED_BYTES))
        finally:
            os.close(descriptor)


def release_space(directory: str) -> None:
    """Release the reserved space, before the end of the job is recorded."""
    with suppress(OSError):
        os.unlink(os.path.join(directory, _RESERVE))


def _complete(directory: str) -> bool:
    return os.path.exists(os.path.join(directory, f"{DESCRIBE}.json")) and not any(_drafts(directory))


def _drafts(directory: str) -> Iterator[str]:
    """Copies and logs that a killed process has not written completely."""
    for folder in (directory, os.path.join(directory, "logs")):
        with suppress(OSError):
            yield from (os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(DRAFT))
