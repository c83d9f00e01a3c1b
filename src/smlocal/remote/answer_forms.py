"""Finds the description of a training job in a saved document, in whichever form somebody has saved it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from smlocal.errors import NotATrainingJobError
from smlocal.platforms.job_files import is_replica_answer, is_replica_job, replica_kind

_JOB = "TrainingJob"
_ARN = "TrainingJobArn"
_OF_A_JOB = ("AlgorithmSpecification", "ServerlessJobConfig")
"""Every description of a job, and every request, has one of these."""
_MOST_NAMED = 10
_SIGNS = (_ARN, "TrainingJobSummaries", "Results", "detail", _JOB)
"""A document with one of these keys is not a job file."""


def has_form_of_answer(document: Mapping[str, Any]) -> bool:
    """Whether a document is what the service says of jobs, and no request."""
    return any(sign in document for sign in _SIGNS)


def described_document(document: Mapping[str, Any], *, name: str, job: str | None = None) -> Mapping[str, Any]:
    """The description of one job, or a request. `name` is that of the file; `job`: which one, if there are several.

    Known are the answer of DescribeTrainingJob, an answer of Search, and an event of EventBridge.
    """
    found = list(_descriptions(document, name))
    if job is not None:
        found = [each for each in found if each.get("TrainingJobName") == job]
        if not found:
            raise NotATrainingJobError(
                f"{name} has no training job {job}", remedy=_named(_descriptions(document, name))
            )
    if len(found) > 1:
        raise NotATrainingJobError(
            f"{name} has {len(found)} training jobs", remedy=["Name one of them with --job NAME:", *_named(found)]
        )
    (one,) = found
    if not any(one.get(each) is not None for each in _OF_A_JOB):
        raise _not_described(one, name)
    return one


def _descriptions(document: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    results, event = document.get("Results"), document.get("detail")
    if isinstance(results, list):
        jobs = [each.get(_JOB, each) if isinstance(each, dict) else None for each in results]
        described = [each for each in jobs if isinstance(each, dict) and _ARN in each]
        if not described:
            raise NotATrainingJobError(
                f"{name} is an answer of Search without training jobs",
                remedy=["Search with --resource TrainingJob, or use describe-training-job."],
            )
        yield from described
    elif isinstance(event, dict) and _ARN in event:
        yield event
    elif isinstance(document.get(_JOB), dict):
        yield document[_JOB]
    else:
        yield document


def _named(found: Iterable[Mapping[str, Any]]) -> list[str]:
    names = [str(each.get("TrainingJobName")) for each in found]
    return names if len(names) <= _MOST_NAMED else [*names[:_MOST_NAMED], f"… and {len(names) - _MOST_NAMED} more"]


def _not_described(document: Mapping[str, Any], name: str) -> NotATrainingJobError:
    """The error for a document of something else, with the operation whose answer it is."""
    described = "aws sagemaker describe-training-job --training-job-name"
    file = "job.json" if name == "stdin" else name
    job = document.get("TrainingJobName") or str(document.get(_ARN) or "").rpartition("/")[2]
    if is_replica_job(document):
        said = f"is a {replica_kind(document)}, and this is about training jobs of SageMaker"
        remedy = [f"Run it:  smlocal run {file}"]
        if is_replica_answer(document):
            remedy = [
                f"Its job file:  smlocal init {file}",
                f"Compare it with a run:  smlocal compare NAME {file}",
            ]
    elif "TrainingJobSummaries" in document:
        said = "is an answer of ListTrainingJobs: it has only names and times"
        remedy = [f"Save the description of one job:  {described} NAME >{file}", "Or:  smlocal fetch NAME"]
    elif _ARN in document and "TrainingJobStatus" in document:
        said = "has only a summary of the job"
        remedy = [f"Save its description:  {described} {job} >{file}", f"Or:  smlocal fetch {job}"]
    elif _ARN in document:
        said = "is an answer of CreateTrainingJob: it has only the ARN of the job"
        remedy = [f"Save its description:  {described} {job} >{file}", f"Or:  smlocal fetch {job}"]
    else:
        operation = _operation(document)
        said = f"is an answer of {operation}" if operation else "is not the description of a training job"
        remedy = [f"Save one with:  {described} NAME >{file}"]
    return NotATrainingJobError(f"{name} {said}", remedy=remedy)


def _operation(document: Mapping[str, Any]) -> str:
    """The operation that gives such an answer: a processing job has a ProcessingJobName and a ProcessingJobArn."""
    for key in document:
        thing = key.removesuffix("Arn")
        if thing != key and f"{thing}Name" in document:
            return f"Describe{thing}"
        if key.endswith("Summaries") and isinstance(document[key], list):
            return f"List{key.removesuffix('Summaries').removesuffix('Summary')}s"
    return ""
