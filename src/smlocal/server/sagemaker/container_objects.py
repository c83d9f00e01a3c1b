"""S3 for containers that use it themselves, as toolkits do that download their code."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from smlocal.server.application import Application
from smlocal.server.hosts import Hosts
from smlocal.server.serving import Serving
from smlocal.server.signature import Signatures

_BUCKET = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?![a-z0-9.-])")


def url_for(serving: Serving, request: Mapping[str, Any], local: Mapping[str, Any]) -> str | None:
    """The URL of S3 for `Local.Endpoints` of a job that is told of a bucket here; None for all others."""
    environment = request.get("Environment")
    own = isinstance(environment, dict) and any(name.startswith("AWS_") for name in environment)
    if own or local.get("Credentials", "none") != "none" or request.get("EnableNetworkIsolation") is True:
        return None
    named = {found[1] for text in _told(request) for found in _BUCKET.finditer(text)}
    if not any(os.path.isdir(os.path.join(serving.buckets, name)) for name in named):
        return None
    return serving.container_port.url(lambda key: _application(serving, key))


def reopen(serving: Serving) -> None:
    """Be there again for jobs that run since an earlier server."""
    if serving.store.unfinished():
        serving.container_port.reopen(lambda key: _application(serving, key))


def _application(serving: Serving, key: Signatures) -> Application:
    return Application(serving, hosts=Hosts(), signatures=key, only_s3=True)


def _told(request: Mapping[str, Any]) -> Iterator[str]:
    """What the program in the container reads."""
    for name in ("HyperParameters", "Environment"):
        values = request.get(name)
        if isinstance(values, dict):
            yield from (each for each in values.values() if isinstance(each, str))
    algorithm = request.get("AlgorithmSpecification")
    if isinstance(algorithm, dict):
        for name in ("ContainerEntrypoint", "ContainerArguments"):
            words = algorithm.get(name)
            if isinstance(words, list):
                yield from (each for each in words if isinstance(each, str))
