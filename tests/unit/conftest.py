"""Requests made to order: a minimal valid one, and one that has a given member."""

import copy
import gzip
import json
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args, get_origin

import pytest

from smlocal.jobfile.document import Document
from smlocal.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.sagemaker.jobfile.job_file import JobFile, read_job
from smlocal.terms.model.structure import Structure, Text, Whole, member_types, members

RequestWith = Callable[..., dict[str, Any]]
Read = Callable[..., JobFile]

MINIMAL: dict[str, Any] = {
    "AlgorithmSpecification": {"TrainingImage": "image:latest", "TrainingInputMode": "File"},
    "OutputDataConfig": {"S3OutputPath": "./out"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
}
CHANNEL = {"ChannelName": "train", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}}}
_ACCOUNT = "arn:aws:sagemaker:us-east-1:123456789012"
_HUB = "arn:aws:sagemaker:us-east-1:123456789012:hub-content/hub"
_TEXTS = (
    "abc",
    "arn:aws:iam::123456789012:role/Trainer",
    "s3://bucket/key",
    "fs-01234567",
    "arn:aws:lambda:us-east-1:123456789012:function:login",
    f"{_ACCOUNT}:training-plan/my-plan-0001",
    f"{_ACCOUNT}:mlflow-tracking-server/one",
    f"{_ACCOUNT}:model-package-group/one",
    f"{_ACCOUNT}:model-package/one/1",
    f"{_HUB}/DataSet/one",
    f"{_HUB}/Model/one",
    "4K",
)
_ALTERNATIVES = {
    # A member the service does not take together with others: those make room for it.
    "AlgorithmSpecification.AlgorithmName": ("AlgorithmSpecification.TrainingImage",),
    "InputDataConfig[].DataSource.FileSystemDataSource": ("InputDataConfig[].DataSource.S3DataSource",),
    "InputDataConfig[].DataSource.DatasetSource": ("InputDataConfig[].DataSource.S3DataSource",),
    "ResourceConfig.InstanceGroups": ("ResourceConfig.InstanceType", "ResourceConfig.InstanceCount"),
    "ResourceConfig.InstancePreferences[].InstanceCount": ("ResourceConfig.InstanceCount",),
    "ResourceConfig.InstancePreferences": ("ResourceConfig.InstanceType",),
}
_SAMPLES: dict[str, Any] = {
    "StoppingCondition.MaxWaitTimeInSeconds": 86_400,
    "AlgorithmSpecification.MetricDefinitions[].Regex": "a=(.*)",
    "ResourceConfig.InstanceGroups[].InstanceCount": 1,
    "ResourceConfig.InstancePreferences[].InstanceCount": 1,
}
_S3 = "InputDataConfig[].DataSource.S3DataSource"
_GROUP = {"InstanceGroupName": "abc", "InstanceType": "ml.m5.large", "InstanceCount": 1}
_COMPANIONS: dict[tuple[str, Any], list[tuple[str, Any]]] = {
    # Members that the service takes only together with others.
    ("StoppingCondition.MaxWaitTimeInSeconds", None): [("EnableManagedSpotTraining", True)],
    (f"{_S3}.AttributeNames", None): [
        (f"{_S3}.S3DataType", "AugmentedManifestFile"),
        ("InputDataConfig[].InputMode", "Pipe"),
    ],
    (f"{_S3}.InstanceGroupNames", None): [("ResourceConfig", {"InstanceGroups": [_GROUP]})],
    (f"{_S3}.AttributeNames[]", None): [
        (f"{_S3}.S3DataType", "AugmentedManifestFile"),
        ("InputDataConfig[].InputMode", "Pipe"),
    ],
    (f"{_S3}.S3DataType", "AugmentedManifestFile"): [
        (f"{_S3}.AttributeNames[]", "image-ref"),
        ("InputDataConfig[].InputMode", "Pipe"),
    ],
    (f"{_S3}.InstanceGroupNames[]", None): [("ResourceConfig", {"InstanceGroups": [_GROUP]})],
    ("InputDataConfig[].CompressionType", "Gzip"): [("InputDataConfig[].InputMode", "Pipe")],
    ("InputDataConfig[].RecordWrapperType", "RecordIO"): [("InputDataConfig[].InputMode", "Pipe")],
}


def _parts(annotation: Any) -> tuple[Any, Any]:
    return get_args(annotation)[:2] if hasattr(annotation, "__metadata__") else (annotation, None)


