"""The document of a hosting job, made of a client's models and of its configuration of an endpoint."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from smlocal.endpoint.call import validation_error
from smlocal.endpoint.sagemaker.job_operations import limit_to_rights, refusals_answered
from smlocal.endpoint.sagemaker.request_folders import NO_OBJECT, with_sources
from smlocal.endpoint.serving import Serving
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.sagemaker.serving.model_file import SERVING, ModelFile, read_model
from smlocal.sagemaker.serving.model_registry import HERE, served, sources_of

_NOT_OF_CONFIG: Final = frozenset({"ExecutionRoleArn", "VpcConfig", "EnableNetworkIsolation", "Tags"})
"""A configuration has the first three for inference components only: a model has its own."""
_NEEDS_KEY: Final = f"this server demands a key, so its endpoints do too: {LOCAL}.{SERVING}.Key: false is not possible"
_NOT_SHOWN: Final = frozenset({"Tags", LOCAL, HERE})


def model_file(
    serving: Serving, region: str, models: Sequence[Mapping[str, Any]], config: Mapping[str, Any], **endpoint: Any
) -> ModelFile:
    """The validated document; `ServiceError` if it is not valid or not supported here.

    `endpoint`: members of CreateEndpoint.
    """
    document = Document(_composed(models, config, endpoint), name="request", directory=serving.directory)
    sources = {prefix: path for each in models for prefix, path in sources_of(each).items()}
    local = local_of(*models, config, endpoint)
    if local is not None or sources:
        document.data[LOCAL] = with_sources(serving, local, sources)
    limit_to_rights(serving, document, region=region)
    if serving.options.with_key:
        _demand_key(document.data[LOCAL])
    with refusals_answered():
        return read_model(document)


def _demand_key(local: dict[str, Any]) -> None:
    """Have the address of the endpoint demand a key. A wrong type is left to those who read the block."""
    given = local.get(SERVING) or {}
    if not isinstance(given, dict):
        return
    if given.get("Key") is False:
        raise validation_error(_NEEDS_KEY)
    if given.get("Key") is None:
        local[SERVING] = {**given, "Key": True}


def local_of(*requests: Mapping[str, Any]) -> dict[str, Any] | None:
    """The settings of this machine in requests; what a later one sets counts."""
    given = [each[LOCAL] for each in requests if LOCAL in each]
    if not all(isinstance(each, dict) for each in given):
        raise validation_error(NO_OBJECT)
    return {name: value for each in given for name, value in each.items()} if given else None


def as_made(body: Mapping[str, Any]) -> dict[str, Any]:
    """The members that Describe shows of a stored request."""
    return {name: value for name, value in body.items() if name not in _NOT_SHOWN}


def _composed(
    models: Sequence[Mapping[str, Any]], config: Mapping[str, Any], endpoint: Mapping[str, Any]
) -> dict[str, Any]:
    rest = {name: value for name, value in config.items() if name not in _NOT_OF_CONFIG and name != LOCAL}
    given = {name: value for name, value in endpoint.items() if value is not None and name != LOCAL}
    untagged = [as_made(served(each)) for each in models]
    return {**(untagged[0] if len(untagged) == 1 else {"Models": untagged}), **rest, **given}
