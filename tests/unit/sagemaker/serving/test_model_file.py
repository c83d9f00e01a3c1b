"""A model file: valid, or one error with all mistakes."""

from typing import Any

import pytest

from smlocal.errors import FieldRefusedError, RequestInvalidError
from smlocal.jobfile.document import Document
from smlocal.sagemaker.serving.model_file import ModelFile, instance_type_names, read_model

CONTAINER = {"Image": "held:latest", "ModelDataUrl": "./model.tar.gz"}
DRAFT = {
    "ChannelName": "draft",
    "S3DataSource": {"S3Uri": "s3://b/m/", "S3DataType": "S3Prefix", "CompressionType": "None"},
}
PAIR = [{**CONTAINER, "ContainerHostname": name} for name in ("clean", "predict")]
LIST: list[dict[str, Any]] = [
    {"ModelName": "one", "PrimaryContainer": CONTAINER},
    {"ModelName": "pair", "Containers": PAIR},
]
BOTH = [
    {"VariantName": "Blue", "ModelName": "one", "InitialVariantWeight": 3},
    {"VariantName": "Green", "ModelName": "pair", "InitialInstanceCount": 2},
]


def read(**data: Any) -> ModelFile:
    return read_model(Document({"PrimaryContainer": CONTAINER, **data}, name="model.yaml", directory="/here"))


def test_the_limits_are_those_of_the_service() -> None:
    model = read()
    assert (model.startup(model.variants[0]), model.grace) == (480.0, 30)
    serving = model.serving
    assert (serving.PingSeconds, serving.InvocationSeconds, serving.StreamSeconds) == (2, 60, 480)
    assert serving.MaxBodyBytes == 26_214_400


def test_each_limit_may_be_set_smaller() -> None:
    serving = {"StartupSeconds": 3, "PingSeconds": 1, "InvocationSeconds": 2, "StreamSeconds": 4, "MaxBodyBytes": 100}
    model = read(Local={"Serving": serving, "StopGraceSeconds": 5})
    assert (model.startup(model.variants[0]), model.grace) == (3.0, 5)
    assert model.serving.plain() == serving


def test_the_startup_is_that_of_the_variant() -> None:
    variant = {"VariantName": "Blue", "ContainerStartupHealthCheckTimeoutInSeconds": 600}
    model = read(ProductionVariants=[variant])
    assert model.startup(model.variants[0]) == 600


def test_one_container_of_a_list_is_a_model_too() -> None:
    document = Document({"Containers": [CONTAINER]}, name="model.yaml", directory="/here")
    (container,) = read_model(document).variants[0].model.containers
    assert (container.definition.Image, container.name) == ("held:latest", "primary")


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
        (
            {
                "PrimaryContainer": {
                    "Image": "x",
                    "ModelDataSource": {
                        "S3DataSource": {"S3Uri": "s3://b/m", "S3DataType": "S3Prefix", "CompressionType": "None"}
                    },
                }
            },
            "s3://b/m of an S3Prefix does not end with /",
        ),
        ({"PrimaryContainer": {**CONTAINER, "AdditionalModelDataSources": [DRAFT, DRAFT]}}, "ChannelName draft is"),
        (
            {"PrimaryContainer": {**CONTAINER, "AdditionalModelDataSources": [{**DRAFT, "ChannelName": ".."}]}},
            "ChannelName '..' cannot be the name of a folder",
        ),
        ({"PrimaryContainer": {**CONTAINER, "Imag": "x"}}, "Imag"),
        ({"PrimaryContainer": {**CONTAINER, "ContainerHostname": "a b"}}, "primaryContainer.containerHostname"),
        ({"Local": {"Serving": {"PingSeconds": 0}}}, "PingSeconds"),
        ({"Local": {"Serving": {"Ping": 1}}}, "Ping"),
        ({"Local": {"Output": "out"}}, "Local.Output: endpoints have no use for it"),
        ({"Local": {"Network": "host"}}, "Local.Network: containers that serve listen at port 8080, which another"),
        ({"Local": {"Engines": ["a", "b"]}}, "an endpoint runs on one engine"),
        ({"Local": {"Region": "not a region"}}, "Local.Region"),
        ({"ProductionVariants": [{"InstanceType": "ml.none.large"}]}, "member.instanceType"),
    ],
)
def test_mistakes_are_named(data: dict[str, Any], text: str) -> None:
    with pytest.raises(RequestInvalidError) as error:
        read(**data)
    assert text in error.value.with_details


def test_the_variables_of_a_model_have_a_size() -> None:
    def model(sizes: list[int]) -> dict[str, Any]:
        given = [
            {**CONTAINER, "Environment": {f"{name}{number:02}": "é" * 511 for number in range(size)}}
            for name, size in zip("ab", sizes, strict=False)
        ]
        return {"PrimaryContainer": given[0]} if len(given) == 1 else {"PrimaryContainer": None, "Containers": given}

    read(**model([31]))  # 1,025 bytes each
    read(**model([16, 15]))
    for sizes, said in (([32], "Environment has 32,800 bytes"), ([16, 16], "Environment of all containers has 32,800")):
        with pytest.raises(RequestInvalidError) as error:
            read(**model(sizes))
        assert said in error.value.with_details


