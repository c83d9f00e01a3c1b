"""The forms that `Local.Gpus` and `--gpus` may have."""

from typing import Any

import pytest

from smlocal.errors import RequestInvalidError
from smlocal.jobfile.document import Document
from smlocal.sagemaker.jobfile.job_file import read_job
from smlocal.terms.gpus import gpus_trouble, read_gpus

REQUEST = {
    "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
    "OutputDataConfig": {"S3OutputPath": "./out"},
    "ResourceConfig": {"InstanceType": "ml.g4dn.xlarge", "InstanceCount": 1},
}


@pytest.mark.parametrize("value", ["auto", "all", "none", 0, 8, [0], [0, 2], ["0"], ["GPU-8f1c-2a", "MIG-1/2/3"]])
def test_a_good_one(value: Any) -> None:
    assert gpus_trouble(value) is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("every", "must be auto, all, none"),
        ("non", "did you mean none?"),
        ("2", "must be auto, all, none"),
        (-1, "between 0 and 64"),
        (65, "between 0 and 64"),
        (True, "must be auto"),
        (1.5, "must be auto"),
        ([], "must be auto"),
        ({"Count": 1}, "must be auto"),
        ([0, "first"], "'first', which is not a valid GPU id"),
        ([0, -1], "-1, which is not a valid GPU id"),
        ([True], "True, which is not a valid GPU id"),
        ([0, 1, "0"], "has 0 twice"),
    ],
)
def test_a_bad_one(value: Any, words: str) -> None:
    assert words in (gpus_trouble(value) or "")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("auto", "auto"),
        ("2", 2),
        ("device=2", [2]),
        ("0,2", [0, 2]),
        ("0,", [0]),
        ("device=GPU-8f1c,1", ["GPU-8f1c", 1]),
        ("many", "many"),
    ],
)
def test_the_flag(text: str, value: Any) -> None:
    assert read_gpus(text) == value


def refused(local: dict[str, Any], kind: str = "ml.g4dn.xlarge", *, strict: bool = False) -> str:
    resources = {"InstanceType": kind, "InstanceCount": 1}
    data = {**REQUEST, "ResourceConfig": resources, "Local": local}
    with pytest.raises(RequestInvalidError) as caught:
        read_job(Document(data, name="job.yaml", directory="/work"), strict=strict)
    return "\n".join(caught.value.details)


def test_in_a_job_file() -> None:
    assert "Local.Gpus has 'one', which is not a valid GPU id" in refused({"Gpus": ["one"]})
    assert "remove one of the two" in refused({"Gpus": 1, "AllowCpu": True})
    assert refused({"Gpus": "x", "Cache": 1}).count("Local.") == 2


@pytest.mark.parametrize(
    ("kind", "meant"),
    [
        ("local-gpu", "local_gpu"),
        ("Local", "local"),
        ("ml.p3.2xlage", "ml.p3.2xlarge"),
        ("p3.2xlarge", "ml.p3.2xlarge"),
    ],
)
def test_an_unknown_instance_type(kind: str, meant: str) -> None:
    told = refused({}, kind)
    assert f"Value '{kind}' at 'resourceConfig.instanceType' failed to satisfy constraint" in told
    assert told.endswith(f"did you mean {meant}?")


def test_this_machine_is_no_type_of_the_service() -> None:
    for kind in ("local", "local_gpu"):
        data = {**REQUEST, "ResourceConfig": {"InstanceType": kind, "InstanceCount": 1}}
        job = read_job(Document(data, name="job.yaml", directory="/work"), strict=False)
        resources = job.request.plain()["ResourceConfig"]
        assert resources["InstanceType"] == kind
        told = refused({}, kind, strict=True)
        assert f"Value '{kind}' at 'resourceConfig.instanceType'" in told
        assert "did you mean" not in told
