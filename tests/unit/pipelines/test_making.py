"""What steps make, without a leader."""

import os
import time
from typing import Any

import pytest

from smlocal.endpoint.serving import Serving
from smlocal.pipelines.making import Maker, RefusedError, read_by
from smlocal.sagemaker.pipelines.step_types import STEP_TYPES
from smlocal.terms.statuses import PhaseMessage

ARN = "arn:aws:sagemaker:eu-west-1:111111111111:model-package"
"""As the fixture has it."""


def test_a_model_is_registered_once_in_a_group_that_its_step_makes(serving: Serving) -> None:
    """The leader may be killed before it has noted the package; then it asks again, under the same name."""
    maker = Maker(serving=serving, local={})
    kind = STEP_TYPES["RegisterModel"]
    arguments: dict[str, Any] = {
        "ModelPackageGroupName": "Group",
        "InferenceSpecification": {"Containers": [{"Image": "an-image", "ModelDataUrl": "s3://far/model.tar.gz"}]},
    }

    def make(name: str, **more: Any) -> str:
        return maker.make(kind, {**arguments, **more}, name=name, sources={}, with_job={})[0]

    first = "pipelines-abcdefghijkl-a-registering-step-with-a-name-0123456789"
    assert [make(first), make(first)] == [f"{ARN}/group/1"] * 2
    assert make(first.replace("0123456789", "abcdefghij")) == f"{ARN}/group/2"
    assert maker.describe(kind, f"{ARN}/group/2")["ModelPackageVersion"] == 2
    with pytest.raises(RefusedError, match=r"ModelPackageGroup .* does not exist"):
        make("other", ModelPackageGroupName=f"{ARN}-group/elsewhere")
    del arguments["ModelPackageGroupName"]
    alone = "pipelines-abcdefghijkl-a-step-0123456789"
    assert [make(alone), make(alone)] == [f"{ARN}/{alone}"] * 2, "one without a group"


def test_what_an_earlier_leader_has_made_is_not_made_again(serving: Serving) -> None:
    maker = Maker(serving=serving, local={})
    role = "arn:aws:iam::111111111111:role/R"
    model = {"ExecutionRoleArn": role, "PrimaryContainer": {"Image": "an-image"}}
    variant = {"VariantName": "V", "ModelName": "pipelines-m", "InitialInstanceCount": 1, "InstanceType": "ml.m5.large"}
    for kind, arguments, name in (
        ("Model", model, "pipelines-m"),
        ("EndpointConfig", {"ProductionVariants": [variant]}, "pipelines-c"),
    ):
        made = [
            maker.make(STEP_TYPES[kind], arguments, name=name, sources={}, with_job={"step-of": {"Step": "S"}})
            for _ in range(2)
        ]
        assert made[0] == made[1]


@pytest.mark.parametrize(
    ("kind", "arguments", "known"),
    [
        ("Training", {"InputDataConfig": [{"S3Uri": "s3://b/a/x"}]}, ["s3://b/a/"]),
        ("Processing", {"Environment": {"PLACE": "s3://b/c"}}, ["s3://b/c"]),
        (
            "Training",
            {"InputDataConfig": [{"S3DataType": "ManifestFile", "S3Uri": "s3://b/a"}]},
            ["s3://b/a/", "s3://b/c"],
        ),
        ("Transform", {"ModelName": "m"}, ["s3://b/a/", "s3://b/c"]),
    ],
)
def test_a_job_knows_the_locations_that_it_may_read(kind: str, arguments: dict[str, Any], known: list[str]) -> None:
    sources = {"s3://b/a/": "/here/a", "s3://b/c": "/here/c", "./local": "/here/local"}
    assert [*read_by(STEP_TYPES[kind], arguments, sources)] == known


def test_what_has_a_name_of_the_definition_is_not_made_twice_either(serving: Serving) -> None:
    maker = Maker(serving=serving, local={})
    role = "arn:aws:iam::111111111111:role/R"
    model = {"ModelName": "named", "ExecutionRoleArn": role, "PrimaryContainer": {"Image": "an-image"}}
    with serving.store.create(
        "leader",
        run_id="1",
        created=time.time(),
        documents={},
        supervisor_pid=os.getpid(),
        arn="arn",
        model_uri="",
        instances=0,
        platform="sagemaker_pipeline",
        message=PhaseMessage.PREPARING,
    ):
        pass

    def make(arguments: dict[str, Any]) -> str:
        by = {"step-of": {"Name": "leader", "Step": "S"}}
        return maker.make(STEP_TYPES["Model"], arguments, name="pipelines-x", sources={}, with_job=by)[0]

    assert [make(model), make(model)] == ["named", "named"]
    with pytest.raises(RefusedError, match="already existing"):
        make({**model, "PrimaryContainer": {"Image": "another"}})
