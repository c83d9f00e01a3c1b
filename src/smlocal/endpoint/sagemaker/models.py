"""Models and configurations of endpoints: documents that jobs are made from."""

from collections.abc import Mapping
from typing import Any

from smlocal.endpoint.call import AwsCall, validation_error
from smlocal.endpoint.sagemaker.job_operations import refusals_answered
from smlocal.endpoint.sagemaker.model_documents import as_made, model_file
from smlocal.endpoint.sagemaker.model_packages import found_package
from smlocal.endpoint.sagemaker.pages import page_of, take
from smlocal.endpoint.sagemaker.request_folders import check_model_data, recorded_sources
from smlocal.endpoint.sagemaker.resources import CONFIG, MODEL, create, delete, found
from smlocal.endpoint.serving import Serving
from smlocal.jobs.store.resources import StoredResource
from smlocal.sagemaker.contract.identity import account
from smlocal.sagemaker.serving.model_registry import (
    HERE,
    SOURCES,
    containers_of_packages,
    described_model,
    packages_of,
    says_twice,
    served,
)
from smlocal.sagemaker.serving.variants import ONE_OF


def create_model(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Record it, once it can be served here."""
    asked = call.parameters
    name = asked["ModelName"]
    arn = MODEL.arn(name, region=call.region, account=_account(asked))
    if serving.store.resource(MODEL.name, name) is not None:
        raise MODEL.existing(arn)
    model = _with_packages(serving, call)
    model_file(serving, call.region, [model], {})
    check_model_data(serving, _containers(served(model)))
    create(serving, MODEL, name, arn=arn, body=_with_sources(serving, model))
    return {"ModelArn": arn}


def _with_packages(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """The request, with what its packages say now; `ServiceError` if one is not here, or cannot be deployed."""
    asked = call.parameters
    named = packages_of(asked)
    if not named:
        return asked
    if says_twice(asked):
        raise validation_error(ONE_OF)
    for each in named:
        found_package(serving, each["ModelPackageName"], region=call.region)
    with refusals_answered():
        containers, sources = containers_of_packages(serving.store, asked)
    return {**asked, HERE: {"Containers": containers, SOURCES: sources}}


def _with_sources(serving: Serving, model: Mapping[str, Any]) -> dict[str, Any]:
    here = model.get(HERE) or {}
    sources = {**here.get(SOURCES, {}), **recorded_sources(serving, model, served(model))}
    return {**model, **({HERE: {**here, SOURCES: sources}} if here or sources else {})}


def describe_model(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """As it was made: one of a package names the package."""
    return described_model(found(serving, MODEL, call.parameters["ModelName"], region=call.region))


def list_models(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A page of them."""
    return page_of(
        take(serving.store.resources(MODEL.name), call.parameters),
        call.parameters,
        member="Models",
        summary=lambda each: {"ModelName": each.name, "ModelArn": each.arn, "CreationTime": each.created},
    )


def delete_model(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Endpoints that serve it go on."""
    return delete(serving, MODEL, call, "ModelName")


def create_endpoint_config(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Record it, once endpoints can be made of it here."""
    asked = call.parameters
    name = asked["EndpointConfigName"]
    models = models_of(serving, asked, region=call.region)
    model_file(serving, call.region, [each.body for each in models], asked)
    arn = CONFIG.arn(name, region=call.region, account=_account(models[0].body))
    create(serving, CONFIG, name, arn=arn, body=asked)
    return {"EndpointConfigArn": arn}


def describe_endpoint_config(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """As it was made; a weight that was left out is 1."""
    config = found(serving, CONFIG, call.parameters["EndpointConfigName"], region=call.region)
    given = as_made(config.body)
    variants = [{"InitialVariantWeight": 1.0, **each} for each in given["ProductionVariants"]]
    return {
        **given,
        "ProductionVariants": variants,
        "EndpointConfigArn": config.arn,
        "CreationTime": config.created,
    }


def list_endpoint_configs(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """A page of them."""
    return page_of(
        take(serving.store.resources(CONFIG.name), call.parameters),
        call.parameters,
        member="EndpointConfigs",
        summary=lambda each: {
            "EndpointConfigName": each.name,
            "EndpointConfigArn": each.arn,
            "CreationTime": each.created,
        },
    )


def delete_endpoint_config(serving: Serving, call: AwsCall) -> dict[str, Any]:
    """Endpoints that were made of it go on."""
    return delete(serving, CONFIG, call, "EndpointConfigName")


def models_of(serving: Serving, config: Mapping[str, Any], *, region: str) -> list[StoredResource]:
    """The models of a configuration, each once; `ServiceError` if one is missing."""
    names = []
    for number, variant in enumerate(config["ProductionVariants"]):
        if variant.get("ModelName") is None:
            raise validation_error(
                f"smlocal does not run inference components: ProductionVariants[{number}] has no ModelName."
            )
        names.append(variant["ModelName"])
    return [found(serving, MODEL, each, region=region) for each in dict.fromkeys(names)]


def _account(model: Mapping[str, Any]) -> str:
    image = next((each["Image"] for each in _containers(model) if each.get("Image")), None)
    return account(role=model.get("ExecutionRoleArn"), image=image)


def _containers(model: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*filter(None, [model.get("PrimaryContainer")]), *(model.get("Containers") or ())]
