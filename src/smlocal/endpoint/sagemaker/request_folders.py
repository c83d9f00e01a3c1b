"""Which folders and buckets of this machine a request means, and which it may mean."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from smlocal.base.at_use import at_use
from smlocal.data.sources.local_path import local_path
from smlocal.endpoint.browsers import Hosts
from smlocal.endpoint.call import ServiceError, validation_error
from smlocal.endpoint.objects.bucket_folder import Bucket, bucket_path
from smlocal.endpoint.objects.s3_documents import S3CallError
from smlocal.endpoint.serving import Serving
from smlocal.errors import PathNotAllowedError
from smlocal.jobfile.settings import SET_BY_CLIENTS, LocalSettings
from smlocal.sagemaker.serving.model_file import SERVING
from smlocal.terms.model.structure import members
from smlocal.terms.rights import Rights
from smlocal.terms.validation.violation import closest

if TYPE_CHECKING:
    from smlocal.endpoint.application import Application
    from smlocal.endpoint.signature import Signatures
else:
    Application = at_use("smlocal.endpoint.application", "Application")
    Signatures = at_use("smlocal.endpoint.signature", "Signatures")

_BUCKET = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/|$)")
_LOCATIONS = {"S3Uri", "S3OutputPath", "ModelDataUrl"}
NO_OBJECT = "Local is not an object."
_REMOTE = re.compile(r"(?i:s3|https?)://")


def local_block(serving: Serving, request: Mapping[str, Any]) -> dict[str, Any]:
    """The `Local` block for a request: the client's, the server's settings, and the folders of its buckets.

    `ServiceError` if it names what clients of this server may not use.
    """
    given = request.get("Local")
    if not isinstance(given, dict | None):
        raise validation_error(NO_OBJECT)
    local: dict[str, Any] = dict(given or {})
    _check_members(serving, local)
    of_server = serving.options.local
    if "Gpus" in local:
        of_server = {name: value for name, value in of_server.items() if name != "AllowCpu"}
    local = {**of_server, **local}
    _check_paths(serving, _paths(request, local))
    rights = serving.job_rights()
    if rights.folders is not None:
        local["AllowedPaths"] = list(rights.folders)
    if rights.buckets is not None:
        local["AllowedBuckets"] = list(rights.buckets)
    else:
        local.pop("AllowedBuckets", None)
    sources = local.get("Sources")
    there = {**bucket_folders(serving, request), **_query_results(serving, request)}
    local["Sources"] = {**there, **(sources if isinstance(sources, dict) else {})}
    output = _s3_output(request)
    if output is not None and "Output" not in local:
        local["Output"] = folder_of(serving, output) or serving.artifacts
    endpoints = local.get("Endpoints")
    if endpoints is None or (isinstance(endpoints, dict) and "s3" not in endpoints):
        objects = url_for(serving, request, local)
        if objects is not None:
            local["Endpoints"] = {**(endpoints or {}), "s3": objects}
    return local


def folder_of(serving: Serving, uri: str) -> str | None:
    """The folder of an S3 URI whose bucket is a folder here; else None."""
    found = _BUCKET.match(uri)
    if found is None or not os.path.isdir(os.path.join(serving.buckets, found[1])):
        return None
    key = os.path.normpath("/" + uri[found.end() :]).lstrip("/")
    return os.path.join(serving.buckets, found[1], key) if key else os.path.join(serving.buckets, found[1])


def bucket_of(serving: Serving, uri: str) -> tuple[Bucket, str] | None:
    """The bucket and the key of an S3 URI whose bucket is a folder here; else None."""
    found = _BUCKET.match(uri)
    if found is None or bucket_path(serving.buckets, found[1]) is None:
        return None
    return Bucket(serving.buckets, found[1]), uri[found.end() :]


def bucket_folders(serving: Serving, request: Mapping[str, Any]) -> dict[str, str]:
    """The buckets that a request names and that are folders here, with the folders."""
    named = {found[1] for uri in _texts(request) if (found := _BUCKET.match(uri)) is not None}
    folders = {f"s3://{name}": os.path.join(serving.buckets, name) for name in sorted(named)}
    return {bucket: folder for bucket, folder in folders.items() if os.path.isdir(folder)}


def _query_results(serving: Serving, request: Mapping[str, Any]) -> dict[str, str]:
    """Results of queries of a processing job for which something is in a bucket here: somebody has put it there."""
    given = request.get("ProcessingInputs")
    found = {}
    for each in given if isinstance(given, list) else ():
        definition = each.get("DatasetDefinition") if isinstance(each, dict) else None
        for query in definition.values() if isinstance(definition, dict) else ():
            uri = query.get("OutputS3Uri") if isinstance(query, dict) else None
            folder = folder_of(serving, uri) if isinstance(uri, str) else None
            with suppress(OSError):
                if folder is not None and os.listdir(folder):
                    found[str(uri)] = folder
    return found


def _s3_output(request: Mapping[str, Any]) -> str | None:
    config = request.get("OutputDataConfig") or request.get("TransformOutput")
    uri = config.get("S3OutputPath") if isinstance(config, dict) else None
    return uri if isinstance(uri, str) and _REMOTE.match(uri) else None


def _check_members(serving: Serving, local: Mapping[str, Any]) -> None:
    of_server = serving.options.local  # a pipeline hands them on to its jobs
    refused = sorted(
        name for name in local.keys() - SET_BY_CLIENTS if name not in of_server or local[name] != of_server[name]
    )
    if not refused or serving.options.rights.local_members:
        return
    known = [*members(LocalSettings), SERVING]
    for name in refused:
        if name not in known:  # else it would seem a matter of rights
            meant = closest(name, known)
            raise validation_error(f"unknown key Local.{name}{f': did you mean {meant}?' if meant else ''}")
    raise not_let(refused)


def not_let(names: Iterable[str]) -> ServiceError:
    """The answer to a request with members of `Local` that clients of this server may not set."""
    return validation_error(
        f"This server does not let clients set {', '.join(f'Local.{name}' for name in names)}. "
        "Its owner can allow it: smlocal serve --allow-local"
    )


def check_model_data(serving: Serving, containers: Iterable[Mapping[str, Any]]) -> None:
    """`ServiceError` for a model in a bucket that is a folder here, of which nothing is there."""
    for container in containers:
        source = (container.get("ModelDataSource") or {}).get("S3DataSource") or {}
        uri = container.get("ModelDataUrl") or (source.get("S3Uri") if source.get("S3DataType") == "S3Object" else None)
        place = None if uri is None else bucket_of(serving, uri)
        if place is None:
            continue
        bucket, key = place
        try:
            with open(bucket.open(key), "rb"):
                continue
        except S3CallError:
            raise validation_error(f"Could not find model data at {uri}.") from None


def recorded_sources(serving: Serving, request: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, str]:
    """What stands here for the locations that a part of a request names: buckets, and folders of its `Local` block.

    A model or a package keeps it for what is made of it.
    """
    given = (request.get("Local") or {}).get("Sources")
    named = list(_texts(part))
    chosen = {
        prefix: os.path.join(serving.directory, path)
        for prefix, path in (given.items() if isinstance(given, dict) else ())
        if isinstance(path, str) and any(uri.startswith(prefix.rstrip("/")) for uri in named)
    }
    return {**bucket_folders(serving, part), **chosen}


def with_sources(serving: Serving, local: Mapping[str, Any] | None, sources: Mapping[str, str]) -> dict[str, Any]:
    """A client's `Local` block with what a model keeps, as far as it is there and the client may use it.

    Buckets of this server need no mention.
    """
    given = (local or {}).get("Sources") or {}
    if not isinstance(given, dict):
        return dict(local or {})
    rights = Rights(folders=serving.options.rights.allowed_paths)
    found = {prefix: path for prefix, path in sources.items() if os.path.exists(path) and _allowed(path, rights)}
    return {**(local or {}), **({"Sources": {**found, **given}} if found else {})}


def _allowed(path: str, rights: Rights) -> bool:
    try:
        local_path(path, "/", rights)
    except PathNotAllowedError:
        return False
    return True


def _paths(request: Mapping[str, Any], local: Mapping[str, Any]) -> Iterator[str]:
    """All local paths that the request names."""
    for uri in _locations(request):
        if not _REMOTE.match(uri):
            yield uri
    for name in ("Output", "Code"):
        if isinstance(local.get(name), str):
            yield local[name]
    sources = local.get("Sources")
    if isinstance(sources, dict):
        yield from (path for path in sources.values() if isinstance(path, str) and not _REMOTE.match(path))


def _locations(value: Any) -> Iterator[str]:
    """Members whose names say that they are locations. DirectoryPath stays on its file system."""
    if isinstance(value, dict):
        for name, each in value.items():
            if isinstance(each, str) and name in _LOCATIONS:
                yield each
            elif name not in {"Local", "HyperParameters", "StaticHyperParameters", "Environment"}:
                yield from _locations(each)
    elif isinstance(value, list):
        for each in value:
            yield from _locations(each)


def _texts(value: Any) -> Iterator[str]:
    return (uri for uri in _locations(value) if uri.startswith("s3://"))


def _check_paths(serving: Serving, paths: Iterable[str]) -> None:
    """The early answer for what the request names outright; where a path is resolved, it is checked again.

    What lies in buckets is the clients' own: a model that a step has made names such a folder.
    """
    rights = serving.job_rights()
    if rights.folders is None:
        return
    for path in paths:
        try:
            local_path(path, "/", Rights(folders=rights.folders))
        except PathNotAllowedError as error:
            raise validation_error(" ".join([f"{error.sentence}.", *error.remedy])) from None


def no_objects(uri: str, *, region: str, role: str) -> ServiceError:
    """The service's answer to a channel without data."""
    bucket = uri.removeprefix("s3://").partition("/")[0]
    return validation_error(
        f'No S3 objects found under S3 URL "{uri}" given in input data source. Please ensure that the bucket exists in '
        f'the selected region ({region}), that objects exist under that S3 prefix, and that the role "{role}" has '
        f'"s3:ListBucket" permissions on bucket "{bucket}".'
    )


