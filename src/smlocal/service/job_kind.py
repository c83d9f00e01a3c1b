"""The kinds of jobs that are made on the service, in its own words; and what commands do not do with some."""

from collections.abc import Mapping, Sequence
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors.of_the_service import KindNotComparedError, KindNotReproducedError
from smlocal.jobs.kind import Kind
from smlocal.sagemaker.kinds import ENDPOINT, KINDS, PROCESSING, TRAINING
from smlocal.terms.validation.violation import Path


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


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestPlaces:
    """Where the requests of a kind say what this machine may lack."""

    input_word: str
    """What an input is called."""
    inputs: str
    input_name: str
    objects: Path
    """In an input: what is read from S3."""
    file_system: Path
    """In an input: what is on a file system."""
    machines: Path
    output: Path
    vpc: Path


_OF_TRAINING = RequestPlaces(
    input_word="channel",
    inputs="InputDataConfig",
    input_name="ChannelName",
    objects=("DataSource", "S3DataSource"),
    file_system=("DataSource", "FileSystemDataSource"),
    machines=("ResourceConfig",),
    output=("OutputDataConfig",),
    vpc=("VpcConfig",),
)
_OF_PROCESSING = RequestPlaces(
    input_word="input",
    inputs="ProcessingInputs",
    input_name="InputName",
    objects=("S3Input",),
    file_system=(),  # it has none
    machines=("ProcessingResources", "ClusterConfig"),
    output=("ProcessingOutputConfig",),
    vpc=("NetworkConfig", "VpcConfig"),
)


def places_of(request: Mapping[str, Any]) -> RequestPlaces:
    """Where a request says what this machine may lack."""
    return _OF_TRAINING if kind_of(request) is TRAINING else _OF_PROCESSING


def map_at(around: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """A part that should be a map: the request has not been validated. Without a path, there is no such part."""
    found: Any = around if path else None
    for step in path:
        found = found.get(step) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def inputs_in(request: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """The name of each input, what it reads from S3, and its file system; one of them is empty."""
    places = places_of(request)
    given = request.get(places.inputs)
    maps = [each if isinstance(each, Mapping) else {} for each in given] if isinstance(given, list) else []
    return [
        (str(each.get(places.input_name) or ""), map_at(each, places.objects), map_at(each, places.file_system))
        for each in maps
    ]


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