def sample(annotation: Any) -> Any:
    """A valid value, as small as may be."""
    kind, constraint = _parts(annotation)
    value: Any = True
    if isinstance(constraint, Text):
        fitting = (text for text in _TEXTS if constraint.allows(text, strict=True))
        value = next(text for text in fitting if len(text) >= (constraint.minimum or 0))
    elif isinstance(constraint, Whole):
        value = constraint.minimum or 1
    elif get_origin(kind) is Literal:
        value = get_args(kind)[0]
    elif get_origin(kind) is list:
        value = [sample(get_args(kind)[0])]
    elif get_origin(kind) is dict:
        value = {sample(part): sample(other) for part, other in [get_args(kind)]}
    elif isinstance(kind, type) and issubclass(kind, Structure):
        types = member_types(kind)
        value = {name: sample(types[name]) for name, member in members(kind).items() if member.is_required}
        if "InstanceGroupName" in value:
            value["InstanceCount"] = 1  # the model allows 0, and no job can have it
        if "Regex" in value:
            value["Regex"] = "a=(.*)"  # it needs a group
    return value


def _put(target: dict[str, Any], model: type[Structure], steps: list[str], value: Any) -> None:
    name, is_list = steps[0].removesuffix("[]"), steps[0].endswith("[]")
    annotation = member_types(model)[name]
    if is_list:
        annotation = get_args(_parts(annotation)[0])[0]
    kind = _parts(annotation)[0]
    if len(steps) == 1:
        chosen = sample(annotation) if value is None else value
        target[name] = [chosen] if is_list else chosen
        return
    default = copy.deepcopy(CHANNEL) if name == "InputDataConfig" else sample(annotation)
    inner = target.setdefault(name, [default] if is_list else default)
    _put(inner[0] if is_list else inner, kind, steps[1:], value)


def _drop(target: Any, steps: list[str]) -> None:
    for step in steps[:-1]:
        target = target.get(step.removesuffix("[]"), {})
        target = target[0] if step.endswith("[]") and target else target
    if target:
        target.pop(steps[-1], None)


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """For sockets: their paths may have 103 bytes on macOS, whose folders for temporary files have long names."""
    with TemporaryDirectory(dir="/tmp", prefix="smlocal-test-") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def request_with() -> RequestWith:
    """`request_with("Tags[].Key")`: a valid request, small, that has this member, with a value of one's own or any."""

    def make(leaf: str | None = None, value: Any = None, **members: Any) -> dict[str, Any]:
        request = copy.deepcopy(MINIMAL)
        if leaf is not None:
            given = _SAMPLES.get(leaf) if value is None else value
            _put(request, CreateTrainingJobRequest, leaf.split("."), given)
            for chosen, others in _ALTERNATIVES.items():
                if leaf.startswith(chosen):
                    for dropped in others:
                        _drop(request, dropped.split("."))
            for (name, wanted), companions in _COMPANIONS.items():
                for other, its_value in companions if name == leaf and wanted in (None, value) else ():
                    _put(request, CreateTrainingJobRequest, other.split("."), its_value)
        return copy.deepcopy(request) | members  # what some tests spoil is their own

    return make


@pytest.fixture(scope="session")
def read() -> Read:
    """Read a request given as data; `text` with a document's own lines."""

    def job(request: dict[str, Any], *, strict: bool = False) -> JobFile:
        return read_job(Document(copy.deepcopy(request), name="job.yaml", directory="/nowhere"), strict=strict)

    return job


@pytest.fixture(scope="session")
def service() -> dict[str, Any]:
    """The service's own model, as the pinned botocore has it."""
    path = files("botocore") / "data" / "sagemaker" / "2017-07-24" / "service-2.json.gz"
    model: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return model


def _leaves(annotation: Any, name: str) -> list[str]:
    kind, _ = _parts(annotation)
    if isinstance(kind, type) and issubclass(kind, Structure):
        members = member_types(kind).items()
        return [leaf for member, inner in members for leaf in _leaves(inner, f"{name}.{member}" if name else member)]
    if get_origin(kind) is list:
        return _leaves(get_args(kind)[0], f"{name}[]")
    return [name]


@pytest.fixture(scope="session")
def leaves() -> list[str]:
    """Every leaf member of the request model."""
    return _leaves(CreateTrainingJobRequest, "")