# S3 for containers that use it themselves, as toolkits do that download their code.

_REGIONS = frozenset({"AWS_REGION", "AWS_DEFAULT_REGION"})
"""Variables that say nothing about whose S3 is meant. SDKs set them for functions with `@remote` and `@step`."""
_TOLD_BUCKET = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?![a-z0-9.-])")


def url_for(serving: Serving, request: Mapping[str, Any], local: Mapping[str, Any]) -> str | None:
    """The URL of S3 for `Local.Endpoints` of a job that is told of a bucket here; None for all others."""
    environments = [each.get("Environment") for each in (request, *_containers(request))]
    names = {name for each in environments if isinstance(each, dict) for name in each}
    own = any(name.startswith("AWS_") and name not in _REGIONS for name in names)
    if own or local.get("Credentials", "none") != "none" or _isolated(request):
        return None
    named = {found[1] for text in _told(request) for found in _TOLD_BUCKET.finditer(text)}
    if not any(os.path.isdir(os.path.join(serving.buckets, name)) for name in named):
        return None
    return serving.container_port.url(lambda key: _application(serving, key))


def _isolated(request: Mapping[str, Any]) -> bool:
    network = request.get("NetworkConfig")
    of_processing = isinstance(network, dict) and network.get("EnableNetworkIsolation") is True
    return of_processing or request.get("EnableNetworkIsolation") is True


