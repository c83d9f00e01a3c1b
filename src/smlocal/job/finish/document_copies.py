"""The copies of a job's documents, once it has ended."""

import os

from smlocal.job.finish.describe import PLAN, REQUEST, describe_job
from smlocal.job.finish.job_folder import DESCRIBE, is_whole, keep, remove_drafts
from smlocal.store.jobs import Store
from smlocal.store.lease import Lease


def keep_copies(store: Store, name: str) -> None:
    """Write all of them; only for the job's supervisor."""
    directory = store.directory(name)
    remove_drafts(directory)
    for kind in (REQUEST, PLAN):
        keep(directory, kind, store.document(name, kind))
    keep(directory, DESCRIBE, describe_job(store, name))


def complete_copies(store: Store) -> None:
    """Write those of jobs whose supervisor was killed after the end of its job and before the last copy."""
    for record in store.list():
        directory = store.directory(record.name)
        if record.status.terminal and os.path.isdir(directory) and not is_whole(directory):
            lease = Lease.take(directory)
            if lease is not None:
                with lease:
                    keep_copies(store, record.name)
