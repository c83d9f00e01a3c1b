"""The request behind the description of a job: the answer of DescribeTrainingJob, or what an SDK or the CLI makes."""

import os
from collections.abc import Mapping
from dataclasses import field
from typing import Any, get_args

from smlocal.contract.model.constraints import split
from smlocal.contract.model.structure import Structure, member_types, members
from smlocal.contract.validation.member_path import Path, dotted
from smlocal.errors import NotATrainingJobError
from smlocal.platforms.sagemaker.contract.model.describe import DescribeTrainingJobResponse
from smlocal.platforms.sagemaker.contract.model.request import CreateTrainingJobRequest
from smlocal.platforms.sagemaker.jobfile.empty_members import is_skeleton, without_empty
from smlocal.quick_dataclass import dataclass
from smlocal.remote.answer_forms import described_document, has_form_of_answer

_ARN = "TrainingJobArn"
_LOCAL = "Local"
_UPLOADS = "S3Operations"
"""What SDK v2's training_config adds to a request: the uploads that Airflow should make."""
_ANSWER_ONLY = {"ResponseMetadata", _UPLOADS}
_RUNNING = ("InProgress", "Stopping")


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribedJob:
    """A job of the service."""

    request: dict[str, Any]
    """The CreateTrainingJob request, in the service's order, without what is empty and what is newer."""
    local: dict[str, Any] = field(default_factory=dict)
    """The `Local` block of a job file."""
    answer: Mapping[str, Any] | None
    """The answer of DescribeTrainingJob; None for a request."""
    dropped: tuple[str, ...] = ()
    """Members that only the answer has."""
    newer: Mapping[str, Any] = field(default_factory=dict)
    """Path to value of members that this version does not know. They are not in `request`."""
    empty: tuple[str, ...] = ()
    """Paths of members that are left out because they are empty."""
    skeleton: bool = False
    """True for what `--generate-cli-skeleton` printed, filled in by somebody."""
    untouched: tuple[str, ...] = ()
    """Switches and choices that a skeleton has by itself."""
    from_elsewhere: bool = False
    """True for what has the form of an answer: it is no job file, and may name no path of this machine."""

    @property
    def name(self) -> str:
        """Of the job; empty if the request has none."""
        return str(self.request.get("TrainingJobName") or "")

    @property
    def arn(self) -> str:
        """Of the described job; empty for a request."""
        return str((self.answer or {}).get(_ARN) or "")

    @property
    def region(self) -> str:
        """Where the job ran; empty for a request."""
        parts = self.arn.split(":")
        return parts[3] if len(parts) > 3 else ""  # noqa: PLR2004  arn:aws:sagemaker:REGION:…

    @property
    def status(self) -> str:
        """TrainingJobStatus when the job was described; empty for a request."""
        return str((self.answer or {}).get("TrainingJobStatus") or "")

    @property
    def is_running(self) -> bool:
        """Whether the job had not ended when it was described."""
        return self.status in _RUNNING


def described_job(document: Mapping[str, Any], *, name: str, job: str | None = None) -> DescribedJob:
    """The job in a document. `name`: of the file, for errors; `job`: which one, if the document has several.

    Raises `NotATrainingJobError` for an answer of another operation.
    """
    data = described_document(document, name=name, job=job)
    described = _ARN in data
    from_elsewhere = has_form_of_answer(document)
    taken, dropped, newer = _split(data)
    local: dict[str, Any] = {}
    if not from_elsewhere:  # a request of the user's own
        given = data.get(_LOCAL)
        local = {**_uploaded_code(data.get(_UPLOADS)), **(given if isinstance(given, Mapping) else {})}
    if described:
        _add_request_only(taken, data.get(_LOCAL))
    skeleton = not described and is_skeleton(taken)
    filled = without_empty(_known(CreateTrainingJobRequest, taken, (), newer), skeleton=skeleton)
    if skeleton and not {"AlgorithmSpecification", "ServerlessJobConfig"} & filled.request.keys():
        raise NotATrainingJobError(
            f"{name} is a skeleton that nobody has filled in", remedy=["Write at least TrainingImage into it."]
        )
    return DescribedJob(
        request=filled.request,
        local=local,
        answer=data if described else None,
        dropped=tuple(dropped),
        newer=newer,
        empty=filled.left_out,
        skeleton=skeleton,
        untouched=filled.untouched,
        from_elsewhere=from_elsewhere,
    )


def _split(data: Mapping[str, Any]) -> tuple[dict[str, Any], list[str], dict[str, Any]]:
    """What the request has, in its order; the names that only the answer has; and what is in neither."""
    ours, theirs = members(CreateTrainingJobRequest), members(DescribeTrainingJobResponse)
    taken = {each: data[each] for each in ours if data.get(each) is not None}
    others = [each for each in data if each not in ours and each != _LOCAL]
    dropped = [each for each in others if each in theirs or each in _ANSWER_ONLY]
    return taken, dropped, {each: data[each] for each in others if each not in dropped}


def _add_request_only(taken: dict[str, Any], local: Any) -> None:
    """Of an answer of `smlocal describe --json`: the members that the service does not return."""
    recorded = local.get("Request") if isinstance(local, Mapping) else None
    for each, value in recorded.items() if isinstance(recorded, Mapping) else ():
        taken.setdefault(each, value)


def _uploaded_code(uploads: Any) -> dict[str, str]:
    """`Local.Code` for the folder that Airflow would pack and upload; a single script is in one too."""
    for each in uploads.get("S3Upload") or () if isinstance(uploads, Mapping) else ():
        path = each.get("Path") if isinstance(each, Mapping) and each.get("Tar") else None
        if isinstance(path, str):
            return {"Code": os.path.dirname(path) or "." if path.endswith(".py") else path}
    return {}


def _known(annotation: Any, value: Any, path: Path, newer: dict[str, Any]) -> Any:
    """A copy without members that the model does not have; they go to `newer`."""
    kind, _ = split(annotation)
    if isinstance(kind, type) and issubclass(kind, Structure) and isinstance(value, Mapping):
        types = member_types(kind)
        newer.update({dotted((*path, each)): item for each, item in value.items() if each not in types})
        return {each: _known(types[each], item, (*path, each), newer) for each, item in value.items() if each in types}
    if isinstance(value, list) and (kinds := get_args(kind)):
        return [_known(kinds[0], item, (*path, index), newer) for index, item in enumerate(value)]
    return dict(value) if isinstance(value, Mapping) else value