def test_what_is_not_supported_is_refused_by_name() -> None:
    with pytest.raises(FieldRefusedError) as error:
        read(AsyncInferenceConfig={"OutputConfig": {"S3OutputPath": "s3://b/o"}})
    assert error.value.sentence == "model.yaml uses fields that smlocal does not support: AsyncInferenceConfig"


def test_the_types_of_variants_are_those_of_the_service_and_this_machine() -> None:
    names = instance_type_names()
    assert {"ml.m5.large", "local"} <= names
    assert "ml.none.large" not in names


def read_list(**data: Any) -> ModelFile:
    return read_model(
        Document({"Models": LIST, "ProductionVariants": BOTH, **data}, name="model.yaml", directory="/here")
    )


def test_a_list_of_models_is_run_by_the_variants_that_name_them() -> None:
    blue, green = read_list().variants
    assert (blue.name, blue.model.name, blue.weight) == ("Blue", "one", 3.0)
    assert (green.name, green.model.name, green.weight, green.model.direct) == ("Green", "pair", 1.0, False)
    assert [each.name for each in green.model.containers] == ["clean", "predict"]
    assert [each.at for each in green.model.containers] == [("Models", 1, "Containers", each) for each in (0, 1)]


def test_several_variants_may_run_one_model() -> None:
    blue, green = read(ProductionVariants=[{"VariantName": "Blue"}, {"VariantName": "Green"}]).variants
    assert blue.model is green.model


def test_containers_without_names_are_numbered() -> None:
    document = Document({"Containers": [CONTAINER] * 3}, name="model.yaml", directory="/here")
    (variant,) = read_model(document).variants
    assert [each.name for each in variant.model.containers] == ["container-1", "container-2", "container-3"]


def test_what_is_not_supported_is_refused_in_a_list_too() -> None:
    several = {"ModelName": "one", "PrimaryContainer": {"Image": "i", "MultiModelConfig": {}}}
    with pytest.raises(FieldRefusedError) as error:
        read_list(Models=[several, LIST[1]])
    assert error.value.sentence.endswith("does not support: PrimaryContainer.MultiModelConfig")
    assert "Models.1.member.PrimaryContainer.MultiModelConfig is refused: " in error.value.details[0]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"PrimaryContainer": CONTAINER}, "PrimaryContainer and Models exclude each other"),
        ({"ModelName": "one"}, "ModelName and Models exclude each other"),
        ({"Models": []}, "models"),
        ({"Models": [{"PrimaryContainer": CONTAINER}, LIST[1]]}, "ModelName is missing: variants name it"),
        ({"Models": [LIST[1], LIST[1]]}, "ModelName pair is that of another model"),
        ({"Models": [*LIST, {**LIST[0], "ModelName": "idle"}]}, "no variant runs the model idle"),
        ({"Models": [{"ModelName": "one"}, LIST[1]]}, "a model needs PrimaryContainer"),
        (
            {"Models": [{"ModelName": "one", "PrimaryContainer": {"ModelPackageName": "p"}}, LIST[1]]},
            "the model package p is not on this machine",
        ),
        (
            {"Models": [{"ModelName": "one", "PrimaryContainer": {**CONTAINER, "ModelPackageName": "p"}}, LIST[1]]},
            "Specify one of either Image and Model Data URL or ModelPackageName in container definition.",
        ),
        (
            {"Models": [{"ModelName": "one", "PrimaryContainer": {"Image": "i", "InferenceSpecificationName": "s"}}]},
            "InferenceSpecificationName needs ModelPackageName",
        ),
        ({"Models": [{**LIST[0], "EnableNetworkIsolation": True}, LIST[1]]}, "not the same for all models"),
        ({"ProductionVariants": [BOTH[0], {**BOTH[1], "ModelName": "none"}]}, "ModelName none names no model"),
        ({"ProductionVariants": [BOTH[0], {"VariantName": "Green"}]}, "ModelName is missing: it names one of Models"),
        ({"ProductionVariants": [BOTH[0], {"ModelName": "pair"}]}, "VariantName is missing"),
        ({"ProductionVariants": [BOTH[0], {**BOTH[1], "VariantName": "Blue"}]}, "that of another variant"),
        (
            {"Models": [LIST[0], {"ModelName": "pair", "Containers": [PAIR[0], CONTAINER]}]},
            "ContainerHostname is missing: other containers have one",
        ),
        (
            {"Models": [LIST[0], {"ModelName": "pair", "Containers": [PAIR[0], PAIR[0]]}]},
            "ContainerHostname clean is that of another container",
        ),
        (
            {
                "Models": [
                    LIST[0],
                    {
                        "ModelName": "pair",
                        "Containers": [CONTAINER] * 2,
                        "InferenceExecutionConfig": {"Mode": "Direct"},
                    },
                ]
            },
            "ContainerHostname is missing: with direct invocation every container has one",
        ),
    ],
)
def test_mistakes_of_a_list_are_named(data: dict[str, Any], text: str) -> None:
    with pytest.raises(RequestInvalidError) as error:
        read_list(**data)
    assert text in error.value.with_details
