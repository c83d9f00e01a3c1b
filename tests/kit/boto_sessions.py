"""Sessions of boto3's that share what they have read: a session of its own reads 20 MB of models for each client."""

from functools import cache
from threading import Lock
from typing import Any

import boto3
import botocore.session

_LOCK = Lock()


@cache
def _loader() -> Any:
    return botocore.session.Session().get_component("data_loader")


def boto_session(**settings: Any) -> Any:
    """As `boto3.Session(…)`."""
    core = botocore.session.Session()
    with _LOCK:
        loader = _loader()
        core.register_component("data_loader", loader)
        session = boto3.Session(botocore_session=core, **settings)
        loader.search_paths[:] = dict.fromkeys(loader.search_paths)  # each session adds boto3's folder
    return session
