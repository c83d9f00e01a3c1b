"""A transform file: valid, or one error with all mistakes."""

from typing import Any

import pytest

from smlocal.errors import FieldRefusedError, RequestInvalidError
from smlocal.jobfile.document import Document
from smlocal.sagemaker.transform.members import MEMBERS
from smlocal.sagemaker.transform.transform_file import TransformFile, read_transform
from smlocal.terms.member_table import MemberTable, Support

CONTAINER = {"Image": "held:latest", "ModelDataUrl": "./model.tar.gz"}
DATA_SOURCE = {"S3DataSource": {"S3Uri": "./model/", "S3DataType": "S3Prefix", "CompressionType": "None"}}
INPUT: dict[str, Any] = {"DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}}}
OUTPUT: dict[str, Any] = {"S3OutputPath": "./out"}
CSV = {"TransformInput": {**INPUT, "ContentType": "text/csv"}, "TransformOutput": {**OUTPUT, "Accept": "text/csv"}}


def read(*, strict: bool = False, **data: Any) -> TransformFile:
    request = {"PrimaryContainer": CONTAINER, "TransformInput": INPUT, "TransformOutput": OUTPUT, **data}
    return read_transform(Document(request, name="transform.yaml", directory="/here"), strict=strict)


def test_the_limits_are_those_of_batch_transform() -> None:
    model = read().model
    assert model.startup(model.variants[0]) == 1800
    assert (model.serving.InvocationSeconds, model.serving.PingSeconds) == (600, 2)
    assert read(ModelClientConfig={"InvocationsTimeoutInSeconds": 30}).model.serving.InvocationSeconds == 30
    local = {"Serving": {"StartupSeconds": 3, "InvocationSeconds": 4}, "Output": "./there"}
    asked = read(ModelClientConfig={"InvocationsTimeoutInSeconds": 30}, Local=local)
    assert asked.model.startup(asked.model.variants[0]) == 3
    assert (asked.model.serving.InvocationSeconds, asked.local.Output) == (4, "./there")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"PrimaryContainer": None}, "a transform job needs PrimaryContainer"),
        ({"PrimaryContainer": None, "ModelName": "absent"}, "the model 'absent' is not known here"),
        ({"PrimaryContainer": {}}, "Image is missing"),
        ({"MaxPayloadInMB": 101}, "MaxPayloadInMB is at most 100"),
        ({"MaxPayloadInMB": 50, "MaxConcurrentTransforms": 3}, "MaxConcurrentTransforms times MaxPayloadInMB"),
        ({"TransformResources": {"InstanceType": "ml.m5.large", "InstanceCount": 101}}, "InstanceCount is at most 100"),
        (
            {"TransformInput": {**INPUT, "ContentType": "text/csv\r\nX: 1"}},
            "Member must satisfy regular expression pattern",
        ),
        ({"TransformInput": {**INPUT, "ContentType": "a\x0bb"}}, "ContentType has a control character"),
        ({"TransformOutput": {**OUTPUT, "Accept": "a\x7fb"}}, "Accept has a control character"),
        ({"BatchStrategy": "All"}, "MultiRecord"),
        ({"Local": {"Publish": True}}, "Local.Publish: transform jobs have no use for it"),
        ({"Local": {"Serving": {"Seconds": 1}}}, "Seconds"),
        ({"DataProcessing": {"InputFilter": "$[1:]"}}, "DataProcessing needs a ContentType of text/csv"),
        ({"DataProcessing": {"OutputFilter": "$[1:]"}}, "DataProcessing needs an Accept of text/csv"),
        ({**CSV, "DataProcessing": {"InputFilter": "$..a"}}, "InputFilter is not an expression"),
        ({**CSV, "DataProcessing": {"InputFilter": "$[-:2]"}}, "InputFilter is not an expression"),
        (
            {
                **CSV,
                "TransformOutput": {**OUTPUT, "Accept": "application/json"},
                "DataProcessing": {"JoinSource": "Input"},
            },
            "an Accept of the same format",
        ),
    ],
)
def test_mistakes_are_named(data: dict[str, Any], text: str) -> None:
    with pytest.raises(RequestInvalidError) as error:
        read(**data)
    assert text in " ".join([error.value.sentence, *error.value.details])


def test_what_the_container_decides_is_not_judged_before_it_has_said_it() -> None:
    """MaxConcurrentTransforms times the MaxPayloadInMB of its /execution-parameters."""
    assert read(MaxConcurrentTransforms=100).request.MaxConcurrentTransforms == 100
    assert read(TransformInput={**INPUT, "ContentType": "text/csv; a=☃\tb"}).request.TransformInput.ContentType
    most = {"InstanceType": "ml.m5.large", "InstanceCount": 100}
    assert read(TransformResources=most).request.TransformResources is not None


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ({"Containers": [CONTAINER, CONTAINER]}, "Containers"),
        ({"PrimaryContainer": {**CONTAINER, "ModelDataSource": DATA_SOURCE}}, "PrimaryContainer.ModelDataSource"),
        (
            {
                "TransformInput": {
                    "DataSource": {"S3DataSource": {"S3DataType": "AugmentedManifestFile", "S3Uri": "./m"}}
                }
            },
            "TransformInput.DataSource.S3DataSource.S3DataType",
        ),
    ],
)
def test_what_is_not_done_is_refused_by_name(data: dict[str, Any], name: str) -> None:
    with pytest.raises(FieldRefusedError, match=name.replace(".", r"\.")):
        read(**data)


def test_strict_accepts_only_what_the_service_does() -> None:
    with pytest.raises(RequestInvalidError) as error:
        read(strict=True)
    assert any("PrimaryContainer" in line for line in error.value.details)


def members(table: MemberTable, service: dict[str, Any], operation: str) -> list[str]:
    """Those without a row."""

    def leaves(name: str, place: str = "") -> list[str]:
        shape = service["shapes"][name]
        if shape["type"] == "structure":
            parts = ((f"{place}.{key}" if place else key, each["shape"]) for key, each in shape["members"].items())
            return [leaf for at, each in parts for leaf in leaves(each, at)]
        return leaves(shape["member"]["shape"], f"{place}[]") if shape["type"] == "list" else [place]

    found = leaves(service["operations"][operation]["input"]["shape"])
    return [each for each in found if table.row_of(each) is None]


def test_every_member_of_both_requests_has_a_row(service: dict[str, Any]) -> None:
    assert members(MEMBERS, service, "CreateTransformJob") == []
    assert members(MEMBERS, service, "CreateModel") == []
    assert MEMBERS.rows["Containers"].support is Support.REFUSED
