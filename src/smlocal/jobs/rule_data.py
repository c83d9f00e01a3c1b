"""Brings what debugger rules name in S3 to this machine: the source of a custom rule, the tensors of another job."""

import os
from collections.abc import Callable
from itertools import islice

from smlocal.base.removal import remove_tree
from smlocal.data.channels.checkpoints import download
from smlocal.data.sources.checkpoints import list_prefix
from smlocal.data.sources.s3.client import S3Client, open_store
from smlocal.data.sources.s3.download import download_all
from smlocal.data.sources.s3.error_responses import FetchCancelledError
from smlocal.data.sources.s3.interface import S3Error
from smlocal.errors import SmlocalError, StagingError
from smlocal.jobs.contract.rights import Rights
from smlocal.jobs.contract.s3_uri import bucket_name, split_s3_uri

_END_MARKER = "training_job_end.ts"
_PAGE = 1000


def fetch_rule_data(uri: str, folder: str, *, region: str, rights: Rights, cancelled: Callable[[], bool]) -> str:
    """Download an object, or a folder with tensors, into `folder`, and return its path; or raise `StagingError`.

    What was in `folder` is removed.
    """
    try:
        remove_tree(folder)
        os.makedirs(folder)
        store = open_store(region, rights=rights)
        try:
            return _fetch(store.until(cancelled), uri, folder)
        finally:
            store.close()
    except FetchCancelledError:
        why = "it was stopped"
    except (S3Error, OSError) as error:
        why = str(error)
    except SmlocalError as error:
        why = " ".join([error.sentence, *error.details])
    raise StagingError(f"{uri} cannot be downloaded ({why}), and Local.Sources maps it to no local path")


def _fetch(store: S3Client, uri: str, folder: str) -> str:
    bucket_uri, key = split_s3_uri(uri)
    found = list(islice(store.list_objects(bucket_name(bucket_uri), key), _PAGE))
    file = next((each for each in found if each.key == key and not key.endswith("/")), None)
    if file is not None:
        path = f"{folder}/{os.path.basename(key)}"
        download_all(store, [(file, path)])
        return path
    listing = list_prefix(store, bucket_uri, key)
    if not listing.paths:
        raise StagingError("there is nothing")
    path = f"{folder}/tensors"
    download(listing, path, draft=f"{path}.draft", store=store, progress=lambda _: None)
    # The copy does not grow: without the marker, a rule would wait for more steps for ever.
    with open(f"{path}/{_END_MARKER}", "ab"):
        pass
    return path
