"""A model file: valid, or one error with all mistakes."""

from typing import Any

import pytest

from smlocal.errors import FieldRefusedError, RequestInvalidError
from smlocal.jobfile.document import Document
from smlocal.sagemaker.hosting.model_file import ModelFile, instance_type_names, read_model

CONTAINER = {"Image": "held:latest", "ModelDataUrl": "./model.tar.gz"}


def read(**data: Any) -> ModelFile:
    return read_model(Document({"PrimaryContainer": CONTAINER, **data}, name="model.yaml", directory="/here"))


def test_the_limits_are_those_of_the_service() -> None:
    model = read()
    assert (model.startup, model.grace) == (480.0, 30)
    serving = model.serving
    assert (serving.PingSeconds, serving.InvocationSeconds, serving.MaxBodyBytes) == (2, 60, 6_291_456)


def test_each_limit_may_be_set_smaller() -> None:
    serving = {"StartupSeconds": 3, "PingSeconds": 1, "InvocationSeconds": 2, "MaxBodyBytes": 100}
    model = read(Local={"Serving": serving, "StopGraceSeconds": 5})
    assert (model.startup, model.grace) == (3.0, 5)
    assert model.serving.plain() == serving


def test_the_startup_is_that_of_the_variant() -> None:
    variant = {"VariantName": "Blue", "ContainerStartupHealthCheckTimeoutInSeconds": 600}
    assert read(ProductionVariants=[variant]).startup == 600


def test_one_container_of_a_list_is_a_model_too() -> None:
    document = Document({"Containers": [CONTAINER]}, name="model.yaml", directory="/here")
    assert read_model(document).container.Image == "held:latest"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"PrimaryContainer": {}}, "Image is missing"),
        ({"PrimaryContainer": None}, "a model needs PrimaryContainer"),
        ({"Containers": [CONTAINER]}, "exclude each other"),
        (
            {
                "PrimaryContainer": {
                    **CONTAINER,
                    "ModelDataSource": {
                        "S3DataSource": {"S3Uri": "./m", "S3DataType": "S3Prefix", "CompressionType": "None"}
                    },
                }
            },
            "exclude each other",
        ),
        ({"PrimaryContainer": {**CONTAINER, "Imag": "x"}}, "Imag"),
        ({"PrimaryContainer": {**CONTAINER, "ContainerHostname": "a b"}}, "primaryContainer.containerHostname"),
        ({"Local": {"Serving": {"PingSeconds": 0}}}, "PingSeconds"),
        ({"Local": {"Serving": {"Ping": 1}}}, "Ping"),
        ({"Local": {"Output": "out"}}, "Local.Output: endpoints have no use for it"),
        ({"Local": {"Engines": ["a", "b"]}}, "an endpoint runs on one engine"),
        ({"Local": {"Region": "not a region"}}, "Local.Region"),
        ({"ProductionVariants": [{"InstanceType": "ml.none.large"}]}, "member.instanceType"),
    ],
)
def test_mistakes_are_named(data: dict[str, Any], text: str) -> None:
    with pytest.raises(RequestInvalidError) as error:
        read(**data)
    assert text in error.value.with_details


def test_what_is_not_supported_is_refused_by_name() -> None:
    with pytest.raises(FieldRefusedError) as error:
        read(AsyncInferenceConfig={"OutputConfig": {"S3OutputPath": "s3://b/o"}})
    assert error.value.sentence == "model.yaml uses what smlocal does not support: AsyncInferenceConfig"


def test_the_types_of_variants_are_those_of_the_service_and_this_machine() -> None:
    names = instance_type_names()
    assert {"ml.m5.large", "local"} <= names
    assert "ml.none.large" not in names