def reopen(serving: Serving) -> None:
    """Be there again for jobs that run since an earlier server."""
    if serving.store.unfinished():
        serving.container_port.reopen(lambda key: _application(serving, key))


def _application(serving: Serving, key: Signatures) -> Application:
    return Application(serving, hosts=Hosts(), signatures=key, only_s3=True)


def _containers(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Those of models that serve."""
    models = request.get("Models")
    for model in (request, *(models if isinstance(models, list) else ())):
        if isinstance(model, dict):
            several = model.get("Containers")
            for each in (model.get("PrimaryContainer"), *(several if isinstance(several, list) else ())):
                if isinstance(each, dict):
                    yield each


def _told(request: Mapping[str, Any]) -> Iterator[str]:
    """The names that the program in the container reads."""
    environments = [each.get("Environment") for each in (request, *_containers(request))]
    for values in (request.get("HyperParameters"), request.get("StaticHyperParameters"), *environments):
        if isinstance(values, dict):
            yield from (each for each in values.values() if isinstance(each, str))
    algorithm = request.get("AlgorithmSpecification") or request.get("AppSpecification")
    if isinstance(algorithm, dict):
        for name in ("ContainerEntrypoint", "ContainerArguments"):
            words = algorithm.get(name)
            if isinstance(words, list):
                yield from (each for each in words if isinstance(each, str))
