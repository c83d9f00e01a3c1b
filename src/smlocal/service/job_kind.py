"""The kinds of jobs that are made on the service, in its own words; and what commands do not do with some."""

from collections.abc import Mapping, Sequence
from typing import Any

from smlocal.errors.of_the_service import KindNotComparedError, KindNotReproducedError
from smlocal.jobs.kind import Kind
from smlocal.sagemaker.kinds import ENDPOINT, KINDS, PROCESSING, TRAINING

_SHARED = ("InstanceType", "InstanceCount", "VolumeSizeInGB", "VolumeKmsKeyId")


def kind_of(document: Mapping[str, Any]) -> Kind:
    """The kind of job that a request or an answer is about."""
    return PROCESSING if PROCESSING.describes(document) else TRAINING


def phase_of(kind: Kind) -> str:
    """The phase with the program: the word in the names of the service."""
    return kind.stem.removesuffix("Job")


def cli_command(kind: Kind, verb: str, job: str) -> str:
    """The command of the AWS CLI about a job."""
    return f"aws sagemaker {verb}-{kind.in_commands} --{kind.in_commands}-name {job}"


def waiting_command(kind: Kind, job: str) -> str:
    """The command of the AWS CLI that waits for the end of a job."""
    return f"aws sagemaker wait {kind.in_commands}-completed-or-stopped --{kind.in_commands}-name {job}"


def transitions(answer: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The status history of a job; for a processing job, whose answer has only times, its phases by these."""
    if kind_of(answer) is TRAINING:
        return answer.get("SecondaryStatusTransitions") or ()
    times = [answer.get(each) for each in ("CreationTime", "ProcessingStartTime", "ProcessingEndTime")]
    named = zip(("Starting", phase_of(PROCESSING)), times, times[1:], strict=False)
    return [
        {"Status": name, "StartTime": began, **({} if ended is None else {"EndTime": ended})}
        for name, began, ended in named
        if began is not None
    ]


def as_training(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """The members of a training job's request that say the same about data, image and machine."""
    if kind_of(request) is TRAINING:
        return request
    inputs = [each for each in request.get("ProcessingInputs") or () if isinstance(each, Mapping)]
    cluster = (request.get("ProcessingResources") or {}).get("ClusterConfig") or {}
    output, network = request.get("ProcessingOutputConfig") or {}, request.get("NetworkConfig") or {}
    found: dict[str, Any] = {
        "AlgorithmSpecification": {"TrainingImage": PROCESSING.reads.image_in(request)},
        "InputDataConfig": [
            {"ChannelName": each.get("InputName"), "DataSource": {"S3DataSource": each.get("S3Input") or {}}}
            for each in inputs
        ],
        "OutputDataConfig": {"KmsKeyId": output.get("KmsKeyId")},
        "ResourceConfig": {each: cluster.get(each) for each in _SHARED if cluster.get(each) is not None},
        "VpcConfig": network.get("VpcConfig"),
    }
    return {name: value for name, value in found.items() if value}


def other_kind(document: Mapping[str, Any]) -> Kind | None:
    """What a request or an answer is about, if that is not a training job."""
    if TRAINING.arn_member in document or TRAINING.sign in document:
        return None
    return next((kind for kind in KINDS if kind.name_member in document or kind.describes(document)), None)


def refuse_to_compare(document: Mapping[str, Any], name: str) -> None:
    """Refuse what is not a training job."""
    kind = other_kind(document)
    if kind is not None:
        remedy = ["Compare the training jobs that made the models."] if kind is ENDPOINT else []
        raise KindNotComparedError(
            f"{name} is {kind.with_article}: smlocal compare knows only training jobs, by their requests, ends, "
            "metrics and artifacts",
            remedy=remedy,
        )


def refuse_to_reproduce(document: Mapping[str, Any], name: str) -> None:
    """Refuse what is neither a training job nor a processing job."""
    kind = other_kind(document)
    if kind is not None and kind is not PROCESSING:
        deployed = "Deploy its model here: smlocal deploy MODEL --image IMAGE, and compare the answers."
        remedy = [deployed] if kind is ENDPOINT else []
        raise KindNotReproducedError(
            f"{name} is {kind.with_article}: smlocal reproduce runs training jobs and processing jobs of the service, "
            "and compares how they end",
            remedy=remedy,
        )
